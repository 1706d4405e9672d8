"""Splits an item into the passages that are embedded. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MIN_CHUNK_CHARS, MAX_CHUNK_CHARS = 800, 1200
"""Characters of a passage; the last one, and those before a heading, may be shorter."""

MIN_SECTION_CHARS = 300
"""A heading ends a passage of at least this many characters."""

OVERLAP_CHARS = 150
"""Characters shared with the previous passage, unless a heading separates them."""

MAX_CHUNKS = 1000
"""The maximum number of passages of one item; text beyond is found by keyword only."""

MIN_BLOB_CHARS = 60
"""This many ASCII characters without a space are not a word: base64, keys, long addresses."""

_BLOB_PATTERN = re.compile(
    rf"(?<![!-~])[!-~]{{{MIN_BLOB_CHARS},}}"
    rf"(?:(?:(?:\r?\n[!-~]{{{MIN_BLOB_CHARS},}})+\r?\n[\w+/=-]+|\r?\n[\w+/-]*==?)(?=[ \t]*(?:\r?\n|\Z)))?"
)
"""Blobs, including the short last line of a wrapped one; the lookbehind comes first for speed."""

_CHECKSUM_PATTERN = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12,}(?![\w-])")
"""Checksums and UUIDs."""

MIN_CHECKSUM_CHARS = 32
"""The shortest checksum: the digits of MD5."""

_WORD = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff]")
_HEADING = re.compile(r"\n(?=#{1,6} )")
_CUT_PATTERNS = tuple(re.compile(pattern) for pattern in (r"\n\s*\n", r"\n", r"[.!?…。！？]\s?", r"\s"))
_WORD_START = re.compile(r"\s\S")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of an item's body, `begin` to `end`, and the text that is embedded: the title in front of it."""

    position: int
    begin: int
    end: int
    text: str


def split_chunks(title: str, body: str) -> tuple[Chunk, ...]:
    """Return an item's passages in order; none for an item without words.

    Blobs of 60 signs and more (base64, keys), checksums and UUIDs are cut out of the text that is embedded. Of a body
    without words the title alone is embedded.
    """
    head = strip_blobs(title)
    results: list[Chunk] = []
    for begin, end in split_passages(body):
        if len(results) == MAX_CHUNKS:
            break
        if passage := strip_blobs(body[begin:end]):
            results.append(Chunk(len(results), begin, end, f"{head}\n{passage}".strip()))
    if not results and head:
        results.append(Chunk(0, 0, 0, head))
    return tuple(results)


def strip_blobs(text: str) -> str:
    """Return a text without blobs, "" if no word is left."""
    bare = (_CHECKSUM_PATTERN.sub(" ", _BLOB_PATTERN.sub(" ", text)) if _has_long_word(text) else text).strip()
    return bare if _WORD.search(bare) else ""


def _has_long_word(text: str) -> bool:
    """Return whether a text may contain a blob or a checksum; three times as fast as searching for them."""
    return max(map(len, text.split()), default=0) >= MIN_CHECKSUM_CHARS


def split_passages(body: str) -> list[tuple[int, int]]:
    """Return the ranges of the passages of a text."""
    results: list[tuple[int, int]] = []
    start = 0
    while len(body) - start > MAX_CHUNK_CHARS:
        cut, is_section = _next_cut(body, start)
        results.append((start, cut))
        start = cut if is_section else _overlap_start(body, cut)
    heading = next(_iter_headings(body, start, len(body)), None)
    while heading is not None:
        results.append((start, heading))
        start, heading = heading, next(_iter_headings(body, heading, len(body)), None)
    return [*results, (start, len(body))] if body[start:].strip() else results


def _next_cut(body: str, start: int) -> tuple[int, bool]:
    """Return where the passage that begins at `start` ends, and whether a heading ends it."""
    section = next(_iter_headings(body, start, start + MAX_CHUNK_CHARS), None)
    if section is not None:
        return section, True
    for pattern in _CUT_PATTERNS:
        ends = [match.end() for match in pattern.finditer(body, start + MIN_CHUNK_CHARS, start + MAX_CHUNK_CHARS)]
        if ends:
            return ends[-1], False
    return start + MAX_CHUNK_CHARS, False


def _iter_headings(body: str, start: int, end: int) -> Iterator[int]:
    return (match.end() for match in _HEADING.finditer(body, start + MIN_SECTION_CHARS, end))


def _overlap_start(body: str, cut: int) -> int:
    """Return where the next passage begins: at a word, some characters before the last one's end."""
    match = _WORD_START.search(body, cut - OVERLAP_CHARS, cut)
    return match.end() - 1 if match else cut
