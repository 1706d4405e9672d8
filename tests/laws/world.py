"""A small world for each example: the real product on a copy of an empty database, with a clock that ticks."""

import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self
from zoneinfo import ZoneInfo

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import Settings
from panorama.domain.changes import Origin
from panorama.domain.items.item import BASE32, Item
from panorama.domain.text.tokens import index_text, iter_parts
from panorama.services.base import ServiceContext
from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.items.rows import NOUNS
from panorama.store.sqlite.engine import SqliteDatabase

ZONE = ZoneInfo("Europe/Berlin")
BEGIN = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)
ORIGIN = Origin(actor="tool", client="laws", conversation="v_laws", operation="laws", call="c_laws", unit="c_laws")

Fields = dict[str, Any]


@dataclass
class Ticking:
    """A clock that moves on by a second, and ids that count up."""

    ticks: int = 0

    def now(self) -> datetime:
        """Return a moment that was never returned before."""
        self.ticks += 1
        return BEGIN + timedelta(seconds=self.ticks)

    def new_id(self, letter: str) -> str:
        """Return an id that was never returned before."""
        self.ticks += 1
        return f"{letter}_" + "".join(BASE32[self.ticks >> shift & 31] for shift in range(45, -1, -5))


@dataclass
class World:
    """An open store and one client; each call has a conversation's loop guard of its own."""

    app: App
    calls: int = field(default=0)

    @classmethod
    @contextmanager
    def made(cls, template: Path) -> Generator[Self]:
        """Make a world from an empty, migrated database."""
        with tempfile.TemporaryDirectory(prefix="laws-") as folder:
            shutil.copyfile(template, Path(folder) / "panorama.db")
            ticking, chosen = Ticking(), Settings(home=Path(folder), timezone=ZONE.key)
            with open_app(
                chosen,
                ServiceContext(
                    SqliteDatabase(chosen.home / "panorama.db"), ZONE, chosen.home, ticking.now, ticking.new_id
                ),
            ) as app:
                yield cls(app)

    @property
    def database(self) -> SqliteDatabase:
        """The store."""
        return self.app.context.database

    def do(self, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """Call an operation; return data, summary and metadata."""
        client = Conversation(id="v_laws", actor="tool", client="laws")
        return self.app.calls.call(operation, arguments, client).to_dict()

    def add(self, *items: Item) -> None:
        """Store items as they are."""
        with self.database.transaction(ORIGIN) as session:
            for item in items:
                rows.add(session, item)

    def items(self) -> dict[str, Item]:
        """Return everything that is stored, also what is in the trash, by id."""
        with self.database.reading() as session:
            return {item.id: item for kind in NOUNS for item in _all(session, kind)}

    def living(self) -> dict[str, Fields]:
        """Return the fields of everything that lives, but for its version and the moment it was written."""
        return {id_: fields_of(item) for id_, item in self.items().items() if item.deleted_at is None}

    def indexed_words(self) -> list[tuple[str, str, str, str]]:
        """Return what the full-text index holds: item, kind, title, body of every part."""
        with self.database.reading() as session:
            found = session.connection.exec_driver_sql(
                "SELECT p.item, p.kind, w.title, w.body FROM search_parts p JOIN search_words w ON w.rowid = p.id"
            )
            return sorted((row[0], row[1], row[2], row[3]) for row in found)

    def words_to_index(self) -> list[tuple[str, str, str, str]]:
        """Return what the index must hold, built anew from the rows."""
        made: list[tuple[str, str, str, str]] = []
        for item in self.items().values():
            if item.deleted_at is None:
                title, body = item.search_text()
                made += {(item.id, item.KIND, index_text(title), index_text(part)) for part in iter_parts(body)}
        return sorted(made)

    def check_index(self) -> None:
        """Let SQLite compare its index with the words it was given."""
        with self.database.transaction(ORIGIN) as session:
            session.connection.exec_driver_sql("INSERT INTO search_words (search_words) VALUES ('integrity-check')")


def _all(session: Session, kind: str) -> list[Item]:
    table = NOUNS[kind].table
    return [
        rows.to_item(kind, row)
        for row in session.connection.execute(table.select().with_only_columns(*rows.columns(kind)))
    ]


def fields_of(item: Item) -> Fields:
    """Return an item's fields but for its version and the moment it was written."""
    return {name: getattr(item, name) for name in NOUNS[item.KIND].fields if name not in ("version", "updated_at")}
