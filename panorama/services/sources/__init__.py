"""Calls of other systems: what scripts may call there, and the one way to do it."""
