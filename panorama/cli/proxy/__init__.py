"""The stdio proxy that MCP clients start; standard library only."""
