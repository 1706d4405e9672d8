"""Questions: what a person is asked before much of theirs goes at once."""

from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from panorama.services.base import RUN_LETTER

UNASKED = 20
"""So many changes are taken back without a question."""

_DEEDS = {"batch": "batch", "import.markdown": "import", "items.delete": "deletion", "history.undo": "undo"}


def of_project(name: str, counts: Mapping[str, int]) -> str:
    """Return the question before a project goes to the trash with what belongs to it, by kind; "" if that is empty."""
    inside = [_counted(count, kind) for kind, count in counts.items() if count]
    return f"Move the project “{name}” with {_joined(inside)} to the trash?" if inside else ""


def of_undo(deed: str, *, changes: int, created: int) -> str:
    """Return the question before many changes of a deed are taken back; `created` items go to the trash by that."""
    gone = (
        f" {_counted(created, 'item')} it created {'goes' if created == 1 else 'go'} to the trash." if created else ""
    )
    return f"Take back {changes:,} changes of {deed}?{gone}"


def deed(unit: str, operations: set[str], at: datetime, zone: ZoneInfo) -> str:
    """Return what a unit is called: «the import of 2026-05-20 10:00 (c_7k3q9xv2mh)»."""
    one = operations.pop() if len(operations) == 1 else "batch"
    called = "script" if unit.startswith(f"{RUN_LETTER}_") else _DEEDS.get(one, f"call of {one}")
    return f"the {called} of {at.astimezone(zone):%Y-%m-%d %H:%M} ({unit})"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _joined(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
