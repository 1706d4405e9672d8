"""The retrieval check: how well a model finds what is meant, on built-in notes or on a person's own."""
