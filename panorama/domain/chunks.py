"""Chunks: the passages into which an item is cut for search by meaning. Pure; what is no language is left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

SHORTEST, LONGEST = 800, 1200
"""Characters of a passage, but for the last one and for those that a heading ends."""

SECTION = 300
"""A heading ends a passage that has at least so many characters."""

OVERLAP = 150
"""Characters that a passage shares with the one before it, unless a heading parts them."""

MOST = 1000
"""Passages of one item; a text beyond is found by its words alone."""

BLOB = 60
"""So many ASCII signs without a space are no word: base64, keys, long addresses."""

_BLOBS = re.compile(
    rf"(?<![!-~])[!-~]{{{BLOB},}}"
    rf"(?:(?:(?:\r?\n[!-~]{{{BLOB},}})+\r?\n[\w+/=-]+|\r?\n[\w+/-]*==?)(?=[ \t]*(?:\r?\n|\Z)))?"
)
"""Blobs, and of one that is broken into lines the short last one; looking back first spares a look at every sign."""

_SUM = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12,}(?![\w-])")
"""Checksums and UUIDs."""

SUM = 32
"""The shortest of them: the digits of an MD5 sum."""

_WORD = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff]")
_HEADING = re.compile(r"\n(?=#{1,6} )")
_CUTS = tuple(re.compile(pattern) for pattern in (r"\n\s*\n", r"\n", r"[.!?…。！？]\s?", r"\s"))
_WORD_BEGINS = re.compile(r"\s\S")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of an item's body, `begin` to `end`, and the text that is embedded: the title in front of it."""

    position: int
    begin: int
    end: int
    text: str


def chunks(title: str, body: str) -> tuple[Chunk, ...]:
    """Return an item's passages in order; of an item without any language, none.

    Blobs of 60 signs and more (base64, keys), checksums and UUIDs are cut out of the text that is embedded. Of a body
    without words the title alone is embedded.
    """
    head = legible(title)
    found: list[Chunk] = []
    for begin, end in passages(body):
        if len(found) == MOST:
            break
        if passage := legible(body[begin:end]):
            found.append(Chunk(len(found), begin, end, f"{head}\n{passage}".strip()))
    if not found and head:
        found.append(Chunk(0, 0, 0, head))
    return tuple(found)


def legible(text: str) -> str:
    """Return a text without blobs, "" if no word is left."""
    bare = (_SUM.sub(" ", _BLOBS.sub(" ", text)) if _may_hold_blobs(text) else text).strip()
    return bare if _WORD.search(bare) else ""


def _may_hold_blobs(text: str) -> bool:
    """Tell whether a text may hold a blob or a checksum, in a third of the time that looking for them takes."""
    return max(map(len, text.split()), default=0) >= SUM


def passages(body: str) -> list[tuple[int, int]]:
    """Return where the passages of a text begin and end."""
    found: list[tuple[int, int]] = []
    start = 0
    while len(body) - start > LONGEST:
        cut, is_section = _cut(body, start)
        found.append((start, cut))
        start = cut if is_section else _overlapping(body, cut)
    heading = next(_sections(body, start, len(body)), None)
    while heading is not None:
        found.append((start, heading))
        start, heading = heading, next(_sections(body, heading, len(body)), None)
    return [*found, (start, len(body))] if body[start:].strip() else found


def _cut(body: str, start: int) -> tuple[int, bool]:
    """Return where the passage that begins at `start` ends, and whether a heading ends it."""
    section = next(_sections(body, start, start + LONGEST), None)
    if section is not None:
        return section, True
    for pattern in _CUTS:
        ends = [match.end() for match in pattern.finditer(body, start + SHORTEST, start + LONGEST)]
        if ends:
            return ends[-1], False
    return start + LONGEST, False


def _sections(body: str, start: int, end: int) -> Iterator[int]:
    return (match.end() for match in _HEADING.finditer(body, start + SECTION, end))


def _overlapping(body: str, cut: int) -> int:
    """Return where the next passage begins: at a word, some characters before the last one's end."""
    match = _WORD_BEGINS.search(body, cut - OVERLAP, cut)
    return match.end() - 1 if match else cut
