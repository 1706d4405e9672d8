"""`panorama backup`, `export`, `purge` and `restore`, at a terminal."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from panorama.store.archive.manifests import with_digest

from .conftest import Command

Given = Callable[..., Any]


def test_a_backup_says_what_it_holds_and_where(run: Command, given: Given, home: Path) -> None:
    given("write_file", name="tea.md", text="oolong")

    made = run("backup")

    assert (made.code, made.err) == (0, "")
    assert made.out.startswith("Backed up ")
    assert f"to {home}/backups/panorama-" in made.out


def test_whoever_types_a_folder_is_not_asked_again(run: Command, given: Given, tmp_path: Path) -> None:
    given("create_note", title="Tea")

    made = run("backup", str(tmp_path / "stick"), "--json")

    assert made.code == 0
    assert Path(made.answer["data"]["path"]).parent == tmp_path / "stick"


def test_backups_are_listed_and_checked(run: Command, given: Given, home: Path) -> None:
    given("create_note", title="Tea")
    run("backup")

    listed, path = run("backup", "list"), next((home / "backups").iterdir())
    checked = run("backup", "check", str(path))

    assert path.name in listed.lines[1]
    assert "1 backup in" in listed.err
    assert (checked.code, " UTC is intact" in checked.out) == (0, True)


def test_a_check_creates_no_key(run: Command, given: Given, home: Path) -> None:
    made = run("backup", "--json").answer["data"]["path"]
    (home / "backup.key").unlink()

    assert run("backup", "check", made).code == 0
    assert not (home / "backup.key").exists()


def test_a_damaged_backup_ends_with_2_and_says_what_to_do(
    run: Command, given: Given, home: Path, tmp_path: Path
) -> None:
    given("create_note", title="Tea")
    run("backup")
    path = next((home / "backups").iterdir())
    (path / "panorama.db").write_bytes(b"half")

    checked, restored = (
        run("backup", "check", str(path)),
        run("restore", str(path), "--to", str(tmp_path / "n")),
    )

    assert (checked.code, restored.code) == (2, 2)
    assert "is damaged: panorama.db differs from what was written" in checked.err
    assert "→" in restored.err
    assert not (tmp_path / "n").exists()


def test_what_was_not_to_be_had_is_told_and_ends_with_1(run: Command, given: Given, home: Path) -> None:
    given("write_file", name="tea.md", text="oolong")
    next(path for path in (home / "files").rglob("*") if path.is_file()).unlink()

    made, listed = run("backup"), run("backup", "list")

    assert made.code == 1
    assert "1 item was missing" in made.out
    assert "the content is missing" in made.err
    assert "1 thing missing" in listed.out


@pytest.mark.parametrize("what", ["backup", "export"])
def test_what_was_made_is_restored_without_a_daemon(run: Command, given: Given, tmp_path: Path, what: str) -> None:
    given("create_note", title="Tea", content="oolong")
    path = run(what, str(tmp_path / "out"), "--json").answer["data"]["path"]

    restored = run("restore", path, "--to", str(tmp_path / "again"), "--json")

    assert restored.code == 0
    assert restored.answer["data"]["path"] == str(tmp_path / "again")
    with closing(sqlite3.connect(tmp_path / "again" / "panorama.db")) as file:
        assert file.execute("SELECT title, content FROM notes").fetchall() == [("Tea", "oolong")]


def test_a_lost_data_directory_is_restored_to_where_it_was(
    run: Command, given: Given, home: Path, tmp_path: Path
) -> None:
    given("create_note", title="Tea")
    path = run("backup", str(tmp_path / "out"), "--json").answer["data"]["path"]
    home.rename(tmp_path / "lost")

    restored = run("restore", path)

    assert restored.code == 0
    assert run("note", "--json").answer["data"][0]["title"] == "Tea"


@pytest.mark.parametrize("what", ["backup", "export"])
def test_a_copy_is_put_in_place_of_the_present_data_which_is_kept(
    run: Command, given: Given, home: Path, tmp_path: Path, what: str
) -> None:
    given("write_file", name="tea.txt", text="oolong")
    path = run(what, str(tmp_path / "out"), "--json").answer["data"]["path"]
    given("create_note", title="Later")

    asked, restored = run("restore", path), run("restore", path, "--yes")

    assert (asked.code, restored.code) == (1, 0)
    assert (run("note", "--json").answer["data"], run("files", "get", "tea.txt").out) == ([], "oolong")
    (kept,) = (home / "backups").glob("replaced-*.db")
    assert run("restore", str(kept), "--yes").code == 0
    assert [row["title"] for row in run("note", "--json").answer["data"]] == ["Later"]
    assert [entry.name for entry in home.parent.iterdir() if "restored" in entry.name] == []


def test_what_is_replaced_goes_to_another_disk_if_the_backups_are_there(
    run: Command, given: Given, home: Path, tmp_path: Path, other_disk: Path
) -> None:
    script, sources = home / "scripts" / "mine.py", home / "sources.json"
    script.parent.mkdir(exist_ok=True)
    script.write_text("old\n")
    sources.write_text('{"mcpServers": {"clock": {"command": "uvx"}}}')
    path = run("backup", str(tmp_path / "out"), "--json").answer["data"]["path"]
    (home / "backups").symlink_to(other_disk)
    script.write_text("new\n")
    sources.write_text('{"mcpServers": {}}')

    restored = run("restore", path, "--yes")

    assert restored.code == 0, restored.err
    assert (script.read_text(), "clock" in sources.read_text()) == ("old\n", True)
    assert [entry.read_text() for entry in other_disk.glob("replaced-*-scripts/mine.py")] == ["new\n"]
    assert [entry.read_text() for entry in other_disk.glob("replaced-*-sources.json")] == ['{"mcpServers": {}}']
    assert len(list(other_disk.glob("replaced-*.db"))) == 1


@pytest.fixture
def other_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on another disk than that of the data directory."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no other disk here")
    with TemporaryDirectory(prefix="panorama-test-", dir=memory) as folder:
        yield Path(folder)


def test_a_restore_names_the_schedules_and_reviews_it_brings(run: Command, given: Given, home: Path) -> None:
    given("add_schedule", name="Nightly", kind="backup", every="2h")
    made = run("backup", "--json").answer["data"]["path"]

    asked = run("restore", made)

    assert asked.code == 1
    assert "It brings 1 schedule. The current data is kept" in asked.err


def test_a_schedule_that_another_data_directory_made_is_paused_until_it_is_resumed(
    run: Command, given: Given, home: Path
) -> None:
    given("add_schedule", name="Nightly", kind="backup", every="2h")
    made = run("backup", "--json").answer["data"]["path"]
    (home / "backup.key").unlink()

    asked, restored = run("restore", made), run("restore", made, "--yes")
    listed = run("schedule", "--json").answer["data"]
    resumed = run("schedule", "resume", "Nightly")

    assert "1 schedule, which will not be trusted: it was made by another data directory" in asked.err
    assert "1 schedule is paused" in restored.out + restored.err
    assert "panorama schedule resume NAME" in restored.out + restored.err
    assert listed[0]["paused"] is True
    assert resumed.code == 0


def test_a_database_file_from_elsewhere_brings_no_schedule_that_runs(
    run: Command, given: Given, home: Path, tmp_path: Path
) -> None:
    given("add_schedule", name="Nightly", kind="backup", every="2h")
    made = Path(run("backup", "--json").answer["data"]["path"]) / "panorama.db"
    copy = tmp_path / "copy.db"
    copy.write_bytes(made.read_bytes())

    restored = run("restore", str(copy), "--yes")
    (aside,) = (home / "backups").glob("replaced-*.db")
    again = run("restore", str(aside), "--yes")

    assert "1 schedule is paused" in restored.out + restored.err
    assert "paused" not in again.out + again.err
    assert run("schedule", "--json").answer["data"][0]["paused"] is False


def test_settings_that_send_texts_are_listed_and_left_out_unless_the_person_says_yes(
    run: Command, home: Path, tmp_path: Path
) -> None:
    (home / "config.toml").write_text('timezone = "Europe/Berlin"\n')
    path = Path(run("backup", str(tmp_path / "out"), "--json").answer["data"]["path"])
    stranger = b'embedder = "openai:https://stranger.example/v1#m"\ntimezone = "Europe/Berlin"\n'
    (path / "config.toml").write_bytes(stranger)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"]["config.toml"] = {"size": len(stranger), "sha256": sha256(stranger).hexdigest()}
    (path / "manifest.json").write_text(json.dumps(with_digest(manifest)))

    checked = run("backup", "check", str(path))
    without, with_yes = tmp_path / "without", tmp_path / "with"
    restored = run("restore", str(path), "--to", str(without))
    agreed = run("restore", str(path), "--to", str(with_yes), "--yes")
    (home / "config.toml").unlink()
    in_place = run("restore", str(path), "--yes")

    assert "stranger.example" in agreed.err
    assert "Settings that were left out of config.toml: embedder" in in_place.err
    assert (home / "config.toml").read_text() == 'timezone = "Europe/Berlin"\n'
    assert "stranger.example" in checked.out + checked.err
    assert "embedder" in restored.out + restored.err
    assert (without / "config.toml").read_text() == 'timezone = "Europe/Berlin"\n'
    assert (with_yes / "config.toml").read_bytes() == stranger


def test_a_full_folder_is_not_restored_into(run: Command, given: Given, tmp_path: Path) -> None:
    given("create_note", title="Tea")
    path = run("backup", str(tmp_path / "out"), "--json").answer["data"]["path"]

    refused = run("restore", path, "--to", str(tmp_path / "out"))

    assert refused.code == 1
    assert "is not empty" in refused.err


def test_to_goes_with_from_alone(run: Command, tmp_path: Path) -> None:
    assert run("restore", "--to", str(tmp_path / "n")).code == 2
    assert run("restore", str(tmp_path)).code == 2


def test_in_the_background_it_needs_somebody_who_runs_jobs(run: Command, given: Given, tmp_path: Path) -> None:
    given("create_note", title="Tea")
    made = run("backup", "--json").answer["data"]["path"]

    asked = [
        run(*words, "--background")
        for words in (("backup",), ("export",), ("purge",), ("restore", made, "--to", str(tmp_path / "n")))
    ]

    assert {request.code for request in asked} == {3}
    assert all("No background worker" in request.err for request in asked)
    assert run("restore", "--background").code == 2


def test_a_folder_among_panoramas_own_files_is_refused(run: Command, home: Path) -> None:
    refused = run("backup", str(home / "files"), "--json")

    assert refused.code == 2
    assert json.loads(refused.err)["error"]["code"] == "invalid_input"


def test_an_empty_path_is_not_the_current_folder(
    run: Command, given: Given, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given("create_note", title="Tea")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    refused = [
        run(*words)
        for words in (
            ("restore", "", "--to", str(tmp_path / "n")), ("restore", str(tmp_path), "--to", ""),
            ("backup", ""), ("backup", "check", ""), ("backup", "list", ""), ("export", ""),
        )
    ]  # fmt: skip

    assert {error.code for error in refused} == {2}
    assert all("empty" in error.err for error in refused)
    assert list((tmp_path / "here").iterdir()) == []


def test_a_path_is_meant_from_where_the_terminal_stands(
    run: Command, given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given("create_note", title="Tea")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    made = run("backup", "stick", "--json").answer["data"]["path"]

    assert Path(made).parent == tmp_path / "here" / "stick"
    assert run("restore", f"stick/{Path(made).name}", "--to", "again").code == 0
    assert run("backup", "~nobody-of-that-name/x").code == 2


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("backup",), "No backup was made."), (("export",), "No export was made."),
        (("purge",), "Deleted items stay deleted"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("moment", ["panorama.app.open_app", "panorama.services.jobs.pace.ProgressTracker.start"])
def test_whoever_stops_it_is_told_what_became_of_it_whenever_that_is(
    run: Command, given: Given, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], text: str, moment: str
) -> None:
    given("create_note", title="Tea")

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(moment, stop)
    stopped = run(*words)

    assert stopped.code == 130
    assert f"Stopped. {text}" in stopped.err


def test_a_purge_asks_first(run: Command, given: Given) -> None:
    given("delete_item", item=given("create_note", title="Tea")["id"])

    refused, done = run("purge", "--days", "0"), run("purge", "--days", "0", "--yes")

    assert refused.code == 1
    assert "This cannot be undone" in refused.err
    assert done.out.startswith("Deleted 1 note from the trash")
    assert "undo" not in done.err


def test_a_dry_purge_asks_nothing(run: Command, given: Given) -> None:
    given("delete_item", item=given("create_note", title="Tea")["id"])

    assert run("purge", "--days", "0", "--dry-run").out.startswith("Would delete 1 note")
    assert run("restore", "--json").answer["data"]
