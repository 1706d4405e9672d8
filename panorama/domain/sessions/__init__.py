"""Analysis of sessions."""
