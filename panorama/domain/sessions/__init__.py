"""What the lines of a session say about it as a whole."""
