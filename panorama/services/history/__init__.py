"""Past writes: what changed, and how it is taken back."""
