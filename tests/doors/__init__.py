"""The door and the daemon, as processes."""
