"""The lines of sessions: their fields, their validation, and the blocks that search indexes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, Self, cast, get_args

from panorama.domain.items.item import is_blank, single_line_or_empty, validate_text
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.text.json_types import is_object
from panorama.errors import InvalidInputError

LineType = Literal["note", "decision", "action", "next_step", "question", "summary", "thought"]
LINE_CHARS = 10_000
NAME_CHARS = 200
MAX_LINES = 5000
"""The maximum number of lines of one call."""

BLOCK_LINES = 32
"""The number of lines that are indexed as one text; appending a line indexes at most so many again."""

_TYPES = get_args(LineType)
_INPUT_FIELDS = ("text", "type", "speaker", "at", "revises", "branch", "confidence")
_RANGE = "lines "


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLine:
    """One line; `position` counts from 1, `revises` is the position of the line that it replaces."""

    position: int
    at: datetime
    type: LineType = "note"
    speaker: str = ""
    text: str
    revises: int | None = None
    branch: str = ""
    confidence: float | None = None


LINE_FIELDS = tuple(field.name for field in fields(SessionLine))


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript(LoggedSession):
    """A session with its lines, as search reads it: `blocks` are the texts of `BLOCK_LINES` lines each."""

    blocks: tuple[str, ...] = ()

    @classmethod
    def of(cls, session: LoggedSession, blocks: Iterable[str]) -> Self:
        """Join a session with the texts of its blocks."""
        values = {field.name: getattr(session, field.name) for field in fields(LoggedSession)}
        return cls(**values, blocks=tuple(blocks))

    def search_text(self) -> tuple[str, str]:
        """Its title; its fields and lines."""
        title, head = LoggedSession.search_text(self)
        return title, "\n".join((head, *self.blocks))

    def search_parts(self) -> tuple[str, ...]:
        """Return its fields, then each block."""
        return (LoggedSession.search_text(self)[1], *self.blocks)


def format_search_line(type_: str, speaker: str, text: str) -> str:
    """Return a line as search reads it: `decision Ana: induction hob`."""
    kind = "" if type_ in ("note", "thought") else type_.replace("_", " ")
    if not kind and not speaker:
        return text
    return f"{kind} {speaker}: {text}" if kind and speaker else f"{kind or speaker}: {text}"


def block_of(position: int) -> int:
    """Return the number of the block that holds a line; the first is 1."""
    return (position - 1) // BLOCK_LINES + 1


def name_range(first: int, last: int) -> str:
    """Return the name under which a change records lines that were added or removed."""
    return f"{_RANGE}{first}-{last}"


def parse_range(name: str) -> tuple[int, int] | None:
    """Return the first and last line that a name stands for; None if it is the name of a field."""
    if not name.startswith(_RANGE):
        return None
    first, _, last = name.removeprefix(_RANGE).partition("-")
    return int(first), int(last)


ParseMoment = Callable[[str], datetime]


def parse_lines(
    given: Sequence[str | Mapping[str, Any]], first: int, now: datetime, parse_moment: ParseMoment, *, thinking: bool
) -> tuple[SessionLine, ...]:
    """Return the lines of a call, numbered from `first`.

    Raises:
        InvalidInputError: There are more than 5,000, or a line is invalid; the error names it.
    """
    if len(given) > MAX_LINES:
        raise InvalidInputError(
            f"lines has {len(given):,} lines; the limit is {MAX_LINES:,}.", hint="Log them in parts."
        )
    usual: LineType = "thought" if thinking else "note"
    return tuple(
        _parse_line(entry, first + at, f"lines[{at}]", usual, now, parse_moment) for at, entry in enumerate(given)
    )


def _parse_line(
    given: str | Mapping[str, Any], position: int, where: str, usual: LineType, now: datetime, parse_moment: ParseMoment
) -> SessionLine:
    values: Mapping[str, Any] = {"text": given} if isinstance(given, str) else given
    if unknown := [name for name in values if name not in _INPUT_FIELDS]:
        raise InvalidInputError(
            f"{where} has no field {str(unknown[0])[:60]!r}.", hint=f"A line is text, or {', '.join(_INPUT_FIELDS)}."
        )
    text = {name: _get_text(values, name, where) for name in ("text", "type", "speaker", "at", "branch")}
    if is_blank(text["text"]):
        raise InvalidInputError(f"{where} has no text.", hint="Give each line a text.")
    kind = text["type"].strip().lower().replace(" ", "_").replace("-", "_") or usual
    if kind not in _TYPES:
        raise InvalidInputError(f"{where}.type is {kind[:40]!r}.", hint=f"Use one of {', '.join(_TYPES)}.")
    return SessionLine(
        position=position,
        at=parse_moment(text["at"]) if text["at"].strip() else now,
        type=cast("LineType", kind),
        speaker=single_line_or_empty(text["speaker"], f"{where}.speaker", limit=NAME_CHARS),
        text=validate_text(text["text"].strip(), f"{where}.text", limit=LINE_CHARS),
        revises=_get_revised(values.get("revises"), position, where),
        branch=single_line_or_empty(text["branch"], f"{where}.branch", limit=NAME_CHARS),
        confidence=_get_confidence(values.get("confidence"), where),
    )


def _get_text(values: Mapping[str, Any], name: str, where: str) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        kind = "an object" if is_object(value) else type(value).__name__
        raise InvalidInputError(f"{where}.{name} must be text, not {kind}.", hint=f"Give {name} as text.")
    return value


def _get_revised(value: object, position: int, where: str) -> int | None:
    if value is None:
        return None
    if type(value) is int and 1 <= value < position:
        return value
    raise InvalidInputError(
        f"{where}.revises must be the number of an earlier line, not {str(value)[:40]!r}.",
        hint=f"Give 1 to {position - 1}.",
    )


def _get_confidence(value: object, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise InvalidInputError(f"{where}.confidence is {str(value)[:40]!r}.", hint="Give 0 to 1.")
