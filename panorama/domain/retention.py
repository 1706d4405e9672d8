"""Names of backups and exports, and which backups have expired."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"panorama-(?:export-)?(\d{8}T\d{6}Z)(?:-(\d+))?")
_COPY = re.compile(r"(?:before-\w+|replaced)-(\d{8}T\d{6}Z)\.db")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long backups stay: at most so many of one store, none over an age; 0 and None are no limit."""

    most: int = 10
    age: timedelta | None = timedelta(days=90)


def backup_name(now: datetime, number: int = 1) -> str:
    """Return what a backup made at a moment is called; another one of the same second has a number."""
    return f"panorama-{now.astimezone(UTC).strftime(_STAMP)}" + (f"-{number}" if number > 1 else "")


def export_name(now: datetime, number: int = 1) -> str:
    """Return what an export made at a moment is called."""
    return backup_name(now, number).replace("panorama-", "panorama-export-", 1)


def parse_backup_time(name: str) -> datetime | None:
    """Return when a backup, an export, or a copy of the database was made, by its name; None if it is none."""
    match = _NAME.fullmatch(name) or _COPY.fullmatch(name)
    return datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC) if match else None


def is_copy(name: str) -> bool:
    """Tell whether a name is that of a copy that was put aside before a migration or a restore."""
    return _COPY.fullmatch(name) is not None


def newest_backup(names: Iterable[str]) -> str | None:
    """Return the backup, or the copy that was put aside, that was made last; None if there is none."""
    dated = ((at, name) for name in names if (at := parse_backup_time(name)))
    return max(dated, default=(None, None))[1]


def expired_backups(names: Iterable[str], keep: Retention, now: datetime) -> list[str]:
    """Return which backups of one store go, the oldest first; the newest always stays.

    A name in the future was given while the clock was ahead, so it counts as older than every name of the past.
    Copies that were put aside are not counted; they go by their age, also the newest.
    """
    dated = sorted((at <= now, at, name) for name in names if (at := parse_backup_time(name)))
    backups = [name for _, _, name in dated if not is_copy(name)]
    spare = set(backups[: max(0, len(backups) - keep.most)]) if keep.most else set[str]()
    old = {name for _, at, name in dated if keep.age and now - at > keep.age}
    return [name for _, _, name in dated if name in spare | old and name not in backups[-1:]]
