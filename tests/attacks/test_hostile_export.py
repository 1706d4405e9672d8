"""Exports that somebody made up: rows and lines that Panorama did not write are refused."""

import json
from pathlib import Path

import pytest

from panorama.app import App
from panorama.store.archive import jsonl

from .parcels import Call, Told, assert_refused, rewrite

HOSTILE_ROWS: dict[str, Told] = {
    "name that is a path": {"name": "../../victim"},
    "number without end": {"version": 1 << 63},
    "number as text": {"version": "one"},
    "stored number without end": {"version": {"$stored": 1 << 70}},
    "moment that is none": {"updated_at": "never"},
    "moment that no zone can show": {"updated_at": "9999-12-31T23:59:59.000000Z"},
    "digest": {"sha256": "../../../../etc/passwd"},
    "id": {"id": "../../x"},
    "tags that are none": {"tags": 7},
    "deep": {"tags": {"$stored": "x"}, "name": {"a": 1}},
}


@pytest.fixture
def exported(call: Call, app: App, tmp_path: Path) -> Path:
    """An export with a file, whose rows a test changes."""
    call("write_file", name="tea.txt", text="oolong")
    return Path(call("export", folder=str(tmp_path / "out"), confirm=True).data["path"])


@pytest.mark.parametrize("values", HOSTILE_ROWS.values(), ids=HOSTILE_ROWS)
def test_a_row_that_panorama_did_not_write_is_refused(exported: Path, call: Call, tmp_path: Path, values: Told) -> None:
    row = json.loads((exported / "data" / "files.jsonl").read_text())

    rewrite(exported, "data/files.jsonl", json.dumps({**row, **values}).encode() + b"\n")

    assert_refused(call, exported, tmp_path)


@pytest.mark.parametrize("line", [b"[" * 100_000 + b"\n", b"{\n", b"7\n", b"null\n", b'{"id": "f_1"}\n', b"\xff\n"])
def test_a_line_that_is_no_row_is_refused(exported: Path, call: Call, tmp_path: Path, line: bytes) -> None:
    rewrite(exported, "data/files.jsonl", line)

    assert_refused(call, exported, tmp_path)


def test_a_line_without_end_is_not_read_whole(
    exported: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 1000)

    rewrite(exported, "data/files.jsonl", b"[" + b"1," * 10_000)

    assert_refused(call, exported, tmp_path)
