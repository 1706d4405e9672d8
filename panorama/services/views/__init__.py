"""The views that a client with MCP Apps shows in a chat, composed of what the other services return."""
