"""Parses what a text says about other items: links, relations and observations, as in Obsidian and basic-memory.

Code, comments, quotes and escaped brackets do not count. Every function is linear in the length of the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from panorama.domain.changes import compute_splice, find_changed_lines
from panorama.domain.items.item import is_id, normalize_id, normalize_name
from panorama.domain.items.relations import MENTIONS, normalize_kind
from panorama.domain.markdown.indented_code import IndentedCode, find_affected_end, is_indented
from panorama.domain.markdown.lines import (
    collapse_whitespace,
    is_closing_fence,
    mask_code,
    mask_comments,
    mask_line,
    match_fence,
    parse_tags,
)

MAX_LINKS = 5_000
"""The maximum number of links of one item that are followed."""

UNFOLLOWED_LINKS = f"It has more than {MAX_LINKS:,} links: only the first {MAX_LINKS:,} are followed."

MAX_MARKS, MAX_LINE_CHARS = 50_000, 100_000
"""The maximum number of brackets, fences and backticks of a text, and characters of a line, that are examined.

Links are read while others wait to write, and a text of 10 MB can have millions of brackets.
"""

SHORT_CHARS, SHORT_LINKS = 64, 4096
"""The length and number of cached links: a text of many links is read again with each save."""

SENTENCE_CHARS = 160
WINDOW_CHARS = 400
"""How much text before and after a link is enough to find its sentence."""

LINK_MARK = "[["
"""How a link begins; a text without it has none."""

# Possessive quantifiers (*+ and ++) keep the time linear on hostile text.
_LINK = re.compile(r"\[\[([^\[\]\r\n]++)\]\]")
_TYPED = re.compile(r"""[ \t]*+[-*+][ \t]++(?:"([^"\r\n]{1,60})"|([^\W_][\w-]*+(?:[ ][\w-]++){0,2}))[ \t]*+(?=\[\[)""")
_CONTEXT = re.compile(r"[ \t]*+(?:\(([^()]*+)\))?[ \t]*+")
_OBSERVATION = re.compile(r"[ \t]*+[-*+][ \t]++\[([^\[\]\r\n]{2,60})\][ \t]++(?=\S)(.*)")
_QUOTE = re.compile(r"[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+>")
_TIME_OF_DAY = re.compile(r"\d{1,2}(:\d\d){1,2}")
_BREAK = re.compile(r"[\r\n]|[.!?…](?=\s)")


class WikiLink(NamedTuple):
    """A link in a text: what it names as written, the kind of relation, and the position of its brackets.

    `key` is the normalised target. `tail` is what is looked up if nothing has that name: the target without heading
    or block, folder and suffix; "" if it is the same.
    """

    target: str
    key: str
    tail: str
    kind: str
    start: int


@dataclass(frozen=True, slots=True)
class Observation:
    """A line `- [category] text #tag (context)`."""

    category: str
    text: str
    tags: tuple[str, ...]


class ChangedLinks(NamedTuple):
    """The links in the lines in which a text was changed; all others are the same links.

    They were between `start` and `end`, those after `end` are moved by `shift` characters. `read_count` is the number
    of links that were read, or passed over, to find them.
    """

    links: list[WikiLink]
    start: int
    end: int
    shift: int
    read_count: int


def parse_links(text: str) -> tuple[list[WikiLink], bool]:
    """Return the first 5,000 links of a text in order, each target once per kind, and whether it has more."""
    links: dict[tuple[str, str], WikiLink] = {}
    found = _iter_links(text)
    for link in islice(found, MAX_LINKS):
        links.setdefault((link.key, link.kind), link)
    return list(links.values()), next(found, None) is not None


def find_link_shift(before: str, after: str) -> tuple[int, int] | None:
    """Return from which position on the links of a changed text moved, and by how many characters.

    None if there may be other links: a changed line has a link, a fence of code, or an end of a comment, or an
    indented line with a link follows that may be code now, or no longer.
    """
    splice = compute_splice(before, after)
    changed = splice.removed, splice.inserted
    start = before.rfind("\n", 0, splice.at) + 1
    end = splice.at + len(splice.removed)
    head, tail = before[start : splice.at], ""
    if head or not all(text.endswith("\n") for text in changed if text):  # the last line goes on after the change
        line_end = before.find("\n", end)
        tail = before[end:line_end] if line_end >= 0 else before[end:]
    if any(mark in head + text + tail for text in changed for mark in (LINK_MARK, "```", "~~~", "<!--", "-->")):
        return None
    changed_end = splice.at + len(splice.inserted)
    if _may_change_code(after, changed_end):
        return None
    return end, len(after) - len(before)


def _may_change_code(text: str, end: int) -> bool:
    """Return whether a line with a link below changed ones may be code now, or no longer."""
    affected = text[end : find_affected_end(text, end)]
    if LINK_MARK not in affected:
        return False
    return any(LINK_MARK in line and is_indented(line, 0) for line in affected.replace("\r", "\n").split("\n"))


def find_changed_links(before: str, after: str) -> ChangedLinks | None:
    """Return the links in the changed lines of a text, None if others may have changed with them.

    A changed line has a fence of code, or an end of a comment; a link is gone from them, and may be in another line;
    or the text has so many links that not all are read.
    """
    if any(text.count("[") + 2 * text.count("`") + text.count("~") > MAX_LINKS * 2 for text in (before, after)):
        return None
    start, end, changed_end = find_changed_lines(before, after)
    lines = before[start:end], after[start:changed_end]
    if any(mark in line for line in lines for mark in ("```", "~~~", "<!--", "-->")) or _may_change_code(
        after, changed_end
    ):
        return None
    former, links = _list_between(before, start, end), _list_between(after, start, changed_end)
    if former.keys() - links.keys():
        return None
    return ChangedLinks(list(links.values()), start, end, len(after) - len(before), after.count(LINK_MARK))


def _list_between(text: str, start: int, end: int) -> dict[tuple[str, str], WikiLink]:
    """Return the links in the lines between two positions, the first of each target and kind."""
    links: dict[tuple[str, str], WikiLink] = {}
    for link in _iter_links(text, start, end) if LINK_MARK in text[start:end] else ():
        links.setdefault((link.key, link.kind), link)
    return links


def describe_unfollowed_links(text: str) -> str:
    """Describe that a text has more links than are followed, "" if it has not."""
    return UNFOLLOWED_LINKS if text.count(LINK_MARK) > MAX_LINKS and parse_links(text)[1] else ""


def _iter_links(text: str, start: int = 0, end: int = -1) -> Iterator[WikiLink]:
    """Yield the links of a text in order, or those in the lines that begin between two positions."""
    for begin, line, first in _iter_marked_lines(text, LINK_MARK, start):
        if begin < start:
            continue
        if begin >= end >= 0:
            return
        masked = mask_code(line)
        typed, kind = _find_typed_link(masked)
        for match in _find_links(masked, first):
            inner, at = match[1], match.start()
            target, key, tail = _read_short(inner) if len(inner) <= SHORT_CHARS else _read_target(inner)
            if target:
                yield WikiLink(target, key, tail, kind if at == typed else MENTIONS, begin + at)


def _read_target(inner: str) -> tuple[str, str, str]:
    """Return the target of a link with its key and tail."""
    target = parse_target(inner)
    return (target, *make_keys(target)) if target else ("", "", "")


_read_short = lru_cache(SHORT_LINKS)(_read_target)


def _find_links(line: str, start: int) -> Iterator[re.Match[str]]:
    """Yield the links of a line from a position on.

    A backslash before a link takes it back, unless another one escapes the backslash.
    """
    links = _LINK.finditer(line, start)
    return (match for match in links if not _is_escaped(line, match.start())) if "\\" in line else links


def _is_escaped(line: str, at: int) -> bool:
    start = at
    while start and line[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1


def _iter_marked_lines(text: str, word: str, start: int = 0) -> Iterator[tuple[int, str, int]]:
    """Yield position and text of the lines with a word, and its position in it, outside code, comments and quotes.

    Of a long line, the beginning; of a text with many such lines and fences, the first ones. Lines that begin before
    `start` are left out, unless they may say which ones below are code or comments.
    """
    if word[0] not in text or word not in text:  # a search for one character is many times as fast
        return
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    written, text = text, mask_comments(text)
    places = {mark: -1 for mark in ("```", "~~~") if mark[0] in text and mark in text}
    code, has_fences, has_spans = IndentedCode(text), bool(places), "`" in text
    places[word] = -1
    fence, end, left = "", start if not has_fences and text is written else 0, MAX_MARKS
    while (at := _find_next(text, places, end)) >= 0:
        begin = text.rfind("\n", end, at) + 1 or end
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[begin : min(end, begin + MAX_LINE_CHARS)]
        left -= line.count(word[0]) // len(word) + (line.count("`") if has_spans else 0) + has_fences
        if left < 0:
            return
        if fence:
            fence = "" if is_closing_fence(line, fence, quoted=False) else fence
        elif not (">" in line and _QUOTE.match(line)):
            if opening := match_fence(line) if has_fences else None:
                fence = opening[2]
            elif (not has_fences or word in line) and not (is_indented(written, begin) and code.is_code(begin)):
                yield begin, line, at - begin


def _find_next(text: str, places: dict[str, int], start: int) -> int:
    """Return the first position of any mark from a position on, -1 if there is none; keep those found."""
    if len(places) == 1:
        return text.find(next(iter(places)), start)
    first = -1
    for mark, at in places.items():
        if at < start:
            at = places[mark] = text.find(mark, start)
            if at < 0:
                places[mark] = at = len(text)
        if at < len(text) and (first < 0 or at < first):
            first = at
    return first


def _find_typed_link(line: str) -> tuple[int, str]:
    """Return position and kind of the link in a line `- kind [[Target]] (context)`; -1 if it is none."""
    head = _TYPED.match(line)
    link = _LINK.match(line, head.end()) if head else None
    if not head or not link or not _CONTEXT.fullmatch(line, link.end()):
        return -1, ""
    kind = normalize_kind(head[1] or head[2], is_quoted=bool(head[1]))
    return (link.start(), kind) if kind else (-1, "")


def parse_target(inner: str) -> str:
    """Return the target of a link without its label; "" if it names no item."""
    written = inner.partition("|")[0].rstrip("\\")  # \| is how a table writes the bar
    plain = " ".join(written.split()) if written.isprintable() else collapse_whitespace(written)
    target = plain.removeprefix("memory://")
    return "" if target.startswith(("#", "^")) or "://" in target else target


def make_keys(target: str) -> tuple[str, str]:
    """Return the key and the tail of a target, as `WikiLink` has them."""
    if target[1:2] == "_" and is_id(target):
        return normalize_id(target), ""
    key = normalize_name(target)
    name = target.partition("#")[0].rpartition("/")[2].removesuffix(".md")
    tail = key if name == target else normalize_name(name)
    return key, "" if tail == key else tail


def rename_links(text: str, old: frozenset[str], new: str) -> tuple[str, int]:
    """Return a text whose links to some keys name something else, and how many were changed.

    Headings, blocks and labels are kept. A name that a link cannot hold is not written: `new` is an id then, and the
    former target becomes the label, unless it is an id, too.

    Args:
        old: Keys of the former name.
        new: The new name or id.
    """
    parts: list[str] = []
    done = count = 0
    links = (
        (begin + match.start(1), begin + match.end(1))
        for begin, line, first in _iter_marked_lines(text, LINK_MARK)
        for match in _find_links(mask_code(line), first)
    )
    for start, end in islice(links, MAX_LINKS):
        changed = _rename_target(text[start:end], old, new)
        if changed is not None:
            parts += (text[done:start], changed)
            done, count = end, count + 1
    return "".join((*parts, text[done:])), count


def _rename_target(inner: str, old: frozenset[str], new: str) -> str | None:
    """Return the new text between the brackets of a link; None if it is not to an old name."""
    target = parse_target(inner)
    if not target or old.isdisjoint(make_keys(target)):
        return None
    label = inner[len(inner.partition("|")[0].rstrip("\\")) :]
    if normalize_name(target) in old:
        place = ""
    else:
        _, mark, place = target.partition("#")
        place = mark + place
    if is_id(new) and not label and not is_id(target.partition("#")[0]):
        label = f"|{target}"
    return f"{new}{place}{label}"


def can_be_target(name: str) -> bool:
    """Return whether a link can name an item by this name."""
    return not set("[]|#^\\").intersection(name)


def extract_sentence(text: str, at: int) -> str:
    """Return the sentence around a position on one line, at most 160 characters."""
    begin = max((match.end() for match in _BREAK.finditer(text, 0, at)), default=0)
    after = _BREAK.search(text, at + len(LINK_MARK))
    end = len(text) if after is None else after.start() if after[0] in "\r\n" else after.end()
    if end - begin > SENTENCE_CHARS:
        begin = max(begin, min(at - SENTENCE_CHARS // 3, end - SENTENCE_CHARS))
        end = min(end, begin + SENTENCE_CHARS)
    return collapse_whitespace(text[begin:end])


def parse_observations(text: str) -> Iterator[Observation]:
    """Yield the observations of a text in order."""
    for _, line, _ in _iter_marked_lines(text, "["):
        match = _OBSERVATION.match(line)
        if match and not _TIME_OF_DAY.fullmatch(match[1]):
            tags = tuple(parse_tags(mask_line(match[2])))
            yield Observation(collapse_whitespace(match[1]), collapse_whitespace(match[2]), tags)
