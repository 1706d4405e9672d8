"""Keyword and semantic search, and the index that follows the changes."""
