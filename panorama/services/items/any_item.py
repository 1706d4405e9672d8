"""Operations on items of any kind: get, delete, restore."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Literal

from panorama.domain.items.item import Item, Kind, kind_of
from panorama.domain.items.references import TOOL_REFERENCE, ItemOrToolRef, ItemRef, Reference, TrashedRef
from panorama.domain.items.session_lines import SessionLine
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.text.visible_text import quote_name
from panorama.domain.text.wording import join_words, pluralize
from panorama.errors import ConflictError, InvalidInputError
from panorama.kinds import PLAIN_KINDS, name_kind
from panorama.ports import Calls
from panorama.services.base import LargeCall, Plan, Service, ServiceContext
from panorama.services.graph.backlinks import describe_links
from panorama.services.graph.task_lines import TaskLines
from panorama.services.items.results import DeleteResult, ItemView, count_left_out, drop_zeros
from panorama.services.jobs.portions import LONG_UNIT, MAX_BATCH, apply_in_portions, is_large_unit
from panorama.services.references import resolve
from panorama.store import session_lines
from panorama.store.backend import Session
from panorama.store.items import files, listing, lookup, notes, projects, rows, tasks, trash
from panorama.store.log import changes
from panorama.store.people import people

PREVIEW_PAGE = PageRequest(limit=10)
LINES_CHARS = 4000
BelongingAction = Literal["", "keep", "trash"]


class Items(Service):
    """Items of any kind."""

    def __init__(self, context: ServiceContext, calls: Calls) -> None:
        super().__init__(context)
        self._calls = calls
        self._lines = TaskLines(context)

    def get(self, item: ItemOrToolRef, start: int = 1) -> ItemView:
        """Show anything by id or exact name, with what belongs to it and links to it.

        The text of a long note: get_note; of a file: run_code with sdk.files.text(file).

        Args:
            item: "tool:NAME" shows the arguments of an unlisted tool.
        """
        if item.startswith(TOOL_REFERENCE):
            tool = self._calls.describe_tool(item.removeprefix(TOOL_REFERENCE).strip())
            return ItemView(kind="tool", item=tool, belonging={}, more={})
        with self._reading() as session:
            kind = kind_of(item) or ""
            loaded: Item = rows.load(session, kind, item)
            pages = self._list_belonging(session, loaded)
            belonging = {name: tuple(map(_to_row, page.items)) for name, page in pages.items() if page.items}
            more = count_left_out(pages)
            if isinstance(loaded, LoggedSession):
                lines, next_start = session_lines.read_lines(session, item, start, LINES_CHARS)
                belonging["lines"] = tuple(map(_to_line_row, lines))
                more |= drop_zeros({"next_start": next_start or 0})
            if kind == "project":
                listed = pages["tasks"].total or 0
                more |= drop_zeros({"closed tasks": projects.count_items(session, item)["task"] - listed})
            links, left_out = describe_links(session, loaded)
            belonging |= links
            more |= left_out
            return ItemView(kind=kind, item=loaded.public_view(), belonging=belonging, more=more)

    def get_trashed(self, item: TrashedRef) -> ItemView:
        """Show an item by id or exact name, including items in the trash."""
        with self._reading() as session:
            kind = kind_of(item) or ""
            loaded: Item = rows.load(session, kind, item, trash=True)
            return ItemView(kind=kind, item=loaded.public_view(), belonging={}, more={})

    def resolve(self, kind: Kind, item: str) -> Mapping[str, Any]:
        """Return id, kind, label and version of one item of a kind, by id or by a name that is unique in its kind."""
        with self._reading() as session:
            loaded: Item = rows.load(session, kind, resolve(session, Reference(kind), item, kind, self._context.zone))
            return {"id": loaded.id, "kind": kind, "label": loaded.label, "version": loaded.version}

    def delete(self, item: ItemRef, items: BelongingAction = "") -> DeleteResult:
        """Move anything to the trash; undo brings it back.

        This is how to delete or remove. Ask the user before deleting a project or a task with subtasks.

        Args:
            items: For a project or a task with subtasks: `trash` what belongs to it too, or `keep` it.

        Raises:
            InvalidInputError: Something belongs to it and `items` does not say what becomes of that.
        """
        with self._reading() as session:
            owner, inside = _find_with_dependents(session, item, items)
            is_inner = session.origin is not None
            sizes = {} if is_inner else _measure(session, inside)
            is_large = not is_inner and is_large_unit(len(inside), sum(sizes.values()))
        if is_large:  # the owner is last, so that a stopped deletion can be repeated
            detach, message = self._make_detach(owner, items), f"deleting “{owner.label}”"
            apply_in_portions(self._writing, inside, detach, message, lambda entry: sizes.get(entry[1], 0))
        with self._writing() as session:
            owner, late = (owner, inside) if is_inner else _find_with_dependents(session, item, items)
            detach = self._make_detach(owner, items)
            for start in range(0, len(late), MAX_BATCH):
                detach(session, late[start : start + MAX_BATCH])
            self._trash(session, owner)
        count = len({*inside, *late})
        deleted = count if items == "trash" else 0
        return DeleteResult(id=item, kind=owner.KIND, label=owner.label, trashed=1 + deleted, kept=count - deleted)

    def split_delete(self, item: ItemRef, items: BelongingAction = "") -> LargeCall | None:
        """Return the arguments of a deletion that is too large for one transaction; else None."""
        with self._reading() as session:
            owner, inside = _find_with_dependents(session, item, items)
            session.prefetched[owner.id] = owner  # a step of a transaction reads it next
            if not is_large_unit(len(inside), sum(_measure(session, inside).values())):
                return None
        return LargeCall({"item": item, "items": items}, is_long=False)

    def plan_delete(self, item: ItemRef, items: BelongingAction = "") -> Plan:
        """Ask before a project takes what belongs to it to the trash."""
        if items != "trash" or kind_of(item) != "project":
            return Plan()
        with self._reading() as session:
            found: Item = rows.load(session, "project", item)
            count = projects.count_items(session, item)
            return Plan(_format_project_question(found.label, count))

    def restore(self, item: TrashedRef, items: bool = False) -> Result[Any]:
        """Restore an item from the trash.

        To revert everything a deletion did, use undo.

        Args:
            items: Also restore the items deleted with it.

        Raises:
            ConflictError: Its name is taken by now, or what it belonged to is in the trash.
            InvalidInputError: It is not in the trash.
        """
        with self._reading() as session:
            old: Item = rows.load(session, kind_of(item) or "", item, trash=True)
            together = _list_deleted_with(session, old) if items else []
            chars = sum(_measure(session, together).values())
            is_large = session.origin is None and is_large_unit(len(together), chars)
        with nullcontext() if is_large else self._writing():
            return self._restore_item(item, with_belonging=items)

    def split_restore(self, item: TrashedRef, items: bool = False) -> LargeCall | None:
        """Return a restore that is too large for one transaction; None for any other."""
        with self._reading() as session:
            old: Item = rows.load(session, kind_of(item) or "", item, trash=True)
            together = _list_deleted_with(session, old) if items else []
            chars = sum(_measure(session, together).values())
        if not is_large_unit(len(together), chars):
            return None
        return LargeCall({"item": item, "items": items}, is_long=len(together) > LONG_UNIT)

    def _restore_item(self, item: str, *, with_belonging: bool) -> Result[Any]:
        """Restore an item, then what was deleted with it: in the open transaction, else in several."""
        with self._writing() as session:
            kind = kind_of(item) or ""
            old: Item = rows.load(session, kind, item, trash=True)
            together = _list_deleted_with(session, old)
            if old.deleted_at is None and not (with_belonging and together):
                raise InvalidInputError(
                    f"The {kind} “{old.label}” is not in the trash.", hint="Nothing needs to be done."
                )
            restored = self._restore(session, old) if old.deleted_at else old
        hint = self._restore_together(old, together) if with_belonging else _offer_hint(len(together))
        return Result(restored.public_view(), hint=hint)

    def _restore(self, session: Session, old: Item) -> Item:
        if problem := field_conflict(session, old):
            raise ConflictError(problem, hint="Rename or restore that first.")
        new = old.with_changes(self._now(), deleted_at=None)
        rows.save(session, old, new)
        if self._lines.reconcile(session, [old.id], {old.id} if old.KIND == "note" else ()):
            return rows.load(session, old.KIND, old.id)
        return new

    def _restore_together(self, owner: Item, together: Sequence[tuple[str, str]]) -> str:
        """Restore items, owners first; return the restored and the blocked ones."""
        waiting, problems = together, [""]
        restored_ids: list[str] = []

        def restore(session: Session, entries: Sequence[tuple[str, str]]) -> None:
            for entry in entries:
                old: Item | None = rows.find(session, *entry)
                if old is None or old.deleted_at is None:  # another call was faster
                    continue
                if problem := field_conflict(session, old):
                    stuck.append(entry)
                    problems.append(problem)
                else:
                    restored_ids.append(self._restore(session, old).id)

        with self._reading() as session:
            sizes = _measure(session, together)
        while waiting:
            stuck: list[tuple[str, str]] = []
            problems.clear()
            message = f"restoring what was deleted with “{owner.label}”"
            apply_in_portions(self._writing, waiting, restore, message, lambda entry: sizes.get(entry[1], 0))
            if len(stuck) == len(waiting):
                break
            waiting = stuck
        count = len(restored_ids)
        restored = f"{pluralize(count, 'item')} deleted with it {'was' if count == 1 else 'were'} restored, too."
        if not waiting:
            return restored
        return f"{restored} {pluralize(len(waiting), 'stays', 'stay')} in the trash: {problems[0]}"

    def list_trash(self, page: PageRequest) -> Page[Mapping[str, Any]]:
        """List the trash, the last deleted first.

        Restore items with restore_item, or revert the deletion with undo.
        """
        with self._reading() as session:
            return trash.list_trash(session, page)

    def _trash(self, session: Session, item: Item) -> None:
        now = self._now()
        rows.save(session, item, item.with_changes(now, deleted_at=now))

    def _make_detach(self, owner: Item, items: BelongingAction) -> Callable[[Session, Sequence[tuple[str, str]]], None]:
        """Return the function that deletes dependent items, or detaches them."""

        def detach(session: Session, belonging: Sequence[tuple[str, str]]) -> None:
            now = self._now()
            changed = {"deleted_at": now} if items == "trash" else {_owner_field(owner): None}
            found = rows.load_all(session, [id_ for _, id_ in belonging]).values()
            living = [old for old in found if old.deleted_at is None]  # some were deleted in the meantime
            rows.save_all(session, [rows.ItemUpdate(old, old.with_changes(now, **changed)) for old in living])

        return detach

    def _list_belonging(self, session: Session, item: Item) -> dict[str, Page[Any]]:
        pages: dict[str, Page[Any]] = {}
        if item.KIND == "project":
            here = tasks.build_conditions(project=item.id, status="open", zone=self._context.zone)
            pages["tasks"] = tasks.list_tasks(session, PREVIEW_PAGE, here)
            pages["notes"] = notes.list_notes(session, PREVIEW_PAGE, project=item.id)
            for kind in PLAIN_KINDS:
                if kind.has_project:
                    pages[kind.collection] = listing.list_items(session, kind.name, PREVIEW_PAGE, project=item.id)
            pages["files"] = files.list_files(session, PREVIEW_PAGE, project=item.id)
        if item.KIND == "task":
            below = tasks.build_conditions(parent=item.id, zone=self._context.zone)
            pages["subtasks"] = tasks.list_tasks(session, PREVIEW_PAGE, below)
        if item.KIND == "team":
            pages["people"] = listing.list_items(session, "person", PREVIEW_PAGE, order=("key",), team=item.id)
        if item.KIND == "person":
            pages["reports"] = listing.list_items(session, "person", PREVIEW_PAGE, order=("key",), manager=item.id)
        pages["reminders"] = listing.list_items(session, "reminder", PREVIEW_PAGE, order=("at",), item=item.id)
        return pages


def field_conflict(
    session: Session, item: Item, fields: Collection[str] = ("name", "project", "parent", "manager", "source_ref")
) -> str:
    """Return why an item cannot be restored with its fields, such as a name in use; "" if it can."""
    if item.KIND in ("project", "team") and "name" in fields:
        for _, other, _ in lookup.list_exact(session, [item.KIND], rows.key_of(item)):
            if other != item.id:
                return f"Another {item.KIND} now has the name “{item.label}” ({other})."
    if item.external_ref and "source_ref" in fields:
        for _, other, label in lookup.list_by_source(session, [item.KIND], item.external_ref):
            if other != item.id:
                return f"Another {item.KIND} now comes from {item.external_ref}: “{label}” ({other})."
    manager = getattr(item, "manager", None) if "manager" in fields else None
    if manager and item.id in (manager, *people.list_managers(session, manager)):
        return f"The manager of “{item.label}” now reports to that person."
    for tie, kind in (("project", "project"), ("parent", "task")):
        target = getattr(item, tie, None) if tie in fields else None
        if target and not rows.exists(session, kind, target):
            known = lookup.get_labels(session, [(kind, target)]).get(target)
            if known is None:
                return f"The {kind} ({target}) that “{item.label}” belonged to was permanently deleted."
            return f"The {kind} “{known[2]}” that “{item.label}” belonged to is in the trash."
        if target and tie == "parent" and item.id in tasks.list_ancestors(session, target):
            return f"The task that “{item.label}” belonged to is now under it."
    return ""


def _list_deleted_with(session: Session, item: Item) -> list[tuple[str, str]]:
    """Return the items trashed with a project or a task in its last deletion that are still in the trash."""
    if item.KIND not in ("project", "task"):
        return []
    unit = changes.last_deletion_unit(session, item.id)
    return trash.list_deleted_with(session, unit, _owner_field(item), item.id) if unit else []


def _measure(session: Session, entries: Sequence[tuple[str, str]]) -> dict[str, int]:
    return listing.measure_texts(session, [id_ for _, id_ in entries])


def _offer_hint(count: int) -> str:
    """Return the hint for restoring items deleted with an item; "" if there are none."""
    if not count:
        return ""
    still = pluralize(count, "item deleted with it is", "items deleted with it are")
    return f"{still} in the trash; call again with items=true to restore {'it' if count == 1 else 'them'}."


def _owner_field(owner: Item) -> str:
    return "project" if owner.KIND == "project" else "parent"


def _find_with_dependents(session: Session, id_: str, items: str) -> tuple[Item, list[tuple[str, str]]]:
    """Return an item to delete, and the items that belong to it.

    Raises:
        InvalidInputError: Something does, and `items` does not say what becomes of that.
    """
    kind = kind_of(id_) or ""
    loaded: Item = rows.load(session, kind, id_)
    inside = _list_dependents(session, loaded)
    if inside and not items:
        raise InvalidInputError(
            f"{pluralize(len(inside), 'item belongs', 'items belong')} to the {kind} “{loaded.label}”.",
            hint='Ask the user, then call again with items="keep" (they stay without it) or items="trash".',
        )
    return loaded, inside


def _list_dependents(session: Session, item: Item) -> list[tuple[str, str]]:
    if item.KIND == "project":
        return projects.list_items(session, item.id)
    if item.KIND == "task":
        return [("task", id_) for id_ in tasks.list_children(session, item.id)]
    return []


def _to_line_row(line: SessionLine) -> Mapping[str, Any]:
    return {name: getattr(line, name) for name in ("position", "at", "type", "speaker", "text")}


def _to_row(value: Any) -> Mapping[str, Any]:
    return {
        name: value.label if name == "name" else getattr(value, name)
        for name in ("id", "title", "name", "text", "media_type", "status", "deadline", "url", "at")
        if hasattr(value, name)
    }


def _format_project_question(name: str, counts: Mapping[str, int]) -> str:
    """Return the question before a project is moved to the trash with its items, by kind; "" if it has none."""
    inside = [f"{count:,} {name_kind(kind, count)}" for kind, count in counts.items() if count]
    return f"Move {join_words(inside)} to the trash, with the project {quote_name(name)}?" if inside else ""
