"""The desktop: what a person wrote is shown as text, by no shell, and nobody waits for it."""

import json
import sys
import time
from pathlib import Path

import pytest

from panorama.daemon.desktop_notifications import MAX_CHARS, DesktopNotifier, command_for
from tests.doors.conftest import wait

HOSTILE = ["$(touch x); `id`", "--version", "-u critical", "<b>bold</b> & <img src=x>", "a\x1b[31m\n\x00b", "'\"\\"]


@pytest.fixture
def shown(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """An environment with a notify-send that writes down its arguments, and where it does."""
    log = tmp_path / "told"
    program = tmp_path / "notify-send"
    program.write_text(
        f"#!{sys.executable}\nimport json, sys, time\n"
        f"open({str(log)!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
        "time.sleep(60) if 'slow' in sys.argv[-1] else None\n"
    )
    program.chmod(0o755)
    return {"PATH": str(tmp_path), "DISPLAY": ":0"}, log


@pytest.mark.parametrize("words", HOSTILE)
def test_what_a_person_wrote_is_text_and_no_option(
    shown: tuple[dict[str, str], Path], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, told = shown
    monkeypatch.setattr(sys, "platform", "linux")

    assert DesktopNotifier(environment).show(words, words)
    wait(told.exists)
    wait(lambda: told.read_text().endswith("\n"))

    _, mark, title, body = json.loads(told.read_text())
    assert mark == "--"
    assert all(sign.isprintable() for sign in title + body)
    assert "<" not in body
    assert "&" not in body.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")


def test_nobody_waits_for_a_program_that_hangs(
    shown: tuple[dict[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from panorama.daemon import desktop_notifications as desktop

    environment, _ = shown
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(desktop, "TIMEOUT_SECONDS", 0.5)
    begun = time.monotonic()

    assert DesktopNotifier(environment).show("x", "slow")

    assert time.monotonic() - begun < 0.4


def test_without_a_desktop_or_a_program_nothing_is_shown(
    shown: tuple[dict[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, _ = shown
    monkeypatch.setattr(sys, "platform", "linux")

    assert not DesktopNotifier({"PATH": environment["PATH"]}).show("x", "y")
    assert not DesktopNotifier({"PATH": "/nowhere", "DISPLAY": ":0"}).show("x", "y")


def test_on_a_mac_words_are_arguments_of_a_fixed_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "osascript").touch(mode=0o755)
    monkeypatch.setattr(sys, "platform", "darwin")

    command = command_for('" & do shell script "id', "-e x", {"PATH": str(tmp_path)})

    assert command[-3:] == ["--", '" & do shell script "id', "-e x"]
    assert "shell" not in " ".join(command[:-3])


def test_long_words_are_cut() -> None:
    command = command_for("x" * 1000, "y", {"PATH": "/nowhere"})

    assert command == () or len(command[-2]) == MAX_CHARS
