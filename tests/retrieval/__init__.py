"""A corpus, queries to tune ranking on, and other queries to judge it by."""
