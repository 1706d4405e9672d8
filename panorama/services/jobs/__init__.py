"""Background jobs: the queue, their progress and their results."""
