"""Backing up: copies of everything, made while others write, checked before they count, and kept for a while."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from panorama import __version__
from panorama.domain.keeping import backup_name, is_copy, made_at, outlived
from panorama.errors import PanoramaError, UnavailableError
from panorama.services.base import Desk, Service
from panorama.services.configuration import FILE, without_secrets
from panorama.services.keeper import Keeper, meant
from panorama.services.keeping_views import Backup, BackupList, Checked
from panorama.services.pace import Pace
from panorama.services.progress import Progress, told_to_the_door
from panorama.store import copying, files, lines, manifests, migrate, parcels
from panorama.store.manifests import DATABASE, Entry, Manifest
from panorama.store.parcels import Parcel
from panorama.store.plain_files import UnreadableError

SPARE_BYTES = 32 << 20
"""What must stay free on the disk beside a backup."""

MB = 1 << 20
LISTED = 50


class Backups(Service):
    """Backups of everything that cannot be made again."""

    def __init__(self, desk: Desk, keeper: Keeper, progress: Progress = told_to_the_door) -> None:
        super().__init__(desk)
        self._keeper = keeper
        self._progress = progress

    def create(self, folder: str = "", with_secrets: bool = False) -> Backup:
        """Back up everything: the database, the contents of files, scripts and configuration; others go on writing.

        The copy is checked before it counts. Then backups that have had their time are removed. To read your data
        elsewhere use export_data.

        Args:
            folder: Where it is put; the folder `backups` of the data directory if left out.
            with_secrets: Also keep the keys that config.toml holds.

        Raises:
            InvalidInputError: The folder lies in the data directory, or is none.
            UnavailableError: The disk is full, the folder cannot be written, or the database is damaged.
        """
        keeper = self._keeper
        target = keeper.outside(folder, default=keeper.backups, what="backup")
        pace = Pace(self._progress, unit=MB)
        with keeper.blobs.kept():
            place = free_place(target, self._now(), backup_name)
            with parcels.written(place, "backup") as parcel:
                manifest = _Making(self._desk, keeper, parcel, pace, latest(target, keeper.origin)).made(with_secrets)
            removed = retained(keeper, target, self._now())
        return Backup(
            path=str(place), size_bytes=manifest.size_bytes, rows=sum(manifest.rows.values()),
            files=len(manifest.contents), removed=removed, problems=manifest.missing[:LISTED],
            problem_count=len(manifest.missing), withheld=manifest.withheld, is_complete=not manifest.missing,
            seconds=round(pace.seconds, 1),
        )  # fmt: skip

    def create_check(self, folder: str = "", with_secrets: bool = False) -> None:
        """Refuse a folder that cannot take a backup, before anything begins."""
        del with_secrets
        self._keeper.outside(folder, default=self._keeper.backups, what="backup")

    def create_question(self, folder: str = "", with_secrets: bool = False) -> str:
        """Return what to ask before a backup is put elsewhere, or holds secrets."""
        question = self._keeper.question(folder, default=self._keeper.backups, what="a backup")
        if with_secrets:
            return f"{question or 'Make a backup of all your data?'} It holds the keys in config.toml as they are."
        return question

    def list(self, folder: str = "") -> BackupList:
        """List the backups in a folder, the newest first, and copies that were put aside before a migration.

        Raises:
            InvalidInputError: It is no path of a folder, or lies in the data directory.
        """
        keeper = self._keeper
        target = keeper.outside(folder, default=keeper.backups, what="backup")
        names = sorted((each.name for each in target.glob("*") if made_at(each.name)), key=_by_time, reverse=True)
        return BackupList(
            folder=str(target), backups=tuple(_told(target / name) for name in names[:LISTED]), count=len(names)
        )

    def check(self, path: str) -> Checked:
        """Look whether a backup or an export is whole: every file against its digest, the database as SQLite does.

        Raises:
            InvalidInputError: It is no backup, is damaged, or was made by a newer Panorama.
        """
        folder = meant(path, "path")
        manifest = manifests.read(folder)
        pace = Pace(self._progress, unit=MB)
        pace.expect(manifest.size_bytes)
        pace.begin("comparing")
        checked(folder, manifest, pace)
        return Checked(
            path=str(folder), kind=manifest.kind, made_at=datetime.fromisoformat(manifest.made_at),
            version=manifest.version, files=len(manifest.files), size_bytes=manifest.size_bytes,
            rows=sum(manifest.rows.values()), problems=manifest.missing[:LISTED], withheld=manifest.withheld,
        )  # fmt: skip


class _Making:
    """Makes one backup: first the database, then what it names, so that nothing it names is missing."""

    def __init__(self, desk: Desk, keeper: Keeper, parcel: Parcel, pace: Pace, before: Path | None) -> None:
        self._desk = desk
        self._keeper = keeper
        self._parcel = parcel
        self._pace = pace
        self._before = before
        self._known = _files(before) if before else {}
        self._missing: list[str] = []

    def made(self, with_secrets: bool) -> Manifest:
        """Fill the parcel and return what is in it."""
        rows, named, sequences = self._database()
        contents = {name: path for name in sorted(named) if (path := self._content(name))}
        withheld = add_configuration(self._parcel, self._keeper.home, self._missing, with_secrets=with_secrets)
        add_scripts(self._parcel, self._keeper.home, self._missing, self._pace)
        manifest = Manifest(
            kind="backup", version=__version__, revision=migrate.HEAD, made_at=self._desk.now().isoformat(),
            origin=self._keeper.origin, rows=rows, files=self._parcel.files, contents=contents, sequences=sequences,
            missing=tuple(self._missing), withheld=withheld,
        )  # fmt: skip
        self._check(manifest)
        self._parcel.seal(manifest)
        return manifest

    def _database(self) -> tuple[dict[str, int], set[str], dict[str, int]]:
        """Copy the database; return how many rows its tables have, and which contents they name."""
        copy = self._parcel.folder / DATABASE
        self._make_room()
        self._pace.begin("copying the database")
        with self._desk.database.reading() as session:
            rows, named, sequences = lines.counts(session), files.contents(session), lines.sequences(session)
            self._expect(sum(map(self._size, named)))
            done = 0

            def moved(now: int, _total: int) -> None:
                nonlocal done
                self._pace.move(now - done)
                done = now

            copying.copied(session.connection, copy, moved)
        return rows, named, sequences

    def _make_room(self) -> None:
        """Refuse at once what the disk cannot hold."""
        contents = sum(size for _, size in self._keeper.blobs.names()) if self._before is None else 0
        parcels.check_room(self._parcel.folder, self._database_bytes() + contents + SPARE_BYTES, "backup")

    def _expect(self, contents: int) -> None:
        self._pace.expect(3 * self._database_bytes() + 2 * contents)

    def _database_bytes(self) -> int:
        path = self._desk.database.path
        return sum(each.stat().st_size for each in (path, path.with_name(path.name + "-wal")) if each.exists())

    def _size(self, name: str) -> int:
        path = self._keeper.blobs.path(name)
        return path.stat().st_size if path.is_file() else 0

    def _content(self, name: str) -> str:
        """Put a content into the parcel and return its path there; "" if there is none that is sound."""
        self._pace.begin("copying files")
        path = f"files/{name[:2]}/{name[2:]}"
        if (known := self._known.get(path)) and known.sha256 == name and self._linked(path, known):
            return path
        try:
            entry = self._parcel.copy(self._keeper.blobs.path(name), path, self._pace.move)
        except UnreadableError as error:
            self._missing.append(f"{path}: the content {error}")
            return ""
        if entry.sha256 != name:
            self._parcel.drop(path)
            self._missing.append(f"{path}: the content is damaged")
            return ""
        return path

    def _linked(self, path: str, known: Entry) -> bool:
        """Let a content be the one of the backup before, if that is sound."""
        if self._before is None or parcels.unlike_one(self._before / path, known, self._pace.move, below=self._before):
            return False
        if not self._parcel.link(self._before / path, path):
            return False
        self._parcel.note(path, known)
        return True

    def _check(self, manifest: Manifest) -> None:
        """Look whether what was written is what was there; also whether that was sound.

        Raises:
            UnavailableError: It is not.
        """
        self._pace.begin("checking the copy")
        copy = self._parcel.folder / DATABASE
        entry = hashed(copy, self._pace.move)
        wrong = unsound(copy, manifest, self._pace)
        if not wrong:
            wrong = parcels.unlike(self._parcel.folder, manifest, self._pace.move)
        if wrong:
            raise UnavailableError(
                f"The copy is not sound, so no backup was kept: {wrong}.",
                hint="`panorama doctor` tells whether the database itself is damaged, and what to do then.",
            )
        self._parcel.note(DATABASE, entry)


def hashed(path: Path, moved: Callable[[int], None]) -> Entry:
    """Return the size and digest of a file."""
    digest, size = sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(parcels.CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
            moved(len(chunk))
    return Entry(size, digest.hexdigest())


def unsound(copy: Path, manifest: Manifest, pace: Pace, revision: str = "") -> str:
    """Return what is wrong with a copy of the database that nobody writes; "" if nothing is.

    Args:
        revision: That of its schema, if it was brought up to date since the manifest was written.
    """
    pace.begin("checking the database")
    if wrong := copying.found_wrong(copy, pace.ask):
        return wrong
    if copying.revision(copy) != (revision or manifest.revision):
        return "it has another schema"
    if not revision and (uncounted := lines.uncounted(copy, manifest.rows)):
        return f"the rows of the table {uncounted} were not counted"
    found = lines.counted(copy, manifest.rows)
    differing = [name for name, count in manifest.rows.items() if found[name] != count]
    return f"the table {differing[0]} has not as many rows as it had" if differing else ""


def checked(folder: Path, manifest: Manifest, pace: Pace) -> None:
    """Look whether a parcel is what was written.

    Raises:
        InvalidInputError: It is damaged.
    """
    if wrong := parcels.unlike(folder, manifest, pace.move):
        raise manifests.damaged(folder, wrong)
    if manifest.kind == "backup" and (wrong := unsound(folder / DATABASE, manifest, pace)):
        raise manifests.damaged(folder, f"{DATABASE}: {wrong}")


def add_configuration(parcel: Parcel, home: Path, missing: list[str], *, with_secrets: bool = False) -> tuple[str, ...]:
    """Put config.toml into a parcel, unless it is told without its secrets; return the names of those."""
    try:
        text = (home / FILE).read_text("utf-8")
        kept, withheld = (text, ()) if with_secrets else without_secrets(text)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        missing.append(f"{FILE}: it cannot be read, so nobody can tell what in it is secret ({error})")
        return ()
    parcel.write(FILE, kept.encode())
    return withheld


def add_scripts(parcel: Parcel, home: Path, missing: list[str], pace: Pace) -> None:
    """Put a person's own scripts into a parcel."""
    for path in parcels.files_below(home / "scripts"):
        try:
            parcel.copy(home / "scripts" / path, manifests.inside(f"scripts/{path}"), pace.move)
        except UnreadableError as error:
            missing.append(f"scripts/{path}: it {error}")
        except ValueError:  # not valid Unicode, or with a backslash, which is two names elsewhere
            missing.append(f"scripts/{path.encode('utf-8', 'replace').decode()}: its name cannot be kept; rename it")


def retained(keeper: Keeper, folder: Path, now: datetime) -> int:
    """Remove backups of this store that have had their time from a folder; return how many."""
    if not folder.is_dir():
        return 0
    mine = [each.name for each in folder.iterdir() if _is_mine(each, keeper.origin)]
    if folder == keeper.backups:
        mine += [each.name for each in folder.iterdir() if is_copy(each.name)]
    count = 0
    for name in outlived(mine, keeper.retention, now):
        with suppress(OSError):
            _remove(folder / name)
            count += 1
    return count


def latest(folder: Path, origin: str) -> Path | None:
    """Return the newest backup of an origin in a folder."""
    mine = [each for each in folder.glob("panorama-*") if _is_mine(each, origin)]
    return max(mine, key=lambda each: _by_time(each.name), default=None)


def free_place(folder: Path, now: datetime, named: Callable[[datetime, int], str]) -> Path:
    """Return a place in a folder where nothing is yet."""
    number = 1
    while os.path.lexists(place := folder / named(now, number)):
        number += 1
    return place


def _is_mine(path: Path, origin: str) -> bool:
    if not made_at(path.name) or is_copy(path.name) or path.is_symlink() or not path.is_dir():
        return False
    with suppress(PanoramaError):
        found = manifests.read(path)
        return found.kind == "backup" and found.origin == origin
    return False


def _files(before: Path) -> dict[str, Entry]:
    with suppress(PanoramaError):
        return dict(manifests.read(before).files)
    return {}


def _remove(path: Path) -> None:
    if path.is_dir():
        parcels.remove(path)
        return
    for ending in ("-wal", "-shm", ""):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _by_time(name: str) -> tuple[datetime, str]:
    at = made_at(name)
    assert at is not None
    return at, name


def _told(path: Path) -> dict[str, object]:
    """Return what is known of a backup without reading its files."""
    told: dict[str, object] = {"name": path.name, "made_at": made_at(path.name)}
    if is_copy(path.name):
        return told | {"kind": "copy", "size_bytes": path.stat().st_size}
    try:
        manifest = manifests.read(path)
    except PanoramaError as error:
        return told | {"kind": "damaged", "why": error.message}
    return told | {
        "kind": manifest.kind, "version": manifest.version, "size_bytes": manifest.size_bytes,
        "rows": sum(manifest.rows.values()), "files": len(manifest.contents), "problems": len(manifest.missing),
    }  # fmt: skip
