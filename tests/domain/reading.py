"""Markdown as tests write it: line by line."""

from panorama.domain.markdown.parser import Document, parse_markdown


def read(*lines: str) -> Document:
    """Return the document of these lines."""
    return parse_markdown("\n".join(lines), name="note")
