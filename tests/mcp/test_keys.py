"""The key of open questions: made once, kept for its owner alone, replaced when it is damaged."""

import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from panorama.app import App
from panorama.mcp.keys import STATE_KEY, load_state_key
from panorama.mcp.server import build_server

PRINTED = """
import pathlib, sys
from panorama.mcp.keys import load_state_key
print(load_state_key(pathlib.Path(sys.argv[1])).hex())
"""


def test_a_key_is_made_once(tmp_path: Path) -> None:
    made = load_state_key(tmp_path)

    assert len(made) == 32
    assert load_state_key(tmp_path) == made == (tmp_path / STATE_KEY).read_bytes()


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / STATE_KEY
    file.touch(mode=0o644)

    load_state_key(tmp_path)

    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damaged", [b"", b"short", b"x" * 33, bytes(32)])
def test_a_damaged_key_is_replaced(tmp_path: Path, damaged: bytes) -> None:
    (tmp_path / STATE_KEY).write_bytes(damaged)

    made = load_state_key(tmp_path)

    assert made != damaged
    assert (tmp_path / STATE_KEY).read_bytes() == made


@pytest.mark.parametrize("before", [None, b"damaged"])
def test_who_starts_at_the_same_time_gets_the_same_key(tmp_path: Path, before: bytes | None) -> None:
    if before is not None:
        (tmp_path / STATE_KEY).write_bytes(before)

    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(load_state_key, [tmp_path] * 64))

    assert len(keys) == 1


def test_processes_that_start_at_the_same_time_get_the_same_key(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PRINTED, str(tmp_path)]

    starting = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]

    assert len({process.communicate(timeout=60)[0] for process in starting}) == 1


def test_a_file_that_cannot_be_used_is_told_and_replaced_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / STATE_KEY).mkdir()

    with caplog.at_level(logging.WARNING):
        made = load_state_key(tmp_path)

    assert len(made) == 32
    assert "will not survive a restart" in caplog.text


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"k" * 32)
    (tmp_path / STATE_KEY).symlink_to(tmp_path / "elsewhere")

    assert load_state_key(tmp_path) != b"k" * 32


def test_a_server_keeps_its_key_in_the_data_directory(app: App) -> None:
    build_server(app)

    assert len((app.settings.home / STATE_KEY).read_bytes()) == 32
