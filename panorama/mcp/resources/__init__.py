"""MCP resources: their addresses, their contents and subscriptions to them."""
