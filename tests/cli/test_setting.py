"""One setting in config.toml: it is put where a person would put it, and all else stays byte for byte."""

import os
from pathlib import Path

import pytest

from panorama import config_file
from panorama.errors import UnavailableError

ARRAY = 'toolsets = [\n  "default",\n  "more",\n]\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'embedder = "new"\n'),
        ("a = 1", 'a = 1\nembedder = "new"\n'),
        ("a = 1\r\n# rest\r\n", 'a = 1\r\nembedder = "new"\r\n# rest\r\n'),
        ("# head\n\n# of t\n[t]\n", '# head\nembedder = "new"\n\n# of t\n[t]\n'),
        ("# of t\n[t]\nb = 1\n", 'embedder = "new"\n\n# of t\n[t]\nb = 1\n'),
        ("# only this", 'embedder = "new"\n\n# only this'),
        (f"{ARRAY}# rest\n", f'{ARRAY}embedder = "new"\n# rest\n'),
        ("embedder='old' # why\na = 1\n", 'embedder="new" # why\na = 1\n'),
        ('"embedder" = "old"\n', '"embedder" = "new"\n'),
        ('x = [\n  ["a"]\n]\n', 'x = [\n  ["a"]\n]\nembedder = "new"\n'),
    ],
)
def test_a_setting_is_put_among_the_others(tmp_path: Path, before: str, after: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(before.encode())

    assert config_file.write_setting(tmp_path, "embedder", "new")
    assert file.read_bytes().decode() == after
    assert not config_file.write_setting(tmp_path, "embedder", "new")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('a = 1\nembedder = "old" # why\n# rest\n', "a = 1\n# rest\n"),
        ('embedder = "old"\r\n[t]\r\nb = 1\r\n', "[t]\r\nb = 1\r\n"),
    ],
)
def test_a_setting_is_taken_out_with_its_line(tmp_path: Path, before: str, after: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(before.encode())

    assert config_file.remove_setting(tmp_path, "embedder")
    assert file.read_bytes().decode() == after


def test_without_a_file_there_is_nothing_to_take_out(tmp_path: Path) -> None:
    assert not config_file.remove_setting(tmp_path, "embedder")
    assert list(tmp_path.iterdir()) == []


def test_a_first_setting_makes_file_and_folder_for_their_owner_alone(tmp_path: Path) -> None:
    config_file.write_setting(tmp_path / "new", "embedder", "static")

    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "new", tmp_path / "new" / "config.toml")] == [
        0o700,
        0o600,
    ]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text("a = 1\n")
    (tmp_path / "config.toml").symlink_to("elsewhere.toml")

    config_file.write_setting(tmp_path, "embedder", "new")

    assert (tmp_path / "config.toml").is_symlink()
    assert (tmp_path / "elsewhere.toml").read_text() == 'a = 1\nembedder = "new"\n'


def test_a_file_that_cannot_be_written_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "config.toml").write_text("a = 1\n")
    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(UnavailableError, match="No space left on device") as caught:
        config_file.write_setting(tmp_path, "embedder", "new")

    assert 'embedder = "new"' in caught.value.hint
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("config.toml", "a = 1\n")]


@pytest.mark.parametrize("content", ["embedder = 1\n", "[embedder]\n", "[[embedder]]\n"])
def test_what_is_no_text_is_not_replaced(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.toml").write_text(content)

    with pytest.raises(UnavailableError, match="not text"):
        config_file.write_setting(tmp_path, "embedder", "new")

    assert (tmp_path / "config.toml").read_text() == content
