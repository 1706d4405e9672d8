"""Sessions: meetings and chains of thoughts, logged line by line."""
