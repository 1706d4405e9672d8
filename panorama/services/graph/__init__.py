"""The graph of all items: relations, neighbours, and links that follow a renamed item."""
