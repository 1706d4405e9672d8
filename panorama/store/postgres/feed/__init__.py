"""The feed of a space: what other processes change in it, and that this one has changed something."""
