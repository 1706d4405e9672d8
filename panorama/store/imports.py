"""What was imported: which file, and which part of it, became which item."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select

from panorama.store.engine import Session
from panorama.store.tables import imports

WHOLE = ""
"""The part that stands for a file as a whole, which became a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A part of a file as it was read last, and the item it became; `fields` are what the item got from it."""

    path: str
    part: str
    digest: str
    item: str
    fields: Mapping[str, Any]


def known(session: Session, folder: str) -> dict[str, dict[str, Imported]]:
    """Return everything that was imported from a folder: by path, then by part."""
    found: dict[str, dict[str, Imported]] = {}
    columns = (imports.c.path, imports.c.part, imports.c.digest, imports.c.item, imports.c.fields)
    for row in session.connection.execute(select(*columns).where(imports.c.folder == folder)):
        entry = Imported(path=row[0], part=row[1], digest=row[2], item=row[3], fields=row[4])
        found.setdefault(entry.path, {})[entry.part] = entry
    return found


def keep(session: Session, folder: str, entry: Imported) -> None:
    """Remember a part of a file, in place of what was known of it."""
    same = (imports.c.folder == folder, imports.c.path == entry.path, imports.c.part == entry.part)
    session.connection.execute(delete(imports).where(*same))
    row = {"folder": folder, "path": entry.path, "part": entry.part, "digest": entry.digest, "item": entry.item}
    session.connection.execute(insert(imports), {**row, "fields": dict(entry.fields)})
