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

from panorama.cli.clients import service_units
from panorama.cli.clients.configurations import HOME_VARIABLE, launch_command
from panorama.cli.console import console
from panorama.cli.console.tables import Column, Row, TextTable, safe_line
from panorama.cli.daemon_process import end_daemon
from panorama.cli.options import AsJson, examples, group, option
from panorama.errors import UnavailableError
from panorama.transport.address import Address, data_directory

TIMEOUT_SECONDS = 60.0
app = group("service", "Let the system keep the daemon up.", default="status")


@dataclass(frozen=True, slots=True)
class ServiceManager:
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


def detect_manager(platform: str = sys.platform) -> ServiceManager:
    """Return what keeps services up here.

    Raises:
        UnavailableError: Nothing that we know of.
    """
    command, environment, person = launch_command(), _environment(), Path.home()
    if platform == "darwin":
        file = person / "Library" / "LaunchAgents" / f"{service_units.LAUNCHD_LABEL}.plist"
        domain = f"gui/{os.getuid()}"
        return ServiceManager(
            "launchd", "launchctl", file, service_units.render_launchd_agent(command, environment),
            ready=(), begin=[["bootout", f"{domain}/{service_units.LAUNCHD_LABEL}"], ["bootstrap", domain, str(file)]],
            end=[["bootout", f"{domain}/{service_units.LAUNCHD_LABEL}"]],
            asked=["print", f"{domain}/{service_units.LAUNCHD_LABEL}"],
        )  # fmt: skip
    if platform.startswith("linux"):
        chosen = os.environ.get("XDG_CONFIG_HOME", "").strip()
        folder = Path(chosen) if os.path.isabs(chosen) else person / ".config"
        unit = f"{service_units.LABEL}.service"
        return ServiceManager(
            "systemd",
            "systemctl",
            folder / "systemd" / "user" / unit,
            service_units.render_systemd_unit(command, environment),
            ready=[["--user", "daemon-reload"], ["--user", "enable", unit]],
            begin=[["--user", "restart", unit]],
            end=[["--user", "disable", "--now", unit]],
            asked=["--user", "is-active", unit],
        )
    raise UnavailableError(
        f"Panorama does not know what keeps services up on {platform}.",
        hint="Start `panorama serve` when you log in, by the means of your system.",
    )


def _environment() -> dict[str, str]:
    home = os.environ.get(HOME_VARIABLE, "").strip()
    return {HOME_VARIABLE: str(Path(home).expanduser().absolute())} if home else {}


@app.command(
    epilog=examples("panorama service install", "panorama service install --print   # only show what would be written")
)
def install(
    only_print: Annotated[bool, option("Print what would be written, and where; change nothing.", "--print")] = False,
    as_json: AsJson = False,
) -> None:
    """Let the system start the daemon when you log in, and again whenever it ends."""
    manager = detect_manager()
    if only_print:
        _print_result(
            manager, "read", f"This belongs into {manager.file}; nothing was changed.", as_json, text=manager.text
        )
        return
    _check_program(manager)
    before = manager.file.read_text(encoding="utf-8") if manager.file.exists() else None
    _write(manager.file, manager.text)
    try:
        for words in manager.ready:
            _run_all(manager, [words])
        end_daemon(Address(data_directory()), again=True)
        _run_all(manager, manager.begin)
    except UnavailableError:
        if before is None:
            _run(manager, manager.end[-1])
        _restore_file(manager.file, before)
        raise
    _print_result(
        manager, "write", f"{manager.name} keeps Panorama's daemon up, by {manager.file}", as_json, hint=_hint(manager)
    )


@app.command(epilog=examples("panorama service remove"))
def remove(as_json: AsJson = False) -> None:
    """Let the system keep the daemon up no more; the next client starts one, as before."""
    manager = detect_manager()
    if not manager.file.exists():
        return _print_result(manager, "write", f"There is no {manager.file}; nothing was changed.", as_json)
    _check_program(manager)
    _run_all(manager, manager.end)
    manager.file.unlink(missing_ok=True)
    if manager.name == "systemd":
        _run(manager, ["--user", "daemon-reload"])
    return _print_result(manager, "write", f"{manager.name} keeps Panorama's daemon up no more", as_json)


@app.command(epilog=examples("panorama service status", "panorama service status --json"))
def status(as_json: AsJson = False) -> int:
    """Return whether the system keeps the daemon up. Ends with 1 if it does not."""
    manager = detect_manager()
    is_there = manager.file.exists()
    is_current = is_there and manager.file.read_text(encoding="utf-8", errors="replace") == manager.text
    runs = is_there and shutil.which(manager.program) is not None and _run(manager, manager.asked).returncode == 0
    summary = f"{manager.name} keeps the daemon up" if runs else "Nothing keeps the daemon up"
    if is_there and not runs:
        summary = f"{manager.file} is there, but {manager.name} does not keep the daemon up"
    stale = "" if is_current or not is_there else "It is of another Panorama or other data: install it again."
    data = {
        "manager": manager.name,
        "file": str(manager.file),
        "installed": is_there,
        "current": is_current,
        "runs": runs,
    }
    if as_json:
        _print_json(data, summary, "read", stale)
    else:
        console.print_message(summary)
        console.print_table(service_table(data))
        if stale:
            console.print_message(stale, "yellow")
    return 0 if runs else 1


def service_table(data: Row) -> TextTable:
    """Return what keeps the daemon up, a line for each part of it."""
    words = {True: "yes", False: "no"}
    rows = tuple((safe_line(name, "cyan"), safe_line(words.get(value, value))) for name, value in data.items())
    return TextTable((Column("service"), Column("", fold=True)), rows)


def _print_result(
    manager: ServiceManager, policy: str, summary: str, as_json: bool, *, text: str = "", hint: str = ""
) -> None:
    data = {"manager": manager.name, "file": str(manager.file)} | ({"text": text} if text else {})
    if as_json:
        return _print_json(data, summary, policy, hint)
    if text:
        console.print_raw(text)
    console.print_message(summary)
    if hint:
        console.print_message(hint, "yellow")
    return None


def _hint(manager: ServiceManager) -> str:
    notes = ["On macOS this is untested: see `panorama service status`."] if manager.name == "launchd" else []
    if manager.name == "systemd":
        notes.append("To keep it up while you are logged out: `loginctl enable-linger`.")
    return " ".join(notes)


def _print_json(data: Any, summary: str, policy: str, hint: str = "") -> None:
    metadata = {"source": "service", "policy": policy} | ({"hint": hint} if hint else {})
    console.print_json({"data": data, "summary": summary, "metadata": metadata})


def _check_program(manager: ServiceManager) -> None:
    if shutil.which(manager.program) is None:
        raise UnavailableError(
            f"There is no {manager.program} here; nothing was changed.",
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


def _restore_file(file: Path, before: str | None) -> None:
    if before is None:
        file.unlink(missing_ok=True)
    else:
        _write(file, before)


def _run_all(manager: ServiceManager, commands: Sequence[Sequence[str]]) -> None:
    """Give commands one after the other; only the last must succeed, as what is not there cannot be ended.

    Raises:
        UnavailableError: The last was refused.
    """
    done = [_run(manager, words) for words in commands][-1]
    if done.returncode:
        reason = " ".join(done.stderr.split())[:300] or f"it ended with {done.returncode}"
        raise UnavailableError(
            f"{manager.program} refused: {reason}.",
            hint=f"Nothing is installed. Does `{manager.program}` work for you?",
        )


def _run(manager: ServiceManager, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [manager.program, *words],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{manager.program} does not answer.", hint="Try again in a moment.") from error
