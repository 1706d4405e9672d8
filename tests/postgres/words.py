"""An index of words on each kind of database, and the calls whose answers must be the same on both."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sqlalchemy import create_engine
from sqlalchemy.schema import CreateTable

from panorama.domain.changes import Origin
from panorama.domain.items.item import KINDS
from panorama.domain.text.tokens import parse_terms
from panorama.store import tables
from panorama.store.backend import ItemText, Session
from panorama.store.items import search
from panorama.store.items.search import Filters
from panorama.store.postgres import word_tables
from panorama.store.postgres.fulltext import TsvectorFullText
from panorama.store.postgres.vocabulary import TsvectorVocabulary
from panorama.store.sqlite.dialect import DIALECT as SENT_AT_ONCE
from panorama.store.sqlite.engine import SqliteDatabase

ORIGIN = Origin(actor="tool", client="tests", conversation="v_tests", operation="tests", call="c_tests", unit="c_tests")
RETRIEVAL = Path(__file__).parents[1] / "retrieval"
NEW = datetime(2026, 5, 20, tzinfo=UTC)
ROW = {"version": 1, "created_at": NEW, "updated_at": NEW, "tags": (), "pinned": False, "aliases": (), "properties": {}}
DIALECT: Any = SimpleNamespace(
    full_text=TsvectorFullText(), vocabulary=TsvectorVocabulary(), ask=SENT_AT_ONCE.ask, send=SENT_AT_ONCE.send
)


@dataclass(frozen=True)
class Words:
    """An open write, and what tests do with its index."""

    session: Session

    def put(self, id_: str, title: str, content: str) -> None:
        """Store a note, and index all of its words."""
        row = {"id": id_, "title": title, "key": title, "content": content, **ROW}
        self.session.connection.execute(tables.notes.insert(), [row])
        self.index(id_, title, content)

    def index(self, id_: str, title: str, content: str) -> None:
        """Index all words of a text, also of a long one."""
        text = self.session.full_text
        text.set_words(self.session, [ItemText("note", id_, title, content)])
        if id_ in self.session.long_texts:
            parts = dict(text.make_parts(title, (content,)))
            assert text.sync_parts(self.session, "note", id_, title, parts, seconds=60)
        self.session.long_texts.clear()
        self.session.index_seconds = 0

    def find(self, query: str, *, every: bool = True) -> list[str]:
        """Return the ids of the notes that match, in order of the id."""
        hits = self.session.full_text.search_terms(self.session, parse_terms(query), every=every, limit=10_000)
        return sorted({hit.item for hit in hits})

    def search(self, query: str) -> list[str]:
        """Return what keyword search finds, the best first."""
        terms = search.weigh_terms(self.session, parse_terms(query))
        return [hit.item for hit in search.search_items(self.session, terms, Filters(kinds=KINDS), needed=20)]

    def rank(self, query: str, *, every: bool = False) -> list[str]:
        """Return the ids of the parts' notes, the best first."""
        matches = self.session.full_text.search_expression(
            self.session, self.build(query, every=every), limit=50, reach=4000
        )
        return [match.item for match in matches]

    def count(self, query: str, *, most: int = 10_000) -> int:
        """Return how many parts match every word."""
        return self.session.full_text.count(self.session, self.build(query), most=most)

    def build(self, query: str, *, every: bool = True) -> str:
        """Return the expression of a query."""
        return self.session.full_text.build_expression(parse_terms(query), every=every)


@contextmanager
def open_sqlite(path: Path) -> Generator[Words]:
    """Yield a write in a copy of an empty database."""
    database = SqliteDatabase(path)
    with database.transaction(ORIGIN) as session:
        yield Words(session)
    database.close()


@contextmanager
def open_postgres(url: str) -> Generator[Words]:
    """Yield a write in a new schema, which is gone afterwards."""
    driver = url.replace("postgresql://", "postgresql+psycopg://", 1)
    engine = create_engine(driver, connect_args={"options": "-c plan_cache_mode=force_custom_plan"})
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE SCHEMA words; SET LOCAL search_path TO words")
        for table in (tables.projects, tables.notes, tables.search_parts):
            connection.execute(CreateTable(table))
        word_tables.create_tables(connection)
        yield Words(Session(connection, ORIGIN, DIALECT))
    engine.dispose()


def read_lines(name: str) -> list[dict[str, Any]]:
    """Return a file of the set by which search is judged."""
    return [json.loads(line) for line in (RETRIEVAL / f"{name}.jsonl").read_text("utf-8").splitlines()]
