"""A folder as a source: nothing outside it is read or written, whatever is in it."""

import os
import threading
from pathlib import Path

import pytest

from panorama.errors import PanoramaError
from tests.sources.test_folder import call, list_paths, open_folder

SECRET = "the secret outside"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with links that lead out of it, beside a file with a secret."""
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "home"))
    inside, outside = tmp_path / "in", tmp_path / "out"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    (inside / "a.md").write_text("hello")
    for name in (".env", ".env.local", "server.pem", "ID_RSA", "id_ed25519.pub", "credentials.json", "x.kdbx"):
        (inside / name).write_text(SECRET)
    (inside / ".ssh").mkdir()
    (inside / ".ssh" / "config").write_text(SECRET)
    (inside / "link.md").symlink_to(outside / "secret.txt")
    (inside / "away").symlink_to(outside)
    (inside / "sub" / "up").symlink_to("..")
    os.mkfifo(inside / "pipe")
    return inside


OUTSIDE = [
    "../out/secret.txt", "sub/../../out/secret.txt", "/etc/passwd", "//etc/passwd", "~/.ssh/id_rsa", "link.md",
    "away/secret.txt", "sub/up/a.md", "pipe", ".", "..", "", "a.md/", "./a.md", "sub\\..\\a.md", "a.md\x00.txt",
    "a.md/b", "sub", "\u202ea.md", "a" * 5000, "/".join("a" * 40), ".env", ".env.local", "server.pem", "ID_RSA",
    "id_ed25519.pub", "credentials.json", "x.kdbx", ".ssh/config",
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("name", ["read", "read_file"])
@pytest.mark.parametrize("hidden", [False, True])
def test_nothing_else_is_read(root: Path, path: str, name: str, hidden: bool) -> None:
    with pytest.raises(PanoramaError) as refused:
        call(open_folder(root, hidden=hidden), name, path=path)

    assert SECRET not in str(refused.value.to_dict())


@pytest.mark.parametrize("path", [path for path in OUTSIDE if path not in ("link.md", "pipe", "a.md/b")])
def test_nothing_else_is_written(root: Path, path: str) -> None:
    before = sorted(os.walk(root.parent))

    with pytest.raises(PanoramaError):
        call(open_folder(root, write=True), "write", path=path, text="mine", replace=True)

    assert sorted(os.walk(root.parent)) == before
    assert (root.parent / "out" / "secret.txt").read_text() == SECRET


@pytest.mark.parametrize("folder", ["..", "away", "sub/up", ".ssh", "/", "a.md"])
def test_nothing_else_is_listed(root: Path, folder: str) -> None:
    with pytest.raises(PanoramaError):
        list_paths(open_folder(root), folder=folder)


@pytest.mark.parametrize("hidden", [False, True])
def test_links_pipes_and_keys_are_not_listed(root: Path, hidden: bool) -> None:
    assert list_paths(open_folder(root, hidden=hidden)) == ["a.md"]


def test_writing_to_a_link_replaces_the_link(root: Path) -> None:
    call(open_folder(root, write=True), "write", path="link.md", text="mine", replace=True)

    assert (root / "link.md").read_text() == "mine"
    assert (root.parent / "out" / "secret.txt").read_text() == SECRET


def test_writing_into_a_linked_folder_is_refused(root: Path) -> None:
    with pytest.raises(PanoramaError):
        call(open_folder(root, write=True), "write", path="away/new.txt", text="mine")

    assert os.listdir(root.parent / "out") == ["secret.txt"]


def test_a_folder_that_becomes_a_link_while_it_is_read_leaks_nothing(root: Path) -> None:
    (root / "sub" / "secret.txt").write_text("mine")
    source, is_running = open_folder(root), threading.Event()
    is_running.set()

    def swap() -> None:
        while is_running.is_set():
            os.rename(root / "sub", root / "aside")
            os.symlink(root.parent / "out", root / "sub")
            os.unlink(root / "sub")
            os.rename(root / "aside", root / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    contents = set()
    for _ in range(1500):
        try:
            contents.add(call(source, "read", path="sub/secret.txt").value)
        except PanoramaError:
            continue
    is_running.clear()
    thread.join()

    assert contents <= {"mine"}


def test_a_file_that_becomes_a_link_while_it_is_listed_is_left_out(root: Path) -> None:
    (root / "sub" / "b.md").symlink_to(root.parent / "out" / "secret.txt")

    assert list_paths(open_folder(root), folder="sub") == []
