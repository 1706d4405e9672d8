"""The MCP door: operations as tools, resources and prompts, errors as words."""
