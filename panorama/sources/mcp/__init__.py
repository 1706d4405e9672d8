"""MCP servers as sources: processes that are started on this machine, and servers on the network."""
