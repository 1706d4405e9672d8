"""How the notes and tasks of a changed file are created, or follow it as far as they were not changed here."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from panorama.domain.items import PREFIXES, AnyItem, folded
from panorama.domain.markdown import TaskLine
from panorama.domain.markdown_items import joined, moment, note_fields, parts, remembered, task_fields
from panorama.domain.notes import Note
from panorama.domain.projects import Project
from panorama.domain.tasks import Task, stamps
from panorama.errors import NotFoundError
from panorama.services.base import Desk
from panorama.services.import_run import File, Run, as_gone
from panorama.store import imports, projects, rows, tasks
from panorama.store.engine import Session
from panorama.store.imports import GONE, NAMED, WHOLE, Imported
from panorama.store.rows import IdTakenError

MOST_TASKS = 5000
"""The most tasks of one file; the rest stays in its note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box:
    """A task line and where it stands: in which file, as which part of it, under which task."""

    file: File
    line: TaskLine
    part: str
    parent: str | None


class Taking:
    """Takes over files inside the transaction that is open; in a dry run that is a read, and nothing is written."""

    def __init__(self, session: Session, desk: Desk, run: Run) -> None:
        self._session = session
        self._desk = desk
        self._run = run
        self._tally = run.tally
        self._now: datetime = desk.now()
        self._items: dict[str, Any] = {}
        self._entries: list[Imported] = []
        self._names = run.names if run.dry else {}

    def take(self, files: Sequence[File]) -> None:
        """Take over files, whatever another import has made of them since this one began."""
        paths = [path for file in files for path in (file.path, file.moved_from) if path]
        known = imports.known(self._session, self._run.folder, paths)
        for file in files:
            self._file(file, self._known(file, known))
            self._run.tick(file.path)
        if not self._run.dry:
            imports.keep(self._session, self._run.folder, self._entries)

    def _known(self, file: File, known: Mapping[str, Mapping[str, Imported]]) -> Mapping[str, Imported]:
        """Return what is known of a file, and load the items that it became.

        What was gone from the file and is in the trash is forgotten: if it comes back, it is something new.
        """
        entries = known.get(file.path, {})
        if not entries and file.moved_from in known:
            entries = {part: replace(entry, path=file.path) for part, entry in known[file.moved_from].items()}
            if not self._run.dry:
                imports.move(self._session, self._run.folder, file.moved_from, file.path)
        for entry in entries.values():
            with suppress(NotFoundError):
                kind = "note" if entry.part == WHOLE else "task"
                self._items[entry.item] = rows.load(self._session, kind, entry.item)
        return {
            part: entry
            for part, entry in entries.items()
            if entry.item in self._items or not (self._run.anew or GONE in entry.fields)
        }

    def _file(self, file: File, known: Mapping[str, Imported]) -> None:
        before, problems = dict(self._tally.counts), self._tally.problem_count
        whole = known.get(WHOLE)
        if whole is None or whole.digest != file.digest or file.moved_from or GONE in whole.fields:
            for warning in file.document.warnings:
                self._tally.problem(file.path, warning)
            note = self._note(file, whole)
            self._tasks(file, known, note)
        if (self._tally.counts, self._tally.problem_count) == (before, problems):
            self._tally.add("unchanged")

    # Notes

    def _note(self, file: File, entry: Imported | None) -> Note | None:
        """Return the note that a file becomes or is; None if it is in the trash."""
        said = note_fields(file.document)
        if entry is None:
            said["project"] = self._project(file.project)
            created = moment(file.document.created, now=self._now, zone=self._desk.zone)
            note = self._added(Note(**self._new("note", created), **said))
            self._remember(file, WHOLE, note.id, said)
            return note
        said["project"] = self._meant(file.project, entry)
        self._remember(file, WHOLE, entry.item, said)
        old: Note | None = self._items.get(entry.item)
        if old is None:
            self._tally.add("skipped")
            return None
        return self._followed(file, entry, said, old)

    # Tasks

    def _tasks(self, file: File, known: Mapping[str, Imported], note: Note | None) -> None:
        lines = file.document.tasks[:MOST_TASKS]
        if len(lines) < len(file.document.tasks):
            self._tally.problem(
                file.path,
                f"it has {len(file.document.tasks):,} tasks; only the first {MOST_TASKS:,} were taken out of its text",
            )
        keys = parts(lines)
        ids: list[str | None] = []
        for line, part in zip(lines, keys, strict=True):
            parent = None if line.parent is None else ids[line.parent]
            box = _Box(file=file, line=line, part=part, parent=parent)
            entry = known.get(part)
            ids.append(self._follow_task(box, entry) if entry else self._new_task(box, note))
        self._forsake(known, set(keys))

    def _new_task(self, box: _Box, note: Note | None) -> str:
        project = note.project if note else self._project(box.file.project)
        said: dict[str, Any] = {**task_fields(box.line), "parent": box.parent, "project": project}
        others = {name: value for name, value in said.items() if name != "status"}
        created = moment(box.line.created, now=self._now, zone=self._desk.zone)
        task = Task(
            **self._new("task", created), **others, **stamps(None, said["status"], self._closed(box.line)),
            provenance=f"import:{box.file.path}#L{box.line.line}",
        )  # fmt: skip
        id_ = self._added(task).id
        self._remember(box.file, box.part, id_, said)
        return id_

    def _follow_task(self, box: _Box, entry: Imported) -> str | None:
        """Bring a known task up to its line; return its id, or None if it is in the trash."""
        project = self._meant(box.file.project, entry)
        said = {**task_fields(box.line), "parent": box.parent, "project": project}
        self._remember(box.file, box.part, entry.item, said)
        old: Task | None = self._items.get(entry.item)
        if old is None:
            self._tally.add("skipped")
            return None
        self._followed(box.file, entry, said, old, closed=self._closed(box.line))
        return old.id

    def _closed(self, line: TaskLine) -> datetime:
        """Return when a task was completed or cancelled: noon of the day its line gives, else this moment."""
        written = line.completed if line.status == "done" else line.cancelled if line.status == "cancelled" else ""
        return moment(written, now=self._now, zone=self._desk.zone) or self._now

    def _forsake(self, known: Mapping[str, Imported], parts: set[str]) -> None:
        """Keep the tasks whose lines are there no more, and count each of the living once."""
        for part, entry in known.items():
            if part != WHOLE and part not in parts and GONE not in entry.fields:
                self._tally.add("gone", int(entry.item in self._items))
                self._entries.append(as_gone(entry))

    # Both

    def _new(self, kind: str, created: datetime | None) -> dict[str, Any]:
        return {"id": self._desk.new_id(PREFIXES[kind]), "created_at": created or self._now, "updated_at": self._now}

    def _added(self, item: AnyItem) -> AnyItem:
        """Return a new item as it was stored: with another id, should its own be taken."""
        self._tally.add(f"{item.KIND}s_created")
        if self._run.dry:
            return item
        try:
            rows.add(self._session, item)
        except IdTakenError:
            item = replace(item, id=self._desk.new_id(PREFIXES[item.KIND]))
            rows.add(self._session, item)
        return item

    def _followed(
        self, file: File, entry: Imported, said: Mapping[str, Any], old: Any, *, closed: datetime | None = None
    ) -> Any:
        """Return an item with what changed in its file since, as far as it was not changed here."""
        found = joined(entry.fields, said, old)
        changes, conflicts = dict(found.changes), [*found.conflicts]
        if self._turns_round(old.id, changes.get("parent")):
            conflicts.append("parent")
            del changes["parent"]
        for name in conflicts:
            self._tally.problem(
                file.path, f"{name} of “{old.label}” was changed in both places; it stays as it is here"
            )
        if closed and "status" in changes:
            changes |= stamps(old.status, changes["status"], closed)
        new = old.changed(self._now, **changes)
        if new is not old:
            if not self._run.dry:
                rows.save(self._session, old, new)
            self._tally.add(f"{old.KIND}s_updated")
        return new

    def _turns_round(self, task: str, parent: str | None) -> bool:
        """Tell whether a task would stand under itself, because its new parent was put under it here."""
        return parent is not None and task in (parent, *tasks.ancestors(self._session, parent))

    def _remember(self, file: File, part: str, item: str, said: Mapping[str, Any]) -> None:
        fields = {**remembered(said), NAMED: file.project}
        self._entries.append(Imported(path=file.path, part=part, digest=file.digest, item=item, fields=fields))

    # Projects

    def _meant(self, name: str, entry: Imported) -> str | None:
        """Return the project that a known file names; as long as the name stays, it is the one it was."""
        if folded(name) == folded(entry.fields.get(NAMED, "")):
            return entry.fields.get("project")
        return self._project(name)

    def _project(self, name: str) -> str | None:
        """Return the living project of a name, or that had the name when files of this folder got it, or a new one."""
        key = folded(name)
        if key and key not in self._names:
            named = projects.named(self._session, key)
            before = (id_ for id_ in self._run.named_before(key) if rows.exists(self._session, "project", id_))
            self._names[key] = named or next(before, None) or self._new_project(name)
        return self._names[key] if key else None

    def _new_project(self, name: str) -> str:
        return self._added(Project(**self._new("project", None), name=name)).id
