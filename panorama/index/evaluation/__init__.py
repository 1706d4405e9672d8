"""Measures retrieval quality on built-in notes or on a person's own."""
