"""The multilingual sentence encoder and `duo`, which joins its vectors with those of MiniLM."""
