"""The contents of files in the tables of a space."""
