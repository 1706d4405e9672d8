"""Copies of a space as SQLite files, and the rows of such files in a space: backups, restores and moves."""
