"""Creates, lists, checks and expires backups, while others write."""

from collections.abc import Callable
from contextlib import closing, suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from panorama import __version__
from panorama.domain.retention import backup_name, parse_backup_time
from panorama.errors import InvalidInputError, PanoramaError, UnavailableError
from panorama.services.archive import sources_copy
from panorama.services.archive.backup_folder import (
    apply_retention,
    describe_backup,
    find_latest_backup,
    list_own_backups,
    pick_free_path,
    sort_key,
)
from panorama.services.archive.paths import SEAL_KEY, ArchivePaths, parse_path
from panorama.services.archive.results import ArchiveCheckResult, BackupList, BackupResult
from panorama.services.archive.row_copy import copy_rows
from panorama.services.archive.secrets import CONFIG_FILE, list_sending_settings, remove_secrets
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.jobs.pace import ProgressTracker
from panorama.services.jobs.progress import Progress, report_progress
from panorama.sources.config import CONFIG_FILE as SOURCES_FILE
from panorama.store import migrate
from panorama.store.archive import atomic_folder, jsonl, manifests
from panorama.store.archive.atomic_folder import AtomicFolder
from panorama.store.archive.manifests import DATABASE, Entry, Manifest
from panorama.store.archive.safe_files import UnreadableError
from panorama.store.backend import Snapshots
from panorama.store.items import files
from panorama.store.key_files import find_key

SPARE_BYTES = 32 << 20
"""The disk space that must stay free besides a backup."""

MIB = 1 << 20
MAX_LISTED = 50


class Backups(Service):
    """Backups of all data that cannot be rebuilt."""

    def __init__(
        self,
        context: ServiceContext,
        keeper: ArchivePaths,
        snapshots: Snapshots,
        progress: Progress = report_progress,
    ) -> None:
        super().__init__(context)
        self._keeper = keeper
        self._snapshots = snapshots
        self._progress = progress

    def create(self, folder: str = "", with_secrets: bool = False) -> BackupResult:
        """Back up the database, the contents of files, scripts, sources and config.toml; others can write meanwhile.

        The copy is verified, then expired backups are removed. To read your data elsewhere use export_data.

        Args:
            folder: Where to put it; by default the folder `backups` of the data directory.
            with_secrets: Also back up the keys in config.toml.

        Raises:
            InvalidInputError: The folder lies in the data directory, or is none.
            UnavailableError: The disk is full, the folder cannot be written, or the database is damaged.
        """
        keeper = self._keeper
        target = keeper.resolve_target(folder, default=keeper.backups, what="backup")
        pace = ProgressTracker(self._progress, unit=MIB)
        earlier = list_own_backups(keeper, target)
        with keeper.contents.retain():
            place = pick_free_path(target, self._now(), backup_name)
            with atomic_folder.create(place, "backup") as output:
                manifest = _BackupWriter(
                    self._context, keeper, self._snapshots, output, pace, find_latest_backup(target, keeper.origin)
                ).write(with_secrets)
            removed = apply_retention(keeper, target, earlier, self._now(), made=place.name)
        return BackupResult(
            path=str(place), size_bytes=manifest.size_bytes, rows=sum(manifest.rows.values()),
            files=len(manifest.contents), removed=removed, problems=manifest.missing[:MAX_LISTED],
            problem_count=len(manifest.missing), withheld=manifest.withheld, is_complete=not manifest.missing,
            seconds=round(pace.elapsed_seconds, 1),
        )  # fmt: skip

    def plan_create(self, folder: str = "", with_secrets: bool = False) -> Plan:
        """Refuse a folder that cannot take a backup; ask before one is put elsewhere, or holds secrets."""
        what = "a backup with the keys in config.toml" if with_secrets else "a backup"
        question = self._keeper.question(folder, default=self._keeper.backups, what=what)
        if with_secrets and not question:
            question = "Make a backup of all your data with the keys in config.toml?"
        return Plan(question)

    def list(self, folder: str = "") -> BackupList:
        """List the backups in a folder, the newest first, and database copies made before a migration.

        Raises:
            InvalidInputError: It is not a folder, or is inside the data directory.
        """
        keeper = self._keeper
        target = keeper.resolve_target(folder, default=keeper.backups, what="backup")
        names = sorted(
            (path.name for path in target.glob("*") if parse_backup_time(path.name)), key=sort_key, reverse=True
        )
        return BackupList(
            folder=str(target),
            backups=tuple(describe_backup(target / name) for name in names[:MAX_LISTED]),
            count=len(names),
        )

    def check(self, path: str) -> ArchiveCheckResult:
        """Verify a backup or an export: every file against its digest, and the database with SQLite's checks.

        Raises:
            InvalidInputError: It is not a backup, is damaged, or was made by a newer Panorama.
        """
        folder = parse_path(path, "path")
        manifest = manifests.read(folder)
        pace = ProgressTracker(self._progress, unit=MIB)
        pace.set_total(manifest.size_bytes)
        pace.start("comparing")
        is_own = manifest.is_sealed_by(find_key(self._keeper.home / SEAL_KEY))
        sources = sources_copy.read_copy(folder, manifest, is_own=is_own).describe()
        check_copy(self._snapshots, folder, manifest, pace, is_own=is_own)
        return ArchiveCheckResult(
            path=str(folder), kind=manifest.kind, made_at=datetime.fromisoformat(manifest.made_at),
            version=manifest.version, files=len(manifest.files), size_bytes=manifest.size_bytes,
            rows=sum(manifest.rows.values()), problems=manifest.shown_missing, withheld=manifest.shown_withheld,
            sending=list_sending_settings(folder).shown if CONFIG_FILE in manifest.files else (), sources=sources,
        )  # fmt: skip


class _BackupWriter:
    """Creates one backup: first the database, then the contents that it names, so that none is missing."""

    def __init__(
        self,
        context: ServiceContext,
        keeper: ArchivePaths,
        snapshots: Snapshots,
        output: AtomicFolder,
        pace: ProgressTracker,
        before: Path | None,
    ) -> None:
        self._context = context
        self._keeper = keeper
        self._snapshots = snapshots
        self._output = output
        self._pace = pace
        self._before = before
        self._known = _read_entries(before) if before else {}
        self._sizes = dict(keeper.contents.iter_sizes())
        self._missing: list[str] = []

    def write(self, with_secrets: bool) -> Manifest:
        """Fill the folder and return its manifest."""
        rows, named, sequences = self._copy_database()
        contents = {name: path for name in sorted(named) if (path := self._add_content(name))}
        withheld = add_configuration(self._output, self._keeper.home, self._missing, with_secrets=with_secrets)
        withheld += add_sources(self._output, self._keeper.home, self._missing)
        add_scripts(self._output, self._keeper.home, self._missing, self._pace)
        self._check_values()
        manifest = Manifest(
            kind="backup", version=__version__, revision=migrate.HEAD, made_at=self._context.now().isoformat(),
            origin=self._keeper.origin, rows=rows, files=self._output.files, contents=contents, sequences=sequences,
            missing=tuple(self._missing), withheld=withheld,
        )  # fmt: skip
        self._check(manifest)
        self._output.write_manifest(manifest, self._keeper.seal_key)
        return manifest

    def _copy_database(self) -> tuple[dict[str, int], set[str], dict[str, int]]:
        """Copy the database; return its row counts, and the contents that it names."""
        copy = self._output.folder / DATABASE
        self._require_space()
        self._pace.start("copying the database")
        with self._context.database.reading() as session:
            rows, named, sequences = (
                jsonl.count_rows(session),
                files.list_digests(session),
                jsonl.list_sequences(session),
            )
            self._set_total(sum(self._sizes.get(name, 0) for name in named))
            done = 0

            def report_progress(now: int, _total: int) -> None:
                nonlocal done
                self._pace.advance(now - done)
                done = now

            session.dialect.write_snapshot(session, copy, report_progress)
        return rows, named, sequences

    def _check_values(self) -> None:
        """Report a value that a restore would refuse; such a copy is better than none."""
        self._pace.start("checking the values")
        if wrong := self._snapshots.find_invalid_value(self._output.folder / DATABASE, self._pace.check_cancel):
            self._missing.append(f"{DATABASE}: it cannot be restored: {wrong}")

    def _require_space(self) -> None:
        """Check that the disk has enough space."""
        contents = sum(self._sizes.values()) if self._before is None else 0
        atomic_folder.require_space(
            self._output.folder, self._context.database.size_bytes() + contents + SPARE_BYTES, "backup"
        )

    def _set_total(self, contents: int) -> None:
        self._pace.set_total(3 * self._context.database.size_bytes() + 2 * contents)

    def _add_content(self, name: str) -> str:
        """Copy a content into the folder and return its path there; "" if it is missing or damaged."""
        self._pace.start("copying files")
        if not manifests.is_digest(name):
            self._missing.append(f"files: the content {name!r} is missing: its name is not a digest")
            return ""
        path = f"files/{name[:2]}/{name[2:]}"
        if (known := self._known.get(path)) and known.sha256 == name and self._link_previous(path, known):
            return path
        try:
            with closing(self._keeper.contents.iter_parts(name)) as parts:
                entry = self._output.write_parts(parts, path, self._pace.advance)
        except UnreadableError as error:
            self._missing.append(f"{path}: the content {error}")
            return ""
        if entry.sha256 != name:
            self._output.remove(path)
            self._missing.append(f"{path}: the content is damaged")
            return ""
        return path

    def _link_previous(self, path: str, known: Entry) -> bool:
        """Hard-link a content from the previous backup, if it is intact there."""
        if self._before is None or atomic_folder.find_file_mismatch(
            self._before / path, known, self._pace.advance, below=self._before
        ):
            return False
        if not self._output.link(self._before / path, path):
            return False
        self._output.add_existing(path, known)
        return True

    def _check(self, manifest: Manifest) -> None:
        """Verify the copy, and that the original was intact.

        Raises:
            UnavailableError: The copy is damaged.
        """
        self._pace.start("checking the copy")
        copy = self._output.folder / DATABASE
        entry = hash_file(copy, self._pace.advance)
        wrong = find_damage(self._snapshots, copy, manifest, self._pace)
        if not wrong:
            wrong = atomic_folder.find_mismatch(self._output.folder, manifest, self._pace.advance)
        if wrong:
            raise UnavailableError(
                f"The copy is damaged, so no backup was created: {wrong}.",
                hint="Run `panorama doctor` to see whether the database itself is damaged.",
            )
        self._output.add_existing(DATABASE, entry)


def hash_file(path: Path, moved: Callable[[int], None]) -> Entry:
    """Return the size and digest of a file."""
    digest, size = sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(atomic_folder.CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
            moved(len(chunk))
    return Entry(size, digest.hexdigest())


def find_damage(snapshots: Snapshots, copy: Path, manifest: Manifest, pace: ProgressTracker, revision: str = "") -> str:
    """Return why a copy of the database is unusable, "" if it is usable.

    Args:
        revision: Its schema revision, if it was migrated after the manifest was written.
    """
    pace.start("checking the database")
    if wrong := snapshots.find_damage(copy, pace.check_cancel):
        return wrong
    if revision and snapshots.read_revision(copy) != revision:
        return "it has another schema"
    if not revision and (wrong := find_other_schema(snapshots, copy, manifest)):
        return wrong
    damage = snapshots.count_rows(copy, manifest.rows)
    differing = [name for name, count in manifest.rows.items() if damage[name] != count]
    return f"the table {differing[0]} has a different number of rows" if differing else ""


def check_copy(snapshots: Snapshots, folder: Path, manifest: Manifest, pace: ProgressTracker, *, is_own: bool) -> None:
    """Verify the files of a backup or export.

    Args:
        is_own: Whether the present data directory made it.

    Raises:
        InvalidInputError: It is damaged.
    """
    if wrong := atomic_folder.find_mismatch(folder, manifest, pace.advance):
        raise manifests.damage_error(folder, wrong)
    if manifest.kind == "backup" and (wrong := find_damage(snapshots, folder / DATABASE, manifest, pace)):
        raise manifests.damage_error(folder, f"{DATABASE}: {wrong}")
    if manifest.kind == "backup" and (wrong := snapshots.find_invalid(folder / DATABASE, is_own=is_own)):
        raise manifests.damage_error(folder, f"{DATABASE}: {wrong}")
    if manifest.kind == "export":
        with TemporaryDirectory(prefix="panorama-check-") as place:
            copy_rows(folder, manifest, snapshots, Path(place) / DATABASE, pace, is_own=is_own)


def find_other_schema(snapshots: Snapshots, copy: Path, manifest: Manifest) -> str:
    """Return how the schema of a copy differs from what its manifest says; "" if it does not."""
    if snapshots.read_revision(copy) != manifest.revision:
        return "it has another schema"
    uncounted = jsonl.find_unlisted_table(snapshots.list_tables(copy), manifest.rows)
    return f"the rows of the table {uncounted} were not counted" if uncounted else ""


def add_configuration(
    output: AtomicFolder, home: Path, missing: list[str], *, with_secrets: bool = False
) -> tuple[str, ...]:
    """Add config.toml, without its secrets unless requested; return the names of the removed settings."""
    try:
        text = (home / CONFIG_FILE).read_text("utf-8")
        text_kept, withheld = (text, ()) if with_secrets else remove_secrets(text)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        missing.append(f"{CONFIG_FILE}: it cannot be parsed, so its secrets are unknown ({error})")
        return ()
    output.write(CONFIG_FILE, text_kept.encode())
    return withheld


def add_sources(output: AtomicFolder, home: Path, missing: list[str]) -> tuple[str, ...]:
    """Add the sources, without their secrets; return the names of the secrets that were in the file."""
    try:
        copied = sources_copy.copy_sources(home)
    except InvalidInputError as error:
        missing.append(f"{SOURCES_FILE}: it cannot be used ({error.message.rstrip('.')})")
        return ()
    if copied.entries:
        output.write(SOURCES_FILE, copied.encode())
    return copied.withheld


def add_scripts(output: AtomicFolder, home: Path, missing: list[str], pace: ProgressTracker) -> None:
    """Add the user's own scripts."""
    for path in atomic_folder.iter_files(home / "scripts"):
        try:
            output.copy(home / "scripts" / path, manifests.validate_path(f"scripts/{path}"), pace.advance)
        except UnreadableError as error:
            missing.append(f"scripts/{path}: it {error}")
        except ValueError:  # not valid Unicode, or with a backslash, which separates names on Windows
            missing.append(f"scripts/{path.encode('utf-8', 'replace').decode()}: its name cannot be stored; rename it")


def _read_entries(before: Path) -> dict[str, Entry]:
    with suppress(PanoramaError):
        return dict(manifests.read(before).files)
    return {}
