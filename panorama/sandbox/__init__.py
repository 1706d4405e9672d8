"""Runs other people's code: an allow-listed language, in a process of its own that is used once."""
