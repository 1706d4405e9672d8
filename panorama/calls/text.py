"""Compact text: the form of an answer that a model reads, with few tokens."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from panorama.domain.plain import is_list, is_object

_TOLD = ("bound", "next_cursor", "undo", "repeated", "hint")
"""What of the metadata a model is told; the rest is for programs."""


def body(data: Any) -> str:
    """Return data as a model reads it: tables for rows, lines for fields."""
    if is_list(data):
        return "\n".join(_rows(data))
    if is_object(data):
        return "\n".join(_lines(data))
    return "" if data is None else _inline(data)


def compact(summary: str, data: str, metadata: Mapping[str, Any]) -> str:
    """Return the summary, the data, and what of the metadata a model should know."""
    told = [f"{name}: {_inline(metadata[name])}" for name in _TOLD if metadata.get(name)]
    if names := metadata.get("names"):
        told.insert(0, "names: " + ", ".join(f"{id_}={name}" for id_, name in names.items()))
    return "\n".join([summary, *([data] if data else []), *told])


def _lines(data: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    last: list[str] = []
    for name, value in data.items():
        if value in ("", [], {}):
            continue
        if _is_table(value):
            found += [f"{name}:", *_rows(value)]
        elif is_object(value):
            found += _nested(name, value)
        elif isinstance(value, str) and "\n" in value:
            last += [f"{name}:", value]
        else:
            found.append(f"{name}: {_inline(value)}")
    return found + last


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
    return json.dumps(text, ensure_ascii=False) if plain else text


def _inline(value: Any) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_list(value) and all(isinstance(each, str) for each in value):
        return ",".join(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
