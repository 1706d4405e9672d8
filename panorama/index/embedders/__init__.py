"""Embedders convert texts to vectors; their libraries are loaded on demand."""
