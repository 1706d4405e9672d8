"""Edits TOML as text: everything else stays as it is, byte for byte. Pure.

Tables are found by their headers, because users write the comment above a header for that header, while parsers assign
it to the previous table. tomlkit edits the contents of a table, and servers written on one line.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, cast

Table = MutableMapping[str, Any]
Span = tuple[int, int]

TABLE_DEPTH = 2
"""The number of keys of a server's table: `mcp_servers`, and the server's name."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BARE_NEWLINE = re.compile(r"(?<!\r)\n")


def parse(text: str) -> Any:
    """Parse a text.

    Raises:
        ValueError: It cannot be parsed; names the line.
    """
    return tomllib.loads(text)


def set_value(text: str, path: Sequence[str], value: object) -> str:
    """Set the value at a path: a new table is appended, other values go into their table.

    Raises:
        ValueError: The text cannot be parsed, or the path leads through something that is not a table.
    """
    if len(path) == TABLE_DEPTH:
        appended = _append_table(_remove_spans(text, _spans(text, path)), path, cast("Mapping[str, Any]", value))
        if _is_valid(appended):
            return appended
    return _edit_table(text, path, lambda table: table.__setitem__(path[-1], _to_inline(value)))


def delete_value(text: str, path: Sequence[str]) -> str:
    """Delete the value at a path; comments after a table stay, because they belong to the next one.

    Raises:
        ValueError: The text cannot be parsed, or the path leads through something that is not a table.
    """
    if len(path) == TABLE_DEPTH and (spans := _spans(text, path)):
        return _remove_spans(text, spans)
    return _edit_table(text, path, lambda table: table.pop(path[-1], None))


def format_value(value: object) -> str:
    """Return a value as it is written after `name = `."""
    import tomlkit

    return tomlkit.item(value).as_string()


def _is_valid(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _spans(text: str, path: Sequence[str]) -> list[Span]:
    """Return the ranges of the tables at and below a path, from the header to the last value."""
    spans: list[Span] = []
    is_ours = False
    for match in _LINE.finditer(text):
        line = match.group().strip()
        if header := _parse_header(line):
            if is_ours := header[: len(path)] == tuple(path):
                span = spans.pop() if spans and not text[spans[-1][1] : match.start()].strip() else match.span()
                spans.append((span[0], match.end()))
        elif is_ours and line and not line.startswith("#"):
            spans[-1] = spans[-1][0], match.end()
    return spans


def _parse_header(line: str) -> tuple[str, ...]:
    """Return the keys of a table's header, none for other lines."""
    if not line.startswith("["):
        return ()
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    keys: list[str] = []
    while isinstance(value, dict) and value:
        ((key, value),) = cast("dict[str, Any]", value).items()
        keys.append(key)
    return tuple(keys)


def _remove_spans(text: str, spans: Sequence[Span]) -> str:
    for start, end in reversed(spans):
        before, after = text[:start], text[end:]
        if before.endswith(("\n\n", "\n\r\n")) and (not after or after.startswith(("\n", "\r\n"))):
            before = before.removesuffix("\n").removesuffix("\r")
        text = before + after
    return text


def _append_table(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    import tomlkit  # 30 ms

    table, servers = tomlkit.table(), tomlkit.table(is_super_table=True)
    for key, entry in value.items():
        table[key] = _to_inline(entry)
    servers[path[1]] = table
    new = tomlkit.document()
    new[path[0]] = servers
    lines = text if text.endswith("\n") or not text else f"{text}\n"
    gap = "" if not lines or lines.endswith(("\n\n", "\n\r\n")) else "\n"
    return _restore_line_endings(text, f"{lines}{gap}{tomlkit.dumps(new)}")


def _edit_table(text: str, path: Sequence[str], change: Callable[[Table], object]) -> str:
    """Change the table that contains the end of a path."""
    import tomlkit

    spans = _spans(text, path[:TABLE_DEPTH])
    # Our own tables are parsed separately, so that new values are not put after the following comments.
    document = tomlkit.parse("".join(text[start:end] for start, end in spans) or text)
    change(_parent_table(document, path))
    new_text = tomlkit.dumps(document)
    for start, end in reversed(spans[1:]):
        text = text[:start] + text[end:]
    start, end = spans[0] if spans else (0, len(text))
    return _restore_line_endings(text, text[:start] + new_text + text[end:])


def _parent_table(document: Table, path: Sequence[str]) -> Table:
    for key in path[:-1]:
        inner = document.get(key)
        if not isinstance(inner, MutableMapping):
            raise ValueError(f"“{key}” is not a table")
        document = cast("Table", inner)
    return document


def _to_inline(value: object) -> Any:
    """Render a value inline."""
    import tomlkit

    if not isinstance(value, Mapping):
        return value
    table = tomlkit.inline_table()
    for key, entry in cast("Mapping[str, Any]", value).items():
        table[key] = _to_inline(entry)
    return table


def _restore_line_endings(text: str, new_text: str) -> str:
    """Return new text with the line endings of the original."""
    if "\r\n" in text and not _BARE_NEWLINE.search(text):
        return _BARE_NEWLINE.sub("\r\n", new_text)
    return new_text
