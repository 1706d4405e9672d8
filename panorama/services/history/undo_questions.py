"""Questions before large undos; the act and its numbers come before names."""

from collections.abc import Sequence, Set
from datetime import datetime
from zoneinfo import ZoneInfo

from panorama.domain.text.visible_text import escape_name, quote_name
from panorama.kinds import name_kind
from panorama.services.base import RUN_LETTER
from panorama.services.history.results import RecentWrite

UNDO_CONFIRM_THRESHOLD = 20
"""The maximum number of changes that are undone without a question."""

MAX_NAMED_WRITES = 5
"""The maximum number of writes listed in a question; others are counted."""

_CLIENT_CHARS = 40
_UNIT_NOUNS = {"batch": "batch", "import.markdown": "import", "items.delete": "deletion", "history.undo": "undo"}


def format_question(deed: str, *, changes: int, created: int) -> str:
    """Return the question before many changes are undone, which trashes `created` items."""
    trashed = f" and move {_pluralize(created, 'item')} to the trash" if created else ""
    return f"Take back {_pluralize(changes, 'change')}{trashed}: {deed}?"


def describe_write(write: RecentWrite, zone: ZoneInfo) -> str:
    """Describe another client's write: «“Tea” (tasks.create, claude, 2026-05-20 10:00, c_7k3q9xv2mh)»."""
    client = escape_name(write.client, limit=_CLIENT_CHARS)
    at = f"{write.at.astimezone(zone):%Y-%m-%d %H:%M}"
    return f"{quote_name(write.title)} ({write.operation}, {client}, {at}, {write.unit})"


def list_writes(descriptions: Sequence[str]) -> str:
    """Describe several writes, the first few by name."""
    more = len(descriptions) - MAX_NAMED_WRITES
    return "; ".join(descriptions[:MAX_NAMED_WRITES]) + (f"; and {more} more" if more > 0 else "")


def describe_unit(unit: str, operations: Set[str], at: datetime, zone: ZoneInfo) -> str:
    """Describe a unit: «the import of 2026-05-20 10:00 (c_7k3q9xv2mh)»."""
    one = next(iter(operations)) if len(operations) == 1 else "batch"
    called = "script" if unit.startswith(f"{RUN_LETTER}_") else _UNIT_NOUNS.get(one, f"call of {one}")
    return f"the {called} of {at.astimezone(zone):%Y-%m-%d %H:%M} ({unit})"


def _pluralize(count: int, noun: str) -> str:
    return f"{count:,} {name_kind(noun, count)}"
