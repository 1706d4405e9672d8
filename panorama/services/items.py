"""What one can do with an item of any kind: look at it, delete it, bring it back."""

from collections.abc import Collection, Mapping
from typing import Any, Literal

from panorama.domain.items import Item, kind_of
from panorama.domain.references import ItemRef, TrashedRef
from panorama.domain.results import Page, Slice
from panorama.errors import ConflictError, InvalidInputError
from panorama.services import questions
from panorama.services.base import Service
from panorama.services.views import ItemView, Removed
from panorama.store import files, names, notes, projects, rows, small, tasks, trash
from panorama.store.engine import Session

FEW = Slice(limit=10)
Fate = Literal["", "keep", "trash"]


class Items(Service):
    """Items of any kind."""

    def get(self, item: ItemRef) -> ItemView:
        """Show anything by id or exact name, with what belongs to it.

        For the text of a long note use get_note, for that of a file run_code: sdk.files.text(file).
        """
        with self._reading() as session:
            kind = kind_of(item) or ""
            found: Item = rows.load(session, kind, item)
            return ItemView(kind=kind, item=found.shown(), belonging=self._belonging(session, found))

    def delete(self, item: ItemRef, items: Fate = "") -> Removed:
        """Move anything to the trash; undo brings it back.

        Ask the person before deleting a project or a task that others belong to.

        Args:
            items: For a project or a task with subtasks: `trash` what belongs to it too, or `keep` it.

        Raises:
            InvalidInputError: Something belongs to it and `items` does not say what becomes of that.
        """
        with self._writing() as session:
            kind = kind_of(item) or ""
            found: Item = rows.load(session, kind, item)
            hanging = _hanging(session, found)
            if hanging and not items:
                raise InvalidInputError(
                    f"{len(hanging)} items belong to the {kind} “{found.label}”.",
                    hint='Ask the person, then call again with items="keep" (they stay without it) or items="trash".',
                )
            for other_kind, id_ in hanging:
                self._let_go(session, other_kind, id_, found, trash_it=items == "trash")
            self._trash(session, found)
            gone = len(hanging) if items == "trash" else 0
            return Removed(id=item, kind=kind, label=found.label, trashed=1 + gone, kept=len(hanging) - gone)

    def delete_question(self, item: ItemRef, items: Fate = "") -> str:
        """Return what to ask before a project takes what belongs to it to the trash; "" for all else."""
        if items != "trash" or kind_of(item) != "project":
            return ""
        with self._reading() as session:
            found: Item = rows.load(session, "project", item)
            return questions.of_project(found.label, projects.counts(session, item))

    def restore(self, item: TrashedRef) -> Any:
        """Bring an item back from the trash.

        To take back everything a deletion did, use undo.

        Raises:
            ConflictError: Its name is taken by now, or what it belonged to is in the trash.
            InvalidInputError: It is not in the trash.
        """
        with self._writing() as session:
            kind = kind_of(item) or ""
            old: Item = rows.load(session, kind, item, trash=True)
            if old.deleted_at is None:
                raise InvalidInputError(
                    f"The {kind} “{old.label}” is not in the trash.", hint="Nothing needs to be done."
                )
            if problem := taken(session, old):
                raise ConflictError(problem, hint="Rename or restore that first.")
            new = old.changed(self._now(), deleted_at=None)
            rows.save(session, old, new)
            return new.shown()

    def trash(self, page: Slice) -> Page[Mapping[str, Any]]:
        """List what is in the trash, the last deleted first.

        Bring something back with restore_item, or take the deletion back with undo.
        """
        with self._reading() as session:
            return trash.listed(session, page)

    def _trash(self, session: Session, item: Item) -> None:
        now = self._now()
        rows.save(session, item, item.changed(now, deleted_at=now))

    def _let_go(self, session: Session, kind: str, id_: str, owner: Item, *, trash_it: bool) -> None:
        old: Item = rows.load(session, kind, id_)
        if trash_it:
            self._trash(session, old)
        else:
            rows.save(session, old, old.changed(self._now(), **{_tie(owner): None}))

    def _belonging(self, session: Session, item: Item) -> dict[str, tuple[Mapping[str, Any], ...]]:
        found: dict[str, list[Any]] = {}
        if item.KIND == "project":
            here = tasks.where(project=item.id, status="open", zone=self._desk.zone)
            found["tasks"] = list(tasks.listed(session, FEW, here).items)
            found["notes"] = list(notes.listed(session, FEW, project=item.id).items)
            found["links"] = list(small.listed_links(session, FEW, project=item.id).items)
            found["files"] = list(files.listed(session, FEW, project=item.id).items)
        if item.KIND == "task":
            below = tasks.where(parent=item.id, zone=self._desk.zone)
            found["subtasks"] = list(tasks.listed(session, FEW, below).items)
        found["reminders"] = list(small.listed_reminders(session, FEW, item=item.id).items)
        return {name: tuple(_row(each) for each in items) for name, items in found.items() if items}


def taken(session: Session, item: Item, fields: Collection[str] = ("name", "project", "parent")) -> str:
    """Return why an item cannot have some of its fields: a name or a reference is taken by now; "" if it can."""
    if item.KIND == "project" and "name" in fields:
        other = projects.named(session, rows.key_of(item))
        if other not in (None, item.id):
            return f"Another project is called “{item.label}” by now ({other})."
    for tie, kind in (("project", "project"), ("parent", "task")):
        target = getattr(item, tie, None) if tie in fields else None
        if target and not rows.exists(session, kind, target):
            known = names.labels(session, [(kind, target)]).get(target)
            if known is None:
                return f"The {kind} ({target}) that “{item.label}” belonged to was removed for good."
            return f"The {kind} “{known[2]}” that “{item.label}” belonged to is in the trash."
        if target and tie == "parent" and item.id in tasks.ancestors(session, target):
            return f"The task that “{item.label}” belonged to stands under it by now."
    return ""


def _tie(owner: Item) -> str:
    return "project" if owner.KIND == "project" else "parent"


def _hanging(session: Session, item: Item) -> list[tuple[str, str]]:
    if item.KIND == "project":
        return projects.belonging(session, item.id)
    if item.KIND == "task":
        return [("task", id_) for id_ in tasks.children(session, item.id)]
    return []


def _row(value: Any) -> Mapping[str, Any]:
    return {
        name: getattr(value, name)
        for name in ("id", "title", "name", "media_type", "status", "deadline", "url", "at")
        if hasattr(value, name)
    }
