"""Every exit code that docs/command-line.md names, in the situations it names."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from panorama.cli.client import Client
from panorama.cli.commands import imports
from panorama.docs import DOCS

from .conftest import Command

Given = Callable[..., Any]


def test_the_page_names_these_codes_and_no_others() -> None:
    table = (DOCS / "command-line.md").read_text().partition("## Exit codes")[2].partition("\n## ")[0]

    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == ["0", "1", "2", "3", "130"]


@pytest.mark.parametrize("words", [("status",), ("tasks", "add", "Tea"), ("tasks",), ("restore",), ("--version",)])
def test_0_is_done(run: Command, words: tuple[str, ...]) -> None:
    assert run(*words).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("tasks", "done", "Nothing of the kind"),
        ("note", "Nothing of the kind"),
        ("history", "t_0000000000"),
        ("restore", "Nothing of the kind"),
        ("undo", "x_0000000000"),
        ("run", "-c", "1 / 0"),
    ],
)
def test_1_is_a_no(run: Command, words: tuple[str, ...]) -> None:
    assert run(*words).code == 1


def test_1_is_a_question_that_nobody_could_answer(run: Command, given: Given) -> None:
    for number in range(21):
        given("create_task", title=f"Task {number}", idempotency_key=str(number))
    given("batch", operations=[{"tool": "delete_item", "args": {"item": f"Task {number}"}} for number in range(21)])

    assert run("undo").code == 1


def test_1_is_a_fault_that_the_doctor_found(run: Command, home: Path) -> None:
    (home / "panorama.db").write_bytes(b"not a database" * 100)

    assert run("doctor").code == 1


@pytest.mark.parametrize("large_files", [1, 1000])
def test_1_is_an_import_with_a_file_that_cannot_be_read(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large_files: int
) -> None:
    monkeypatch.setattr(imports, "LARGE_FILES", large_files)
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Tea.md").write_text("oolong")
    (tmp_path / "vault" / "Broken.md").write_bytes(b"\xff\xfe\x00broken")
    (tmp_path / "vault" / "Latin.md").write_bytes("Größe".encode("latin-1"))

    ended = run("import", "markdown", str(tmp_path / "vault"))

    assert (ended.code, "Broken.md" in ended.out, "Latin.md" in ended.out) == (1, True, True)


def test_1_is_a_copy_without_something_that_was_missing(run: Command, home: Path, tmp_path: Path) -> None:
    (tmp_path / "report.csv").write_text("a,b\n")
    assert run("files", "add", str(tmp_path / "report.csv")).code == 0
    for content in (home / "files").rglob("*"):
        if content.is_file():
            content.unlink()

    assert run("backup").code == 1
    assert run("export").code == 1


@pytest.mark.parametrize(
    "words",
    [
        ("tasks", "--bogus"),
        ("frobnicate",),
        ("search",),
        ("tasks", "add", "Tea", "--deadline", "2026-02-30"),
        ("import", "markdown", "/no/such/folder"),
        ("models", "use", "no-such-model"),
        ("backup", "check", "/no/such/folder"),
    ],
)
def test_2_is_what_cannot_be_used(run: Command, words: tuple[str, ...]) -> None:
    assert run(*words).code == 2


def test_2_is_a_damaged_backup(run: Command, tmp_path: Path) -> None:
    backup = Path(run("backup", str(tmp_path / "copies"), "--json").answer["data"]["path"])
    (backup / "panorama.db").write_bytes(b"not a database" * 100)

    assert run("backup", "check", str(backup)).code == 2
    assert run("restore", str(backup), "--to", str(tmp_path / "again")).code == 2


def test_3_is_a_store_that_is_locked(run: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANORAMA_BUSY_SECONDS", "0.05")

    with closing(sqlite3.connect(home / "panorama.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        assert run("tasks", "add", "Tea").code == 3


def test_3_is_a_store_that_is_damaged(run: Command, home: Path) -> None:
    (home / "panorama.db").write_bytes(b"not a database" * 100)

    assert run("status").code == 3


def test_3_is_a_place_that_cannot_be_written(run: Command, tmp_path: Path) -> None:
    assert run("backup", "/proc/backups").code == 3


def test_3_is_a_service_that_does_not_answer(run: Command) -> None:
    assert run("models", "use", "openai:http://127.0.0.1:1/v1#m").code == 3


def test_3_is_a_clients_file_that_cannot_be_understood(run: Command, home: Path) -> None:
    file = Path.home() / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{ not json")

    assert run("install", "cursor").code == 3


def test_130_is_an_interrupt(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, "call", interrupt)

    assert run("status").code == 130
