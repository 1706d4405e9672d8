"""PostgreSQL as a database of Panorama: one schema of a server."""
