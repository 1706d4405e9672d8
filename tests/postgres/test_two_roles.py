"""People who share a database: each uses their own space and those that were granted, and sees no other."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from sqlalchemy import text

from panorama.domain.changes import Origin
from panorama.errors import UnavailableError
from panorama.store.migrate import create_tables, migrate
from panorama.store.postgres.administration.administration import SpaceAdministration
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.sqlite.engine import SqliteDatabase
from tests.postgres.conftest import Command
from tests.postgres.roles import create_roles

pytestmark = pytest.mark.postgres

ANNA, BERT = "panorama_test_anna", "panorama_test_bert"
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)
WRITER = Origin(actor="tool", client="tests", conversation="", operation="", call="", unit="")
SECRET = "Anna buys a boat"
SPACES = ("anna", "bert", "team", "shown")


@pytest.fixture(scope="module")
def admin(postgres_url: str) -> Iterator[SpaceAdministration]:
    """The administrator's view of the database."""
    administration = SpaceAdministration(parse_url(postgres_url))
    yield administration
    with psycopg.connect(postgres_url, autocommit=True) as driver:
        query = "SELECT nspname FROM pg_namespace WHERE nspname ~ '^panorama_(anna|bert|team|shown|old)'"
        for (name,) in driver.execute(query).fetchall():
            driver.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(name)))


@pytest.fixture(scope="module")
def people(postgres_url: str, admin: SpaceAdministration) -> Iterator[dict[str, str]]:
    """Two people: a space of each, one that Bert may write and Anna read, and Anna's secret in hers."""
    with create_roles(postgres_url, ANNA, BERT) as urls:
        for name, owner in (("anna", ANNA), ("bert", BERT), ("team", "")):
            admin.create(name, owner)
        admin.grant("team", BERT, is_read_only=False)
        admin.grant("team", ANNA, is_read_only=True)
        with closing(open_space(urls[ANNA], "anna")) as hers:
            write(hers, SECRET)
        yield urls


def open_space(url: str, space: str) -> PostgresDatabase:
    return PostgresDatabase(parse_url(url), space, busy_seconds=2)


def write(database: PostgresDatabase, name: str) -> None:
    with database.transaction(WRITER) as session:
        session.connection.execute(text("INSERT INTO marks (name, value) VALUES (:name, 1)"), {"name": name})


def list_relations(url: str, schema: str) -> list[str]:
    with psycopg.connect(url) as driver:
        query = "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'S')"
        return [row[0] for row in driver.execute(query, (schema,))]


def refuse(driver: psycopg.Connection[Any], statement: Any) -> bool:
    """Return whether the server refuses a statement for lack of a right."""
    try:
        driver.execute(statement)
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedTable):
        return True
    return False


def test_raw_sql_reads_and_writes_nothing_of_another_space(people: dict[str, str], postgres_url: str) -> None:
    relations = list_relations(postgres_url, "panorama_anna")
    reading = (SQL("SELECT * FROM {}"), SQL("COPY {} TO STDOUT"))
    writing = (SQL("DELETE FROM {}"), SQL("DROP TABLE {}"))

    with psycopg.connect(people[BERT], autocommit=True) as bert:
        opened = [
            (name, door)
            for name in relations
            for door in reading + (writing if name == "marks" else ())
            if not refuse(bert, door.format(Identifier("panorama_anna", name)))
        ]
        statistics = bert.execute("SELECT * FROM pg_stats WHERE schemaname = 'panorama_anna'").fetchall()

    assert (len(relations) > 30, opened, statistics) == (True, [], [])


@pytest.mark.parametrize(
    "statement",
    [
        "SET ROLE panorama_test_anna",
        "SET SESSION AUTHORIZATION panorama_test_anna",
        "GRANT USAGE ON SCHEMA panorama_anna TO panorama_test_bert",
        "GRANT panorama_test_anna TO panorama_test_bert",
        "ALTER SCHEMA panorama_anna OWNER TO panorama_test_bert",
        "ALTER ROLE panorama_test_anna SET search_path = public",
        "CREATE TABLE panorama_anna.mine (x int)",
        "CREATE VIEW pg_temp.hers AS SELECT * FROM panorama_anna.notes",
        "CREATE TEMPORARY TABLE x (y text REFERENCES panorama_anna.notes (id))",
        "SELECT panorama_anna.json_extract('{}', '$.x')",
        "CREATE FUNCTION panorama_team.json_extract(text) RETURNS text LANGUAGE sql AS 'SELECT 1'",
        "CREATE TRIGGER t BEFORE INSERT ON panorama_team.notes EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "CREATE RULE r AS ON INSERT TO panorama_team.notes DO NOTHING",
        "CREATE POLICY p ON panorama_team.notes USING (true)",
        "ALTER TABLE panorama_team.notes ADD COLUMN x int",
        "TRUNCATE panorama_team.notes CASCADE",
        "DROP SCHEMA panorama_team CASCADE",
        "UPDATE panorama_team.alembic_version SET version_num = '9999'",
    ],
)
def test_raw_sql_takes_no_right_and_plants_no_code(people: dict[str, str], statement: str) -> None:
    with psycopg.connect(people[BERT]) as bert:
        assert refuse(bert, statement)


def test_no_command_opens_the_space_of_another(people: dict[str, str], command: Command, tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    with closing(SqliteDatabase(tmp_path / "backup" / "panorama.db")) as copy:
        create_tables(copy)
    restored = str(tmp_path / "backup" / "panorama.db")

    doors = [
        ("tasks",), ("search", "boat"), ("backup",), ("export", str(tmp_path / "out")), ("doctor",),
        ("run", "-c", "sdk.notes.list()"), ("restore", restored, "--yes"), ("spaces", "drop", "anna", "--yes"),
        ("spaces", "grant", "anna", BERT), ("spaces", "migrate", "anna"), ("move", "--to", "sqlite", "--yes"),
    ]  # fmt: skip
    opened = [words for words in doors if (seen := command(people[BERT], "anna", *words))[0] == 0 or SECRET in seen[1]]

    assert opened == []
    assert "boat" not in command(people[BERT], "bert", "spaces")[1]
    assert "anna" not in [line.split()[0] for line in command(people[BERT], "bert", "spaces")[1].splitlines()]


def test_the_error_names_the_owner_and_the_next_step(people: dict[str, str], command: Command) -> None:
    code, seen = command(people[BERT], "anna", "tasks")

    assert (code, f"belongs to the role {ANNA}" in seen) == (3, True)
    assert f"panorama spaces grant anna {BERT}" in seen


def test_a_missing_space_is_created_by_whoever_may(people: dict[str, str], command: Command) -> None:
    code, seen = command(people[BERT], "holidays", "tasks")

    assert (code, "may not create the space holidays" in seen) == (3, True)
    assert f"panorama spaces create holidays --role {BERT}" in seen


def test_a_granted_space_is_used_like_an_own_one(people: dict[str, str], command: Command) -> None:
    created = command(people[BERT], "team", "tasks", "add", "Order cake")
    dry = command(people[BERT], "team", "run", "--dry-run", "-c", "sdk.tasks.create('never')")
    listed = command(people[BERT], "team", "tasks")

    assert (created[0], dry[0]) == (0, 0)
    assert ("Order cake" in listed[1], "never" in listed[1]) == (True, False)


def test_rights_cover_the_tables_of_later_migrations(
    people: dict[str, str], admin: SpaceAdministration, postgres_url: str, tmp_path: Path
) -> None:
    with closing(open_space(postgres_url, "old")) as database:
        create_tables(database, "0021")
    admin.grant("old", BERT, is_read_only=False)

    with closing(open_space(people[BERT], "old")) as his:
        with pytest.raises(UnavailableError, match=r"older version.*has to migrate it") as refused:
            migrate(his, backups=tmp_path / "backups", now=NOW)
        assert "panorama spaces migrate old" in refused.value.hint
        assert not (tmp_path / "backups").exists()
        assert admin.migrate("old", backups=tmp_path / "backups", now=NOW)
        migrate(his, backups=tmp_path / "backups", now=NOW)
        write(his, "after the migration")

    with psycopg.connect(people[BERT]) as bert:
        unreadable = [
            name
            for name in list_relations(postgres_url, "panorama_old")
            if refuse(bert, SQL("SELECT 1 FROM {}").format(Identifier("panorama_old", name)))
        ]
    assert unreadable == []


def test_an_administrator_who_uses_a_space_leaves_it_to_its_owner(
    people: dict[str, str], postgres_url: str, tmp_path: Path
) -> None:
    with closing(SqliteDatabase(tmp_path / "copy.db")) as copy:
        create_tables(copy)
    with psycopg.connect(postgres_url, autocommit=True) as driver:
        database = driver.info.dbname
        driver.execute(SQL("GRANT CREATE ON DATABASE {} TO {}").format(Identifier(database), Identifier(BERT)))
    from panorama.store.postgres.maintenance import PostgresMaintenance

    PostgresMaintenance(parse_url(postgres_url), "bert").replace(tmp_path / "copy.db", NOW, is_own=True)

    with closing(open_space(people[BERT], "bert")) as his:
        write(his, "still mine")
    with psycopg.connect(postgres_url) as driver:
        query = "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = %s::regnamespace"
        assert driver.execute(query, ("panorama_bert",)).fetchall() == [(BERT,)]


def test_a_restore_keeps_the_rights_and_hides_what_was_there_before(
    people: dict[str, str], admin: SpaceAdministration, postgres_url: str, tmp_path: Path
) -> None:
    from panorama.store.postgres.maintenance import PostgresMaintenance

    admin.create("shown")
    admin.grant("shown", BERT, is_read_only=False)
    with closing(SqliteDatabase(tmp_path / "copy.db")) as copy:
        create_tables(copy)
    PostgresMaintenance(parse_url(postgres_url), "shown").replace(tmp_path / "copy.db", NOW, is_own=True)

    with closing(open_space(people[BERT], "shown")) as his:
        write(his, "restored")
    with psycopg.connect(people[BERT], autocommit=True) as bert:
        assert refuse(bert, "SELECT * FROM panorama_shown_before_20260520080000.notes")
        assert refuse(bert, "DELETE FROM panorama_shown.alembic_version")


def test_a_revoked_role_may_do_nothing_any_more(people: dict[str, str], admin: SpaceAdministration) -> None:
    admin.create("shown_again")
    admin.grant("shown_again", BERT, is_read_only=False)
    admin.revoke("shown_again", BERT)

    with closing(open_space(people[BERT], "shown_again")) as his, pytest.raises(UnavailableError, match="may not use"):
        his.revision()
    assert admin.get("shown_again").roles == {}
