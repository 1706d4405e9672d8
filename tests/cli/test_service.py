"""`panorama service`: what the system is told, and that nothing is left where it refuses."""

import os
import plistlib
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from panorama.cli.clients import service_units
from panorama.cli.commands import service

from .conftest import Command


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory of its own."""
    made = tmp_path / "person"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(service.sys, "platform", "linux")
    return made


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemctl that writes down what it is asked, and refuses the words in the file `refuses`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    log = folder / "asked"
    program = folder / "systemctl"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {shlex.quote(str(log))}\n'
        f'if [ -e {shlex.quote(str(folder))}/"$2" ]; then echo "no bus" >&2; exit 1; fi\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return log


def unit(person: Path) -> Path:
    """Return where the unit stands."""
    return person / ".config" / "systemd" / "user" / "panorama.service"


def test_what_would_be_written_can_be_seen_before(run: Command, person: Path) -> None:
    shown = run("service", "install", "--print")

    assert "ExecStart=" in shown.out
    assert " serve\n" in shown.out
    assert str(unit(person)) in shown.err
    assert not unit(person).exists()


def test_installing_writes_the_unit_and_starts_it(run: Command, person: Path, asked: Path) -> None:
    done = run("service", "install")

    assert done.code == 0
    assert unit(person).read_text() == run("service", "install", "--print").out
    verbs = [line.split()[1] for line in asked.read_text().splitlines()]
    assert verbs == ["daemon-reload", "enable", "restart"]
    assert "enable-linger" in done.err


def test_status_tells_whether_it_is_kept_up(run: Command, person: Path, asked: Path) -> None:
    before = run("service", "status", "--json")
    run("service", "install")
    after = run("service", "status", "--json")

    assert (before.code, before.answer["data"]["installed"]) == (1, False)
    assert (after.code, after.answer["data"]["runs"], after.answer["data"]["current"]) == (0, True, True)


def test_a_unit_of_other_data_is_told(run: Command, person: Path, asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("service", "install")
    unit(person).write_text(unit(person).read_text() + "# older\n")

    assert "install it again" in run("service", "status").err


def test_removing_takes_all_of_it_away(run: Command, person: Path, asked: Path) -> None:
    run("service", "install")

    done = run("service", "remove")

    assert done.code == 0
    assert not unit(person).exists()
    assert "disable --now panorama.service" in asked.read_text()
    assert "nothing was changed" in run("service", "remove").err


@pytest.mark.parametrize("verb", ["enable", "restart"])
def test_where_the_system_refuses_nothing_is_left(run: Command, person: Path, asked: Path, verb: str) -> None:
    (asked.parent / verb).touch()

    refused = run("service", "install")

    assert refused.code == 3
    assert "no bus" in refused.err
    assert not unit(person).exists()


def test_without_systemd_it_is_said_what_to_do(
    run: Command, person: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)

    refused = run("service", "install")

    assert refused.code == 3
    assert "panorama serve" in refused.err
    assert not unit(person).exists()


def test_a_platform_that_is_not_known_is_refused(run: Command, person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(service.UnavailableError):
        service.detect_manager("win32")


ODD = '/home/a b/100%/$HOME/"x"/\\y'


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_takes_the_unit_whatever_the_paths_are_called(tmp_path: Path) -> None:
    program = tmp_path / 'a b 100% $HOME "x" y' / "panorama"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    file = tmp_path / "panorama.service"
    file.write_text(service_units.render_systemd_unit([str(program)], {"PANORAMA_HOME": ODD}))

    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(file)], capture_output=True, text=True,
        env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)},
    )  # fmt: skip

    assert "panorama.service" not in done.stderr, done.stderr


def test_launchd_gets_the_words_as_they_are() -> None:
    agent = plistlib.loads(service_units.render_launchd_agent(["/opt/a & b/panorama"], {"PANORAMA_HOME": ODD}).encode())

    assert agent["ProgramArguments"] == ["/opt/a & b/panorama", "serve"]
    assert agent["EnvironmentVariables"] == {"PANORAMA_HOME": ODD}
    assert agent["KeepAlive"]
