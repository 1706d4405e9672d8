"""Docstrings in Google's style: the text, and the descriptions of arguments. Pure."""

import re

_SECTION = re.compile(r"^\s*(Args|Raises|Returns|Example|Examples):\s*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^\s{4,}(\w+): (.*(?:\n\s{8,}.*)*)", re.MULTILINE)


def parse_docstring(docstring: str) -> tuple[str, dict[str, str]]:
    """Return a docstring's text before its sections, and its `Args` by name."""
    sections = _SECTION.split(docstring)
    text = re.sub(r"\s*\n\s*", " ", re.sub(r"\n\s*\n", "\n", sections[0].strip()))
    section = dict(zip(sections[1::2], sections[2::2], strict=True)).get("Args", "")
    return text, {match[1]: re.sub(r"\s*\n\s*", " ", match[2]).strip() for match in _ARGUMENT.finditer(section)}
