"""Embedders turn texts into vectors; their libraries load when needed."""
