"""The folder of the backups: which are this store's own, which have expired, and a free name for the next."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from panorama.domain.retention import expired_backups, is_copy, parse_backup_time
from panorama.errors import PanoramaError
from panorama.services.archive.paths import ArchivePaths
from panorama.store.archive import atomic_folder, manifests


def list_own_backups(paths: ArchivePaths, folder: Path) -> list[str]:
    """Return the names of this store's backups in a folder, and of database copies in the data directory."""
    if not folder.is_dir():
        return []
    copies = folder == paths.backups
    return [
        path.name for path in folder.iterdir() if _is_own_backup(path, paths.origin) or (copies and is_copy(path.name))
    ]


def apply_retention(paths: ArchivePaths, folder: Path, names: Sequence[str], now: datetime, *, made: str = "") -> int:
    """Remove expired backups from a folder; return how many.

    Args:
        names: The backups that existed when the work began; later ones are not touched.
        made: The new backup. It counts and is kept even if the clock is wrong.
    """
    count = 0
    for name in expired_backups([*names, made], paths.retention, now):
        if name != made:
            with suppress(OSError):
                _remove(folder / name)
                count += 1
    return count


def find_latest_backup(folder: Path, origin: str) -> Path | None:
    """Return the newest backup of an origin in a folder."""
    mine = [path for path in folder.glob("panorama-*") if _is_own_backup(path, origin)]
    return max(mine, key=lambda path: sort_key(path.name), default=None)


def pick_free_path(folder: Path, now: datetime, named: Callable[[datetime, int], str]) -> Path:
    """Return an unused path in a folder."""
    number = 1
    while os.path.lexists(place := folder / named(now, number)):
        number += 1
    return place


def describe_backup(path: Path) -> dict[str, object]:
    """Describe a backup without reading its files."""
    facts: dict[str, object] = {"name": path.name, "made_at": parse_backup_time(path.name)}
    if is_copy(path.name):
        return facts | {"kind": "copy", "size_bytes": path.stat().st_size}
    try:
        manifest = manifests.read(path)
    except PanoramaError as error:
        return facts | {"kind": "damaged", "why": error.message}
    return facts | {
        "kind": manifest.kind, "version": manifest.version, "size_bytes": manifest.size_bytes,
        "rows": sum(manifest.rows.values()), "files": len(manifest.contents), "problems": len(manifest.missing),
    }  # fmt: skip


def _is_own_backup(path: Path, origin: str) -> bool:
    if not parse_backup_time(path.name) or is_copy(path.name) or path.is_symlink() or not path.is_dir():
        return False
    with suppress(PanoramaError):
        manifest = manifests.read(path)
        return manifest.kind == "backup" and manifest.origin == origin
    return False


def _remove(path: Path) -> None:
    if path.is_dir():
        atomic_folder.remove(path)
        return
    for ending in ("-wal", "-shm", ""):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def sort_key(name: str) -> tuple[datetime, str]:
    """Return the sort key that orders names of backups by their time."""
    at = parse_backup_time(name)
    assert at is not None
    return at, name
