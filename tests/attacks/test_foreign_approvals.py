"""Backups of somebody else that were approved there: nothing of them acts here until this person says so."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Answer, Conversation
from panorama.config import read_settings
from panorama.errors import ConfirmationError, InvalidInputError, NotFoundError
from panorama.store.archive.manifests import with_digest, with_seal
from panorama.store.sqlite.replace_database import replace_database

Call = Callable[..., Answer]
SCRIPT = '''"""Delete every task."""
import sdk


def main():
    """Delete every task."""
    return sdk.tasks.list()
'''


@pytest.fixture
def stranger(app: App, call: Call, conversation: Conversation) -> App:
    """A store in which a script is a tool, a schedule runs, a key has an answer and a source is trusted."""
    call("save_script", name="sweep", code=SCRIPT)
    with pytest.raises(ConfirmationError) as asked:
        call("promote_script", script="sweep")
    app.calls.call("promote_script", {"script": "sweep"}, conversation, agreed=asked.value.agreement)
    call("add_schedule", name="Nightly", kind="backup", every="1h")
    call("create_task", title="Pay the stranger", idempotency_key="invoice-7")
    with closing(sqlite3.connect(app.settings.home / "panorama.db")) as file, file:
        file.execute("INSERT INTO source_grants VALUES ('always', 'crm.send', 'd', '2026-05-20 08:00:00.000000')")
        file.execute("INSERT INTO source_functions VALUES ('crm', 'send', 'send', '{\"reach\": \"here\"}')")
    app.recorder.flush()
    return app


@pytest.fixture(params=["backup", "export"])
def archive(request: pytest.FixtureRequest, stranger: App, call: Call, tmp_path: Path) -> Path:
    return Path(call(request.param, folder=str(tmp_path / "out"), confirm=True).data["path"])


def ask(home: Path, question: str) -> list[Any]:
    with closing(sqlite3.connect(home / "panorama.db")) as file:
        return [row[0] if len(row) == 1 else row for row in file.execute(question)]


def forget_key(stranger: App) -> None:
    """Make the data directory one that did not make its earlier backups."""
    (stranger.settings.home / "backup.key").unlink()


@pytest.fixture
def foreign(archive: Path, stranger: App, call: Call, tmp_path: Path) -> tuple[Answer, Path]:
    """A data directory restored from a backup or export of another one."""
    forget_key(stranger)
    return call("restore", source=str(archive), folder=str(tmp_path / "again")), tmp_path / "again"


def test_a_schedule_of_a_foreign_backup_is_paused(foreign: tuple[Answer, Path]) -> None:
    answer, home = foreign

    assert ask(home, "SELECT name, paused, next_at FROM schedules") == [("Nightly", 1, None)]
    assert (answer.data["paused"], answer.data["unreviewed"]) == (1, 1)
    assert "1 schedule is paused and 1 script needs a new review" in answer.summary


def test_a_script_that_was_approved_elsewhere_is_a_draft_and_no_tool(foreign: tuple[Answer, Path]) -> None:
    _, home = foreign

    assert ask(home, "SELECT state FROM scripts") == []
    assert set(ask(home, "SELECT verdict FROM reviews")) == {"saved", "written"}


def test_an_answer_kept_elsewhere_is_never_given_for_a_key_here(foreign: tuple[Answer, Path]) -> None:
    assert ask(foreign[1], "SELECT key FROM idempotency") == []


def test_what_was_allowed_of_a_source_elsewhere_is_not_allowed_here(foreign: tuple[Answer, Path]) -> None:
    assert ask(foreign[1], "SELECT function FROM source_grants") == []
    assert ask(foreign[1], "SELECT name FROM source_functions") == []


def test_what_this_data_directory_made_stays_approved(archive: Path, call: Call, tmp_path: Path) -> None:
    answer = call("restore", source=str(archive), folder=str(tmp_path / "again"))

    home = tmp_path / "again"
    assert ask(home, "SELECT state FROM scripts") == ["promoted"]
    assert ask(home, "SELECT paused FROM schedules") == [0]
    assert ask(home, "SELECT function FROM source_grants") == ["crm.send"]
    assert "paused" not in answer.summary


def test_answers_for_keys_are_not_restored_even_of_ones_own(archive: Path, call: Call, tmp_path: Path) -> None:
    call("restore", source=str(archive), folder=str(tmp_path / "again"))

    assert ask(tmp_path / "again", "SELECT key FROM idempotency") == []


def forge_origin(message: dict[str, Any]) -> dict[str, Any]:
    """Say in a list that it is of this data directory; its seal is of another list."""
    return with_digest(message | {"version": "0.0.1"})


FORGERIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "another list under the old seal": forge_origin,
    "no seal": lambda message: {name: value for name, value in message.items() if name != "seal"},
    "an empty seal": lambda message: message | {"seal": ""},
    "the digest as the seal": lambda message: message | {"seal": message["digest"]},
    "a seal with the key of zeros": lambda message: with_seal(message, b"\0" * 32),
    "a seal with the empty key": lambda message: with_seal(message, b""),
    "a seal that is no ASCII": lambda message: message | {"seal": "ü" * 64},
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_seal_makes_nothing_ones_own(
    archive: Path, call: Call, tmp_path: Path, forgery: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    listed = archive / "manifest.json"
    listed.write_text(json.dumps(forgery(json.loads(listed.read_text()))))

    call("restore", source=str(archive), folder=str(tmp_path / "again"))

    assert ask(tmp_path / "again", "SELECT paused FROM schedules") == [1]
    assert ask(tmp_path / "again", "SELECT state FROM scripts") == []


@pytest.mark.parametrize("seal", [7, None, ["a"], {"a": 1}, "\ud800"])
def test_a_seal_that_is_no_text_is_damage(archive: Path, call: Call, tmp_path: Path, seal: object) -> None:
    listed = archive / "manifest.json"
    listed.write_text(json.dumps(json.loads(listed.read_text()) | {"seal": seal}))

    with pytest.raises(InvalidInputError, match="damaged"):
        call("restore", source=str(archive), folder=str(tmp_path / "again"))


@pytest.mark.parametrize("content", [b"", b"\0" * 32, b"k" * 31, b"k" * 33], ids=["empty", "zeros", "short", "long"])
def test_a_damaged_key_makes_nothing_ones_own(
    archive: Path, stranger: App, call: Call, tmp_path: Path, content: bytes
) -> None:
    (stranger.settings.home / "backup.key").write_bytes(content)

    call("restore", source=str(archive), folder=str(tmp_path / "again"))

    assert ask(tmp_path / "again", "SELECT paused FROM schedules") == [1]


def test_the_key_is_in_no_backup_and_for_its_owner_alone(archive: Path, stranger: App) -> None:
    key = stranger.settings.home / "backup.key"

    assert key.stat().st_mode & 0o777 == 0o600
    assert all(key.read_bytes() not in path.read_bytes() for path in archive.rglob("*") if path.is_file())


# What a restored store does afterwards.


@pytest.fixture
def again(foreign: tuple[Answer, Path]) -> Iterator[Call]:
    """Calls operations of the restored store as an assistant."""
    assistant = Conversation(id="v_0000000009", actor="tool", client="tests")
    with open_app(read_settings(home=foreign[1])) as product:
        yield lambda operation, **arguments: product.calls.call(operation, arguments, assistant)


def test_the_tool_of_a_script_approved_elsewhere_is_not_there(again: Call) -> None:
    with pytest.raises(NotFoundError):
        again("script_sweep")


def test_a_text_approved_elsewhere_is_approved_here_only_after_a_question(again: Call) -> None:
    with pytest.raises(ConfirmationError, match="Approve the script sweep"):
        again("promote_script", script="sweep", to="reviewed")


def test_a_key_used_elsewhere_writes_here(again: Call) -> None:
    created = again("create_task", title="Pay nobody", idempotency_key="invoice-7")

    assert created.data["title"] == "Pay nobody"


def set_schedule(home: Path, kind: str, arguments: dict[str, Any]) -> None:
    with closing(sqlite3.connect(home / "panorama.db")) as file, file:
        file.execute("UPDATE schedules SET kind = ?, arguments = ?", (kind, json.dumps(arguments)))


def test_an_assistant_cannot_resume_a_purge_that_a_backup_brought(again: Call, foreign: tuple[Answer, Path]) -> None:
    set_schedule(foreign[1], "purge", {"days": 0})

    for confirm in (False, True):
        with pytest.raises((InvalidInputError, ConfirmationError)):
            again("resume_schedule", schedule="Nightly", confirm=confirm)

    assert ask(foreign[1], "SELECT paused FROM schedules") == [1]


def test_an_assistant_cannot_resume_an_export_elsewhere_without_the_person(
    again: Call, foreign: tuple[Answer, Path], tmp_path: Path
) -> None:
    set_schedule(foreign[1], "export", {"folder": str(tmp_path / "drop")})

    with pytest.raises(ConfirmationError, match="Run export automatically every 1h"):
        again("resume_schedule", schedule="Nightly")

    assert ask(foreign[1], "SELECT paused FROM schedules") == [1]


def test_a_database_file_from_elsewhere_brings_no_approval(stranger: App, tmp_path: Path) -> None:
    stranger.context.database.copy_to(tmp_path / "copy.db")

    replaced = replace_database(tmp_path / "copy.db", tmp_path / "panorama.db", stranger.context.now(), is_own=False)

    assert (replaced.withdrawn.schedules, replaced.withdrawn.scripts) == (1, 1)
    assert ask(tmp_path, "SELECT paused FROM schedules") == [1]
    assert ask(tmp_path, "SELECT key FROM idempotency") == []
