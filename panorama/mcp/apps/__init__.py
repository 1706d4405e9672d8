"""MCP Apps: the page that a client shows in a chat for the tool `show`, and who is offered it."""
