"""The MCP clients and their configuration files."""
