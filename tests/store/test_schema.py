"""A database built fresh from the tables equals one that was built by migrations."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import create_engine

from panorama.store import migrate
from panorama.store.tables import metadata

NOT_TABLES = ("search_words", "alembic_version", "sqlite_")

Schema = dict[str, object]


def schema(path: Path) -> Schema:
    """Return columns, foreign keys and indexes of every table, as SQLite understands them."""
    with closing(sqlite3.connect(path)) as file:
        names = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        found: Schema = {}
        for name in (name for name in names if not name.startswith(NOT_TABLES)):
            columns = [row[1:] for row in file.execute(f"PRAGMA table_info({name})")]
            ties = sorted(row[2:] for row in file.execute(f"PRAGMA foreign_key_list({name})"))
            found[name] = (sorted(columns), ties)
        for name, sql in file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"):
            found[name] = re.sub(r"\s+", " ", sql)
        counted = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' ORDER BY name"
        found["never reused ids"] = [row[0] for row in file.execute(counted)]
        return found


def test_a_database_built_fresh_equals_one_built_by_migrations(tmp_path: Path, template: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'fresh.db'}")
    metadata.create_all(engine)
    engine.dispose()

    assert schema(tmp_path / "fresh.db") == schema(template)


def test_the_head_is_the_newest_migration() -> None:
    versions = migrate.bundled_path("migrations") / "versions"
    revisions = [re.search(r'^revision = "(\w+)"', path.read_text(), re.M)[1] for path in sorted(versions.glob("*.py"))]

    assert revisions[-1] == migrate.HEAD
    assert revisions == sorted(set(revisions))


def test_migrations_import_nothing_of_ours() -> None:
    for path in (migrate.bundled_path("migrations") / "versions").glob("*.py"):
        assert not re.search(r"^\s*(from|import) panorama", path.read_text(), re.M), path.name
