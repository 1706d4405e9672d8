"""The MCP server: operations as tools, resources and prompts."""
