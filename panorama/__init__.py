"""Panorama: a local-first personal-knowledge server for AI assistants."""

__version__ = "0.1.0"
