"""Questions: what a person is asked before much of theirs goes at once; the act and its numbers stand before names."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from zoneinfo import ZoneInfo

from panorama.domain.text.visible_text import escape_name, quote_name
from panorama.kinds import name_kind
from panorama.services.base import RUN_LETTER
from panorama.services.items.results import RecentWrite

UNDO_CONFIRM_THRESHOLD = 20
"""So many changes are taken back without a question."""

MAX_NAMED_WRITES = 5
"""The most writes that a question names; it counts the others."""

_CLIENT_CHARS = 40
_UNIT_NOUNS = {"batch": "batch", "import.markdown": "import", "items.delete": "deletion", "history.undo": "undo"}


def format_project_delete_question(name: str, counts: Mapping[str, int]) -> str:
    """Return the question before a project goes to the trash with what belongs to it, by kind; "" if that is empty."""
    inside = [_pluralize(count, kind) for kind, count in counts.items() if count]
    return f"Move {_join_words(inside)} to the trash, with the project {quote_name(name)}?" if inside else ""


def format_undo_question(deed: str, *, changes: int, created: int) -> str:
    """Return the question before many changes of a deed are taken back; `created` items go to the trash by that."""
    trashed = f" and move {_pluralize(created, 'item')} to the trash" if created else ""
    return f"Take back {_pluralize(changes, 'change')}{trashed}: {deed}?"


def describe_write(write: RecentWrite, zone: ZoneInfo) -> str:
    """Return what another client's write is called: «“Tea” (tasks.create, claude, 2026-05-20 10:00, c_7k3q9xv2mh)»."""
    client = escape_name(write.client, most=_CLIENT_CHARS)
    at = f"{write.at.astimezone(zone):%Y-%m-%d %H:%M}"
    return f"{quote_name(write.title)} ({write.operation}, {client}, {at}, {write.unit})"


def list_writes(descriptions: Sequence[str]) -> str:
    """Return the descriptions of several writes, the first few in words."""
    more = len(descriptions) - MAX_NAMED_WRITES
    return "; ".join(descriptions[:MAX_NAMED_WRITES]) + (f"; and {more} more" if more > 0 else "")


def describe_unit(unit: str, operations: Set[str], at: datetime, zone: ZoneInfo) -> str:
    """Return what a unit is called: «the import of 2026-05-20 10:00 (c_7k3q9xv2mh)»."""
    one = next(iter(operations)) if len(operations) == 1 else "batch"
    called = "script" if unit.startswith(f"{RUN_LETTER}_") else _UNIT_NOUNS.get(one, f"call of {one}")
    return f"the {called} of {at.astimezone(zone):%Y-%m-%d %H:%M} ({unit})"


def _pluralize(count: int, noun: str) -> str:
    return f"{count:,} {name_kind(noun, count)}"


def _join_words(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
