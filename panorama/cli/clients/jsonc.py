"""Edits JSON with comments as text: everything else stays as it is, byte for byte. Pure.

Comments and commas before a closing bracket are accepted and kept, as are indentation and line endings.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<space>   [ \t\r\n]+ )
  | (?P<comment> //[^\r\n]* | /\*.*?\*/ )
  | (?P<scalar>  "[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"
               | -?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?
               | true | false | null )
  | (?P<mark>    [{}\[\],:] )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENTS_ON_THE_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*.*?\*/))*", re.DOTALL)
_REST_OF_AN_EMPTY_LINE = re.compile(r"[ \t]*(?=\r?\n|\Z)")
_BLANKS = re.compile(r"[ \t]*")
_SPACED = re.compile(r'":\s')


class Member(NamedTuple):
    """One `"key": value` of an object: the start of its key, and the position of the comma after it, if any."""

    key: str
    start: int
    value: "Node"
    comma: int | None


class Node(NamedTuple):
    """A value, its range in the text, and an object's members."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] = ()


def parse(text: str, *, strict: bool = False) -> Any:
    """Parse a text; an empty one is an empty object.

    Args:
        strict: Reject comments and commas before a closing bracket.

    Raises:
        ValueError: It cannot be parsed; names the line.
    """
    with suppress(ValueError):
        return json.loads(text, parse_constant=_refuse_constant)  # a hundred times faster, and mostly enough
    root = _parse_root(text, strict=strict)
    return {} if root is None else root.value


def set_value(text: str, path: Sequence[str], value: object) -> str:
    """Set the value at a path; missing objects are appended.

    Raises:
        ValueError: The text cannot be parsed, or the path leads through something that is not an object; names the
            line.
    """
    node = root = _parse_root(text)
    if node is None or root is None:
        return _create_document(text, _nest(path, value))
    for depth, key in enumerate(path):
        member = _last_member(_require_object(text, node, path[:depth]), key)
        if member is None:
            return _insert_member(text, root, node, key, _nest(path[depth + 1 :], value))
        node = member.value
    return text[: node.start] + _render_replacement(text, root, node, value) + text[node.end :]


def delete_value(text: str, path: Sequence[str]) -> str:
    """Delete the value at a path, including duplicates of its key.

    Raises:
        ValueError: The text cannot be parsed, or the path leads through something that is not an object; names the
            line.
    """
    while member := _find_member(text, path):
        text = _remove_member(text, *member)
    return text


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _parse_root(text: str, *, strict: bool = False) -> Node | None:
    reader = _Parser(text, strict=strict)
    return None if reader.is_at_end() else reader.parse_document()


def _require_object(text: str, node: Node, path: Sequence[str]) -> Node:
    if isinstance(node.value, dict):
        return node
    raise _error_at(text, node.start, f"“{path[-1]}” is not an object" if path else "the file does not hold an object")


def _error_at(text: str, at: int, problem: str) -> ValueError:
    line = text.count("\n", 0, at) + 1
    return ValueError(f"line {line}: {problem}")


class _Parser:
    """Reads values by recursive descent over tokens."""

    def __init__(self, text: str, *, strict: bool) -> None:
        self._text, self._strict, self._at = text, strict, 0
        self._tokens = self._tokenize()

    def _tokenize(self) -> list[tuple[int, int]]:
        tokens: list[tuple[int, int]] = []
        at = 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            if match is None:
                raise _error_at(self._text, at, f"{self._text[at : at + 20]!r} cannot be read")
            if match.lastgroup == "comment" and self._strict:
                raise _error_at(self._text, at, "comments are not allowed in this file")
            if match.lastgroup in ("scalar", "mark"):
                tokens.append(match.span())
            at = match.end()
        return tokens

    def is_at_end(self) -> bool:
        return self._at == len(self._tokens)

    def parse_document(self) -> Node:
        node = self._parse_value()
        if not self.is_at_end():
            raise self._missing_error("the end of the file")
        return node

    def _peek(self) -> str:
        return "" if self.is_at_end() else self._text[self._tokens[self._at][0]]

    def _expect(self, mark: str, expected: str) -> tuple[int, int]:
        if self._peek() != mark:
            raise self._missing_error(expected)
        self._at += 1
        return self._tokens[self._at - 1]

    def _missing_error(self, expected: str) -> ValueError:
        at = len(self._text.rstrip()) if self.is_at_end() else self._tokens[self._at][0]
        return _error_at(self._text, at, f"{expected} is expected here")

    def _parse_value(self) -> Node:
        first = self._peek()
        if first == "{":
            return self._parse_object()
        if first == "[":
            return self._parse_array()
        if not first or first in "}],:":
            raise self._missing_error("a value")
        start, end = self._expect(first, "a value")
        return Node(start, end, json.loads(self._text[start:end]))

    def _parse_object(self) -> Node:
        start, _ = self._expect("{", "“{”")
        members: list[Member] = []
        while self._peek() != "}":
            key, end = self._expect('"', "a key in quotes")
            self._expect(":", "“:”")
            members.append(Member(json.loads(self._text[key:end]), key, self._parse_value(), self._parse_comma("}")))
            if members[-1].comma is None:
                break
        _, end = self._expect("}", "“,” or “}”")
        return Node(start, end, {member.key: member.value.value for member in members}, tuple(members))

    def _parse_array(self) -> Node:
        start, _ = self._expect("[", "“[”")
        items: list[Any] = []
        while self._peek() != "]":
            items.append(self._parse_value().value)
            if self._parse_comma("]") is None:
                break
        _, end = self._expect("]", "“,” or “]”")
        return Node(start, end, items)

    def _parse_comma(self, closing: str) -> int | None:
        if self._peek() != ",":
            return None
        at, _ = self._expect(",", "“,”")
        if self._strict and self._peek() == closing:
            raise _error_at(self._text, at, f"there is a comma before “{closing}”, which this file may not have")
        return at


def _last_member(node: Node, key: str) -> Member | None:
    """Return the effective member: the last of equal keys."""
    return next((member for member in reversed(node.members) if member.key == key), None)


def _nest(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent(text: str, at: int) -> str | None:
    """Return the blanks before a position, None if it is not the first on its line."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return None if before.strip(" \t") else before


def _line_indent(text: str, at: int) -> str:
    match = _BLANKS.match(text, text.rfind("\n", 0, at) + 1)
    return match.group() if match else ""


def _indent_unit(text: str, root: Node) -> str:
    """Return the indentation unit of the file."""
    outer = _line_indent(text, root.start)
    indents = (_indent(text, member.start) for member in root.members)
    return next((inner.removeprefix(outer) for inner in indents if inner and inner != outer), "  ")


def _render_block(value: object, indent: str, unit: str, newline: str) -> str:
    """Render a value over several lines."""
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + indent)


def _render_inline(value: object, text: str) -> str:
    spaced = (", ", ": ") if _SPACED.search(text) else (",", ":")
    return json.dumps(value, ensure_ascii=False, separators=spaced)


def _create_document(text: str, value: object) -> str:
    """Render a new object for a text that is empty or has only comments."""
    newline, comments = _newline(text), text.rstrip()
    return f"{comments}{newline if comments else ''}{_render_block(value, '', '  ', newline)}{newline}"


def _render_replacement(text: str, root: Node, node: Node, value: object) -> str:
    if "\n" not in text.strip():
        return _render_inline(value, text)
    return _render_block(value, _line_indent(text, node.start), _indent_unit(text, root), _newline(text))


def _insert_member(text: str, root: Node, node: Node, key: str, value: object) -> str:
    on_one_line = "\n" not in text.strip() and bool(root.members)
    if not node.members:
        return _insert_first_member(text, root, node, {key: value}, on_one_line=on_one_line)
    places = (_indent(text, member.start) for member in (node.members[-1], node.members[0]))
    indent = next((place for place in places if place is not None), None)
    if on_one_line or indent is None:
        return _append_member(
            text, node.members[-1], " " if _SPACED.search(text) else "", _render_inline({key: value}, text)[1:-1]
        )
    block = _render_block(value, indent, _indent_unit(text, root), _newline(text))
    member = f"{json.dumps(key, ensure_ascii=False)}: {block}"
    return _append_member(text, node.members[-1], f"{_newline(text)}{indent}", member)


def _insert_first_member(text: str, root: Node, node: Node, value: Mapping[str, object], *, on_one_line: bool) -> str:
    """Insert the first members of an object, after the comments in it."""
    before = text[: node.end - 1].rstrip()
    if on_one_line:
        return f"{before}{_render_inline(value, text)[1:-1]}{text[node.end - 1 :]}"
    block = _render_block(value, _line_indent(text, node.start), _indent_unit(text, root), _newline(text))
    return f"{before}{block[1:-1]}{text[node.end - 1 :]}"


def _append_member(text: str, last: Member, gap: str, member: str) -> str:
    """Append a member, on its own line, after the comments of the last one."""
    end = last.value.end if last.comma is None else last.comma + 1
    comment = _COMMENTS_ON_THE_LINE.match(text, end) if "\n" in gap else None
    place = comment.end() if comment else end
    comma = ("", ",") if last.comma is not None else (",", "")
    return f"{text[:end]}{comma[0]}{text[end:place]}{gap}{member}{comma[1]}{text[place:]}"


def _find_member(text: str, path: Sequence[str]) -> tuple[Node, Member] | None:
    """Return the member at a path and its object."""
    node = _parse_root(text)
    holder, member = node, None
    for depth, key in enumerate(path):
        if node is None or (member := _last_member(holder := _require_object(text, node, path[:depth]), key)) is None:
            return None
        node = member.value
    return (holder, member) if holder and member else None


def _remove_member(text: str, holder: Node, member: Member) -> str:
    start, end = _member_extent(text, member)
    if not f"{text[holder.start + 1 : start]}{text[end : holder.end - 1]}".strip():
        return text[: holder.start + 1] + text[holder.end - 1 :]
    at = holder.members.index(member)
    orphan = holder.members[at - 1].comma if at and member.comma is None else None
    if orphan is None:
        return text[:start] + text[end:]
    return text[:orphan] + text[orphan + 1 : start] + text[end:]


def _member_extent(text: str, member: Member) -> tuple[int, int]:
    """Return the range deleted with a member: its comma, and its line unless something else is on it."""
    start, end = member.start, member.value.end if member.comma is None else member.comma + 1
    indent, rest = _indent(text, start), _REST_OF_AN_EMPTY_LINE.match(text, end)
    if indent is not None and rest:
        line = start - len(indent)
        return line - (2 if text[:line].endswith("\r\n") else min(line, 1)), rest.end()
    if member.comma is not None:
        return start, len(text) - len(text[end:].lstrip(" \t"))
    return len(text[:start].rstrip(" \t")), end
