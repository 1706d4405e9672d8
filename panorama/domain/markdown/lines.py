"""Splits a Markdown text into lines: fenced code, headings, tags and links."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from panorama.domain.items.item import TAG_CHARS, is_blank, normalize_name

FILLER = "\x00"
"""Replaces text that must not be read, keeping all offsets; lines contain no control characters by then."""

# Possessive quantifiers (*+ and ++) keep the time linear on hostile text.
_LINE = re.compile(r"([^\r\n]*+)(?:\r\n|[\r\n]|\Z)")
_REST = re.compile(r"[^\r\n]*+")
_FENCE = re.compile(r"[ \t]*+(>[> \t]*+)?(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*(`{3,}+(?=[^`]*+$)|~{3,}+)")
_HEADING = re.compile(r"\ufeff? {0,3}(#{1,6})(?![^ \t])(.*)", re.DOTALL)
# A possible heading or fence, found after the preceding line break: a literal is searched at memory speed, a
# set of characters ten times slower.
_HEADING_OR_FENCE = r"[ \t>\-*+0-9.)\ufeff]*+(?:#|```|~~~)"
_HEADING_OR_FENCE_AFTER_LF = re.compile(f"\n{_HEADING_OR_FENCE}")
_HEADING_OR_FENCE_AFTER_BREAK = re.compile(f"[\r\n]{_HEADING_OR_FENCE}")
_COMMENT_OR_FENCE = re.compile("<!--|```|~~~")
_UNQUOTED = re.compile(r"(?>\r\n|[\r\n])(?![^\S\r\n]*+>)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_VISIBLE = re.compile(r"[^\r\n]")
_BACKTICKS = re.compile(r"`++")
_LINK = re.compile(r"\[\[([^\[\]|#]*+)(?:[|#][^\[\]]*+)?\]\]")
_FILE_TARGET = re.compile(r"\[\[([^\[\]|]++)[^\[\]]*+\]\]|\]\((?:<([^<>]++)>|([^()<>\s]++))")
_OPAQUE = re.compile(r"\[\[[^\[\]]++\]\]|\]\([^()\s]*+|://\S*+")
# Letters as \w has them, and the marks that many scripts, and names from macOS, write after a letter.
_TAG_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u200d"
_TAG = re.compile(rf"(?<![\w#&/\\=%])(?<!=[\"'])#(?=\w)([\w\-/{_TAG_MARKS}]++)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading and its section, `text[start:end]`: up to the next heading of the same or a higher level."""

    level: int
    title: str
    start: int
    end: int


class Line(NamedTuple):
    """A line without its ending; `fence` is "" outside fenced code, "opens", or "inside" (its closing line too).

    A line that is a comment as a whole is "inside", too.
    """

    number: int
    start: int
    text: str
    fence: str


def iter_lines(text: str, first: int = 1) -> Iterator[Line]:
    """Yield the lines; only CR, LF and CRLF end a line, as in CommonMark."""
    mark, quoted = "", False
    visible = mask_comments(text)
    for number, match in enumerate(_LINE.finditer(text), first):
        line = match[1]
        if visible is not text and not line.isspace() and visible[match.start() : match.end(1)].isspace():
            yield Line(number, match.start(), line, "inside")
            continue
        if mark and not (quoted and not line.lstrip().startswith(">")):
            yield Line(number, match.start(), line, "inside")
            mark = "" if is_closing_fence(line, mark, quoted) else mark
            continue
        fence = match_fence(line)
        mark, quoted = (fence[2], bool(fence[1])) if fence else ("", False)
        yield Line(number, match.start(), line, "opens" if fence else "")


def match_fence(line: str) -> re.Match[str] | None:
    """Return the match of a line that opens fenced code, None for any other; group 2 is its mark."""
    return _FENCE.match(line) if "```" in line or "~~~" in line else None


def is_closing_fence(line: str, mark: str, quoted: bool) -> bool:
    """Return whether a line closes the fenced code that a mark opened."""
    closing = line.lstrip(" \t>" if quoted else " \t").rstrip()
    return closing.startswith(mark) and not closing.strip(mark[0])


MAX_MARKED_LINES = 50_000
"""The maximum number of lines parsed for headings, and of comment marks (0.5 s); a note of 10 MB may have millions."""


def mask_comments(text: str) -> str:
    """Return a text of the same length and lines with spaces for the HTML comments outside code.

    A comment without an end is text.
    """
    if "<" not in text or "<!--" not in text:  # one character is searched at memory speed
        return text
    parts: list[str] = []
    mark, line_end, done = "", -1, 0
    line_start, plain = 0, ""
    for match in islice(_COMMENT_OR_FENCE.finditer(text), MAX_MARKED_LINES):
        at = match.start()
        is_new = at > line_end
        if is_new:
            line_start = text.rfind("\n", line_end + 1, at) + 1 or line_end + 1
            line_end = text.find("\n", at)
            line_end = len(text) if line_end < 0 else line_end
            plain = mask_code(text[line_start:line_end])
        if at < done:
            continue
        if is_new and mark:
            mark = "" if is_closing_fence(text[line_start:line_end], mark, quoted=False) else mark
        elif is_new and line_start >= done and (fence := match_fence(text[line_start:line_end])):
            mark = fence[2]
        elif not mark and match[0] == "<!--" and plain[at - line_start] == "<":
            end = text.find("-->", at + 4)
            if end < 0:
                break
            parts += (text[done:at], _VISIBLE.sub(" ", text[at : end + 3]))
            done = end + 3
    return "".join((*parts, text[done:])) if parts else text


# Headings


def parse_headings(text: str) -> tuple[Heading, ...]:
    """Return the headings (`#` to `######`) outside fenced code, in order, with their sections.

    Only the first 50,000 lines that may be a heading or a fence are examined.
    """
    text = mask_comments(text)
    headings = [
        (start, *heading) for start, line in _iter_heading_candidates(text) if (heading := _parse_heading(line))
    ]
    ends: list[int] = []
    later: list[tuple[int, int]] = []  # (level, start) of the headings further down that can still end a section
    for start, level, _ in reversed(headings):
        while later and later[-1][0] > level:
            later.pop()
        ends.append(later[-1][1] if later else len(text))
        later.append((level, start))
    return tuple(
        Heading(level=level, title=title, start=start, end=end)
        for (start, level, title), end in zip(headings, reversed(ends), strict=True)
    )


def list_heading_titles(text: str, limit: int) -> tuple[str, ...]:
    """Return the titles of the first headings, as `parse_headings` does, without reading the rest of the text."""
    lines = (line for _, line in _iter_heading_candidates(mask_comments(text)))
    return tuple(islice((heading[1] for line in lines if (heading := _parse_heading(line))), limit))


def _iter_heading_candidates(text: str) -> Iterator[tuple[int, str]]:
    """Yield start and text of lines outside code that may be headings; faster than `iter_lines`."""
    feeds_only = text.count("\r") == text.count("\r\n")
    marked = _HEADING_OR_FENCE_AFTER_LF if feeds_only else _HEADING_OR_FENCE_AFTER_BREAK
    mark, quoted, quote_end = "", False, 0
    # The break put in front moves all by one: where a break is found, the line behind it starts in the text.
    for start in (match.start() for match in islice(marked.finditer(f"\n{text}"), MAX_MARKED_LINES)):
        line = _rest_of_line(text, start)
        if mark and not (quoted and start >= quote_end):
            mark = "" if is_closing_fence(line, mark, quoted) else mark
            continue
        fence = match_fence(line)
        mark, quoted = (fence[2], bool(fence[1])) if fence else ("", False)
        if not fence:
            yield start, line
        elif quoted and quote_end <= start:
            unquoted = _UNQUOTED.search(text, start)
            quote_end = unquoted.end() if unquoted else len(text)


def _rest_of_line(text: str, start: int) -> str:
    match = _REST.match(text, start)
    return match[0] if match else ""


def _parse_heading(line: str) -> tuple[int, str] | None:
    match = _HEADING.match(line) if "#" in line else None
    if not match:
        return None
    title = match[2].strip()
    unclosed = title.rstrip("#")
    return len(match[1]), collapse_whitespace(unclosed if not unclosed or unclosed[-1] in " \t" else title)


def first_heading(lines: Iterable[Line]) -> str:
    """Return the title of the first heading of the first level that has one."""
    headings = (_parse_heading(line.text) for line in lines if not line.fence)
    titles = (strip_links(heading[1]) for heading in headings if heading and heading[0] == 1)
    return next(filter(None, titles), "")


_HEADING_IMAGE = re.compile(
    r"!\[[^\[\]]*+\](?:\((?:[^()]++|\([^()]*+\))*+\)|\[[^\[\]]*+\])|<img\b[^<>]*+>|!\[\[[^\[\]]*+\]\]"
)
_HEADING_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*+\|)?([^\[\]|]*+)\]\]")
_HEADING_LINK = re.compile(r"\[([^\[\]]*+)\](?:\((?:[^()]++|\([^()]*+\))*+\)|\[[^\[\]]*+\])")


def strip_links(heading: str) -> str:
    """Return a heading's plain text: link texts without addresses, and no images such as badges."""
    without_images = _HEADING_IMAGE.sub("", heading)
    return collapse_whitespace(_HEADING_LINK.sub(r"\1", _HEADING_WIKI_LINK.sub(r"\1", without_images)))


def parse_title(text: str) -> str:
    """Return a title; of a Markdown heading, its plain text."""
    heading = _parse_heading(text.strip()) if text.lstrip().startswith("# ") else None
    return (strip_links(heading[1]) or heading[1] or text) if heading else text


# Words


def replace_controls(text: str) -> str:
    """Return text of the same length with spaces for control characters and Unicode line breaks."""
    return _CONTROL.sub(" ", text)


def collapse_whitespace(text: str) -> str:
    """Return text on one line, without control characters and with single spaces; "" if nothing is visible."""
    joined = " ".join(replace_controls(text).split())
    return "" if is_blank(joined) else joined


def deduplicate(words: Iterable[str]) -> tuple[str, ...]:
    """Return each word once, ignoring spelling variants, in order."""
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(normalize_name(word), word)
    return tuple(first.values())


# Tags and links


def iter_tags(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the `#tags` outside code, links and addresses."""
    for line in lines:
        if "#" in line.text and not line.fence:
            yield from parse_tags(mask_line(line.text))


def parse_tags(masked: str) -> list[str]:
    """Return the tags of a masked line."""
    return [tag for tag, _, _ in locate_tags(masked) if tag]


def locate_tags(masked: str) -> list[tuple[str, int, int]]:
    """Return possible tags in a masked line with their ranges; "" for a number or an overlong tag."""
    return [(_clean_tag(match[1]), *match.span()) for match in _TAG.finditer(masked)]


def _clean_tag(written: str) -> str:
    tag = written.rstrip("-/")
    return "" if tag.isnumeric() or len(tag) > TAG_CHARS else tag


def list_link_targets(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the targets of `[[links]]` outside code, each once, in order."""
    plain = (mask_code(line.text) for line in lines if "[[" in line.text and not line.fence)
    # A backslash at the end is the table's way to write the bar: [[Target\|label]].
    targets = (collapse_whitespace(match[1].rstrip("\\")) for line in plain for match in _LINK.finditer(line))
    return tuple(dict.fromkeys(target for target in targets if target))


def list_file_targets(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the targets of `![[embeds]]`, `[[links]]` and `[text](path)` that may be files, each once, in order."""
    plain = (mask_code(line.text) for line in lines if ("[[" in line.text or "](" in line.text) and not line.fence)
    found = (match for line in plain for match in _FILE_TARGET.finditer(line))
    targets = (match[1] or match[2] or match[3] for match in found)
    return tuple(dict.fromkeys(target.strip() for target in targets if "://" not in target))


def parse_link_target(text: str) -> str:
    """Return the target if a text is one `[[link]]` and nothing else, else the text."""
    match = _LINK.fullmatch(text)
    return match[1].strip() if match else text


def mask_line(line: str) -> str:
    """Return the line with code spans, wikilinks and addresses masked."""
    return _OPAQUE.sub(_fill, mask_code(line))


def _fill(match: re.Match[str]) -> str:
    return FILLER * len(match[0])


MAX_BACKTICK_RUNS = 100_000
"""The maximum number of backtick runs that are read in a line (0.1 s); a line of 10 MB may have millions."""


def mask_code(line: str) -> str:
    """Return the line with its code spans masked; a span lies between two equal runs of backticks."""
    if "`" not in line:
        return line
    parts: list[str] = []
    done = 0
    for start, end in _iter_code_spans(line):
        parts += (line[done:start], FILLER * (end - start))
        done = end
    return "".join((*parts, line[done:]))


def _iter_code_spans(line: str) -> Iterator[tuple[int, int]]:
    runs = [match.span() for match in islice(_BACKTICKS.finditer(line), MAX_BACKTICK_RUNS)]
    nearest: dict[int, int] = {}
    closers: list[int] = []  # for each run, the end of the next one of the same length, or 0; built from the back
    for start, end in reversed(runs):
        closers.append(nearest.get(end - start, 0))
        nearest[end - start] = end
    done = 0
    for (start, _), closer in zip(runs, reversed(closers), strict=True):
        if start >= done and closer:
            yield start, closer
            done = closer
