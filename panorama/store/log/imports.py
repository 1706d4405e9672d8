"""Rows of imports: which part of which file became which item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, union_all, update

from panorama.store.backend import Session
from panorama.store.tables import files, imports, notes, tasks

WHOLE_FILE = ""
"""The part that stands for a file as a whole, which became a note."""

ATTACHMENT = "attachment"
"""The part that stands for a file that is no Markdown and became a file here."""

MISSING = "gone"
"""Stands in the remembered fields of a part that its file, or the folder, does not hold any more."""

PROJECT_NAME = "project_name"
"""What the file calls the project whose id is remembered as `project`."""

LINE, ANCHOR = "line", "anchor"
"""Where a task's line stood, and its own id in the file; by these it is followed when it is reworded."""

_COLUMNS = (imports.c.path, imports.c.part, imports.c.digest, imports.c.item, imports.c.fields)
_SAME = (
    imports.c.folder == bindparam("folder_"),
    imports.c.path == bindparam("path_"),
    imports.c.part == bindparam("part_"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPart:
    """A part of a file as it was read last, and the item it became; `fields` are what the item got from it."""

    path: str
    part: str
    digest: str
    item: str
    fields: Mapping[str, Any]


def list_imported(
    session: Session, folder: str, paths: Sequence[str] | None = None
) -> dict[str, dict[str, ImportedPart]]:
    """Return what was imported from a folder, or from a few hundred files of it: by path, then by part."""
    results: dict[str, dict[str, ImportedPart]] = {}
    statement = select(*_COLUMNS).where(imports.c.folder == folder)
    if paths is not None:
        statement = statement.where(imports.c.path.in_(paths))
    for row in session.connection.execute(statement):
        entry = ImportedPart(path=row[0], part=row[1], digest=row[2], item=row[3], fields=row[4])
        results.setdefault(entry.path, {})[entry.part] = entry
    return results


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
    """Remember parts of files, in place of what was known of them."""
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
    """Forget parts that go on under another name."""
    if entries:
        rows = [{"folder_": folder, "path_": entry.path, "part_": entry.part} for entry in entries]
        session.connection.execute(delete(imports).where(*_SAME), rows)


def rename_path(session: Session, folder: str, old: str, new: str) -> None:
    """Remember a file, of which nothing is known under its new path, under that path."""
    same = (imports.c.folder == folder, imports.c.path == old)
    session.connection.execute(update(imports).where(*same).values(path=new))


def clear_fields(session: Session, items: Sequence[str]) -> None:
    """Forget what some items got from their files.

    A part that the folder holds no more is forgotten as a whole. Of others it stays known that they were taken: else
    the next import would bring back what a person has deleted.
    """
    known = select(imports.c.folder, imports.c.path, imports.c.part, imports.c.fields).where(imports.c.item.in_(items))
    for folder, path, part, fields in session.connection.execute(known).all():
        same = (imports.c.folder == folder, imports.c.path == path, imports.c.part == part)
        if MISSING in fields:
            session.connection.execute(delete(imports).where(*same))
        else:
            project_fields = {name: fields[name] for name in (PROJECT_NAME, "project") if name in fields}
            session.connection.execute(update(imports).where(*same).values(fields=project_fields))
