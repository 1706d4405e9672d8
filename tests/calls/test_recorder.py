"""The recorder: what it remembers of what scripts send, and what it holds while nothing can be written."""

import gc
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from panorama.app import App
from panorama.calls import call_log
from panorama.calls.call_log import CallLogWriter, redact
from panorama.domain.changes import Origin
from panorama.domain.text.secrets import REDACTED
from panorama.errors import UnavailableError
from panorama.store.log.calls import CallLogEntry
from panorama.store.sqlite.engine import SqliteDatabase

NOW = datetime(2026, 1, 1, tzinfo=UTC)

SECRET = "hunter2-hunter2"


def remembered() -> str:
    """Return all that is kept of what was shown, so that it need not be made again."""
    kept = [var for var in vars(call_log).values() if hasattr(var, "cache_info")]
    assert kept
    return "".join(repr(list(referent)) for referent in gc.get_referents(*kept) if isinstance(referent, dict))


@pytest.fixture(autouse=True)
def _forgetful() -> None:
    for var in vars(call_log).values():
        if hasattr(var, "cache_clear"):
            var.cache_clear()


def test_what_stands_under_the_name_of_a_secret_is_not_remembered() -> None:
    answer = redact({"title": "Tea and jam", "password": SECRET, "where": {"api_key": SECRET}})

    assert answer == {"title": "Tea and jam", "password": REDACTED, "where": {"api_key": REDACTED}}
    assert "Tea and jam" in remembered()
    assert SECRET not in remembered()


def test_long_names_are_not_remembered() -> None:
    redact({"where": {"x" * 1000: "y", "z" * 100 + "_password": SECRET}})

    assert "'where'" in remembered()
    assert not [secret for secret in ("xxx", "zzz", SECRET) if secret in remembered()]


def test_a_long_name_of_a_secret_hides_it_too() -> None:
    assert list(redact({"z" * 100 + "_password": SECRET}).values()) == [REDACTED]


class LockableDatabase:
    """Refuses to be written while it is locked, and then does first what is to happen meanwhile."""

    def __init__(self, database: SqliteDatabase) -> None:
        self.is_locked = True
        self.meanwhile: list[Callable[[], None]] = []
        self._database = database
        self.membership = database.membership

    def transaction(self, origin: Origin) -> Any:
        """Open a transaction, or refuse."""
        if self.is_locked:
            while self.meanwhile:
                self.meanwhile.pop()()
            raise UnavailableError("The database is locked.")
        return self._database.transaction(origin)


def entry(name: str) -> CallLogEntry:
    """Return a line of the log."""
    return CallLogEntry(
        id=name, unit=name, at=NOW, actor="tool", client="", conversation="", name=name, arguments={}, ms=1,
        success=True,
    )  # fmt: skip


def test_of_what_cannot_be_written_the_oldest_is_dropped_first(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "MAX_PENDING", 3)
    database = LockableDatabase(app.context.database)
    kept = CallLogWriter(cast("Any", database), keep=timedelta(days=9999))
    database.meanwhile.append(lambda: kept.record(entry("d"), entry("e")))

    kept.record(*map(entry, "abc"))
    kept.flush()
    kept.flush()
    database.is_locked = False
    kept.close()

    with app.context.database.reading() as session:
        found = session.connection.exec_driver_sql("SELECT name FROM calls ORDER BY number").scalars().all()
    assert list(found) == ["c", "d", "e"]


FILLING = {
    "nested lists": {"tags": [["y" * 190] * 50] * 50},
    "nested objects": {"where": {f"{outer}": {f"{inner}" * 90: 1 for inner in range(50)} for outer in range(50)}},
    "many names": {f"{number}" * 190: None for number in range(50)},
    "empty ones": {"tags": [[[[None] * 50] * 50] * 50] * 50},
}


@pytest.mark.parametrize("sent", FILLING.values(), ids=FILLING)
def test_an_entry_keeps_so_much_of_its_arguments_whatever_their_form(sent: dict[str, Any]) -> None:
    kept = json.dumps(redact(sent), ensure_ascii=False)

    assert len(kept) < 2 * call_log.ENTRY_CHARS
    assert call_log.OMITTED in kept


def test_an_entry_of_usual_size_is_kept_whole() -> None:
    sent = {"operations": [{"tool": "create_task", "args": {"title": f"Water plant {n}"}} for n in range(30)]}

    assert redact(sent) == sent


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_has_not_is_kept_as_a_text(value: float) -> None:
    kept = redact({"limit": value, "in": [value]})

    assert json.loads(json.dumps(kept, allow_nan=False)) == {"limit": str(value), "in": [str(value)]}
