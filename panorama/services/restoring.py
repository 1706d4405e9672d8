"""Restoring: makes a new data directory of a backup or an export, and compares it with what that says it holds."""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from panorama.domain.changes import Origin
from panorama.errors import ConflictError, InvalidInputError
from panorama.services.backing_up import MB, SPARE_BYTES, unsound
from panorama.services.base import utc_now
from panorama.services.configuration import FILE
from panorama.services.keeper import meant
from panorama.services.keeping_views import RestoredHome
from panorama.services.pace import Pace
from panorama.services.progress import Progress, told_to_the_door
from panorama.store import backups, fulltext, lines, manifests, migrate, parcels, rows
from panorama.store.engine import Database
from panorama.store.manifests import DATABASE, Manifest
from panorama.store.parcels import Parcel
from panorama.store.plain_files import UnreadableError

RESTORER = Origin(actor="restore", client="", conversation="", operation="", call="", unit="")
WORDS = 200
"""Items whose words are written in one transaction."""


class Restoring:
    """Brings back everything; it needs no store that is open, and touches none."""

    def __init__(
        self, home: Path, progress: Progress = told_to_the_door, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._home = home
        self._progress = progress
        self._now = now

    def restore(self, source: str, folder: str = "") -> RestoredHome:
        """Make a new data directory of a backup or an export; the present one is not touched.

        Jobs that had not ended when the copy was made end there as cancelled: the original goes on with them.

        Args:
            source: The folder that `panorama backup` or `panorama export` made.
            folder: The new data directory: one that is not there yet, or is empty. The present one if left out.

        Raises:
            InvalidInputError: The backup is damaged, is none, or was made by a newer Panorama; nothing was made.
            ConflictError: There is something in that folder.
            UnavailableError: The disk is full, or the folder cannot be written.
        """
        found, target, manifest = self._ready(source, folder)
        parcels.check_room(target, manifest.size_bytes + SPARE_BYTES, "data directory")
        pace = Pace(self._progress, unit=MB)
        with parcels.written(target, "data directory") as parcel:
            making = _Making(found, manifest, parcel, pace)
            making.fill()
            revision = migrate.HEAD if manifest.kind == "export" else ""
            if wrong := unsound(parcel.folder / DATABASE, manifest, pace, revision):
                raise manifests.damaged(found, wrong)
            backups.part(parcel.folder / DATABASE, self._now())
        return RestoredHome(
            path=str(target), source=str(found), kind=manifest.kind, made_at=datetime.fromisoformat(manifest.made_at),
            rows=sum(manifest.rows.values()), files=len(manifest.contents), problems=manifest.missing,
            withheld=manifest.withheld, seconds=round(pace.seconds, 1),
        )  # fmt: skip

    def check(self, source: str, folder: str = "") -> None:
        """Refuse what is no backup, and a place that is taken, before anything begins."""
        self._ready(source, folder)

    def _ready(self, source: str, folder: str) -> tuple[Path, Path, Manifest]:
        """Return what is restored, to where, and what it says it holds."""
        found, target = meant(source, "source"), meant(folder, "folder") if folder.strip() else self._home
        manifest = manifests.read(found)
        self._check_place(found, target)
        return found, target, manifest

    def _check_place(self, source: Path, target: Path) -> None:
        if target.exists() and not target.is_dir():
            raise InvalidInputError(f"{target} is a file.", hint="Give a folder that is not there yet.")
        if target.exists() and any(target.iterdir()):
            raise ConflictError(
                f"{target} is not empty; a backup is restored into a new folder only.",
                hint="Give another folder, or move what is there away first.",
            )
        if target.is_relative_to(source) or (target != self._home and target.is_relative_to(self._home)):
            raise InvalidInputError(
                f"{target} lies in {'the backup' if target.is_relative_to(source) else 'the present data directory'}.",
                hint="Give a folder elsewhere.",
            )


class _Making:
    """Fills a new data directory."""

    def __init__(self, source: Path, manifest: Manifest, parcel: Parcel, pace: Pace) -> None:
        self._source = source
        self._manifest = manifest
        self._parcel = parcel
        self._pace = pace

    def fill(self) -> None:
        """Bring everything back.

        Raises:
            InvalidInputError: Something is not what was written.
        """
        self._pace.expect(2 * self._manifest.size_bytes)
        if self._manifest.kind == "export":
            self._pace.begin("comparing")
            if wrong := parcels.unlike(self._source, self._manifest, self._pace.move):
                raise manifests.damaged(self._source, wrong)
            self._load()
        else:
            self._pace.begin("copying the database")
            self._copy(DATABASE, DATABASE)
        self._pace.begin("copying files")
        for name, path in self._manifest.contents.items():
            place = f"files/{name[:2]}/{name[2:]}"
            if self._copy(path, place) != name:
                raise manifests.damaged(self._source, f"{path} is not what was written")
        for path in self._manifest.files:
            if path == FILE or path.startswith("scripts/"):
                self._copy(path, path)

    def _copy(self, path: str, place: str) -> str:
        """Copy a file and return its digest."""
        wanted = self._manifest.files.get(path)
        try:
            if self._parcel.copy(self._source / path, place, self._pace.move, below=self._source) != wanted:
                raise manifests.damaged(self._source, f"{path} is not what was written")
        except UnreadableError as error:
            raise manifests.damaged(self._source, f"{path} {error}") from error
        return self._parcel.files[place].sha256

    def _load(self) -> None:
        """Make a database of the lines: as it was when they were written, then brought up to date."""
        path = self._parcel.folder / DATABASE
        with closing(Database(path, is_durable=False)) as database:
            self._pace.begin("making the database")
            migrate.make(database, self._manifest.revision)
        try:
            with closing(lines.Loading(path)) as loading:
                for name, forms in self._manifest.columns.items():
                    self._pace.begin(name)
                    with (self._source / "data" / f"{name}.jsonl").open("rb") as told:
                        loading.load(name, forms, told, self._pace.move)
                loading.continue_(self._manifest.sequences)
        except (ValueError, OSError) as error:
            raise manifests.damaged(self._source, str(error)) from error
        if uncounted := lines.uncounted(path, self._manifest.rows):
            raise manifests.damaged(self._source, f"the rows of the table {uncounted} were not counted")
        with closing(Database(path, is_durable=False)) as database:
            migrate.make(database)
            self._index(database)

    def _index(self, database: Database) -> None:
        """Write the words of every living item anew."""
        self._pace.begin("writing the index of words")
        with database.reading() as session:
            every = [(kind, id_) for kind in rows.NOUNS for id_ in rows.living(session, kind)]
        for some in _portions(every):
            with database.transaction(RESTORER) as session:
                for kind, id_ in some:
                    fulltext.put(session, kind, id_, *rows.load(session, kind, id_).words(), new=True)
            self._pace.ask()


def _portions(every: list[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    for start in range(0, len(every), WORDS):
        yield every[start : start + WORDS]
