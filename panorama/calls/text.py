"""Compact text: the form of an answer that a model reads, with few tokens."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from panorama.domain.plain import is_list, is_object

_TOLD = ("bound", "next_cursor", "undo", "repeated", "hint")
"""What of the metadata a model is told; the rest is for programs."""


def body(data: Any, exact: Collection[str] = ()) -> str:
    """Return data as a model reads it: tables for rows, lines for fields.

    Args:
        exact: Names of fields whose value is told so that it is mistaken for no other, also if it is empty.
    """
    if is_list(data):
        return "\n".join(_rows(data))
    if is_object(data):
        return "\n".join(_lines(data, exact))
    return "" if data is None else _inline(data)


def compact(summary: str, data: str, metadata: Mapping[str, Any]) -> str:
    """Return the summary, the data, and what of the metadata a model should know."""
    told = [f"{name}: {_inline(metadata[name])}" for name in _TOLD if metadata.get(name)]
    if names := metadata.get("names"):
        told.insert(0, "names: " + ", ".join(f"{id_}={name}" for id_, name in names.items()))
    return "\n".join([summary, *([data] if data else []), *told])


def _lines(data: Mapping[str, Any], exact: Collection[str] = ()) -> list[str]:
    found: list[str] = []
    last: list[str] = []
    for name, value in data.items():
        if name in exact:
            found += _exactly(name, value)
        elif value in ("", [], {}):
            continue
        elif _is_table(value):
            found += [f"{name}:", *_rows(value)]
        elif is_object(value):
            found += _nested(name, value)
        elif isinstance(value, str) and "\n" in value:
            last += [f"{name}:", value]
        else:
            found.append(f"{name}: {_inline(value)}")
    return found + last


def _exactly(name: str, value: Any) -> list[str]:
    """A value as JSON, but for what is clear without: rows of plain values as a table, and text that is no JSON."""
    if _is_table(value) and not any(is_list(each) or is_object(each) for row in value for each in row.values()):
        return [f"{name}:", *_rows(value)]
    if is_object(value) and any(map(_is_table, value.values())):
        return [f"{name}:", *(line for key, each in value.items() for line in _exactly(key, each))]
    if isinstance(value, str) and not _is_json(value):
        return [f"{name}:", value] if "\n" in value else [f"{name}: {value}"]
    return [f"{name}: {_json(value)}"]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return not text.strip()
    return True


def _nested(name: str, value: Mapping[str, Any]) -> list[str]:
    """Fields of an object on one line, unless one of them needs lines of its own."""
    if any(_is_table(each) or is_object(each) or (isinstance(each, str) and "\n" in each) for each in value.values()):
        return [f"{name}:", *_lines(value)]
    return [f"{name}: " + ", ".join(f"{key}={_inline(each)}" for key, each in value.items())]


def _is_table(value: Any) -> bool:
    return is_list(value) and bool(value) and all(is_object(row) for row in value)


def _rows(rows: Sequence[Any]) -> list[str]:
    """A head with the names of the columns, then a line per row; `-` where a row has no value."""
    if not _is_table(rows):
        return [_inline(row) for row in rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return [" | ".join(columns), *(" | ".join(_cell(row.get(name)) for name in columns) for row in rows)]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    text = _inline(value)
    plain = isinstance(value, str) and ("|" in text or text == "-")
    return _json(text) if plain else text


def _inline(value: Any) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else _json(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_list(value) and all(isinstance(each, str) and each and "," not in each for each in value):
        return ",".join(value)
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
