"""Nouns on the command line: a table of the kinds, and the verbs that they share."""
