"""The file of a client: what stood in it stays, what is damaged is left alone, and what is put in comes out again."""

import os
import stat
from pathlib import Path

import pytest

from panorama.cli.clients import configurations
from tests.cli.installing import DAMAGED, Given, command, copies_of, each_client, files_in, given, person

from .conftest import Command

__all__ = ["command", "given", "person"]


# The file


@each_client
def test_a_dated_copy_of_what_was_there_is_put_beside_it(run: Command, given: Given, name: str) -> None:
    client = given(name, mode=0o664)
    before = client.file.read_bytes()

    installed = run("install", name, "--json").answer
    removed = run("uninstall", name, "--json").answer

    first, second = sorted((Path(installed["data"]["copy"]), Path(removed["data"]["copy"])), key=os.path.getmtime)
    assert copies_of(client) == sorted((first, second))
    assert first.read_bytes() == before
    assert stat.S_IMODE(first.stat().st_mode) == 0o664


@each_client
def test_a_new_file_needs_no_copy_and_is_private(run: Command, name: str) -> None:
    installed = run("install", name, "--json").answer

    client = configurations.all_clients()[name]
    assert "copy" not in installed["data"]
    assert [path.name for path in client.file.parent.iterdir()] == [client.file.name]
    assert stat.S_IMODE(client.file.stat().st_mode) == 0o600


@each_client
def test_the_mode_of_the_file_is_kept(run: Command, given: Given, name: str) -> None:
    client = given(name, mode=0o664)

    run("install", name)

    assert stat.S_IMODE(client.file.stat().st_mode) == 0o664


@each_client
def test_a_link_stays_a_link(run: Command, given: Given, name: str, person: Path) -> None:
    client = given(name)
    kept = person / "dotfiles" / "kept"
    kept.parent.mkdir()
    client.file.rename(kept)
    client.file.symlink_to(kept)

    run("install", name)

    assert client.file.readlink() == kept
    assert b"panorama" in kept.read_bytes()
    assert (len(copies_of(client)), [path.name for path in kept.parent.iterdir()]) == (1, ["kept"])


@each_client
def test_a_file_that_cannot_be_understood_is_not_touched(run: Command, given: Given, name: str, command: str) -> None:
    client = given(name, DAMAGED[configurations.all_clients()[name].format])
    before = files_in(client.file.parent)

    installed, removed = run("install", name), run("uninstall", name)

    assert (installed.code, removed.code) == (3, 3)
    assert str(client.file) in installed.err
    assert "line 3" in installed.err
    assert command in installed.err
    assert files_in(client.file.parent) == before


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("claude-code", b'{\n  "a": 1 // one\n}'),
        ("claude-desktop", b'{\n  "a": 1,\n}'),
        ("cursor", b"[]"),
        ("cursor", b'{"mcpServers": []}'),
        ("cursor", b'{"a": "\xff"}'),
        ("vscode", '{"a": 1}'.encode("utf-16")),
        ("gemini", b"[" * 100_000),
        ("codex", b"mcp_servers = 3\n"),
        ("codex", b"[[mcp_servers]]\n"),
    ],
)
def test_a_file_of_another_kind_is_not_touched(run: Command, given: Given, name: str, content: bytes) -> None:
    client = given(name, content)

    installed = run("install", name)

    assert (installed.code, client.file.read_bytes(), copies_of(client)) == (3, content, [])
    assert "Internal error" not in installed.err


def test_a_file_that_may_not_be_written_is_not_replaced(
    run: Command, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = given("cursor")
    before = files_in(client.file.parent)
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)

    installed = run("install", "cursor")

    assert installed.code == 3
    assert "is not writable" in installed.err
    assert files_in(client.file.parent) == before


def test_what_another_program_writes_meanwhile_is_not_lost(
    run: Command, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = given("claude-code")
    monkeypatch.setattr(os, "fsync", lambda _: client.file.write_text('{"mine": 1}'))

    installed = run("install", "claude-code")

    assert installed.code == 1
    assert "Run this again" in installed.err
    assert files_in(client.file.parent) == {".claude.json": b'{"mine": 1}'}


def test_on_a_full_disk_the_file_stays_and_nothing_is_left(
    run: Command, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = given("cursor")
    before = files_in(client.file.parent)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    installed = run("install", "cursor")

    assert installed.code == 3
    assert "No space left" in installed.err
    assert files_in(client.file.parent) == before


# Taking it out


@each_client
def test_taking_it_out_brings_the_file_back_as_it_was(run: Command, given: Given, name: str) -> None:
    client = given(name)
    before = client.file.read_bytes()
    run("install", name)

    removed = run("uninstall", name)

    assert removed.code == 0
    assert client.title in removed.err
    assert client.file.read_bytes() == before


def test_comments_around_the_entry_stay(run: Command, given: Given) -> None:
    client = given(
        "codex",
        b'# servers\n[mcp_servers.panorama]\ncommand = "/x" # mine\n\n[mcp_servers.panorama.env]\nA = "1"\n\n'
        b"# how I work\n[profiles.slow]\nb = 1\n",
    )

    run("uninstall", "codex")

    assert client.file.read_text() == "# servers\n\n# how I work\n[profiles.slow]\nb = 1\n"


@pytest.mark.parametrize(
    "content",
    [b'mcp_servers = {panorama = {command = "/x"}, a = {}} # b\n', b"mcp_servers.panorama.command = '/x' # b\n"],
)
def test_an_entry_within_one_line_is_taken_out(run: Command, given: Given, content: bytes) -> None:
    client = given("codex", content)

    removed = run("uninstall", "codex")

    assert removed.code == 0
    assert "panorama" not in client.file.read_text()


@each_client
def test_where_it_is_not_there_is_nothing_to_take_out(run: Command, given: Given, name: str) -> None:
    missing = run("uninstall", name)
    client = given(name)
    before = files_in(client.file.parent)

    removed = run("uninstall", name)

    assert (missing.code, removed.code) == (0, 0)
    assert "was not set up" in missing.out
    assert "was not set up" in removed.out
    assert files_in(client.file.parent) == before


# The doctor


def _checks(run: Command) -> dict[str, dict[str, str]]:
    return {row["check"]: row for row in run("doctor", "--json").answer["data"] if row["check"].startswith("client")}


def test_that_no_client_is_set_up_is_no_fault(run: Command, given: Given) -> None:
    given("cursor")
    given("claude-code", b'{"projects": {"/src/panorama": ')

    assert {name: row["state"] for name, row in _checks(run).items()} == {"clients": "ok"}


@each_client
def test_a_client_that_can_start_panorama_is_well(run: Command, given: Given, name: str) -> None:
    given(name)
    run("install", name)

    assert {check: row["state"] for check, row in _checks(run).items()} == {f"client {name}": "ok"}


@each_client
def test_a_program_that_is_gone_is_found(run: Command, name: str, command: str) -> None:
    run("install", name)
    Path(command).chmod(0o644)

    found = _checks(run)[f"client {name}"]

    assert (found["state"], found["mend"]) == ("fail", f"panorama install {name}")
    assert command in found["found"]


def test_data_in_another_place_are_told(run: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run("install", "vscode")
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "other"))

    found = _checks(run)["client vscode"]

    assert (found["state"], found["mend"]) == ("warn", "panorama install vscode")
    assert str(tmp_path / "other") in found["found"]


@each_client
def test_a_damaged_file_in_which_panorama_stands_is_found(run: Command, given: Given, name: str) -> None:
    client = given(name, DAMAGED[configurations.all_clients()[name].format])

    found = _checks(run)[f"client {name}"]

    assert found["state"] == "fail"
    assert f"{client.file} cannot be used (" in found["found"]
    assert "line 3" in found["found"]
