"""The doctor: checks the installation and its data, without changing anything.

It checks the database directly, because it must work when the database cannot be opened.
"""

import importlib.metadata
import os
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from panorama import __version__
from panorama.app import index_location
from panorama.cli.clients.configurations import check_configs
from panorama.cli.commands.service import detect_manager
from panorama.config import Settings, data_directory, local_zone, read_settings
from panorama.databases import open_backend, open_contents
from panorama.domain.scripts.scripts import Script
from panorama.errors import PanoramaError, UnavailableError
from panorama.index.embedders.bundled import DUO_FILES, MINILM, STATIC, VOCABULARY
from panorama.index.embedders.registry import NEEDS_ONNX_RUNTIME, EmbedderChoice, create_embedder, default_choice
from panorama.index.open_index import validate_server
from panorama.index.qdrant.health import check_server
from panorama.sandbox.runner import ForkServer
from panorama.store.backend import CheckResult, Maintenance
from panorama.store.contents.checking import check_contents
from panorama.store.items.files import list_digests
from panorama.store.migrate import HEAD
from panorama.transport.address import (
    Address,
    Hello,
    ShuttingDownError,
    UnreachableError,
    handshake,
    hello_message,
    settings_hint,
)
from panorama.transport.rpc_client import RpcClient, RpcError

PACKAGES = ("panorama-mcp", "fastmcp", "sqlalchemy", "alembic", "pydantic", "typer", "rich", "numpy")
OPTIONAL_PACKAGES = ("onnxruntime", "qdrant-edge-py", "qdrant-client")
"""Optional packages of search by meaning; the first two are not available for every machine."""

OLDEST_PYTHON, UNTESTED_PYTHON = (3, 11), (3, 14)
LOW_DISK_BYTES, MIN_DISK_BYTES = 1 << 30, 50 << 20

SOFTWARE = "sqlite"

SHIPPED_FILES = {"duo": DUO_FILES, "minilm": (MINILM, VOCABULARY), "static": (STATIC, VOCABULARY)}


@dataclass(frozen=True, slots=True)
class Installation:
    """The locations to check; `problem` is why the settings cannot be read."""

    home: Path
    settings: Settings | None
    problem: PanoramaError | None = None

    @property
    def database(self) -> Maintenance:
        """The checks of the database."""
        return open_backend(self.settings or Settings.model_construct(home=self.home)).maintenance


def run_checks() -> list[dict[str, str]]:
    """Return `check` (its name), `state`, `found` and perhaps `mend` of every check, in the order of repair."""
    place = _read_installation()
    results = {_name_check(name, place): _run_check(partial(check, place)) for name, check in _CHECKS.items()}
    if results["database"].state != "fail" and place.database.has_data():
        results |= {name: _run_check(check) for name, check in place.database.checks().items()}
        results["contents"] = _run_check(partial(_check_contents, place))
    results |= _check_clients()
    return [
        {"check": name, "state": result.state, "found": result.found} | ({"mend": result.mend} if result.mend else {})
        for name, result in results.items()
    ]


def _name_check(name: str, place: Installation) -> str:
    """Return the name of a check; that of the database software is the software's name."""
    if name != SOFTWARE:
        return name
    try:
        return place.database.software
    except PanoramaError:  # of another check's
        return SOFTWARE


def _read_installation() -> Installation:
    try:
        settings = read_settings()
    except PanoramaError as error:
        return Installation(data_directory(), None, error)
    return Installation(settings.home, settings)


def _run_check(check: Callable[[], CheckResult]) -> CheckResult:
    """Run a check; an exception in it is a finding too."""
    try:
        return check()
    except PanoramaError as error:
        return CheckResult("fail", error.message, error.hint)
    except OSError as error:
        return CheckResult(
            "fail", f"It cannot be read: {error}.", "Check the owner and permissions of the data directory."
        )
    except Exception as error:  # a bug in one check is its result, and the other checks still run
        return CheckResult("fail", f"The check failed: {type(error).__name__}: {error}.", "Please report this.")


def _check_python(_: Installation) -> CheckResult:
    version = sys.version_info[:2]
    description = f"{sys.version.split()[0]} at {sys.executable}"
    if version < OLDEST_PYTHON:
        return CheckResult("fail", description, "Install Panorama with Python 3.11 or newer.")
    if version >= UNTESTED_PYTHON:
        return CheckResult("warn", description, "Panorama is tested with Python 3.11 to 3.13.")
    return CheckResult("ok", description)


def _check_command(_: Installation) -> CheckResult:
    """Search for `panorama` in the PATH."""
    place = shutil.which("panorama")
    if place is None:
        hint = "In the checkout: uv tool install . && uv tool update-shell; then open a new shell."
        return CheckResult("warn", "your shell does not find `panorama`: it is not on the PATH", hint)
    return CheckResult("ok", place)


def _check_packages(_: Installation) -> CheckResult:
    problems: list[str] = []
    missing: list[str] = []
    for name in (*PACKAGES, *OPTIONAL_PACKAGES):
        try:
            problems.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing += [name] if name in PACKAGES else []
    if missing:
        return CheckResult("fail", f"missing: {', '.join(missing)}", "Reinstall Panorama.")
    return CheckResult("ok", ", ".join(problems))


def _check_settings(place: Installation) -> CheckResult:
    if place.problem:
        return CheckResult("fail", place.problem.message, place.problem.hint)
    file = place.home / "config.toml"
    if not file.is_file():
        return CheckResult("ok", "defaults, the environment")
    names = set(tomllib.loads(file.read_text("utf-8")))
    unknown = sorted(names - (set(Settings.model_fields) - {"home"}))
    if unknown:
        return CheckResult("warn", f"{file} has unknown settings: {', '.join(unknown)}", "See docs/settings.md.")
    return CheckResult("ok", f"defaults, the environment and {file}")


def _check_time_zone(place: Installation) -> CheckResult:
    zone = place.settings.zone if place.settings else ZoneInfo(local_zone())
    here, there = datetime.now().astimezone(), datetime.now(zone)
    description = f"{zone.key}, where it is {there:%Y-%m-%d %H:%M}"
    if here.utcoffset() != there.utcoffset():
        mend = "If dates come out wrong, set timezone in config.toml."
        return CheckResult("warn", f"{description}; this machine's clock says {here:%H:%M}", mend)
    return CheckResult("ok", description)


def _check_directory(place: Installation) -> CheckResult:
    home = place.home
    if not home.exists():
        return CheckResult("warn", f"{home} does not exist yet", "It is created when Panorama is first used.")
    if not home.is_dir():
        return CheckResult("fail", f"{home} is not a directory", "Choose another one with PANORAMA_HOME.")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return CheckResult("fail", f"{home} is not readable and writable", f"chown -R $USER {home} && chmod 700 {home}")
    mode = home.stat().st_mode & 0o777
    if mode & 0o077:
        return CheckResult("warn", f"{home} is open to others (mode {mode:04o})", f"chmod 700 {home}")
    return CheckResult("ok", f"{home} (mode {mode:04o})")


def _check_disk(place: Installation) -> CheckResult:
    near = next(parent for parent in (place.home, *place.home.parents) if parent.is_dir())
    free = shutil.disk_usage(near).free
    description = f"{free / 1e9:,.1f} GB free"
    if free < MIN_DISK_BYTES:
        return CheckResult("fail", description, "Free some space: writes will fail.")
    return (
        CheckResult("warn", description, "Free some space soon.")
        if free < LOW_DISK_BYTES
        else CheckResult("ok", description)
    )


def _check_daemon(place: Installation) -> CheckResult:
    address = Address(str(place.home))
    pid = address.find_pid()
    if pid is None:
        return CheckResult("ok", "none runs; the next client starts one")
    try:
        greeted_ = handshake(address, hello_message(address, "calls", "doctor"))
    except (OSError, ShuttingDownError) as error:
        mend = "Wait a moment; if it persists: panorama daemon restart --force"
        return CheckResult("warn", f"process {pid} does not listen: {error or 'it is shutting down'}", mend)
    except UnreachableError as error:
        return CheckResult("fail", error.message, error.hint)
    greeted_.stream.close()
    return _check_daemon_reply(address, pid, greeted_.reply)


def _check_daemon_reply(address: Address, pid: int, reply: Hello) -> CheckResult:
    description = f"process {pid}, version {reply['version']}, {address.socket}"
    if reply["version"] != __version__:
        return CheckResult("warn", f"{description}; this is version {__version__}", "panorama daemon restart")
    if differs := reply["differs"]:
        mend = settings_hint("config.toml", differs)
        return CheckResult("warn", f"{description}; it was started with different {', '.join(differs)}", mend)
    if os.stat(address.socket).st_mode & 0o077 or os.stat(address.socket_directory).st_mode & 0o077:
        return CheckResult("warn", f"{description}; other users can access its socket", "panorama daemon restart")
    return CheckResult("ok", description)


def _check_semantic_search(place: Installation) -> CheckResult:
    """Check that the model in the settings is available; nothing is loaded, and no service is queried."""
    if place.settings is None:
        return CheckResult("warn", "the settings cannot be read")
    choice = EmbedderChoice(place.settings.embedder) if place.settings.embedder else default_choice()
    if choice.name == "none":
        return CheckResult("ok", "off; keyword search works")
    chosen = create_embedder(choice.name)
    for file in SHIPPED_FILES.get(choice.name, ()):
        file.verify()
    if choice.name in NEEDS_ONNX_RUNTIME and not find_spec("onnxruntime"):
        return CheckResult(
            "fail", f"{choice.name} needs ONNX Runtime, which is not installed", "panorama models use static"
        )
    vectors = index_location(place.settings)
    where = validate_server(vectors.url, vectors.key)[0] if vectors.url else vectors.engine
    if where == "auto":
        where = "edge" if find_spec("qdrant_edge") else "exact (Qdrant Edge is not installed)"
    description = f"{chosen.id}, vectors in {where}"
    if error := _fetch_search_error(place):
        return CheckResult("warn", f"{description}: {error['last_error']}", str(error.get("do", "")))
    return CheckResult("ok", description, choice.hint)


def _check_qdrant(place: Installation) -> CheckResult:
    """Check the Qdrant server in the settings."""
    if place.settings is None or not place.settings.qdrant_url:
        return CheckResult("ok", "not used: vectors are in the data directory")
    vectors = index_location(place.settings)
    return CheckResult(*check_server(*validate_server(vectors.url, vectors.key), vectors.layout))


def _check_contents(place: Installation) -> CheckResult:
    """Check that the contents of files exist, and compare the digests of the first ones."""
    settings = place.settings or Settings.model_construct(home=place.home)
    with closing(open_backend(settings).open()) as database:
        if database.revision() != HEAD:
            return CheckResult("ok", "not checked: the schema is not current")
        with database.reading() as session:
            named = list_digests(session)
        return check_contents(open_contents(settings, database), named)


def _check_scripts(place: Installation) -> CheckResult:
    """Run an empty script."""
    least = place.settings.script_isolation if place.settings else "language-only"
    runner = ForkServer(least=least)
    try:
        ending = runner.run(Script(source="1 + 1"), _empty_answer, _ignore_progress, lambda: False)
        isolation = runner.isolation
    except UnavailableError as error:
        return CheckResult("warn", error.message, error.hint)
    finally:
        runner.close()
    if ending.failure:
        return CheckResult("warn", f"An empty script failed: {ending.failure.reason}.", ending.failure.message)
    if isolation == "language-only":
        return CheckResult("warn", isolation, "No kernel isolation is active: only the language restricts scripts.")
    if isolation == "seatbelt":
        return CheckResult("ok", "seatbelt (macOS; not tested yet)")
    return CheckResult("ok", isolation)


def _empty_answer(_operation: str, _arguments: Mapping[str, Any]) -> bytes:
    return b""


def _ignore_progress(_current: float, _total: float, _message: str) -> None:
    """Do nothing."""


def _fetch_search_error(place: Installation) -> Mapping[str, Any]:
    """Return the error of search by meaning in a running daemon; no service is queried."""
    search: Mapping[str, Any] = _fetch_daemon_status(place).get("search", {})
    return search if "last_error" in search else {}


def _fetch_daemon_status(place: Installation) -> Mapping[str, Any]:
    """Return the status of a running daemon; its problems are reported by the check `daemon`."""
    address = Address(str(place.home))
    if address.find_pid() is None:
        return {}
    try:
        with RpcClient(address, handshake(address, hello_message(address, "calls", "doctor"))) as direct:
            return direct.request("panorama/daemon", {})
    except (OSError, UnreachableError, ShuttingDownError, RpcError):
        return {}


def _check_uptime(place: Installation) -> CheckResult:
    """Check what keeps the daemon running: a system service, or `panorama serve` in the foreground."""
    status = _fetch_daemon_status(place)
    if (status and status["linger_seconds"] is None) or _has_service():
        return CheckResult("ok", "reminders and schedules run at any time")
    return CheckResult("ok", "reminders and schedules run only while a client is open", "panorama service install")


def _has_service() -> bool:
    try:
        return detect_manager().file.exists()
    except UnavailableError:  # no known service manager here
        return False


def _check_clients() -> dict[str, CheckResult]:
    """Return a finding for each client with Panorama's entry; having none is not a fault."""
    configs = {
        f"client {config.client}": CheckResult(config.state, config.problem or f"set up in {config.file}", config.mend)
        for config in check_configs()
    }
    return configs or {"clients": CheckResult("ok", "no client is set up", "panorama install CLIENT")}


_CHECKS: dict[str, Callable[[Installation], CheckResult]] = {
    "python": _check_python,
    "command": _check_command,
    "packages": _check_packages,
    SOFTWARE: lambda place: place.database.check_software(),
    "settings": _check_settings,
    "time zone": _check_time_zone,
    "data directory": _check_directory,
    "disk": _check_disk,
    "database": lambda place: place.database.check_place(),
    "daemon": _check_daemon,
    "uptime": _check_uptime,
    "meaning": _check_semantic_search,
    "qdrant": _check_qdrant,
    "scripts": _check_scripts,
}
