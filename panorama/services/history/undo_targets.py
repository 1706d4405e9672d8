"""Finds the writes that an undo or redo without a unit applies to."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from panorama.domain.changes import Change, Origin
from panorama.domain.items.files import is_result_name
from panorama.errors import NotFoundError
from panorama.services.history.results import RecentWrite
from panorama.store.backend import Session
from panorama.store.items import lookup
from panorama.store.log import changes, undo_units

OWN_WRITE_SPAN = timedelta(minutes=10)
"""How long a conversation's own write takes precedence over a later one of another client."""

_BATCH_SIZE = 64
_GROWTH = 8
"""The first write is looked at alone, since it mostly is the one; then 8, then 64 at a time."""
_TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class UndoTargets:
    """The units to undo, the newest first; `is_foreign` if another conversation wrote one of them."""

    units: tuple[str, ...]
    is_foreign: bool = False


def find_targets(
    session: Session, now: datetime, writer: Origin | None, *, count: int = 1, redo: bool = False
) -> UndoTargets:
    """Return the last effective writes; with `redo` the last effective undos.

    Recent writes of this conversation take precedence; otherwise the last of all clients. In a conversation that
    several clients share, each write may be another one's.

    Raises:
        NotFoundError: There are fewer.
    """
    conversation, own_unit = (writer.conversation, writer.unit) if writer else ("", "")
    every = list(islice(_iter_candidates(session, redo, own_unit), count))
    is_shared = writer is not None and writer.is_shared
    targets = [] if is_shared else list(islice(_iter_candidates(session, redo, own_unit, conversation), count))
    if len(targets) == count and (targets[0].id == every[0].id or targets[0].at >= now - OWN_WRITE_SPAN):
        return UndoTargets(tuple(line.unit for line in targets))
    if len(every) == count:
        is_foreign = is_shared or any(line.conversation != conversation for line in every)
        return UndoTargets(tuple(line.unit for line in every), is_foreign)
    verb = "redo" if redo else "undo"
    problem = f"Only {len(every)} of {count} writes can be undone" if every else f"There is nothing left to {verb}"
    raise NotFoundError(f"{problem}; nothing was changed.", hint="history() lists the last writes.")


def describe_writes(session: Session, lasts: Sequence[Change]) -> list[RecentWrite]:
    """Describe writes from their last changes, with a few statements for all of them."""
    units = [last.unit for last in lasts]
    starts = changes.describe_units(session, units)
    labels = lookup.get_labels(session, [(start.first.kind, start.first.item) for start in starts.values()])
    undone = changes.list_undone_units(session, units)
    return [_describe_write(last, starts[last.unit], labels, last.unit in undone) for last in lasts]


def _describe_write(
    last: Change, start: changes.UnitStart, labels: Mapping[str, lookup.NamedItem], is_undone: bool
) -> RecentWrite:
    first = start.first
    label = labels.get(first.item, ("", "", first.item))[2]
    more = f" and {start.changes - 1:,} more" if start.changes > 1 else ""
    return RecentWrite(
        unit=last.unit, at=last.at, client=last.client, operation=last.operation, action=first.action,
        kind=first.kind, title=label[:_TITLE_CHARS] + more, changes=start.changes, undone=is_undone,
    )  # fmt: skip


def _iter_candidates(session: Session, redo: bool, own_unit: str, conversation: str | None = None) -> Iterator[Change]:
    """Yield the last change of each effective write (or undo), the newest first.

    A redo counts once: the write that it redoes is not counted again.
    """
    before: int | None = None
    covered: set[int] = set()
    size = 1
    while lines := changes.list_last_of_units(session, conversation=conversation, before=before, limit=size):
        before, size = lines[-1].id, min(size * _GROWTH, _BATCH_SIZE)
        possible = _list_possible(session, [line.unit for line in lines], redo, own_unit)
        for line in lines:
            if line.unit in possible and _is_candidate(session, line.unit, redo, own_unit, covered):
                yield line
                covered |= undo_units.list_undone_ids(session, line.unit)


def _list_possible(session: Session, units: Sequence[str], redo: bool, own_unit: str) -> set[str]:
    """Return the units that may be candidates, with the same few statements for all: most are undone after many undos.

    A run that wrote only the file of its result is none.
    """
    candidates = undo_units.list_candidate_units(session, units)
    undos = undo_units.list_undo_units(session, candidates)
    same = undos if redo else candidates - undos
    starts = changes.describe_units(session, sorted(same)) if same else {}
    results = {unit for unit, start in starts.items() if start.changes == 1 and _is_result(unit, start.first)}
    return (same - results) | ({own_unit} & set(units))


def _is_candidate(session: Session, unit: str, redo: bool, own_unit: str, covered: Set[int]) -> bool:
    if unit == own_unit:
        return not redo
    return changes.has_effective_change(session, unit, but=covered)


def _is_result(unit: str, first: Change) -> bool:
    name = str(first.after.get("name", ""))
    return is_result_name(name) and name.startswith(unit)
