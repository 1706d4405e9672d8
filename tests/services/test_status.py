"""The status: what it says of the store."""

import sqlite3
from contextlib import closing

import pytest

from panorama.app import App
from tests.conftest import ON_POSTGRES
from tests.services.test_waiting_reminders import Call


@pytest.mark.skipif(ON_POSTGRES, reason="a server's log holds the writes of all its spaces and is not counted")
def test_the_size_of_the_database_counts_its_log(call: Call, app: App) -> None:
    path = app.context.database.path
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM notes").fetchone()  # what is written now stays in the log
        call("create_note", title="Long", content="quince jam " * 20_000)

        assert call("status").data["database_bytes"] > path.stat().st_size + 200_000
