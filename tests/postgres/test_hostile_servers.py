"""Servers, roles and addresses whose settings would change what statements do."""

import json
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo

import psycopg
import pytest
from psycopg.sql import SQL, Identifier, Literal

from panorama.store.postgres import maintenance
from panorama.store.postgres.administration.administration import SpaceAdministration
from panorama.store.postgres.connections import parse_url
from tests.postgres.conftest import Command
from tests.postgres.pooler import run_pooler
from tests.postgres.roles import create_roles

pytestmark = pytest.mark.postgres

DORA = "panorama_test_dora"
TITLE = "Café ☕ 100 % “sûr” \\n"
DECOYS = (
    "CREATE TABLE public.tasks (id text, title text)",
    "CREATE TABLE public.alembic_version (version_num text)",
    "CREATE FUNCTION public.json_extract(text, text) RETURNS text LANGUAGE sql AS $$ SELECT 'decoy' $$",
    "CREATE FUNCTION public.json_each(text) RETURNS text LANGUAGE sql AS $$ SELECT 'decoy' $$",
    "CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE sql AS $$ SELECT 'decoy' $$",
)
DEFAULTS = {
    "search_path": "public",
    "statement_timeout": "1ms",
    "lock_timeout": "1ms",
    "idle_session_timeout": "50ms",
    "idle_in_transaction_session_timeout": "1ms",
    "default_transaction_isolation": "serializable",
    "client_encoding": "LATIN1",
    "DateStyle": "German",
    "TimeZone": "Asia/Kathmandu",
    "extra_float_digits": "-15",
    "standard_conforming_strings": "off",
    "bytea_output": "escape",
    "row_security": "off",
    "plan_cache_mode": "force_generic_plan",
}


@pytest.fixture
def dora(postgres_url: str) -> Iterator[str]:
    """The address of a person with a space of her own, named as she is."""
    with create_roles(postgres_url, DORA) as urls:
        SpaceAdministration(parse_url(postgres_url)).create("dora", DORA)
        yield urls[DORA]


def set_default(url: str, name: str, value: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(SQL("ALTER ROLE {} SET {} = {}").format(Identifier(DORA), Identifier(name), Literal(value)))


def list_titles(command: Command, url: str) -> list[str]:
    code, seen = command(url, "dora", "tasks", "--json")
    assert code == 0, seen
    return [row["title"] for row in json.loads(seen)["data"]]


def test_defaults_of_a_role_and_tables_in_public_change_nothing(postgres_url: str, dora: str, command: Command) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO public")
        for statement in DECOYS:
            admin.execute(statement)
    for name, value in DEFAULTS.items():
        set_default(postgres_url, name, value)

    created = command(dora, "dora", "tasks", "add", TITLE)
    dry = command(dora, "dora", "run", "--dry-run", "-c", "sdk.tasks.create('never')")
    found = command(dora, "dora", "search", "Café")

    assert (created[0], dry[0]) == (0, 0), created[1] + dry[1]
    assert list_titles(command, dora) == [TITLE]
    assert TITLE in found[1]
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        assert admin.execute("SELECT count(*) FROM public.tasks").fetchone() == (0,)
        admin.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


@pytest.mark.parametrize(
    "query", ["options=-csearch_path%3Dpublic", "options=-cstatement_timeout%3D1", "application_name=%22%3B--"]
)
def test_options_in_the_address_change_nothing(dora: str, command: Command, query: str) -> None:
    command(f"{dora}?{query}", "dora", "tasks", "add", TITLE)

    assert list_titles(command, dora) == [TITLE]


def test_a_parameter_that_does_not_exist_is_an_invalid_address(dora: str, command: Command) -> None:
    code, seen = command(f"{dora}?sslmoed=require", "dora", "tasks")

    assert (code, "setting database_url cannot be used" in seen) == (2, True)


def test_a_database_that_takes_no_writes_is_still_read(postgres_url: str, dora: str, command: Command) -> None:
    command(dora, "dora", "tasks", "add", TITLE)
    set_default(postgres_url, "default_transaction_read_only", "on")

    code, seen = command(dora, "dora", "tasks", "add", "Never")

    assert (code, "takes no writes" in seen) == (3, True)
    assert TITLE in command(dora, "dora", "tasks")[1]
    assert "fail  write lock" not in command(dora, "dora", "doctor")[1]


def test_a_role_that_may_only_read_reads_and_is_told_so_when_it_writes(
    postgres_url: str, dora: str, command: Command
) -> None:
    admin = SpaceAdministration(parse_url(postgres_url))
    command(dora, "dora", "tasks", "add", TITLE)
    with create_roles(postgres_url, "panorama_test_eve") as urls:
        admin.grant("dora", "panorama_test_eve", is_read_only=True)
        eve = urls["panorama_test_eve"]

        writes = (["tasks", "add", "Never"], ["undo"], ["purge", "--yes"], ["run", "-c", "sdk.tasks.create('no')"])
        seen = [command(eve, "dora", *words) for words in writes]
        listed, doctor = command(eve, "dora", "tasks"), command(eve, "dora", "doctor")

    assert [(code != 0, "may only read this space" in text) for code, text in seen] == [(True, True)] * len(writes)
    assert TITLE in listed[1]
    assert "may read the space, but not write it" in doctor[1]
    assert list_titles(command, dora) == [TITLE]


@pytest.mark.parametrize(("hours", "way"), [(1, "behind"), (-1, "ahead of")])
def test_the_doctor_warns_of_a_clock_an_hour_off(
    dora: str, command: Command, monkeypatch: pytest.MonkeyPatch, hours: int, way: str
) -> None:
    class ShiftedClock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "ShiftedClock":
            return super().now(tz) + timedelta(hours=hours)

    monkeypatch.setattr(maintenance, "datetime", ShiftedClock)

    assert f"s {way} this machine's" in command(dora, "dora", "doctor")[1]


@pytest.mark.parametrize("ignored", ["", "ignore_startup_parameters = options,extra_float_digits"])
def test_a_pooler_is_refused_by_every_command(dora: str, command: Command, ignored: str) -> None:
    if shutil.which("pgbouncer") is None:
        pytest.skip("pgbouncer is not installed (apt-get install pgbouncer)")
    doors = (["tasks"], ["spaces"], ["spaces", "create", "x"], ["spaces", "migrate", "dora"], ["doctor"])

    with run_pooler(dora, ignored) as pooled:
        seen = [command(pooled, "dora", *words) for words in doors]
        seen.append(command("", "", "move", "--to", pooled, "--space", "dora", "--yes"))

    assert [(code != 0, "that of a pooler" in text) for code, text in seen] == [(True, True)] * (len(doors) + 1)
