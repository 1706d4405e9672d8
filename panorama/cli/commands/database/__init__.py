"""Commands that replace the database of a data directory, while no daemon serves it."""
