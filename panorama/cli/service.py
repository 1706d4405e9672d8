"""`panorama service`: lets the system keep the daemon up, so that schedules and reminders need no open client."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from panorama.address import Address, data_directory
from panorama.cli import show, units
from panorama.cli.configurations import HOME, started_by
from panorama.cli.daemon import end_daemon
from panorama.cli.options import AsJson, examples, group, option
from panorama.cli.tables import Column, Sheet, line
from panorama.errors import UnavailableError

SECONDS = 60.0
app = group("service", "Let the system keep the daemon up.")


@dataclass(frozen=True, slots=True)
class Manager:
    """What keeps services up on a platform: where it reads them, and the commands it takes.

    Those of `ready` must succeed before the daemon that runs is asked to leave; of `begin` and `end` the last.
    """

    name: str
    program: str
    file: Path
    text: str
    ready: Sequence[Sequence[str]]
    begin: Sequence[Sequence[str]]
    end: Sequence[Sequence[str]]
    asked: Sequence[str]


def manager(platform: str = sys.platform) -> Manager:
    """Return what keeps services up here.

    Raises:
        UnavailableError: Nothing that we know of.
    """
    command, environment, person = started_by(), _environment(), Path.home()
    if platform == "darwin":
        file = person / "Library" / "LaunchAgents" / f"{units.AGENT}.plist"
        domain = f"gui/{os.getuid()}"
        return Manager(
            "launchd", "launchctl", file, units.launchd(command, environment),
            ready=(), begin=[["bootout", f"{domain}/{units.AGENT}"], ["bootstrap", domain, str(file)]],
            end=[["bootout", f"{domain}/{units.AGENT}"]],
            asked=["print", f"{domain}/{units.AGENT}"],
        )  # fmt: skip
    if platform.startswith("linux"):
        chosen = os.environ.get("XDG_CONFIG_HOME", "").strip()
        folder = Path(chosen) if os.path.isabs(chosen) else person / ".config"
        unit = f"{units.LABEL}.service"
        return Manager(
            "systemd", "systemctl", folder / "systemd" / "user" / unit, units.systemd(command, environment),
            ready=[["--user", "daemon-reload"], ["--user", "enable", unit]], begin=[["--user", "restart", unit]],
            end=[["--user", "disable", "--now", unit]],
            asked=["--user", "is-active", unit],
        )  # fmt: skip
    raise UnavailableError(
        f"Panorama does not know what keeps services up on {platform}.",
        hint="Start `panorama serve` when you log in, by the means of your system.",
    )


def _environment() -> dict[str, str]:
    home = os.environ.get(HOME, "").strip()
    return {HOME: str(Path(home).expanduser().absolute())} if home else {}


@app.command(
    epilog=examples("panorama service install", "panorama service install --print   # only show what would be written")
)
def install(
    only_print: Annotated[bool, option("Print what would be written, and where; change nothing.", "--print")] = False,
    as_json: AsJson = False,
) -> None:
    """Let the system start the daemon when you log in, and again whenever it ends."""
    found = manager()
    if only_print:
        _told(found, "read", f"This belongs into {found.file}; nothing was changed.", as_json, text=found.text)
        return
    _check(found)
    before = found.file.read_text(encoding="utf-8") if found.file.exists() else None
    _write(found.file, found.text)
    try:
        for words in found.ready:
            _ask_all(found, [words])
        end_daemon(Address(data_directory()), again=True)
        _ask_all(found, found.begin)
    except UnavailableError:
        if before is None:
            _ask(found, found.end[-1])
        _put_back(found.file, before)
        raise
    _told(found, "write", f"{found.name} keeps Panorama's daemon up, by {found.file}", as_json, hint=_hint(found))


@app.command(epilog=examples("panorama service remove"))
def remove(as_json: AsJson = False) -> None:
    """Let the system keep the daemon up no more; the next client starts one, as before."""
    found = manager()
    if not found.file.exists():
        return _told(found, "write", f"There is no {found.file}; nothing was changed.", as_json)
    _check(found)
    _ask_all(found, found.end)
    found.file.unlink(missing_ok=True)
    if found.name == "systemd":
        _ask(found, ["--user", "daemon-reload"])
    return _told(found, "write", f"{found.name} keeps Panorama's daemon up no more", as_json)


@app.command(epilog=examples("panorama service status", "panorama service status --json"))
def status(as_json: AsJson = False) -> int:
    """Tell whether the system keeps the daemon up. Ends with 1 if it does not."""
    found = manager()
    is_there = found.file.exists()
    is_current = is_there and found.file.read_text(encoding="utf-8", errors="replace") == found.text
    runs = is_there and shutil.which(found.program) is not None and _ask(found, found.asked).returncode == 0
    summary = f"{found.name} keeps the daemon up" if runs else "Nothing keeps the daemon up"
    if is_there and not runs:
        summary = f"{found.file} is there, but {found.name} does not keep the daemon up"
    stale = "" if is_current or not is_there else "It is of another Panorama or other data: install it again."
    data = {"manager": found.name, "file": str(found.file), "installed": is_there, "current": is_current, "runs": runs}
    if as_json:
        _as_json(data, summary, "read", stale)
    else:
        show.aside(summary)
        rows = tuple((line(name), line(value)) for name, value in data.items())
        show.sheet(Sheet((Column("what"), Column("is", fold=True)), rows))
        if stale:
            show.aside(stale, "yellow")
    return 0 if runs else 1


def _told(found: Manager, policy: str, summary: str, as_json: bool, *, text: str = "", hint: str = "") -> None:
    data = {"manager": found.name, "file": str(found.file)} | ({"text": text} if text else {})
    if as_json:
        return _as_json(data, summary, policy, hint)
    if text:
        show.raw(text)
    show.aside(summary)
    if hint:
        show.aside(hint, "yellow")
    return None


def _hint(found: Manager) -> str:
    told = ["On macOS this is untested: see `panorama service status`."] if found.name == "launchd" else []
    if found.name == "systemd":
        told.append("To keep it up while you are logged out: `loginctl enable-linger`.")
    return " ".join(told)


def _as_json(data: Any, summary: str, policy: str, hint: str = "") -> None:
    metadata = {"source": "service", "policy": policy} | ({"hint": hint} if hint else {})
    show.data({"data": data, "summary": summary, "metadata": metadata})


def _check(found: Manager) -> None:
    if shutil.which(found.program) is None:
        raise UnavailableError(
            f"There is no {found.program} here; nothing was changed.",
            hint="Start `panorama serve` when you log in, by the means of your system.",
        )


def _write(file: Path, text: str) -> None:
    part = file.with_name(f".{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise UnavailableError(
            f"{file} cannot be written: {error.strerror}.", hint="`panorama service install --print` shows its text."
        ) from error


def _put_back(file: Path, before: str | None) -> None:
    if before is None:
        file.unlink(missing_ok=True)
    else:
        _write(file, before)


def _ask_all(found: Manager, commands: Sequence[Sequence[str]]) -> None:
    """Give commands one after the other; only the last must succeed, as what is not there cannot be ended.

    Raises:
        UnavailableError: The last was refused.
    """
    done = [_ask(found, words) for words in commands][-1]
    if done.returncode:
        said = " ".join(done.stderr.split())[:300] or f"it ended with {done.returncode}"
        raise UnavailableError(
            f"{found.program} refused: {said}.", hint=f"Nothing is installed. Does `{found.program}` work for you?"
        )


def _ask(found: Manager, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [found.program, *words],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{found.program} does not answer.", hint="Try again in a moment.") from error
