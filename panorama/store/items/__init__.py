"""The rows of items, and how to find them."""
