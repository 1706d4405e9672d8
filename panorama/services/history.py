"""What became of an item, and how a write is taken back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from panorama.domain.changes import Change, overtaken, untaken
from panorama.domain.items import Item
from panorama.domain.plain import is_object
from panorama.domain.references import TrashedRef
from panorama.domain.results import Page, Slice
from panorama.errors import ConflictError, NotFoundError
from panorama.services.base import Service
from panorama.services.items import taken
from panorama.services.views import HistoryLine, Undone
from panorama.store import changes, names, projects, rows, tasks
from panorama.store.engine import Session

SHOWN_CHARS = 120
LISTED = 50


class History(Service):
    """What was written, by whom, and how to take it back."""

    def list(self, item: TrashedRef, page: Slice) -> Page[HistoryLine]:
        """Show the changes of an item, the newest first.

        When, by which client, what was before and after; also of items in the trash. Give a line's `unit` to undo.
        """
        with self._reading() as session:
            before = (page.begins(int) or (None,))[0]
            lines = changes.of_item(session, item, before=before, limit=page.limit + 1)
            shown = tuple(_line(each) for each in lines[: page.limit])
            keys = tuple((each.change,) for each in shown)
            return Page(shown, keys, changes.count_of(session, item), more=len(lines) > page.limit)

    def undo(self, unit: str = "", skip_conflicts: bool = False) -> Undone:
        """Take back a write: a change, a call, a batch or an import.

        Without `unit` the last write of this client. If something was changed again since, nothing is undone and the
        conflicts are listed. An undo can be undone.

        Args:
            unit: From history or an answer's `undo`.
            skip_conflicts: Undo the rest.

        Raises:
            NotFoundError: There is no such unit.
            ConflictError: It was changed since, or is taken back already.
        """
        with self._writing() as session:
            conversation = session.origin.conversation if session.origin else ""
            wanted = unit.strip() or changes.last_unit(session, conversation)
            lines = changes.of_unit(session, wanted) if wanted else []
            if not wanted or not lines:
                raise self._unknown(session, wanted or "")
            undoing = _Undoing(session, lines, self._now())
            if undoing.conflicts and not skip_conflicts:
                raise ConflictError(
                    f"{len(undoing.conflicts)} of {len(lines)} changes of {wanted} were overtaken; nothing was undone.",
                    hint="Undo the later ones first, or call again with skip_conflicts=true to undo the rest.",
                    candidates=undoing.conflicts[:LISTED],
                )
            if not undoing.done and not undoing.conflicts:
                raise ConflictError(
                    f"{wanted} is taken back already.", hint="To bring it back, undo that undo: see history."
                )
            shown = undoing.done[:LISTED]
            labels = names.labels(session, [(line.kind, line.item) for line in shown])
            undone = [
                {"id": line.item, "kind": line.kind, "label": labels[line.item][2], "was": line.action}
                for line in shown
            ]
            conflicts = tuple(undoing.conflicts[:LISTED])
            return Undone(unit=wanted, count=len(undoing.done), undone=tuple(undone), conflicts=conflicts)

    def _unknown(self, session: Session, unit: str) -> NotFoundError:
        recent = [
            {"id": id_, "operation": operation, "at": at.isoformat(timespec="seconds")}
            for id_, operation, at in changes.recent_units(session, 5)
        ]
        message = (
            f"There is no change, call or batch {unit[:40]!r}." if unit else "This client has written nothing yet."
        )
        return NotFoundError(
            message, hint="Take a unit from history(item), or one of the last writes.", candidates=recent
        )


@dataclass(slots=True)
class _Step:
    change: Change
    fields: frozenset[str]


class _Undoing:
    """Takes back the lines of a unit, the last first, field by field, inside the transaction that is open.

    What is overtaken is collected in `conflicts` and left; the caller rolls back if it does not want the rest.
    """

    def __init__(self, session: Session, lines: Sequence[Change], now: datetime) -> None:
        self._session = session
        self._now = now
        self.done: list[Change] = []
        self.conflicts: list[Mapping[str, Any]] = []
        unit = {line.id for line in lines}
        known = changes.of_items(session, sorted({line.item for line in lines}), since=min(unit))
        open_fields = untaken(known)
        later: dict[str, list[Change]] = {}
        for line in known:
            if line.id not in unit:
                later.setdefault(line.item, []).append(line)
        for line in sorted(lines, key=lambda line: line.id, reverse=True):
            if open_fields[line.id]:
                newer = [each for each in later.get(line.item, []) if each.id > line.id]
                self._take_back(_Step(line, open_fields[line.id]), newer)

    def _take_back(self, step: _Step, newer: Sequence[Change]) -> None:
        line = step.change
        over = {
            name: other
            for name, other in overtaken(line, newer).items()
            if line.action == "create" or name in step.fields
        }
        for name, other in over.items():
            self._conflict(line, name, f"{name} was changed by {other.operation} ({other.unit})")
        if line.action == "create":
            if not over:
                self._trash(line)
            return
        fields = [name for name in line.after if name in step.fields and name not in over]
        if fields:
            self._put_back(line, fields)

    def _trash(self, line: Change) -> None:
        old: Item = rows.load(self._session, line.kind, line.item, trash=True)
        if old.deleted_at is not None:
            return
        if held := self._held(line):
            self._conflict(line, "deleted_at", held)
            return
        rows.save(self._session, old, old.changed(self._now, deleted_at=self._now), undoes=line.id)
        self.done.append(line)

    def _held(self, line: Change) -> str:
        if line.kind == "project" and (count := len(projects.belonging(self._session, line.item))):
            return f"{count} items belong to it by now"
        if line.kind == "task" and (count := len(tasks.children(self._session, line.item))):
            return f"{count} subtasks stand under it by now"
        return ""

    def _put_back(self, line: Change, fields: Sequence[str]) -> None:
        old: Item = rows.load(self._session, line.kind, line.item, trash=True)
        values = {name: self._before(line, old, name) for name in fields}
        new = old.changed(self._now, **values)
        comes_back = old.deleted_at is not None and new.deleted_at is None
        problem = taken(self._session, new) if comes_back else taken(self._session, new, fields)
        if new.deleted_at is None and problem:
            self._conflict(line, ", ".join(fields), problem)
            return
        rows.save(self._session, old, new, undoes=line.id)
        self.done.append(line)

    def _before(self, line: Change, old: Item, name: str) -> Any:
        stored, after = line.before.get(name), line.after[name]
        if is_object(stored) and stored.get(changes.PART):
            return changes.text_before(self._session, getattr(old, name), stored, after)
        return rows.restored(line.kind, name, stored)

    def _conflict(self, line: Change, field: str, why: str) -> None:
        self.conflicts.append({"change": line.id, "id": line.item, "kind": line.kind, "field": field, "why": why})


def _line(change: Change) -> HistoryLine:
    names_ = sorted(change.after)
    fields = {name: [_short(change.before.get(name)), _short(change.after[name])] for name in names_}
    return HistoryLine(
        change=change.id, at=change.at, action=change.action, operation=change.operation, client=change.client,
        unit=change.unit, version=change.version, undoes=change.undoes, fields=fields,
    )  # fmt: skip


def _short(value: Any) -> Any:
    if is_object(value) and value.get(changes.PART):
        text = str(value.get("text", ""))
        count = len(text) if "text" in value else int(value["chars"])
        return f"{count:,} characters at {value['at']:,}" + (f": {_short(text)}" if text else "")
    if isinstance(value, str) and len(value) > SHOWN_CHARS:
        return f"{value[:SHOWN_CHARS]}… ({len(value):,} characters)"
    return value
