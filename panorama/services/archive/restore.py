"""Restores a backup or an export to a new data directory, and verifies it."""

from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path

from panorama.domain.changes import Origin
from panorama.domain.sources.names import SOURCES_PREFIX
from panorama.errors import ConflictError, InvalidInputError
from panorama.services.archive import sources_copy
from panorama.services.archive.backup import MIB, SPARE_BYTES, find_damage, find_other_schema
from panorama.services.archive.paths import SEAL_KEY, parse_path
from panorama.services.archive.results import RestoreResult
from panorama.services.archive.row_copy import copy_rows
from panorama.services.archive.secrets import (
    CONFIG_FILE,
    SendingSettings,
    list_sending_settings,
    remove_sending_settings,
)
from panorama.services.archive.sources_copy import SourcesCopy
from panorama.services.base import Plan, utc_now
from panorama.services.jobs.pace import ProgressTracker
from panorama.services.jobs.progress import Progress, report_progress
from panorama.sources.config import CONFIG_FILE as SOURCES_FILE
from panorama.store import migrate
from panorama.store.archive import atomic_folder, manifests
from panorama.store.archive.atomic_folder import AtomicFolder
from panorama.store.archive.full_index import index_living_items
from panorama.store.archive.manifests import DATABASE, Manifest
from panorama.store.archive.safe_files import UnreadableError
from panorama.store.backend import Database, Snapshots
from panorama.store.graph import edges
from panorama.store.key_files import find_key

RESTORE_ORIGIN = Origin(actor="restore", client="", conversation="", operation="", call="", unit="")


class RestoreService:
    """Restores everything; needs no open store, and changes none."""

    def __init__(
        self,
        home: Path,
        snapshots: Snapshots,
        progress: Progress = report_progress,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._home = home
        self._snapshots = snapshots
        self._progress = progress
        self._now = now

    def restore(
        self, source: str, folder: str = "", with_settings: bool = False, with_sources: bool = False
    ) -> RestoreResult:
        """Create a new data directory from a backup or an export; the present one is not changed.

        Jobs that were unfinished when the copy was made are cancelled in it: the original continues them.
        Unless the present data directory made it, its schedules are paused, and its scripts need a new review.

        Args:
            source: The folder that `panorama backup` or `panorama export` made.
            folder: The new data directory: a new or an empty folder. By default the present one.
            with_settings: Also keep the settings that send texts elsewhere, such as a model of a service.
            with_sources: Also restore the sources, which run commands or send data elsewhere; none is started.

        Raises:
            InvalidInputError: The backup is damaged, is none, or was made by a newer Panorama; nothing was made.
            ConflictError: There is something in that folder.
            UnavailableError: The disk is full, or the folder cannot be written.
        """
        sources = self.list_sources(source) if with_sources else None
        settings = self.list_sending(source) if with_settings else None
        return self.restore_agreed(source, folder, sources, settings)

    def restore_agreed(
        self, source: str, folder: str, agreed: SourcesCopy | None, settings: SendingSettings | None = None
    ) -> RestoreResult:
        """Restore as `restore` does, with what the user has seen and agreed to.

        Args:
            source: The folder that `panorama backup` or `panorama export` made.
            folder: The new data directory.
            agreed: The sources; None for none.
            settings: The settings that send texts elsewhere; None to leave them out.

        Raises:
            ConflictError: The sources or settings in the backup changed after the question, or something is in that
                folder.
            InvalidInputError: As for `restore`.
            UnavailableError: As for `restore`.
        """
        archive, target, manifest = self._prepare(source, folder)
        sources = self._read_sources(archive, manifest)
        if agreed is not None and agreed.encode() != sources.encode():
            raise _change_error("sources")
        keeps_settings = _check_settings(manifest, settings)
        atomic_folder.require_space(target, manifest.size_bytes + SPARE_BYTES, "data directory")
        pace = ProgressTracker(self._progress, unit=MIB)
        with atomic_folder.create(target, "data directory") as output:
            is_own = self._is_own(manifest)
            making = _HomeBuilder(archive, manifest, self._snapshots, output, pace, is_own=is_own)
            sending = making.fill(with_settings=keeps_settings)
            if agreed is not None and agreed.entries:
                output.write(SOURCES_FILE, agreed.encode())
            database = output.folder / DATABASE
            if wrong := find_damage(self._snapshots, database, manifest, pace, migrate.HEAD):
                raise manifests.damage_error(archive, wrong)
            withdrawn = self._snapshots.make_independent(output.folder / DATABASE, self._now(), is_own=is_own)
        return RestoreResult(
            path=str(target), source=str(archive), kind=manifest.kind, made_at=datetime.fromisoformat(manifest.made_at),
            rows=sum(manifest.rows.values()), files=len(manifest.contents), problems=manifest.shown_missing,
            withheld=(*_list_withheld(manifest, agreed), *sending),
            paused=withdrawn.schedules, unreviewed=withdrawn.scripts,
            sources=tuple(agreed.entries) if agreed else (),
            left_out=(*(() if agreed else sources.entries), *sources.left_out), seconds=round(pace.elapsed_seconds, 1),
        )  # fmt: skip

    def list_sending(self, source: str) -> SendingSettings:
        """Return the settings in a backup or an export that send texts elsewhere, as they are written there.

        Raises:
            InvalidInputError: The configuration is damaged.
        """
        folder = parse_path(source, "source")
        if not (entry := manifests.read(folder).files.get(CONFIG_FILE)):
            return SendingSettings(())
        sending = list_sending_settings(folder)
        if sending.sha256 and sending.sha256 != entry.sha256:
            raise manifests.damage_error(folder, f"{CONFIG_FILE} differs from what was written")
        return sending

    def list_sources(self, source: str) -> SourcesCopy:
        """Return the sources in a backup or an export, as they would be restored."""
        folder = parse_path(source, "source")
        return self._read_sources(folder, manifests.read(folder))

    def count_active_rows(self, source: str) -> tuple[Mapping[str, int], bool]:
        """Return how many schedules and reviews of scripts a backup or an export brings, by table.

        Also return whether this data directory made it; otherwise they are withdrawn.
        """
        manifest = manifests.read(parse_path(source, "source"))
        counts = {table: count for table in ("reviews", "schedules") if (count := manifest.rows.get(table, 0))}
        return counts, self._is_own(manifest)

    def plan_restore(self, source: str, folder: str = "", **_: object) -> Plan:
        """Refuse what is not a backup, and a place that is taken."""
        archive, _target, manifest = self._prepare(source, folder)
        self._read_sources(archive, manifest)
        return Plan()

    def _prepare(self, source: str, folder: str) -> tuple[Path, Path, Manifest]:
        """Return the source, the target, and the manifest."""
        archive, target = parse_path(source, "source"), parse_path(folder, "folder") if folder.strip() else self._home
        manifest = manifests.read(archive)
        self._check_target(archive, target)
        return archive, target, manifest

    def _read_sources(self, archive: Path, manifest: Manifest) -> SourcesCopy:
        return sources_copy.read_copy(archive, manifest, is_own=self._is_own(manifest))

    def _is_own(self, manifest: Manifest) -> bool:
        return manifest.is_sealed_by(find_key(self._home / SEAL_KEY))

    def _check_target(self, source: Path, target: Path) -> None:
        if target.exists() and not target.is_dir():
            raise InvalidInputError(f"{target} is a file.", hint="Give a folder that does not exist yet.")
        if target.exists() and any(target.iterdir()):
            raise ConflictError(
                f"{target} is not empty; a backup is restored into a new folder only.",
                hint="Give another folder, or move its contents away first.",
            )
        if target.is_relative_to(source) or (target != self._home and target.is_relative_to(self._home)):
            raise InvalidInputError(
                f"{target} lies in {'the backup' if target.is_relative_to(source) else 'the present data directory'}.",
                hint="Give a folder elsewhere.",
            )


def _check_settings(manifest: Manifest, agreed: SendingSettings | None) -> bool:
    """Return whether the settings are kept that send texts elsewhere: only those that were shown whole.

    Raises:
        ConflictError: The configuration changed after the question.
    """
    if agreed is None or not agreed.sha256:
        return False
    entry = manifest.files.get(CONFIG_FILE)
    if entry is None or entry.sha256 != agreed.sha256:
        raise _change_error("settings")
    return True


def _change_error(what: str) -> ConflictError:
    return ConflictError(
        f"The {what} in the backup changed after the question.", hint="Restore again, and read the question."
    )


def _list_withheld(manifest: Manifest, sources: SourcesCopy | None) -> tuple[str, ...]:
    """Return the settings that were left out, and what was left out of the sources that were restored."""
    entries, withheld = (sources.entries, sources.withheld) if sources else ({}, ())

    def is_of_left_out_source(name: str) -> bool:
        source = name.removeprefix(SOURCES_PREFIX).partition(".")[0]
        return name.startswith(SOURCES_PREFIX) and source not in entries

    names = (name for name in manifest.shown_withheld if not is_of_left_out_source(name))
    return tuple(dict.fromkeys((*names, *withheld)))[: manifests.MAX_SHOWN_ENTRIES]


class _HomeBuilder:
    """Fills a new data directory."""

    def __init__(
        self,
        source: Path,
        manifest: Manifest,
        snapshots: Snapshots,
        output: AtomicFolder,
        pace: ProgressTracker,
        *,
        is_own: bool,
    ) -> None:
        self._source = source
        self._snapshots = snapshots
        self._manifest = manifest
        self._output = output
        self._pace = pace
        self._is_own = is_own

    def fill(self, *, with_settings: bool) -> tuple[str, ...]:
        """Restore everything; return the settings left out because they send texts elsewhere.

        Raises:
            InvalidInputError: The backup is damaged.
        """
        self._pace.set_total(2 * self._manifest.size_bytes)
        if self._manifest.kind == "export":
            self._pace.start("comparing")
            if wrong := atomic_folder.find_mismatch(self._source, self._manifest, self._pace.advance):
                raise manifests.damage_error(self._source, wrong)
        else:
            self._pace.start("comparing the database")
            listed, source = self._manifest.files[DATABASE], self._source / DATABASE
            if wrong := atomic_folder.find_file_mismatch(source, listed, self._pace.advance, below=self._source):
                raise manifests.damage_error(self._source, f"{DATABASE} {wrong}")
            wrong = find_other_schema(self._snapshots, source, self._manifest)
            wrong = wrong or self._snapshots.find_invalid(source, is_own=self._is_own)
            if wrong:
                raise manifests.damage_error(self._source, f"{DATABASE}: {wrong}")
            self._check_unused()
        self._load()
        self._pace.start("copying files")
        for name, path in self._manifest.contents.items():
            place = f"files/{name[:2]}/{name[2:]}"
            if self._copy(path, place) != name:
                raise manifests.damage_error(self._source, f"{path} differs from what was written")
        for path in self._manifest.files:
            if path == CONFIG_FILE or path.startswith("scripts/"):
                self._copy(path, path)
        return () if with_settings else self._remove_sending_settings()

    def _check_unused(self) -> None:
        """Compare the listed files that are not copied; a backup of ours has none."""
        used = {DATABASE, CONFIG_FILE, *self._manifest.contents.values()}
        for path, entry in self._manifest.files.items():
            if path not in used and not path.startswith("scripts/"):
                place = self._source / path
                if wrong := atomic_folder.find_file_mismatch(place, entry, self._pace.advance, below=self._source):
                    raise manifests.damage_error(self._source, f"{path} {wrong}")

    def _remove_sending_settings(self) -> tuple[str, ...]:
        if CONFIG_FILE not in self._output.files:
            return ()
        text, names = remove_sending_settings((self._output.folder / CONFIG_FILE).read_text("utf-8", "replace"))
        if names:
            self._output.remove(CONFIG_FILE)
            self._output.write(CONFIG_FILE, text.encode())
        return names

    def _copy(self, path: str, place: str) -> str:
        """Copy a file and return its digest."""
        entry = self._manifest.files.get(path)
        try:
            if self._output.copy(self._source / path, place, self._pace.advance, below=self._source) != entry:
                raise manifests.damage_error(self._source, f"{path} differs from what was written")
        except UnreadableError as error:
            raise manifests.damage_error(self._source, f"{path} {error}") from error
        return self._output.files[place].sha256

    def _load(self) -> None:
        """Create a database with the schema of the backup, then migrate it."""
        path = self._output.folder / DATABASE
        copy_rows(self._source, self._manifest, self._snapshots, path, self._pace, is_own=self._is_own)
        with closing(self._snapshots.create(path)) as database:
            migrate.create_tables(database)
            self._index_words(database)

    def _index_words(self, database: Database) -> None:
        """Index the words and links of every living item."""
        self._pace.start("indexing words")

        def report(_done: int, _total: int) -> None:
            self._pace.check_cancel()

        index_living_items(database, RESTORE_ORIGIN, edges.rebuild_item, report)
