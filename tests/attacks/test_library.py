"""What the library must refuse: texts that change, names that lead elsewhere, links, and what is too large."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from panorama.app import App
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError
from panorama.services.scripts.library import script_files
from panorama.services.scripts.nested_runs import NESTED_RUN_SCOPE, NestedRunScope
from tests.kept import COUNTING, WRITING, Person, put
from tests.services.shelves import Call, person, state

__all__ = ["person"]

EVIL = COUNTING.replace("return len", 'sdk.tasks.create("evil")\n    return len')


def is_untouched(call: Call) -> bool:
    """Tell that nothing evil ran."""
    return call("list_tasks").data == []


# A text that is changed between review and run, or while it is looked at.


def test_a_text_that_is_changed_while_it_is_checked_is_not_what_runs(
    call: Call, app: App, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(app, "count", COUNTING)
    person.promotes("count")
    real = script_files._read_file

    def read_and_then_changed(at: Path) -> bytes | None:
        found = real(at)
        if at == path:
            path.write_text(EVIL)
        return found

    monkeypatch.setattr(script_files, "_read_file", read_and_then_changed)
    for _ in range(5):
        path.write_text(COUNTING)
        with suppress(PanoramaError):
            call("script_count")

    assert is_untouched(call)


def test_an_edit_that_keeps_size_and_time_loses_the_tool(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.promotes("count")
    call("script_count")
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b'"""Kount')
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(NotFoundError):
        call("script_count")


def test_another_file_in_its_place_loses_the_tool(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.promotes("count")
    other = put(app, "other", EVIL)
    other.replace(path)

    with pytest.raises(NotFoundError):
        call("script_count")
    assert is_untouched(call)


def test_a_yes_that_comes_after_the_text_was_changed_keeps_the_text_that_was_shown(
    call: Call, app: App, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(app, "count", COUNTING)
    read: list[str] = []
    real = script_files._read_file

    def changed_after_the_second_look(at: Path) -> bytes | None:
        found = real(at)
        if at == path:
            read.append("")
            if len(read) == 2:  # the question is put again with the answer; from here on the file is another one
                path.write_text(EVIL)
        return found

    monkeypatch.setattr(script_files, "_read_file", changed_after_the_second_look)
    person.promotes("count")
    monkeypatch.undo()

    assert len(read) >= 2
    assert state(call, "count") == "draft"
    assert call("scripts.history", script="count").data["versions"][0]["digest"] == script_files.digest_of(
        COUNTING.encode()
    )


# Names.


@pytest.mark.parametrize(
    "name",
    [
        "../evil", "..", "/etc/passwd", "a/b", "a\\b", "evil.py", ".hidden", "~root", "%2e%2e", "a\x00b", "CON",
        "evil ", "\u202eevil", "for", "None", "True", "match", "main", "create_task", "run_code", "batch", "tasks",
        "search", "sdk", "scripts", "state", "x" * 34, "script__x",
    ],
)  # fmt: skip
def test_a_name_that_leads_elsewhere_or_is_something_else_is_refused(call: Call, app: App, name: str) -> None:
    with pytest.raises(InvalidInputError):
        call("save_script", name=name, code=COUNTING)
    for operation in ("run_script", "promote_script", "scripts.get", "scripts.diff"):
        with pytest.raises(PanoramaError):
            call(operation, script=name)

    assert not (app.settings.home / "scripts").exists()
    assert not (app.settings.home / "evil.py").exists()


def test_a_file_called_like_a_tool_is_no_script(call: Call, app: App) -> None:
    put(app, "create_task", EVIL)

    with pytest.raises(NotFoundError):
        call("run_script", script="create_task")
    assert "create_task" not in [row["name"] for row in call("list_scripts").data]


def test_no_script_takes_the_place_of_a_tool(app: App) -> None:
    names = [operation.operation.tool for operation in app.calls.operation_arguments]

    assert [name for name in names if name.startswith("script_")] == []


# A tool as a step of a script's batch.

BY_A_BATCH = 'return sdk.batch([{"tool": "script_write", "args": {"title": "evil"}}], atomic=False)'


@pytest.mark.parametrize("how", [{}, {"dry_run": True}, {"atomic": True}], ids=["plain", "dry run", "atomic"])
def test_a_script_reaches_no_tool_that_is_a_script(call: Call, app: App, person: Person, how: dict[str, bool]) -> None:
    put(app, "write", WRITING)
    person.promotes("write")

    answer = call("run_code", code=BY_A_BATCH, **how)

    assert "Scripts cannot call 'script_write'" in str(answer.data["result"])
    assert is_untouched(call)


def test_a_run_that_would_begin_inside_another_is_refused(call: Call, app: App, person: Person) -> None:
    put(app, "write", WRITING)
    person.promotes("write")
    nest = NestedRunScope(names=("outer",), reads_only=False, reviewed_only=False, run=lambda *_: None)
    token = NESTED_RUN_SCOPE.set(nest)

    try:
        for operation, sent in (("run_code", {"code": "1"}), ("script_write", {"title": "evil"})):
            with pytest.raises(ConflictError, match="already running"):
                call(operation, **sent)
    finally:
        NESTED_RUN_SCOPE.reset(token)
    assert is_untouched(call)


# Links, and what is not a regular file.


def test_a_link_is_not_followed(call: Call, app: App, person: Person, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text(EVIL)
    path = put(app, "count", COUNTING)
    person.promotes("count")
    path.unlink()
    path.symlink_to(secret)

    for operation in ("run_script", "promote_script", "scripts.get", "script_count"):
        with pytest.raises(PanoramaError):
            call(operation, **({} if operation == "script_count" else {"script": "count"}))
    with pytest.raises(InvalidInputError, match="symbolic link"):
        call("save_script", name="count", code=WRITING, replace=True)

    row = next(row for row in call("list_scripts").data if row["name"] == "count")
    assert "symbolic link" in row["problem"]
    assert secret.read_text() == EVIL
    assert is_untouched(call)


def test_a_link_to_the_reviewed_text_itself_is_refused(call: Call, app: App, person: Person, tmp_path: Path) -> None:
    path = put(app, "count", COUNTING)
    person.promotes("count")
    same = path.rename(tmp_path / "same.py")
    path.symlink_to(same)

    with pytest.raises(PanoramaError):
        call("script_count")


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_plain_file_holds_nobody_up(call: Call, app: App, kind: str) -> None:
    path = put(app, "count", COUNTING)
    path.unlink()
    os.mkfifo(path) if kind == "pipe" else path.mkdir()

    with pytest.raises(PanoramaError):
        call("run_script", script="count")
    assert next(row for row in call("list_scripts").data if row["name"] == "count")["problem"]


# Size.


def test_a_script_of_five_megabytes_is_refused(call: Call, app: App) -> None:
    large = COUNTING + "# " + "x" * (5 << 20)

    with pytest.raises(InvalidInputError, match="5,243,120 characters"):
        call("save_script", name="count", code=large)
    put(app, "count", large)
    for operation in ("run_script", "promote_script", "scripts.get"):
        with pytest.raises(InvalidInputError, match="limit is 262,144"):
            call(operation, script="count")

    assert "the limit is" in next(row for row in call("list_scripts").data if row["name"] == "count")["problem"]


@pytest.mark.parametrize(
    "text", [b"\xff\xfe", b'"""X."""\x00', b"(" * 200_000, b'"""X."""\ndef main():\n' + b" " * 200_000]
)
def test_a_text_that_cannot_be_read_is_told_and_breaks_no_list(call: Call, app: App, text: bytes) -> None:
    put(app, "count", COUNTING).write_bytes(text)

    with pytest.raises(PanoramaError):
        call("run_script", script="count")
    assert next(row for row in call("list_scripts").data if row["name"] == "count")["problem"]
