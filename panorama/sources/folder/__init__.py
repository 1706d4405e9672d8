"""A folder on this machine as a source."""
