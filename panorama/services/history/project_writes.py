"""The last writes of a project, for its page."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from panorama.store.backend import Session
from panorama.store.items import lookup, projects
from panorama.store.log import changes

MAX_ITEMS = 60
"""The maximum number of items whose changes are read, those that were changed last. A write that changes more items
may hide earlier writes.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectWrite:
    """One write: its action on the first of the items of the project that it changed.

    `changes` is how many changes it made, also those of items that are not in the project.
    """

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

    The writes of an item that was moved to another project are listed there, also the move itself: without an index of
    what items were before, finding it would read the whole change log.

    Args:
        project: Its id.
        zone: The zone of the times.
    """
    items = projects.list_recent_items(session, project, MAX_ITEMS)
    writes = changes.list_last_units_of_items(session, items, limit)
    units = [last.unit for _, last in writes]
    labels = lookup.get_labels(session, [(first.kind, first.item) for first, _ in writes])
    counts = {unit: start.changes for unit, start in changes.describe_units(session, units).items()}
    undone = changes.list_undone_units(session, units)
    return [
        ProjectWrite(
            unit=last.unit, at=last.at.astimezone(zone), client=last.client, action=first.action, kind=first.kind,
            item=first.item, title=labels[first.item][2] if first.item in labels else first.item, change=first.id,
            changes=counts[last.unit], undone=last.unit in undone,
        )
        for first, last in writes
    ]  # fmt: skip
