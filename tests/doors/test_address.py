"""Where the daemon is found, and how versions compare."""

import sys
from pathlib import Path

import platformdirs
import pytest

from panorama.transport.address import MAX_SOCKET_PATH_BYTES, Address, data_directory, is_newer, settings_in


def test_without_a_choice_the_data_stand_where_the_platform_puts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PANORAMA_HOME", raising=False)

    assert data_directory() == platformdirs.user_data_dir("panorama", appauthor="panorama")


@pytest.mark.skipif(sys.platform != "linux", reason="XDG folders are used on Linux only")
def test_the_desktops_choice_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PANORAMA_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    assert data_directory() == platformdirs.user_data_dir("panorama")


def test_a_chosen_directory_may_begin_with_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PANORAMA_HOME", "~/notes")

    assert data_directory() == str(tmp_path / "notes")


def test_every_way_to_a_directory_leads_to_one_daemon(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert Address(str(tmp_path / "link")).socket == Address(str(tmp_path / "real")).socket


def test_a_sockets_path_is_never_too_long_for_macos(tmp_path: Path) -> None:
    paths = [Address(str(tmp_path / ("ü" * length))).socket for length in range(1, 120, 7)]

    assert max(len(path.encode()) for path in paths) <= MAX_SOCKET_PATH_BYTES
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("0.1.0", "0.0.9", True),
        ("0.10", "0.9", True),
        ("1.0", "1.0", False),
        ("0.9", "1.0", False),
        ("2.0rc1", "1.9", True),
    ],
)
def test_versions_compare_by_their_numbers(one: str, other: str, expected: bool) -> None:
    assert is_newer(one, other) == expected


def test_only_settings_are_compared() -> None:
    given = {"PANORAMA_TIMEZONE": "UTC", "PANORAMA_HOME": "/x", "PANORAMA_DEBUG": "1", "PATH": "/bin"}

    assert settings_in(given) == {"PANORAMA_TIMEZONE": "UTC"}
