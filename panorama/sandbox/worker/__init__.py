"""The process that executes one script."""
