"""Runs scripts in an allow-listed language and in single-use processes."""
