"""Nouns at the terminal: one table of what a person keeps, and the verbs that all of it shares."""
