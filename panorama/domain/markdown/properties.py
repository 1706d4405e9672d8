"""Properties: unknown front matter, stored as YAML under a heading at the end of a note."""

import re

HEADING = "## Properties"

_SECTION = re.compile(rf"(?:\A|\n\n){HEADING}\n\n(`{{3,}})yaml\n(.*?)\1\n\Z", re.DOTALL)
_FENCE = re.compile(r"`{3,}")


def append_properties(body: str, source: str) -> str:
    """Return a text with a section of YAML lines at its end; `split_properties` removes it again."""
    if not source:
        return body
    mark = "`" * max([3, *(len(inner) + 1 for inner in _FENCE.findall(source))])
    section = f"{HEADING}\n\n{mark}yaml\n{source}{mark}\n"
    return f"{body}\n\n{section}" if body else section


def split_properties(content: str) -> tuple[str, str]:
    """Return a text without its properties section, and the YAML of that section ("" if there is none)."""
    start = content.rfind(f"{HEADING}\n\n```")
    match = _SECTION.match(content, max(0, start - 2)) if start >= 0 else None
    if match is None or match[1] in match[2]:
        return content, ""
    return content[: match.start()], match[2]
