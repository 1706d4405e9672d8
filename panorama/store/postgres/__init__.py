"""PostgreSQL as a database of Panorama: a space is a schema of it."""
