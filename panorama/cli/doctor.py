"""The doctor: looks for what is wrong with an installation and its data, without making or changing anything.

Beside the client the only module of the command line that looks at the store: it must work when that cannot be opened.
"""

import importlib.metadata
import os
import shutil
import sys
import tomllib
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple
from zoneinfo import ZoneInfo

from panorama import __version__
from panorama.address import Address, Hello, LeavingError, UnreachableError, alignment, greeted, hello
from panorama.cli.configurations import configurations
from panorama.cli.tables import size
from panorama.config import Settings, data_directory, local_zone, read_settings
from panorama.direct import Direct, RefusedError
from panorama.domain.changes import PERSON, Origin
from panorama.domain.scripts import Script
from panorama.errors import PanoramaError, UnavailableError
from panorama.index.embedders.choosing import Choice, default, embedder
from panorama.index.embedders.files import MINILM, STATIC, VOCABULARY
from panorama.index.opening import checked
from panorama.sandbox.runner import ForkServer
from panorama.store import rows
from panorama.store.engine import APPLICATION_ID, Database, Session
from panorama.store.migrate import HEAD

State = Literal["ok", "warn", "fail"]

PACKAGES = ("panorama-mcp", "fastmcp", "sqlalchemy", "alembic", "pydantic", "typer", "rich", "numpy")
IF_THERE = ("onnxruntime", "qdrant-edge-py", "qdrant-client")
"""Packages that search by meaning can do without; the first two are not made for every machine."""

OLDEST_PYTHON, UNTRIED_PYTHON = (3, 11), (3, 14)
SCARCE_BYTES, TOO_FEW_BYTES = 1 << 30, 50 << 20
LOCK_SECONDS = 2.0
WRITE_LOCK_BYTE = 120
"""Which byte of the `-shm` file SQLite locks while a program writes (sqlite.org/walformat.html, "WAL Locks")."""

MAGIC, HEAD_BYTES, OWNER = b"SQLite format 3\0", 100, slice(68, 72)
"""How a database file begins, and where `PRAGMA application_id` stands (sqlite.org/fileformat.html, section 1.3)."""

SHIPPED_FILES = {"minilm": (MINILM, VOCABULARY), "static": (STATIC, VOCABULARY)}

_PUT_BACK = "Stop every program that uses it, and put back a copy from the folder backups."


class Finding(NamedTuple):
    """What a check found, and how to mend it where there is something to mend."""

    state: State
    found: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to look; `problem` is why the settings cannot be read."""

    home: Path
    settings: Settings | None
    problem: PanoramaError | None = None

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.home / "panorama.db"


def examined() -> list[dict[str, str]]:
    """Return `check` (its name), `state`, `found` and perhaps `mend` of every check, in the order to mend them."""
    place = _place()
    found = {name: _guarded(check, place) for name, check in _CHECKS.items()}
    if found["database"].state != "fail" and place.database.is_file() and place.database.stat().st_size:
        found |= {name: _guarded(check, place) for name, check in _OF_THE_FILE.items()}
    found |= _clients()
    return [
        {"check": name, "state": each.state, "found": each.found} | ({"mend": each.mend} if each.mend else {})
        for name, each in found.items()
    ]


def _place() -> Place:
    try:
        settings = read_settings()
    except PanoramaError as error:
        return Place(data_directory(), None, error)
    return Place(settings.home, settings)


def _guarded(check: Callable[[Place], Finding], place: Place) -> Finding:
    """Run a check; one that breaks is a finding too."""
    try:
        return check(place)
    except PanoramaError as error:
        return Finding("fail", error.message, error.hint)
    except OSError as error:
        return Finding("fail", f"It cannot be read: {error}.", "Check the owner and permissions of the data directory.")
    except Exception as error:
        return Finding("fail", f"The check broke: {type(error).__name__}: {error}.", "Please report this.")


def _python(_: Place) -> Finding:
    version = sys.version_info[:2]
    found = f"{sys.version.split()[0]} at {sys.executable}"
    if version < OLDEST_PYTHON:
        return Finding("fail", found, "Install Panorama with Python 3.11 or newer.")
    if version >= UNTRIED_PYTHON:
        return Finding("warn", found, "Panorama is tested with Python 3.11 to 3.13.")
    return Finding("ok", found)


def _packages(_: Place) -> Finding:
    found: list[str] = []
    missing: list[str] = []
    for name in (*PACKAGES, *IF_THERE):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing += [name] if name in PACKAGES else []
    if missing:
        return Finding("fail", f"missing: {', '.join(missing)}", "Install Panorama anew.")
    return Finding("ok", ", ".join(found))


def _sqlite(_: Place) -> Finding:
    with _reading(Path(":memory:")) as session:
        row = session.connection.exec_driver_sql("SELECT sqlite_version(), sqlite_compileoption_used('ENABLE_FTS5')")
        version, words = row.one()
    if not words:
        return Finding("fail", f"SQLite {version} without FTS5", "Use a Python whose SQLite has it (uv, python.org).")
    return Finding("ok", f"SQLite {version} with FTS5")


def _settings(place: Place) -> Finding:
    if place.problem:
        return Finding("fail", place.problem.message, place.problem.hint)
    file = place.home / "config.toml"
    if not file.is_file():
        return Finding("ok", "defaults, the environment")
    given = set(tomllib.loads(file.read_text("utf-8")))
    unknown = sorted(given - (set(Settings.model_fields) - {"home"}))
    if unknown:
        return Finding("warn", f"{file} has {', '.join(unknown)}, which mean nothing there", "See docs/settings.md.")
    return Finding("ok", f"defaults, the environment and {file}")


def _time_zone(place: Place) -> Finding:
    zone = place.settings.zone if place.settings else ZoneInfo(local_zone())
    here, there = datetime.now().astimezone(), datetime.now(zone)
    found = f"{zone.key}, where it is {there:%Y-%m-%d %H:%M}"
    if here.utcoffset() != there.utcoffset():
        mend = "If dates come out wrong, set timezone in config.toml."
        return Finding("warn", f"{found}; this machine's clock says {here:%H:%M}", mend)
    return Finding("ok", found)


def _directory(place: Place) -> Finding:
    home = place.home
    if not home.exists():
        return Finding("warn", f"{home} does not exist yet", "It is made when Panorama is used first.")
    if not home.is_dir():
        return Finding("fail", f"{home} is not a directory", "Choose another one with PANORAMA_HOME.")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return Finding("fail", f"{home} may not be read and written", f"chown -R $USER {home} && chmod 700 {home}")
    mode = home.stat().st_mode & 0o777
    if mode & 0o077:
        return Finding("warn", f"{home} is open to others (mode {mode:04o})", f"chmod 700 {home}")
    return Finding("ok", f"{home} (mode {mode:04o})")


def _disk(place: Place) -> Finding:
    near = next(each for each in (place.home, *place.home.parents) if each.is_dir())
    free = shutil.disk_usage(near).free
    found = f"{free / 1e9:,.1f} GB free"
    if free < TOO_FEW_BYTES:
        return Finding("fail", found, "Free some space: writes will be refused.")
    return Finding("warn", found, "Free some space soon.") if free < SCARCE_BYTES else Finding("ok", found)


def _database(place: Place) -> Finding:
    """Read the file's head only, because opening another program's database changes it."""
    path = place.database
    if not path.exists() or path.stat().st_size == 0:
        return Finding("ok", f"there is no {path.name} yet")
    if not os.access(path, os.R_OK | os.W_OK):
        return Finding("fail", f"{path} may not be read and written", f"chown $USER {path} && chmod 600 {path}")
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head.startswith(MAGIC):
        return Finding("fail", f"{path} is no database, or damaged", _PUT_BACK)
    owner = int.from_bytes(head[OWNER], "big")
    # Before the first checkpoint the mark stands in the write-ahead log alone.
    if owner != APPLICATION_ID and (owner or not path.with_name(f"{path.name}-wal").exists()):
        return Finding("fail", f"{path} belongs to another program", "Choose another folder with PANORAMA_HOME.")
    return Finding("ok", f"{path}, {size(path.stat().st_size)}")


def _write_lock(place: Place) -> Finding:
    origin = Origin(actor=PERSON, client="doctor", conversation="", operation="", call="", unit="")
    with closing(Database(place.database, busy_seconds=LOCK_SECONDS)) as database:
        try:
            with database.transaction(origin):
                pass  # it wrote nothing, it only held the lock
        except UnavailableError as error:
            holder = _holder(place.database)
            mend = f"Wait for {holder}, or end it." if holder else f"{error.hint} Or: lsof {place.database}-shm"
            return Finding("fail", error.message, mend)
    return Finding("ok", "free")


def _holder(database: Path) -> str:
    """Return the program that holds the write lock, "" where the system does not tell (only Linux does)."""
    with suppress(OSError, ValueError, IndexError):
        inode = database.with_name(f"{database.name}-shm").stat().st_ino
        for row in Path("/proc/locks").read_text().splitlines():
            # 1: POSIX  ADVISORY  WRITE 4711 fe:01:131091 120 120
            words = row.split()
            if words[3] != "WRITE" or words[5].rpartition(":")[2] != str(inode):
                continue
            if int(words[6]) <= WRITE_LOCK_BYTE <= int(words[7]):
                command = Path(f"/proc/{words[4]}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                return f"process {words[4]} ({command.strip()[:80]})"
    return ""


def _schema(place: Place) -> Finding:
    with closing(Database(place.database, busy_seconds=LOCK_SECONDS)) as database:
        revision = database.revision() or ""
    if revision > HEAD:
        mend = "Upgrade Panorama (`uv tool upgrade panorama-mcp`)."
        return Finding("fail", f"revision {revision} is newer than this program ({HEAD})", mend)
    if revision < HEAD:
        mend = "It is brought up to date, with a copy kept, when Panorama is used next."
        return Finding("warn", f"revision {revision or 'none'}, this program knows {HEAD}", mend)
    return Finding("ok", f"revision {revision}")


def _soundness(place: Place) -> Finding:
    with closing(Database(place.database, busy_seconds=LOCK_SECONDS)) as database:
        found = database.check()
    return Finding("ok", "quick_check finds nothing") if found == "ok" else Finding("fail", found, _PUT_BACK)


def _search_index(place: Place) -> Finding:
    with _reading(place.database) as session:
        sound = rows.is_indexed(session)
    if sound:
        return Finding("ok", "the words match the items")
    return Finding("fail", "words are missing or left over", _PUT_BACK)


def _daemon(place: Place) -> Finding:
    address = Address(str(place.home))
    pid = address.pid()
    if pid is None:
        return Finding("ok", "none runs; the next client starts one")
    try:
        greeted_ = greeted(address, hello(address, "calls", "doctor"))
    except (OSError, LeavingError) as error:
        mend = "Wait a moment; if it stays so: panorama daemon restart --force"
        return Finding("warn", f"process {pid} does not listen: {error or 'it is leaving'}", mend)
    except UnreachableError as error:
        return Finding("fail", error.message, error.hint)
    greeted_.stream.close()
    return _greeted_daemon(address, pid, greeted_.reply)


def _greeted_daemon(address: Address, pid: int, reply: Hello) -> Finding:
    found = f"process {pid}, version {reply['version']}, {address.socket}"
    if reply["version"] != __version__:
        return Finding("warn", f"{found}; this is version {__version__}", "panorama daemon restart")
    if differs := reply["differs"]:
        mend = alignment("config.toml", differs)
        return Finding("warn", f"{found}; it was started with another {', '.join(differs)}", mend)
    if os.stat(address.socket).st_mode & 0o077 or os.stat(address.run).st_mode & 0o077:
        return Finding("warn", f"{found}; others may come to its socket", "panorama daemon restart")
    return Finding("ok", found)


def _meaning(place: Place) -> Finding:
    """Tell whether the model that the settings name can be had; nothing is loaded, and no service is asked."""
    if place.settings is None:
        return Finding("warn", "the settings cannot be read")
    choice = Choice(place.settings.embedder) if place.settings.embedder else default()
    if choice.name == "none":
        return Finding("ok", "off; words are found")
    chosen = embedder(choice.name)
    for file in SHIPPED_FILES.get(choice.name, ()):
        file.checked()
    if choice.name == "minilm" and not find_spec("onnxruntime"):
        return Finding("fail", "minilm needs ONNX Runtime, which is not installed", "panorama models use static")
    where = checked(place.settings.qdrant_url) if place.settings.qdrant_url else place.settings.index_engine
    if where == "auto":
        where = "edge" if find_spec("qdrant_edge") else "exact (Qdrant Edge is not installed)"
    found = f"{chosen.id}, vectors in {where}"
    if told := _told_of_meaning(place):
        return Finding("warn", f"{found}: {told['last_error']}", str(told.get("do", "")))
    return Finding("ok", found, choice.hint)


def _scripts(place: Place) -> Finding:
    """Run a script that does nothing."""
    least = place.settings.script_isolation if place.settings else "language-only"
    runner = ForkServer(least=least)
    try:
        ending = runner.run(Script(source="1 + 1"), _answered, _told, lambda: False)
        isolation = runner.isolation
    except UnavailableError as error:
        return Finding("warn", error.message, error.hint)
    finally:
        runner.close()
    if ending.failure:
        return Finding("warn", f"A script that does nothing ended as {ending.failure.reason}.", ending.failure.message)
    if isolation == "language-only":
        return Finding("warn", isolation, "This kernel has no seccomp: scripts are held by their language alone.")
    return Finding("ok", isolation)


def _answered(_operation: str, _arguments: Mapping[str, Any]) -> bytes:
    return b""


def _told(_current: float, _total: float, _message: str) -> None:
    """Tell nobody."""


def _told_of_meaning(place: Place) -> Mapping[str, Any]:
    """Return what a running daemon tells of search by meaning if something is wrong with it; no service is asked."""
    address = Address(str(place.home))
    if address.pid() is None:
        return {}
    try:
        with Direct(address, greeted(address, hello(address, "calls", "doctor"))) as direct:
            told: dict[str, Any] = direct.ask("panorama/daemon", {}).get("search", {})
    except (OSError, UnreachableError, LeavingError, RefusedError):  # what is wrong there, the check `daemon` says
        return {}
    return told if "last_error" in told else {}


def _clients() -> dict[str, Finding]:
    """Return a finding for each client in which Panorama is set up; that there is none is no fault."""
    found = {
        f"client {each.client}": Finding(each.state, each.problem or f"set up in {each.file}", each.mend)
        for each in configurations()
    }
    return found or {"clients": Finding("ok", "no client is set up", "panorama install CLIENT")}


@contextmanager
def _reading(path: Path) -> Generator[Session]:
    with closing(Database(path, busy_seconds=LOCK_SECONDS)) as database, database.reading() as session:
        yield session


_CHECKS: dict[str, Callable[[Place], Finding]] = {
    "python": _python,
    "packages": _packages,
    "sqlite": _sqlite,
    "settings": _settings,
    "time zone": _time_zone,
    "data directory": _directory,
    "disk": _disk,
    "database": _database,
    "daemon": _daemon,
    "meaning": _meaning,
    "scripts": _scripts,
}

_OF_THE_FILE: dict[str, Callable[[Place], Finding]] = {
    "write lock": _write_lock,
    "schema": _schema,
    "soundness": _soundness,
    "search index": _search_index,
}
