"""Measures retrieval quality on built-in notes or the user's own."""
