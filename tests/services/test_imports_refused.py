"""What an import refuses or leaves out: bad folders, bad files, and files that change while they are read."""

import os
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError
from panorama.services.importing import folder as folders
from panorama.services.importing import writer
from tests.services.vaults import Import, PanoramaContents, Vault, count_imported, here, run, vault, whys

__all__ = ["here", "run", "vault"]


def test_a_folder_that_becomes_a_link_while_it_is_read_is_not_followed(vault: Vault, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.md").write_text("secret")
    vault.write("deep/er/a.md", "mine")
    listing = folders.scan(str(vault.root), avoid=tmp_path / "home")

    (vault.root / "deep" / "er").rename(tmp_path / "moved")
    (vault.root / "deep" / "er").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(folders.UnreadableError, match="it lies behind a link"):
        folders.read_file(listing.root, *listing.files)


@pytest.mark.parametrize(("kind", "why"), [("pipe", "it is not a regular file"), ("link", "it is a link")])
def test_a_file_that_becomes_a_link_or_a_pipe_while_it_is_read_is_refused(
    vault: Vault, tmp_path: Path, kind: str, why: str
):
    secret = tmp_path / "secret"
    secret.write_text("no")
    file = vault.write("a.md", "yes")
    listing = folders.scan(str(vault.root), avoid=tmp_path / "home")
    file.unlink()
    os.mkfifo(file) if kind == "pipe" else file.symlink_to(secret)

    with pytest.raises(folders.UnreadableError, match=why):
        folders.read_file(listing.root, *listing.files)


def test_a_disk_that_does_not_answer_holds_an_import_for_a_bounded_time():
    gone = Event()

    def read() -> bytes:
        gone.wait()
        return b""

    with pytest.raises(folders.UnreadableError, match="could not be read within"):
        folders.call_with_deadline(read, 0.01)

    gone.set()


def test_what_cannot_be_read_is_told_and_the_rest_is_imported(vault: Vault, run: Import):
    (vault.root / "latin.md").write_bytes("Größe".encode("latin-1"))
    (vault.root / "utf16.md").write_bytes("Tea".encode("utf-16"))
    (vault.root / "big.md").write_bytes(b"a" * (10 * 1024 * 1024 + 1))
    vault.write("long.md", f"---\nproject: {'x' * 300}\n---\n")
    vault.write("good.md", "\ufeff# Tea")

    report = run()

    assert (report["notes_created"], report["skipped"], report["problem_count"]) == (1, 4, 4)
    assert whys(report) == {
        "latin.md": "it is not UTF-8 (byte 2); save it as UTF-8",
        "utf16.md": "it contains NUL bytes, so it is not UTF-8 text",
        "big.md": "it is over 10 MB; split it into several files",
        "long.md": "project has 300 characters; the limit is 200.",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_a_folder_that_cannot_be_listed_is_told(vault: Vault, run: Import):
    vault.write("a/b.md", "no")
    (vault.root / "a").chmod(0)

    report = run()

    (vault.root / "a").chmod(0o700)
    assert "cannot be listed" in whys(report)["a/"]


def test_a_date_that_does_not_exist_is_told(vault: Vault, run: Import):
    vault.write("a.md", "- [ ] Pay 📅 2026-02-30")

    report = run()

    assert (count_imported(report), "2026-02-30 is not a date" in whys(report)["a.md"]) == ((1, 1, 0), True)


def test_a_file_of_very_many_tasks_gives_the_first_of_them(vault: Vault, run: Import, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(writer, "MAX_TASKS", 2)
    vault.write("a.md", "- [ ] a\n- [ ] a\n- [ ] a")

    report = run()

    assert (report["tasks_created"], "it has 3 tasks" in whys(report)["a.md"]) == (2, True)


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("", "folder is empty."),
        ("  ", "folder is empty."),
        ("/no/such/folder", "There is no folder '/no/such/folder'."),
        ("~nobody-is-called-so/x", "is not a valid folder path."),
        ("/a\x00b", "contains a NUL byte."),
        ("/" + "x" * 5000, "is not a valid folder path."),
        (__file__, "is not a folder."),
    ],
)
def test_a_folder_that_is_none_is_refused(call: Callable[..., Answer], folder: str, message: str):
    with pytest.raises(InvalidInputError) as refused:
        call("import.markdown", folder=folder)

    assert refused.value.message.endswith(message)
    assert refused.value.hint.endswith(".")


def test_a_missing_folder_hints_at_the_nearest_that_exists(call: Callable[..., Answer], tmp_path: Path):
    with pytest.raises(InvalidInputError) as refused:
        call("import.markdown", folder=str(tmp_path / "no" / "such"))

    assert str(tmp_path) in refused.value.hint


def test_the_data_directory_is_refused_and_left_out(call: Callable[..., Answer], home: Path, tmp_path: Path):
    (home / "files").mkdir()
    (home / "a.md").write_text("no")
    (tmp_path / "b.md").write_text("yes")

    for folder in (home, home / "files"):
        with pytest.raises(InvalidInputError, match="own data directory"):
            call("import.markdown", folder=str(folder))

    assert call("import.markdown", folder=str(tmp_path)).data["files"] == 1


def test_a_folder_in_the_persons_home_may_begin_with_a_tilde(
    call: Callable[..., Answer], vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(vault.root.parent))
    vault.write("a.md", "")

    answer = call("import.markdown", folder="~/vault")

    assert (answer.data["folder"], answer.data["files"]) == (str(vault.root), 1)


def test_what_is_no_plain_file_is_named_and_nobody_waits_for_it(
    vault: Vault, run: Import, here: PanoramaContents, monkeypatch: pytest.MonkeyPatch
):
    vault.write("Tea.md", "oolong")
    os.mkfifo(vault.root / "pipe.md")
    os.mkfifo(vault.root / "pipe.txt")
    monkeypatch.chdir(vault.root)  # the path of a socket is short
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind("socket.md")

    report = run()

    assert whys(report) == {"pipe.md": "it is not a regular file", "socket.md": "it is not a regular file"}
    assert list(here.notes()) == ["Tea"]


def test_a_link_to_a_hidden_folder_does_not_promise_that_the_folder_is_read(vault: Vault, run: Import) -> None:
    vault.write(".drafts/a.md", "no")
    (vault.root / "Drafts").symlink_to(vault.root / ".drafts")

    report = run()

    assert report["notes_created"] == 0
    assert whys(report)["Drafts"].endswith("; the folder itself is read under its own path, unless it is skipped")
