"""Databases that somebody made up are not restored into a space."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from shutil import copyfile

import pytest

from panorama.errors import InvalidInputError
from panorama.store.postgres.administration.administration import SpaceAdministration
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.maintenance import PostgresMaintenance
from tests.attacks.test_hostile_backup import HOSTILE_STATEMENTS
from tests.sampled import sampled

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)


@pytest.fixture
def admin(postgres_url: str) -> Iterator[SpaceAdministration]:
    administration = SpaceAdministration(parse_url(postgres_url))
    administration.create("garden")
    yield administration
    administration.drop("garden")


def test_a_hostile_database_leaves_the_space_as_it_was(
    postgres_url: str, admin: SpaceAdministration, tmp_path: Path
) -> None:
    space = PostgresMaintenance(parse_url(postgres_url), "garden")
    sample = sampled(tmp_path)
    space.validate_copy(sample)
    restored: list[str] = []
    for name, statement in HOSTILE_STATEMENTS.items():
        copy = tmp_path / "copy.db"
        copyfile(sample, copy)
        with closing(sqlite3.connect(copy, isolation_level=None)) as file:
            file.execute("PRAGMA foreign_keys=OFF")
            try:
                changed = file.execute(statement).rowcount
            except sqlite3.IntegrityError:  # of a statement for a table with one row
                continue
        if changed == 0:  # the sample has no such row
            continue
        try:
            space.validate_copy(copy)
            space.replace(copy, NOW, is_own=False)
        except InvalidInputError:
            continue
        restored.append(name)

    assert restored == []
    assert [found.name for found in admin.list_spaces() if found.name.startswith("garden")] == ["garden"]
    assert admin.get("garden").items == 0
