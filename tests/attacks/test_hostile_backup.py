"""Backups and exports that somebody made up: nothing is written elsewhere, and what makes no sense is refused."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.errors import InvalidInputError, UnavailableError
from panorama.store.archive.atomic_folder import AtomicFolder
from panorama.store.archive.manifests import read, with_digest

from .parcels import Call, assert_refused, entry, forged, rewrite

EVIL = b"ssh-ed25519 AAAA evil\n"


@pytest.fixture(params=["backup", "export"])
def parcel(call: Call, app: App, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A backup or an export with a file and a script."""
    call("write_file", name="tea.txt", text="oolong")
    (app.settings.home / "scripts").mkdir()
    (app.settings.home / "scripts" / "tidy.py").write_text("def main(): pass\n")
    return Path(call(request.param, folder=str(tmp_path / "out"), confirm=True).data["path"])


LEADING_ELSEWHERE = (
    "../../victim/authorized_keys",
    "..",
    "/tmp/victim",
    "ab/../../victim",
    "a" * 63,
    "A" * 64,
    "g" * 64,
    "a" * 64 + "\n",
    "a" * 62 + "/b",
    "a\0b",
    "",
)


def test_a_content_is_called_by_its_digest_and_nothing_else(parcel: Path, call: Call, tmp_path: Path) -> None:
    (parcel / "files" / "zz").mkdir(parents=True)
    (parcel / "files" / "zz" / "x").write_bytes(EVIL)

    for name in LEADING_ELSEWHERE:
        with forged(parcel) as manifest:
            manifest["files"]["files/zz/x"] = entry(EVIL)
            manifest["contents"][name] = "files/zz/x"
        assert_refused(call, parcel, tmp_path)


def test_a_content_under_the_digest_of_another_is_refused(parcel: Path, call: Call, tmp_path: Path) -> None:
    with forged(parcel) as manifest:
        manifest["contents"]["0" * 64] = next(iter(manifest["contents"].values()))

    assert_refused(call, parcel, tmp_path)


def test_a_file_that_leads_elsewhere_is_refused(parcel: Path, call: Call, tmp_path: Path) -> None:
    for path in (
        "../victim", "/tmp/victim", "scripts/../../victim", "scripts//x", "scripts/./x", "scripts/a\\..\\b",
        "scripts/\0", "scripts/\ud800", ".", "", "..", "manifest.json", "scripts/",
    ):  # fmt: skip
        with forged(parcel) as manifest:
            manifest["files"][path] = entry(EVIL)
        assert_refused(call, parcel, tmp_path)


def test_a_file_behind_a_link_is_not_read(parcel: Path, call: Call, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_bytes(EVIL)
    (parcel / "scripts" / "linked").symlink_to(tmp_path / "secret")
    with forged(parcel) as manifest:
        manifest["files"]["scripts/linked/key"] = entry(EVIL)

    assert_refused(call, parcel, tmp_path)


def test_a_table_has_a_name(parcel: Path, call: Call, tmp_path: Path) -> None:
    for table in ("../notes", "notes'; --", 'a"b', "/etc/passwd", "", "a b"):
        with forged(parcel) as manifest:
            manifest["rows"][table] = 0
            if manifest["columns"]:
                manifest["columns"][table] = {"id": "plain"}
        assert_refused(call, parcel, tmp_path)


WRONG: dict[str, tuple[Any, ...]] = {
    "made_at": ("never", "", 7, None, "2026-05-20T08:00:00", "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00"),
    "version": (7, None, "\ud800"),
    "revision": ("", "base", "+1", "0001:0007", 7, None, "000７"),
    "origin": (7, None, []),
    "format": ("1", None, -1, 1.0, True),
    "rows": ({}, [], None, {"notes": -1}, {"notes": "1"}, {"notes": 1.0}, {"notes": True}, {"notes": 1 << 64}),
    "files": ({}, [], None, {"config.toml": []}, {"panorama.db": {"size": -1, "sha256": "0" * 64}}),
    "contents": ([], None, {"0" * 64: 7}, {"0" * 64: "files/none"}),
    "columns": ([], None, {"notes": []}, {"notes": {"id": 7}}),
    "sequences": ([], None, {"notes": -1}, {"notes": "1"}, {"a b": 1}),
    "missing": ({}, None, [7], "text"),
    "withheld": ({}, None, [7]),
}


@pytest.mark.parametrize("field", WRONG)
def test_what_makes_no_sense_in_a_list_is_refused(parcel: Path, call: Call, tmp_path: Path, field: str) -> None:
    for value in WRONG[field]:
        with forged(parcel) as manifest:
            manifest[field] = value
        assert_refused(call, parcel, tmp_path)


def test_a_list_that_lacks_something_is_refused(parcel: Path, call: Call, tmp_path: Path) -> None:
    whole = json.loads((parcel / "manifest.json").read_text())

    for field in (*WRONG, "kind", "digest"):
        bare = {name: value for name, value in whole.items() if name != field}
        (parcel / "manifest.json").write_text(json.dumps(bare if field == "digest" else with_digest(bare)))
        assert_refused(call, parcel, tmp_path)


@pytest.mark.parametrize("table", ["notes", "jobs"])
def test_a_list_that_does_not_count_a_table_is_refused(parcel: Path, call: Call, tmp_path: Path, table: str) -> None:
    with forged(parcel) as manifest:
        del manifest["rows"][table]
        manifest["columns"].pop(table, None)

    with pytest.raises(InvalidInputError, match=f"the table {table} were not counted"):
        call("restore", source=str(parcel), folder=str(tmp_path / "again"))
    assert not (tmp_path / "again").exists()


def test_a_list_that_is_none_is_refused(parcel: Path, call: Call, tmp_path: Path) -> None:
    for content in (b"[" * 100_000, b"7", b"null", b'{"kind": "backup"', b"\xed\xa0\x80", b'{"kind": ' + b"9" * 5000):
        (parcel / "manifest.json").write_bytes(content)
        assert_refused(call, parcel, tmp_path)


def test_nobody_waits_for_a_list_that_is_a_pipe(parcel: Path, call: Call, tmp_path: Path) -> None:
    (parcel / "manifest.json").unlink()
    os.mkfifo(parcel / "manifest.json")

    assert_refused(call, parcel, tmp_path)


def test_a_parcel_writes_nothing_outside_its_folder(tmp_path: Path) -> None:
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    (tmp_path / "source").write_bytes(EVIL)
    parcel = AtomicFolder(tmp_path / "in")

    for path in ("../x", f"{tmp_path}/x", "a/../../x", "a\0b", "", "link/x", "a\\b"):
        with pytest.raises(ValueError, match="leads elsewhere"):
            parcel.write(path, EVIL)
        with pytest.raises(ValueError, match="leads elsewhere"):
            parcel.copy(tmp_path / "source", path)
        with pytest.raises(ValueError, match="leads elsewhere"):
            parcel.link(tmp_path / "source", path)

    assert {found_path.name for found_path in tmp_path.rglob("*")} == {"in", "out", "link", "source"}


def test_a_script_whose_name_no_list_can_hold_is_told_and_all_else_is_kept(call: Call, app: App) -> None:
    (app.settings.home / "scripts").mkdir()
    for name in (b"a\\b.py", b"\xff.py", b"fine.py"):
        (app.settings.home / "scripts" / os.fsdecode(name)).write_text("pass\n")

    answer = call("backup").data

    assert (answer["problem_count"], "its name cannot be stored" in answer["problems"][0]) == (2, True)
    assert {"scripts/fine.py"} == {file for file in read(Path(answer["path"])).files if file.startswith("scripts")}


def test_a_file_whose_row_names_no_content_leads_nowhere(call: Call, app: App, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("mine")
    file = call("write_file", name="tea.txt", text="oolong").data["id"]
    with closing(sqlite3.connect(app.settings.home / "panorama.db")) as database:
        database.execute("UPDATE files SET sha256 = ?", (f"/{tmp_path}/secret",))
        database.commit()

    for answer in (call("backup").data, call("export").data):
        assert (answer["is_complete"], "missing" in answer["problems"][0]) == (False, True)
    with pytest.raises(UnavailableError, match="missing"):
        call("files.content", file=file)


# Databases that somebody made up

HOSTILE_STATEMENTS = {
    "trigger": "CREATE TRIGGER later AFTER INSERT ON notes BEGIN DELETE FROM tasks; END",
    "view": "CREATE VIEW more AS SELECT * FROM notes",
    "virtual table": "CREATE VIRTUAL TABLE more USING fts5(text)",
    "table behind a view": "ALTER TABLE alerts RENAME TO hidden",
    "sequence": "INSERT OR REPLACE INTO sqlite_sequence (name, seq) VALUES ('changes', 9223372036854775807)",
    "last number": "UPDATE changes SET id = 9223372036854775807 WHERE id = (SELECT max(id) FROM changes)",
    "version": "UPDATE notes SET version = 9223372036854775806",
    "name that is a path": "UPDATE files SET name = '../../victim'",
    "name that hides": "UPDATE files SET name = 'a' || char(8238) || 'txt.exe'",
    "digest": "UPDATE files SET sha256 = '../../../../etc/passwd'",
    "text in a number": "UPDATE notes SET version = 'one'",
    "bytes in a text": "UPDATE notes SET title = x'00ff'",
    "text that is not UTF-8": "UPDATE notes SET content = CAST(x'eda080' AS TEXT)",
    "flag": "UPDATE notes SET pinned = 7",
    "broken JSON": "UPDATE changes SET after = '{'",
    "id": "UPDATE notes SET id = '../../x'",
    "virtual table with a name like ours": "CREATE VIRTUAL TABLE search_words_more USING fts5(text)",
    "moment that is none": "UPDATE notes SET updated_at = 'never'",
    "moment that no zone can show": "UPDATE notes SET updated_at = '9999-12-31 23:59:59.000000'",
    "moment before all zones": "UPDATE notes SET created_at = '0001-01-01 00:00:00.000000'",
    "day that is none": "UPDATE projects SET target_date = '2026-02-30'",
    "deadline that is none": "UPDATE tasks SET deadline = '2026-05-31T99'",
    "zone that is none": "UPDATE reminders SET zone = 'Nowhere/None'",
    "zone that is a path": "UPDATE reminders SET zone = '../../etc/passwd'",
    "rule that is none": "UPDATE tasks SET recurrence = 'FREQ=NEVER'",
    "number without end": "UPDATE calls SET ms = 9e999",
    "history that is not an object": "UPDATE changes SET after = '[1]'",
    "name that an undo brings back": "UPDATE changes SET before = '{\"name\": \"../../victim\"}' WHERE kind = 'file'",
    "status that is none": "UPDATE tasks SET status = 'exploded'",
    "task above itself": "UPDATE tasks SET parent = id",
    "number without room": "UPDATE changes SET id = (1 << 53) WHERE action = 'create' AND kind = 'task'",
    "computed column": "ALTER TABLE notes ADD COLUMN more TEXT GENERATED ALWAYS AS (hex(zeroblob(9)))",
    "properties that are a list": "UPDATE notes SET properties = '[1]'",
    "properties nested without end": "UPDATE notes SET properties = '{\"a\": ' "
    "|| replace(hex(zeroblob(300)), '00', '[') || replace(hex(zeroblob(300)), '00', ']') || '}'",
    "number of five thousand digits": "UPDATE notes SET properties = '{\"a\": ' "
    "|| replace(hex(zeroblob(2500)), '0', '9') || '}'",
    "sequence beyond those of own copies": "INSERT OR REPLACE INTO sqlite_sequence (name, seq) "
    "VALUES ('changes', (1 << 53) + 1)",
    "rank that is no whole number": "UPDATE tasks SET rank = 1e300",
    "infinite number beside no JSON": "UPDATE notes SET properties = '{\"a\": Infinity, }'",
    "infinite number beside a name of a file": 'UPDATE changes SET after = \'{"name": "../../victim", "a": NaN}\' '
    "WHERE kind = 'file'",
    "name that an object holds twice": 'UPDATE changes SET after = \'{"name": "tea.txt", "name": "../../victim"}\' '
    "WHERE kind = 'file'",
    "name in the history of another kind": "UPDATE changes SET kind = 'note', after = '{\"name\": \"../../victim\"}' "
    "WHERE kind = 'file'",
    "name in the history that is not text": "UPDATE changes SET after = '{\"name\": {\"a\": 1}}' WHERE kind = 'file'",
}

UNLISTED_STATEMENTS = {
    "table that nobody listed": "CREATE TABLE more (x)",
    "table with a name like our words'": "CREATE TABLE search_more (x)",
    "another revision": "UPDATE alembic_version SET version_num = '0001'",
}
"""What only the manifest of a backup rules out."""


@pytest.fixture
def made_up(call: Call, app: App, tmp_path: Path) -> Path:
    """A backup with a note and a file, whose database a test changes."""
    call("create_note", title="Tea", project=call("create_project", name="House").data["id"])
    call("create_task", title="Pot", deadline="2026-05-31", recurrence="FREQ=DAILY")
    call("create_reminder", title="Water", at="2026-06-01T10:00")
    call("write_file", name="tea.txt", text="oolong")
    app.recorder.flush()
    return Path(call("backup", folder=str(tmp_path / "out"), confirm=True).data["path"])


def alter(parcel: Path, *statements: str) -> None:
    """Change the database of a backup, and seal that."""
    with closing(sqlite3.connect(parcel / "panorama.db", isolation_level=None)) as file:
        file.execute("PRAGMA foreign_keys=OFF")
        for statement in statements:
            file.execute(statement)
    content = (parcel / "panorama.db").read_bytes()
    with forged(parcel) as manifest:
        manifest["files"]["panorama.db"] = entry(content)


@pytest.mark.parametrize(
    "statement", (HOSTILE_STATEMENTS | UNLISTED_STATEMENTS).values(), ids=HOSTILE_STATEMENTS | UNLISTED_STATEMENTS
)
def test_a_database_that_panorama_did_not_make_is_refused(
    made_up: Path, call: Call, tmp_path: Path, statement: str
) -> None:
    alter(made_up, statement)

    assert_refused(call, made_up, tmp_path)


def test_a_listed_file_that_is_missing_is_refused(made_up: Path, call: Call, tmp_path: Path) -> None:
    with forged(made_up) as manifest:
        manifest["files"]["files/00/missing"] = entry(b"nothing")

    assert_refused(call, made_up, tmp_path)


def test_a_restored_database_has_a_schema_of_its_own(made_up: Path, call: Call, tmp_path: Path) -> None:
    alter(made_up, "CREATE INDEX more ON notes (title)", "ALTER TABLE notes ADD COLUMN more TEXT")

    call("restore", source=str(made_up), folder=str(tmp_path / "again"))

    with closing(sqlite3.connect(tmp_path / "again" / "panorama.db")) as file:
        assert [row[1] for row in file.execute("PRAGMA table_info(notes)") if row[1] == "more"] == []
        assert file.execute("SELECT count(*) FROM sqlite_master WHERE name = 'more'").fetchone() == (0,)


def test_a_sequence_without_room_for_more_is_refused(parcel: Path, call: Call, tmp_path: Path) -> None:
    with forged(parcel) as manifest:
        manifest["sequences"]["changes"] = (1 << 63) - 1

    assert_refused(call, parcel, tmp_path)


def test_a_list_without_end_is_refused(parcel: Path, call: Call, tmp_path: Path) -> None:
    with (parcel / "manifest.json").open("r+b") as file:
        file.truncate(1 << 30)  # sparse

    assert_refused(call, parcel, tmp_path)


# Settings that somebody made up

SENDING = {
    "service": 'embedder = "https://stranger.example/v1"',
    "list": 'embedder = ["https://stranger.example"]',
    "object": "embedder = { url = 'https://stranger.example' }",
    "number": "embedder = 7",
    "server": 'qdrant_url = "https://stranger.example"',
    "directory": 'home = "/srv/shared"',
    "hidden": 'embedder = "https://stranger.example/\u202emoc.elpmaxe"',
    "no TOML": "embedder = ",
    "no text": b"\xff\xfe",
    "without end": "#" * (2 << 20) + '\nembedder = "https://stranger.example"',
    "deep": "a = " + "[" * 50_000,
}


@pytest.mark.parametrize("text", SENDING.values(), ids=SENDING)
def test_settings_that_send_texts_are_named_and_left_out_without_a_yes(
    parcel: Path, call: Call, tmp_path: Path, text: str | bytes
) -> None:
    rewrite(parcel, "config.toml", text if isinstance(text, bytes) else text.encode())

    checked = call("backups.check", path=str(parcel)).data
    restored = call("restore", source=str(parcel), folder=str(tmp_path / "again")).data

    assert len(checked["sending"]) == 1
    assert checked["sending"][0].isprintable()
    assert len(checked["sending"][0]) < 400
    assert len(restored["withheld"]) == 1
    assert b"stranger" not in (tmp_path / "again" / "config.toml").read_bytes()


def test_what_a_list_says_of_itself_is_cut_and_hides_nothing(parcel: Path, call: Call, tmp_path: Path) -> None:
    with forged(parcel) as manifest:
        manifest["missing"] = ["a\u202eb\u009b" * 1000] * 1000
        manifest["withheld"] = ["c\u2066" * 1000] * 1000

    checked = call("backups.check", path=str(parcel)).data
    restored = call("restore", source=str(parcel), folder=str(tmp_path / "again")).data

    for answer in (checked, restored):
        assert len(answer["problems"]) <= 50
        assert len(answer["withheld"]) <= 50
        assert all(text.isprintable() and len(text) < 250 for text in (*answer["problems"], *answer["withheld"]))
