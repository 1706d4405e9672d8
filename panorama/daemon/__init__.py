"""The daemon: one process per data directory that owns the store and serves every client."""
