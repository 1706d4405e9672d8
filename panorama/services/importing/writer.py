"""Creates and updates the notes and tasks of changed files, unless they were changed in Panorama."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from panorama.domain.items.files import StoredFile
from panorama.domain.items.item import PREFIXES, AnyItem, normalize_name
from panorama.domain.items.notes import Note
from panorama.domain.items.projects import Project
from panorama.domain.items.tasks import Task, status_fields
from panorama.domain.markdown.import_fields import (
    merge_fields,
    note_fields,
    parse_timestamp,
    task_fields,
    task_keys,
    to_snapshot,
)
from panorama.domain.markdown.parser import TaskLine
from panorama.domain.markdown.task_matching import TaskBox, match_tasks
from panorama.errors import NotFoundError
from panorama.services.base import ServiceContext
from panorama.services.importing.attachments import Attachment, free_name, load_known
from panorama.services.importing.import_run import ChangedFile, ImportRun, mark_missing
from panorama.store.backend import Session
from panorama.store.items import projects, rows, tasks
from panorama.store.items.rows import IdTakenError
from panorama.store.log import imports
from panorama.store.log.imports import ANCHOR, ATTACHMENT, LINE, MISSING, PROJECT_NAME, WHOLE_FILE, ImportedPart

MAX_TASKS = 5000
"""The maximum number of tasks of one file; the rest stays in its note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaskLocation:
    """A task line and its position: file, part and parent task."""

    file: ChangedFile
    line: TaskLine
    part: str
    parent: str | None


def _match_earlier(known: Mapping[str, ImportedPart], lines: Sequence[TaskLine]) -> dict[int, ImportedPart]:
    """Return the known part of each line, by the line's index among the tasks of its file.

    A task that was missing is recognised by its title only.
    """
    present = [entry for part, entry in known.items() if part != WHOLE_FILE and MISSING not in entry.fields]
    present.sort(key=lambda entry: entry.fields.get(LINE, 0))
    old = [TaskBox(title=_known_title(entry), anchor=entry.fields.get(ANCHOR, "")) for entry in present]
    new = [TaskBox(title=line.title, anchor=line.anchor) for line in lines]
    earlier = {at: present[place] for at, place in match_tasks(old, new).items()}
    for at, part in enumerate(task_keys(lines)):
        if at not in earlier and part in known and MISSING in known[part].fields:
            earlier[at] = known[part]
    return earlier


def _file_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _known_title(entry: ImportedPart) -> str:
    """Return a line's stored title; a long one is stored as a digest, and in lower case in its key."""
    title = entry.fields.get("title")
    return title if isinstance(title, str) else entry.part.removeprefix("task:").rpartition(":")[0]


class ImportWriter:
    """Imports files inside the open transaction; in a dry run it only reads."""

    def __init__(self, session: Session, context: ServiceContext, run: ImportRun) -> None:
        self._session = session
        self._context = context
        self._run = run
        self._tally = run.tally
        self._now: datetime = context.now()
        self._items: dict[str, Any] = {}
        self._entries: list[ImportedPart] = []
        self._former: list[ImportedPart] = []
        self._attached: dict[str, ImportedPart] = {}
        self._names = run.names if run.dry else {}

    def write(self, files: Sequence[ChangedFile]) -> None:
        """Import files, considering what another import did with them meanwhile."""
        paths = [path for file in files for path in (file.path, file.moved_from) if path]
        known = imports.list_imported(self._session, self._run.folder, paths)
        for file in files:
            self._write_file(file, self._load_known(file, known))
            self._run.report_progress(file.path)
        if not self._run.dry:
            imports.delete_parts(self._session, self._run.folder, self._former)
            imports.save(self._session, self._run.folder, [*self._entries, *self._attached.values()])

    def _load_known(
        self, file: ChangedFile, known: Mapping[str, Mapping[str, ImportedPart]]
    ) -> Mapping[str, ImportedPart]:
        """Return a file's known parts, and load their items.

        Parts that were missing and are in the trash are dropped, so that they count as new if they reappear.
        """
        entries = known.get(file.path, {})
        if not entries and file.moved_from in known:
            entries = {part: replace(entry, path=file.path) for part, entry in known[file.moved_from].items()}
            if not self._run.dry:
                imports.rename_path(self._session, self._run.folder, file.moved_from, file.path)
        entries = {part: entry for part, entry in entries.items() if part != ATTACHMENT}
        for entry in entries.values():
            with suppress(NotFoundError):
                kind = "note" if entry.part == WHOLE_FILE else "task"
                self._items[entry.item] = rows.load(self._session, kind, entry.item)
        return {
            part: entry
            for part, entry in entries.items()
            if entry.item in self._items or not (self._run.anew or MISSING in entry.fields)
        }

    def _write_file(self, file: ChangedFile, known: Mapping[str, ImportedPart]) -> None:
        before, problems = dict(self._tally.counts), self._tally.problem_count
        whole = known.get(WHOLE_FILE)
        if whole is None or whole.digest != file.digest or file.moved_from or MISSING in whole.fields:
            self._tally.add_document(file.path, file.document)
            note = self._write_note(file, whole)
            self._write_tasks(file, known, note)
        if (self._tally.counts, self._tally.problem_count) == (before, problems):
            self._tally.add("unchanged")

    # Notes

    def _write_note(self, file: ChangedFile, entry: ImportedPart | None) -> Note | None:
        """Create or update the note of a file; return None if it is in the trash."""
        values: dict[str, Any]
        if entry is None:
            project = self._find_or_create_project(file.project)
            values = {
                **note_fields(file.document, _file_stem(file.path), self._write_attachments(file, project)),
                "project": project,
            }
            created, modified = self._note_times(file)
            note = self._add_item(Note(**self._new_item_fields("note", created, modified), **values))
            self._record_entry(file, WHOLE_FILE, note.id, values)
            return note
        project = self._resolve_project(file.project, entry)
        values = {
            **note_fields(file.document, _file_stem(file.path), self._write_attachments(file, project)),
            "project": project,
        }
        self._record_entry(file, WHOLE_FILE, entry.item, values)
        old: Note | None = self._items.get(entry.item)
        if old is None:
            self._tally.add("skipped")
            return None
        return self._merge_item(file, entry, values, old)

    # Attachments

    def _write_attachments(self, file: ChangedFile, project: str | None) -> dict[str, str]:
        """Return the ids of the files that a note refers to, by name."""
        paths = [attachment.path for attachment in file.attachments]
        known = imports.list_imported(self._session, self._run.folder, paths) if paths else {}
        written = [
            self._write_attachment(attachment, known.get(attachment.path, {}).get(ATTACHMENT), project)
            for attachment in file.attachments
        ]
        return {item.name: item.id for item in written if item}

    def _write_attachment(
        self, attachment: Attachment, entry: ImportedPart | None, project: str | None
    ) -> StoredFile | None:
        """Create or update the file of an attachment; return None if it is in the trash."""
        entry = self._attached.get(attachment.path, entry)
        old = load_known(self._session, entry)
        if entry and old is None and not self._run.anew and not self._run.dry:
            return None
        if old is None:
            name = free_name(self._session, attachment.fields["name"], project)
            times = self._new_item_fields("file", self._now, self._now)
            fields: dict[str, Any] = {**times, **attachment.fields, "name": name, "project": project}
            item = self._add_item(StoredFile(**fields))
        else:
            item = self._update_attachment(attachment, old, entry)
        part = ImportedPart(path=attachment.path, part=ATTACHMENT, digest=attachment.digest, item=item.id, fields={})
        self._attached[attachment.path] = part
        return item

    def _update_attachment(self, attachment: Attachment, old: StoredFile, entry: ImportedPart | None) -> StoredFile:
        """Return a file with the content of its attachment, unless it was changed in Panorama."""
        if entry is None or entry.digest == attachment.digest or not old.sha256.startswith(entry.digest):
            return old
        content = {name: value for name, value in attachment.fields.items() if name != "name"}
        new = old.with_changes(self._now, **content)
        if not self._run.dry:
            rows.save(self._session, old, new)
        return new

    # Tasks

    def _write_tasks(self, file: ChangedFile, known: Mapping[str, ImportedPart], note: Note | None) -> None:
        lines = file.document.tasks[:MAX_TASKS]
        if len(lines) < len(file.document.tasks):
            self._tally.add_problem(
                file.path,
                f"it has {len(file.document.tasks):,} tasks; only the first {MAX_TASKS:,} were imported",
            )
        keys, earlier = task_keys(lines), _match_earlier(known, lines)
        ids: list[str | None] = []
        for at, (line, part) in enumerate(zip(lines, keys, strict=True)):
            parent = None if line.parent is None else ids[line.parent]
            box = _TaskLocation(file=file, line=line, part=part, parent=parent)
            entry = earlier.get(at)
            ids.append(self._update_task(box, entry) if entry else self._create_task(box, note))
        followed = {entry.part for entry in earlier.values()}
        self._former += [entry for entry in earlier.values() if entry.part not in keys]
        self._mark_missing_tasks(known, followed | {WHOLE_FILE})

    def _create_task(self, box: _TaskLocation, note: Note | None) -> str:
        project = note.project if note else self._find_or_create_project(box.file.project)
        values: dict[str, Any] = {**task_fields(box.line, self._context.zone), "parent": box.parent, "project": project}
        others = {name: value for name, value in values.items() if name != "status"}
        first, modified = self._note_times(box.file)
        born = first if note and note.version == 1 else modified
        created = parse_timestamp(box.line.created, now=self._now, zone=self._context.zone) or born
        task = Task(
            **self._new_item_fields("task", created, modified),
            **others,
            **status_fields(None, values["status"], self._parse_closing_time(box.line)),
            provenance=f"import:{box.file.path}#L{box.line.line}",
        )
        id_ = self._add_item(task).id
        self._record_entry(box.file, box.part, id_, values, box.line)
        return id_

    def _update_task(self, box: _TaskLocation, entry: ImportedPart) -> str | None:
        """Update a known task from its line; return its id, or None if it is in the trash."""
        project = self._resolve_project(box.file.project, entry)
        values = {**task_fields(box.line, self._context.zone), "parent": box.parent, "project": project}
        self._record_entry(box.file, box.part, entry.item, values, box.line)
        old: Task | None = self._items.get(entry.item)
        if old is None:
            self._tally.add("skipped")
            return None
        self._merge_item(box.file, entry, values, old, closed=self._parse_closing_time(box.line))
        return old.id

    def _parse_closing_time(self, line: TaskLine) -> datetime:
        """Return when a task was completed or cancelled: noon of the day in its line, else now."""
        written = line.completed if line.status == "done" else line.cancelled if line.status == "cancelled" else ""
        return parse_timestamp(written, now=self._now, zone=self._context.zone) or self._now

    def _mark_missing_tasks(self, known: Mapping[str, ImportedPart], followed: set[str]) -> None:
        """Mark the tasks whose lines are missing, and record each living one once.

        If a new line got the key of a missing one, the missing one is stored under another key.
        """
        parts = {entry.part for entry in self._entries}
        for part, entry in known.items():
            if part in followed:
                continue
            if MISSING not in entry.fields and entry.item in self._items:
                self._tally.add_gone(entry.path, self._items[entry.item].label)
            if part in parts:
                self._entries.append(replace(mark_missing(entry), part=f"{part}:{entry.item}"))
            elif MISSING not in entry.fields:
                self._entries.append(mark_missing(entry))

    # Both

    def _note_times(self, file: ChangedFile) -> tuple[datetime, datetime]:
        """Return when a file was created and last changed, by its front matter, else its disk."""
        document, now, zone = file.document, self._now, self._context.zone
        created = parse_timestamp(document.created, now=now, zone=zone)
        modified = parse_timestamp(document.modified, now=now, zone=zone) or min(file.times.modified, now)
        return created or min(file.times.created, modified), max(modified, created or modified)

    def _new_item_fields(self, kind: str, created: datetime, modified: datetime) -> dict[str, Any]:
        times = {"created_at": created, "updated_at": max(created, modified)}
        return {"id": self._context.new_id(PREFIXES[kind]), **times}

    def _add_item(self, item: AnyItem) -> AnyItem:
        """Store a new item; retry with another id if its id is taken."""
        self._tally.add(f"{item.KIND}s_created")
        if self._run.dry:
            return item
        try:
            rows.add(self._session, item, at=self._now)
        except IdTakenError:
            item = replace(item, id=self._context.new_id(PREFIXES[item.KIND]))
            rows.add(self._session, item, at=self._now)
        return item

    def _merge_item(
        self,
        file: ChangedFile,
        entry: ImportedPart,
        file_fields: Mapping[str, Any],
        old: Any,
        *,
        closed: datetime | None = None,
    ) -> Any:
        """Update an item with the changes of its file, except for fields changed in Panorama."""
        merged = merge_fields(entry.fields, file_fields, old)
        changes, conflicts = dict(merged.changes), [*merged.conflicts]
        if self._is_cyclic(old.id, changes.get("parent")):
            conflicts.append("parent")
            del changes["parent"]
        for name in conflicts:
            self._tally.add_problem(
                file.path, f"{name} of “{old.label}” was changed in both places; the value in Panorama is kept"
            )
        if closed and "status" in changes:
            changes |= status_fields(old.status, changes["status"], closed)
        modified = self._note_times(file)[1]
        new = old.with_changes(modified if modified > old.updated_at else self._now, **changes)
        if new is not old:
            if not self._run.dry:
                rows.save(self._session, old, new, at=self._now)
            self._tally.add(f"{old.KIND}s_updated")
        return new

    def _is_cyclic(self, task: str, parent: str | None) -> bool:
        """Return whether a task would become its own ancestor, because its new parent was moved under it."""
        return parent is not None and task in (parent, *tasks.list_ancestors(self._session, parent))

    def _record_entry(
        self, file: ChangedFile, part: str, item: str, file_fields: Mapping[str, Any], line: TaskLine | None = None
    ) -> None:
        place = {LINE: line.line, ANCHOR: line.anchor} if line else {}
        fields = {**to_snapshot(file_fields), PROJECT_NAME: file.project, **place}
        self._entries.append(ImportedPart(path=file.path, part=part, digest=file.digest, item=item, fields=fields))

    # Projects

    def _resolve_project(self, name: str, entry: ImportedPart) -> str | None:
        """Return the project of a known file; it is unchanged as long as the name is."""
        if normalize_name(name) == normalize_name(entry.fields.get(PROJECT_NAME, "")):
            return entry.fields.get("project")
        return self._find_or_create_project(name)

    def _find_or_create_project(self, name: str) -> str | None:
        """Return the living project with a name, a renamed one from an earlier import, or a new one."""
        key = normalize_name(name)
        if key and key not in self._names:
            named = projects.find_by_name(self._session, key)
            before = (id_ for id_ in self._run.iter_former_projects(key) if rows.exists(self._session, "project", id_))
            self._names[key] = named or next(before, None) or self._create_project(name)
        return self._names[key] if key else None

    def _create_project(self, name: str) -> str:
        return self._add_item(Project(**self._new_item_fields("project", self._now, self._now), name=name)).id
