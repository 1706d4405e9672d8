"""Items as values, and the rules of each kind."""
