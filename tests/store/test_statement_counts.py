"""How many statements everyday calls send to SQLite."""

from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from panorama.app import open_app
from panorama.calls import call_log
from panorama.config import Settings
from tests.everyday_calls import COSTS, count_calls


def test_everyday_calls_send_few_statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "FLUSH_DELAY_SECONDS", 600.0)  # the log is written when the app closes
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        with open_app(Settings(home=tmp_path, timezone="Europe/Berlin", embedder="none")) as app:
            found = count_calls(app, lambda: len(sent))
    finally:
        event.remove(Engine, "before_cursor_execute", note)

    assert {name: statements for name, statements in found.items() if statements > COSTS[name].statements} == {}
