"""The folders of the index, and which one is live; standard library only.

index/lock            held by the program that uses it
index/live            the name of the live generation; replacing this file is the swap
index/g-…/made.json   the model and the identity of a generation
index/g-…/shard/      Qdrant Edge's files
index.damaged-…       a damaged generation, or what was at the folder's path; the last two are kept

A generation that is not live is left over from a crashed build, or the previous one.
"""

import errno
import json
import os
import shutil
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO
from uuid import uuid4

from panorama.errors import UnavailableError
from panorama.index.points import Model

MAX_DAMAGED = 2
"""How many damaged generations are kept for inspection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A complete index in its own folder."""

    folder: Path
    model: Model
    identity: str

    @property
    def shard(self) -> Path:
        """The folder of Qdrant Edge's files."""
        return self.folder / "shard"

    def size_bytes(self) -> int:
        """Return its size on disk; sparse files count by their allocated blocks."""
        total = 0
        for at, _, names in os.walk(self.folder):
            for name in names:
                with suppress(OSError):
                    total += os.stat(os.path.join(at, name)).st_blocks * 512
        return total


class DamagedIndexError(Exception):
    """The index cannot be read."""


class IndexFolder:
    """The folder of one index, locked for this program."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: IO[str] | None = None

    def clear_path(self, now: datetime) -> Path | None:
        """Move aside anything at the folder's path that is not a folder; return its new path, None if there is nothing.

        A link to a folder counts as one; a dangling link does not.

        Raises:
            UnavailableError: It cannot be moved.
        """
        if not os.path.lexists(self._folder) or _is_folder(self._folder):
            return None
        aside = self._quarantine_path(now)
        try:
            self._folder.rename(aside)
        except OSError as error:
            raise unusable_error(self._folder, error) from error
        self._remove_old_quarantine()
        return aside

    def lock(self) -> None:
        """Lock the folder for this program; create it if needed.

        Raises:
            UnavailableError: Another program uses it, or it is not writable.
        """
        import fcntl  # POSIX only, like the rest of the daemon

        self.unlock()
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = (self._folder / "lock").open("a+")
        except OSError as error:
            raise unusable_error(self._folder, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.close()
            raise UnavailableError(
                f"Another program uses the index in {self._folder}.",
                hint="Close it, or use it instead; keyword search works meanwhile.",
            ) from error
        self._lock = lock

    def unlock(self) -> None:
        """Unlock the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def find_live(self) -> Generation | None:
        """Return the live generation, None if there never was one.

        Raises:
            DamagedError: It is invalid.
        """
        try:
            name = (self._folder / "live").read_text().strip()
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise DamagedIndexError(f"{error}") from error
        return self._load_generation(name)

    def _load_generation(self, name: str) -> Generation:
        if not name.startswith("g-") or "/" in name:
            raise DamagedIndexError(f"{name!r} is not a generation")
        folder = self._folder / name
        try:
            created = json.loads((folder / "made.json").read_bytes())
            return Generation(folder=folder, model=Model(**created["model"]), identity=str(created["identity"]))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise DamagedIndexError(f"{error}") from error

    def create_generation(self, model: Model) -> Generation:
        """Create a new generation that is not live yet."""
        identity = uuid4().hex
        created = Generation(folder=self._folder / f"g-{identity[:12]}", model=model, identity=identity)
        try:
            created.folder.mkdir(mode=0o700)
            _write_atomically(created.folder / "made.json", json.dumps({"model": asdict(model), "identity": identity}))
        except OSError:  # each later attempt would leave one more
            self.remove(created)
            raise
        return created

    def set_live(self, generation: Generation) -> None:
        """Make a generation the live one, atomically even in a power cut."""
        _write_atomically(self._folder / "live", generation.folder.name)

    def remove_stale(self, live: Generation | None) -> None:
        """Delete all generations except the live one, if any."""
        if live is None:
            (self._folder / "live").unlink(missing_ok=True)
        for entry in self._folder.glob("g-*"):
            if live is None or entry.name != live.folder.name:
                shutil.rmtree(entry, ignore_errors=True)

    def remove(self, generation: Generation) -> None:
        """Delete a generation."""
        shutil.rmtree(generation.folder, ignore_errors=True)

    def clear(self, generation: Generation) -> None:
        """Delete Qdrant Edge's files of a generation that was not created whole."""
        shutil.rmtree(generation.shard, ignore_errors=True)

    def quarantine(self, generation: Generation | None, now: datetime) -> Path | None:
        """Move a generation aside, or the whole index if none is given; return its new path, None if there is nothing.

        The oldest ones moved before are deleted.
        """
        moved = [generation.folder] if generation else list(self._folder.glob("g-*"))
        there = [entry for entry in (*moved, self._folder / "live") if os.path.lexists(entry)]
        if not there:
            return None
        aside = self._quarantine_path(now)
        aside.mkdir(mode=0o700)
        for entry in there:
            with suppress(OSError):
                entry.rename(aside / entry.name)
        self._remove_old_quarantine()
        return aside

    def _quarantine_path(self, now: datetime) -> Path:
        return self._folder.with_name(f"{self._folder.name}.damaged-{now:%Y%m%dT%H%M%S%f}")

    def _remove_old_quarantine(self) -> None:
        for old in sorted(self._folder.parent.glob(f"{self._folder.name}.damaged-*"))[:-MAX_DAMAGED]:
            if _is_folder(old) and not old.is_symlink():
                shutil.rmtree(old, ignore_errors=True)
            else:
                with suppress(OSError):
                    old.unlink()


def _is_folder(path: Path) -> bool:
    """Return whether a folder exists; an inaccessible one counts."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def unusable_error(folder: Path, error: OSError) -> UnavailableError:
    """Return the error for a folder that cannot be read or written."""
    return UnavailableError(
        f"The index in {folder} cannot be used: {error.strerror or error}.",
        hint="Check its owner, its permissions and the free disk space; keyword search works meanwhile.",
    )


def _write_atomically(file: Path, text: str) -> None:
    """Write a file atomically and durably."""
    new = file.with_suffix(".new")
    with new.open("w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
