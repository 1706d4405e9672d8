"""The last writes of a project, for its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo

from panorama.domain.changes import Change
from panorama.store.backend import Session
from panorama.store.items import lookup, projects
from panorama.store.log import changes

MOST_ITEMS = 60
"""How many of the items that were changed last are looked at: a write of more hides those before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectWrite:
    """One write: its action on the first of the items of the project that it changed, and how many changes it made."""

    unit: str
    at: datetime
    client: str
    action: str
    kind: str
    item: str
    title: str
    change: int
    changes: int
    undone: bool


def list_project_writes(session: Session, project: str, limit: int, zone: tzinfo) -> list[ProjectWrite]:
    """Return the last writes of a project and its items, the newest first, with the same few statements for all.

    Args:
        project: Its id.
        zone: The zone of the times.
    """
    items = projects.list_recent_items(session, project, MOST_ITEMS)
    units = changes.list_last_units_of_items(session, items, limit)
    labels = lookup.get_labels(session, [(start.first.kind, start.first.item) for start, _ in units])
    undone = changes.list_undone_units(session, [last.unit for _, last in units])
    return [_describe(start, last, labels, zone, last.unit in undone) for start, last in units]


def _describe(
    start: changes.UnitStart, last: Change, labels: Mapping[str, lookup.NamedItem], zone: tzinfo, is_undone: bool
) -> ProjectWrite:
    first = start.first
    title = labels[first.item][2] if first.item in labels else first.item
    return ProjectWrite(
        unit=last.unit, at=last.at.astimezone(zone), client=last.client, action=first.action, kind=first.kind,
        item=first.item, title=title, change=first.id, changes=start.changes, undone=is_undone,
    )  # fmt: skip
