"""Fewer round trips: statements that wait for the next one, and are sent with it."""
