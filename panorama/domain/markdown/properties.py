"""Properties of notes from before they had a field for them: YAML under a heading at the end of the text."""

import re

HEADING = "## Properties"

_SECTION = re.compile(rf"(?:\A|\n\n){HEADING}\n\n(`{{3,}})yaml\n(.*?)\1\n\Z", re.DOTALL)


def split_properties(content: str) -> tuple[str, str]:
    """Return a text without its properties section, and the YAML of that section ("" if there is none)."""
    start = content.rfind(f"{HEADING}\n\n```")
    match = _SECTION.match(content, max(0, start - 2)) if start >= 0 else None
    if match is None or match[1] in match[2]:
        return content, ""
    return content[: match.start()], match[2]
