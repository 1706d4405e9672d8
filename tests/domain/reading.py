"""Markdown as tests write it: line by line."""

from panorama.domain.markdown import Document, parsed


def read(*lines: str) -> Document:
    """Return the document of these lines."""
    return parsed("\n".join(lines), name="note")
