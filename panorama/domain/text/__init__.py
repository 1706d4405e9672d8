"""Words, secrets, chunks and ranking of texts."""
