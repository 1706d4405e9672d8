"""Stores everything in a database; the only package that imports SQLAlchemy."""
