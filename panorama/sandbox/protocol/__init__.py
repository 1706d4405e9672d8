"""The protocol between host and worker."""
