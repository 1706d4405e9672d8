"""`panorama service`: installs the daemon as a system service, so that schedules and reminders need no client."""

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
app = group("service", "Run the daemon as a system service.", default="status")


@dataclass(frozen=True, slots=True)
class ServiceManager:
    """A service manager: the path of its unit file, and its commands.

    All commands of `ready` must succeed before the running daemon is stopped; of `begin` and `end` only the last.
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
    """Return the service manager of this machine.

    Raises:
        UnavailableError: There is no supported one.
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
        f"Panorama supports no service manager on {platform}.",
        hint="Configure your system to run `panorama serve` at login.",
    )


def _environment() -> dict[str, str]:
    home = os.environ.get(HOME_VARIABLE, "").strip()
    return {HOME_VARIABLE: str(Path(home).expanduser().absolute())} if home else {}


@app.command(
    epilog=examples("panorama service install", "panorama service install --print   # only show what would be written")
)
def install(
    only_print: Annotated[bool, option("Only print what would be written, and where.", "--print")] = False,
    as_json: AsJson = False,
) -> None:
    """Start the daemon at login, and restart it whenever it ends."""
    manager = detect_manager()
    if only_print:
        _print_result(manager, "read", f"Add this to {manager.file}; nothing was changed.", as_json, text=manager.text)
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
        manager,
        "write",
        f"{manager.name} keeps Panorama's daemon running, by {manager.file}",
        as_json,
        hint=_hint(manager),
    )


@app.command(epilog=examples("panorama service remove"))
def remove(as_json: AsJson = False) -> None:
    """Remove the service; clients start the daemon again, as before."""
    manager = detect_manager()
    if not manager.file.exists():
        return _print_result(manager, "write", f"{manager.file} does not exist; nothing was changed.", as_json)
    _check_program(manager)
    _run_all(manager, manager.end)
    manager.file.unlink(missing_ok=True)
    if manager.name == "systemd":
        _run(manager, ["--user", "daemon-reload"])
    return _print_result(manager, "write", f"{manager.name} no longer keeps Panorama's daemon running", as_json)


@app.command(epilog=examples("panorama service status", "panorama service status --json"))
def status(as_json: AsJson = False) -> int:
    """Show whether the service is installed and running. Exits with 1 if not."""
    manager = detect_manager()
    is_there = manager.file.exists()
    is_current = is_there and manager.file.read_text(encoding="utf-8", errors="replace") == manager.text
    runs = is_there and shutil.which(manager.program) is not None and _run(manager, manager.asked).returncode == 0
    summary = f"{manager.name} keeps the daemon running" if runs else "No service keeps the daemon running"
    if is_there and not runs:
        summary = f"{manager.file} exists, but {manager.name} does not keep the daemon running"
    stale = (
        "" if is_current or not is_there else "It belongs to another installation or data directory: install it again."
    )
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
    """Render the service's state, one line each."""
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
        notes.append("To keep it running while you are logged out: `loginctl enable-linger`.")
    return " ".join(notes)


def _print_json(data: Any, summary: str, policy: str, hint: str = "") -> None:
    metadata = {"source": "service", "policy": policy} | ({"hint": hint} if hint else {})
    console.print_json({"data": data, "summary": summary, "metadata": metadata})


def _check_program(manager: ServiceManager) -> None:
    if shutil.which(manager.program) is None:
        raise UnavailableError(
            f"{manager.program} is not installed here; nothing was changed.",
            hint="Configure your system to run `panorama serve` at login.",
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
            f"{file} cannot be written: {error.strerror}.", hint="`panorama service install --print` prints its text."
        ) from error


def _restore_file(file: Path, before: str | None) -> None:
    if before is None:
        file.unlink(missing_ok=True)
    else:
        _write(file, before)


def _run_all(manager: ServiceManager, commands: Sequence[Sequence[str]]) -> None:
    """Run commands in order; only the last must succeed, because stopping an inactive service fails.

    Raises:
        UnavailableError: The last one failed.
    """
    done = [_run(manager, words) for words in commands][-1]
    if done.returncode:
        reason = " ".join(done.stderr.split())[:300] or f"it exited with {done.returncode}"
        raise UnavailableError(
            f"{manager.program} refused: {reason}.",
            hint=f"Nothing is installed. Check that `{manager.program}` works for this user.",
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
