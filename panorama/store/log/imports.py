"""Rows of imports: which part of which file became which item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, bindparam, delete, insert, select, union_all, update

from panorama.store.backend import Session
from panorama.store.tables import files, imports, notes, tasks

WHOLE_FILE = ""
"""The part of the whole file, which became a note."""

ATTACHMENT = "attachment"
"""The part of a file that is not Markdown and became a file item."""

MISSING = "gone"
"""Marks the stored fields of a part that is no longer in its file or folder."""

PROJECT_NAME = "project_name"
"""The project's name in the file; its id is stored as `project`."""

LINE, ANCHOR = "line", "anchor"
"""A task's line and its own id in the file, by which it is recognised when reworded."""

_COLUMNS = (imports.c.path, imports.c.part, imports.c.digest, imports.c.item, imports.c.fields)
_SAME = (
    imports.c.folder == bindparam("folder_"),
    imports.c.path == bindparam("path_"),
    imports.c.part == bindparam("part_"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPart:
    """A part of a file as last read, and its item; `fields` are the values that the item took from it."""

    path: str
    part: str
    digest: str
    item: str
    fields: Mapping[str, Any]


def list_imported(
    session: Session, folder: str, paths: Sequence[str] | None = None
) -> dict[str, dict[str, ImportedPart]]:
    """Return the imported parts of a folder, or of a few hundred of its files: by path, then by part."""
    results: dict[str, dict[str, ImportedPart]] = {}
    statement = select(*_COLUMNS).where(imports.c.folder == folder)
    if paths is not None:
        statement = statement.where(imports.c.path.in_(paths))
    for row in session.connection.execute(statement):
        entry = ImportedPart(path=row[0], part=row[1], digest=row[2], item=row[3], fields=row[4])
        results.setdefault(entry.path, {})[entry.part] = entry
    return results


def list_tasks_of(session: Session, note: str) -> list[tuple[str, str]]:
    """Return the title and the id of each task that was imported from the file of a note, in the order of its lines."""
    file, part = imports.alias(), imports
    same_file = and_(file.c.folder == part.c.folder, file.c.path == part.c.path)
    of_note = select(part.c.fields, part.c.item).join(file, same_file).where(file.c.item == note, part.c.item != note)
    entries = [row for row in session.connection.execute(of_note) if "title" in row[0] and MISSING not in row[0]]
    return [(row[0]["title"], row[1]) for row in sorted(entries, key=lambda row: row[0].get(LINE, 0))]


def list_living(session: Session, folder: str) -> frozenset[str]:
    """Return the ids of those items from a folder that are not in the trash."""
    selects = [
        select(table.c.id)
        .join(imports, imports.c.item == table.c.id)
        .where(imports.c.folder == folder, table.c.deleted_at.is_(None))
        for table in (notes, tasks, files)
    ]
    return frozenset(row[0] for row in session.connection.execute(union_all(*selects)))


def save(session: Session, folder: str, entries: Sequence[ImportedPart]) -> None:
    """Store parts of files, replacing previous entries."""
    if not entries:
        return
    session.connection.execute(
        delete(imports).where(*_SAME),
        [{"folder_": folder, "path_": entry.path, "part_": entry.part} for entry in entries],
    )
    rows = [
        {
            "folder": folder, "path": entry.path, "part": entry.part, "digest": entry.digest, "item": entry.item,
            "fields": dict(entry.fields),
        }
        for entry in entries
    ]  # fmt: skip
    session.connection.execute(insert(imports), rows)


def delete_parts(session: Session, folder: str, entries: Sequence[ImportedPart]) -> None:
    """Delete parts that continue under another name."""
    if entries:
        rows = [{"folder_": folder, "path_": entry.path, "part_": entry.part} for entry in entries]
        session.connection.execute(delete(imports).where(*_SAME), rows)


def rename_path(session: Session, folder: str, old: str, new: str) -> None:
    """Move a file's entries to its new path, which has none."""
    same = (imports.c.folder == folder, imports.c.path == old)
    session.connection.execute(update(imports).where(*same).values(path=new))


def clear_fields(session: Session, items: Sequence[str]) -> None:
    """Clear the fields that some items took from their files.

    Parts that are no longer in the folder are deleted. Others stay as imported, because the next import would
    otherwise restore what the user deleted.
    """
    known = select(imports.c.folder, imports.c.path, imports.c.part, imports.c.fields).where(imports.c.item.in_(items))
    for folder, path, part, fields in session.connection.execute(known).all():
        same = (imports.c.folder == folder, imports.c.path == path, imports.c.part == part)
        if MISSING in fields:
            session.connection.execute(delete(imports).where(*same))
        else:
            project_fields = {name: fields[name] for name in (PROJECT_NAME, "project") if name in fields}
            session.connection.execute(update(imports).where(*same).values(fields=project_fields))
