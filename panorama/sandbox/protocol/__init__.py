"""What host and worker send each other."""
