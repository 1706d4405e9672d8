"""Properties: front matter that a note has no field for, kept as YAML below a heading at the end of its text."""

import re

HEADING = "## Properties"

_SECTION = re.compile(rf"(?:\A|\n\n){HEADING}\n\n```yaml\n(.*?)```\n\Z", re.DOTALL)


def append_properties(body: str, source: str) -> str:
    """Return a text with a section for some lines of YAML at its end; `split_properties` takes it off again."""
    if not source:
        return body
    fence = f"{HEADING}\n\n```yaml\n{source.rstrip()}\n```\n"
    return f"{body}\n\n{fence}" if body else fence


def split_properties(content: str) -> tuple[str, str]:
    """Return a text without the section of its properties, and their YAML; "" if there is none."""
    start = content.rfind(f"{HEADING}\n\n```yaml\n")
    found = _SECTION.match(content, max(0, start - 2)) if start >= 0 else None
    if found is None or "```" in found[1]:
        return content, ""
    return content[: found.start()], found[1]
