"""Models that the user added: copies of folders in the sentence-transformers layout."""
