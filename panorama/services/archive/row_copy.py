"""Fills a new database with the rows of a backup or an export, without its schema."""

from contextlib import closing
from pathlib import Path

from panorama.services.jobs.pace import ProgressTracker
from panorama.store import migrate
from panorama.store.archive import jsonl, manifests
from panorama.store.archive.manifests import DATABASE, Manifest
from panorama.store.backend import RowLoader, Snapshots

REBUILT_TABLES = frozenset({"alembic_version", "search_parts", "edges"})
"""Tables whose rows are not copied: the schema version, and the word index and the graph, which are rebuilt."""


def copy_rows(
    source: Path,
    manifest: Manifest,
    snapshots: Snapshots,
    target: Path,
    pace: ProgressTracker,
    *,
    is_own: bool,
) -> None:
    """Create a database with the schema revision of the backup, and fill it.

    Args:
        source: The folder of the backup or export.
        target: The file of the new database.
        is_own: Whether the present data directory made it.

    Raises:
        InvalidInputError: The backup is damaged.
        UnavailableError: The disk is full, or cannot be written.
    """
    with closing(snapshots.create(target)) as database:
        pace.start("creating the database")
        migrate.create_tables(database, manifest.revision)
    try:
        with closing(snapshots.open_loader(target)) as loader:
            if manifest.kind == "export":
                _load_lines(source, manifest, loader, pace)
            else:
                pace.start("copying rows")
                loader.copy_tables(source / DATABASE, without=REBUILT_TABLES)
            loader.set_sequences(manifest.sequences)
    except (ValueError, OSError) as error:
        raise manifests.damage_error(source, str(error)) from error
    if uncounted := jsonl.find_unlisted_table(snapshots.list_tables(target), manifest.rows):
        raise manifests.damage_error(source, f"the rows of the table {uncounted} were not counted")
    if wrong := snapshots.find_invalid(target, is_own=is_own):
        raise manifests.damage_error(source, wrong)


def _load_lines(source: Path, manifest: Manifest, loader: RowLoader, pace: ProgressTracker) -> None:
    for name, forms in manifest.columns.items():
        pace.start(name)
        with (source / "data" / f"{name}.jsonl").open("rb") as file:
            loader.load(name, forms, jsonl.iter_lines(file), pace.advance)
