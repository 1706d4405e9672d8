"""Answers: results as plain data, cut to a size that a model can read, and as text."""

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime
from functools import cache, cached_property
from operator import attrgetter
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

from panorama.calls import model_text, msgpack_rows
from panorama.domain.changes import digest
from panorama.domain.paging import Key
from panorama.domain.text.json_types import SCALARS, dump_json, is_list, is_object, is_sequence
from panorama.domain.time.times import format_time
from panorama.errors import InvalidInputError

PAGE_CHARS = 7_000
"""The default size of a page in characters; with summary and metadata it stays under 8 KB."""

MAX_CHARS = 38_500
"""The largest data in characters; with summary and metadata it stays under the 40,000 that clients accept."""

ROW_TEXT_CHARS = 600
ITEM_TEXT_CHARS = 6_000
DEFAULT_ROWS = 50
MAX_ROWS = 500
_TRUNCATED = "… ({} characters in all; {})"
_CUT_TEXT = re.compile(r"… \([\d,]+ characters(?: in all; .*)?\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """The audience of an answer, and its limits in characters and rows.

    `in_row` and `alone` limit a long text in a row of a list and in a single item. `wants_all` keeps every field of a
    row, including empty ones. `recalls` lets a call refer to items read before. A `is_page` answer is shown to a person
    by the web page: its reads are not logged, and no model pays for it.
    """

    page_chars: int = PAGE_CHARS
    most_chars: int = MAX_CHARS
    in_row: int = ROW_TEXT_CHARS
    alone: int = ITEM_TEXT_CHARS
    rows: int = DEFAULT_ROWS
    most_rows: int = MAX_ROWS
    wants_all: bool = False
    recalls: bool = True
    is_page: bool = False


MODEL = Audience()
SCRIPT = Audience(
    page_chars=1 << 20,
    most_chars=1 << 30,
    in_row=1 << 30,
    alone=1 << 30,
    rows=2_000,
    most_rows=10_000,
    wants_all=True,
    recalls=False,
)
PAGE = Audience(
    page_chars=1 << 22,
    most_chars=1 << 30,
    alone=1 << 30,
    rows=200,
    most_rows=2_000,
    recalls=False,
    is_page=True,
)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to a call: `data` is plain (JSON), `metadata` describes how it was produced.

    `rows` are the rows of `data` in the form for scripts, if they were already encoded. `shortfall` says what is
    missing from the result, "" if nothing: a call then has an answer, but a job has failed. `exact` names fields that
    are rendered unambiguously for models, `hidden` those only for programs ("search.engine" is a field of `search`).
    `line` returns the fields of a row that the text shows, by default all.
    """

    data: Any
    summary: str
    metadata: Mapping[str, Any]
    rows: Sequence[bytes] | None = None
    shortfall: str = ""
    exact: Sequence[str] = ()
    hidden: Sequence[str] = ()
    line: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer for programs."""
        return {"data": self.data, "summary": self.summary, "metadata": dict(self.metadata)}

    @cached_property
    def compact_data(self) -> Any:
        """The data for a model: no empty or repeated fields, and projects by name; `exact` fields are unchanged."""
        names = self.metadata.get("names", {})
        if not is_object(self.data):
            return model_text.compact(self.data, names)
        visible = model_text.drop_repeated_times(_remove_hidden(self.data, self.hidden))
        if "item" in visible:
            visible["item"] = model_text.drop_repeated_times(visible["item"])
        rest = {name: value for name, value in visible.items() if name not in self.exact}
        compact = model_text.compact(rest, names)
        exact = {name: value for name, value in self.data.items() if name in self.exact}
        return {name: exact.get(name, compact.get(name)) for name in self.data if name in exact or name in compact}

    @cached_property
    def structure(self) -> dict[str, Any]:
        """The structured answer for models: the same content as the text."""
        metadata = {name: value for name in model_text.SHOWN_METADATA if (value := self.metadata.get(name))}
        if is_list(self.data) and (total := self.metadata.get("total", 0)) > len(self.data):
            metadata["total"] = total
        return {"summary": self.summary, "data": self.compact_data, **({"metadata": metadata} if metadata else {})}

    @cached_property
    def body(self) -> str:
        """The data as text for models."""
        if self.line and is_list(self.compact_data):
            return model_text.render_data([self.line(row) for row in self.compact_data])
        return model_text.render_data(self.compact_data, self.exact)

    @cached_property
    def text(self) -> str:
        """The answer as text for models: the summary, compact data, and relevant metadata."""
        return model_text.render_answer(self.summary, self.body, self.metadata)

    @cached_property
    def msgpack_bytes(self) -> bytes:
        """The answer for scripts, without the summary."""
        if self.rows is not None:
            return msgpack_rows.pack_rows(self.rows, self.metadata)
        return msgpack_rows.pack(self.data, self.metadata)


def _remove_hidden(fields: Mapping[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    visible = {name: value for name, value in fields.items() if name not in hidden}
    for name, inner in (path.split(".") for path in hidden if "." in path):
        if is_object(value := visible.get(name)):
            visible[name] = {key: entry for key, entry in value.items() if key != inner}
    return visible


def to_plain(
    value: Any, zone: ZoneInfo, *, brief: bool = False, long: int = ITEM_TEXT_CHARS, nulls: bool = False
) -> Any:
    """Convert a value to plain JSON data, without nulls unless requested; brief rows keep few fields.

    Times are formatted in the user's zone, with nulls in full precision. Texts over `long` characters in long fields
    are cut. Bytes are JSON passed between scripts, and are unchanged.
    """
    if type(value) in SCALARS or isinstance(value, str | int | float | bytes):
        return value
    if isinstance(value, datetime | date):
        return format_time(value, zone, exact=nulls)
    if is_dataclass(value) and not isinstance(value, type):
        return _plain_fields(value, zone, brief=brief, long=long, nulls=nulls)
    if is_object(value):
        plain = {str(name): to_plain(entry, zone, brief=brief, long=long, nulls=nulls) for name, entry in value.items()}
        return plain if nulls else {name: entry for name, entry in plain.items() if entry is not None}
    if is_sequence(value):
        return [to_plain(entry, zone, brief=brief, long=long, nulls=nulls) for entry in value]
    raise TypeError(f"{type(value).__name__} has no plain form")


def _plain_fields(value: Any, zone: ZoneInfo, *, brief: bool, long: int, nulls: bool) -> dict[str, Any]:
    shape = _layout_of(cast("type[Any]", type(value)), brief)
    fields = dict(zip(shape.names, shape.read(value), strict=True))
    for name in shape.odd:
        inner = fields[name]
        if type(inner) in _TIMES:
            fields[name] = format_time(inner, zone, exact=nulls)
        elif type(inner) not in SCALARS:
            fields[name] = _plain_value(inner, zone, long, nulls)
    for name in shape.long:
        if len(fields.get(name) or "") > long:
            fields[name] = truncate(fields[name], long, value)
    if nulls:
        return fields
    return {name: one for name, one in fields.items() if one is not None and not (shape.is_brief and _is_empty(one))}


def drop_withheld(value: Any, data: Any) -> Any:
    """Return a value's plain form without the fields withheld from scripts, such as paths."""
    withheld: tuple[str, ...] = getattr(value, "WITHHELD", ())
    return {name: value for name, value in data.items() if name not in withheld} if withheld else data


def _plain_value(value: Any, zone: ZoneInfo, long: int, nulls: bool) -> Any:
    if value == ():
        return []
    in_rows = isinstance(value, tuple) and not nulls
    return to_plain(value, zone, brief=in_rows, long=min(long, ROW_TEXT_CHARS) if in_rows else long, nulls=nulls)


_TIMES = frozenset((datetime, date))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """How values of a type are shown: fields, those that need conversion, and those that may be cut."""

    names: tuple[str, ...]
    read: Callable[[Any], tuple[Any, ...]]
    odd: tuple[str, ...]
    long: tuple[str, ...]
    is_brief: bool


@cache
def _layout_of(kind: type, brief: bool) -> _Layout:
    few: tuple[str, ...] = getattr(kind, "BRIEF", ()) if brief else ()
    names = few or (*(field.name for field in fields(kind)), *getattr(kind, "DERIVED", ()))
    long: tuple[str, ...] = () if kind.__name__ == "NoteText" else getattr(kind, "LONG", ())
    hints, exact = get_type_hints(kind), getattr(kind, "EXACT", ())
    odd = tuple(name for name in names if name not in exact and not _is_json_type(hints.get(name)))
    return _Layout(names=names, read=_field_getter(names), odd=odd, long=long, is_brief=bool(few))


def _is_json_type(hint: Any) -> bool:
    """Return whether every value of a type is plain JSON."""
    if get_origin(hint) is Literal:
        return all(type(arg) in SCALARS for arg in get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return all(map(_is_json_type, get_args(hint)))
    return hint in SCALARS


def _field_getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    return attrgetter(*names) if len(names) > 1 else lambda value: tuple(getattr(value, name) for name in names)


def _is_empty(value: Any) -> bool:
    return value is False or (value in ("", [], {}) and not isinstance(value, int))


def truncate(value: Any, limit: int, owner: Any) -> Any:
    """Cut a long text, and add its length and how to read on."""
    if not isinstance(value, str) or len(value) <= limit:
        return value
    is_alone = limit >= ITEM_TEXT_CHARS
    onward = f"get_item {owner.id} shows more"
    if getattr(owner, "KIND", "") == "note":
        onward = "get_note reads on"
    elif is_alone:
        onward = f"run_code with sdk.items.get({owner.id!r}) reads all"
    return value[:limit] + _TRUNCATED.format(f"{len(value):,}", onward)


def count_cut_texts(value: Any) -> int:
    """Count the cut texts in plain data."""
    if isinstance(value, str):
        return value.endswith(")") and bool(_CUT_TEXT.search(value, max(0, len(value) - 120)))
    if is_object(value):
        return sum(count_cut_texts(entry) for entry in value.values() if entry)
    return sum(map(count_cut_texts, value)) if is_list(value) else 0


def take_fitting(rows: list[Any], limit: int) -> list[Any]:
    """Return the first rows that fit into a size in characters, at least one."""
    size = 0
    for count, row in enumerate(rows):
        size += len(dump_json(row)) + 1
        if size > limit and count:
            return rows[:count]
    return rows


def take_fitting_lines(
    rows: list[Any], line: Callable[[Mapping[str, Any]], Mapping[str, Any]], limit: int
) -> list[Any]:
    """Return the first rows whose lines fit into a size in characters, at least one."""
    size = 0
    for count, row in enumerate(rows):
        size += model_text.measure_line(line(row))
        if size > limit and count:
            return rows[:count]
    return rows


def shrink(value: Any, limit: int) -> Any:
    """Cut the texts in plain data, halving the limit until all of it fits."""
    allowed = limit // 2
    while len(model_text.render_data(value)) > limit and allowed > 40:
        value = _truncate_texts(value, allowed)
        allowed //= 2
    return value


def _truncate_texts(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= limit + 30 else value[:limit] + f"… ({len(value):,} characters)"
    if is_object(value):
        return {name: _truncate_texts(item, limit) for name, item in value.items()}
    if is_list(value):
        return [_truncate_texts(entry, limit) for entry in value]
    return value


def encode_cursor(key: Key, question: str) -> str:
    """Encode the start of the next page as a cursor bound to its query."""
    values = [question, *(_encode_key_part(part) for part in key)]
    return base64.urlsafe_b64encode(dump_json(values).encode()).decode().rstrip("=")


def decode_cursor(text_: str, question: str) -> Key:
    """Decode a cursor to a position.

    Raises:
        InvalidInputError: It is not a cursor, or belongs to another query.
    """
    try:
        raw = base64.urlsafe_b64decode(text_ + "=" * (-len(text_) % 4))
        parts: list[Any] = json.loads(raw)
        asked, values = parts[0], tuple(_decode_key_part(part) for part in parts[1:])
    except (ValueError, TypeError, IndexError, KeyError, RecursionError) as error:
        raise InvalidInputError("Invalid cursor.", hint="Pass next_cursor of the last answer, unchanged.") from error
    if asked != question:
        raise InvalidInputError(
            "cursor belongs to another query.", hint="Repeat the call with the same arguments and its next_cursor."
        )
    return values


def _encode_key_part(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"t": value.astimezone(UTC).isoformat()}
    return {"d": value.isoformat()} if isinstance(value, date) else value


def _decode_key_part(value: Any) -> Any:
    if is_object(value):
        return datetime.fromisoformat(value["t"]) if "t" in value else date.fromisoformat(value["d"])
    if is_list(value):
        raise TypeError("a list in a cursor")
    return value


def query_digest(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a short digest of a query, independent of its page."""
    asked = {
        key: value
        for key, value in arguments.items()
        if key not in ("cursor", "limit", "idempotency_key") and value not in (None, "", [])
    }
    return digest(name + json.dumps(asked, sort_keys=True, default=str))[:8]
