"""The rows of a person's items, and how to find them."""
