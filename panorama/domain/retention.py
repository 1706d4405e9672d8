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
    """How long backups are kept: a maximum number per store and a maximum age; 0 and None mean no limit."""

    max_backups: int = 10
    age: timedelta | None = timedelta(days=90)


def backup_name(now: datetime, number: int = 1) -> str:
    """Return the name of a backup made at a time; further ones of the same second get a number."""
    return f"panorama-{now.astimezone(UTC).strftime(_STAMP)}" + (f"-{number}" if number > 1 else "")


def export_name(now: datetime, number: int = 1) -> str:
    """Return the name of an export made at a time."""
    return backup_name(now, number).replace("panorama-", "panorama-export-", 1)


def parse_backup_time(name: str) -> datetime | None:
    """Return when a backup, export or database copy was made, by its name; None for other names."""
    match = _NAME.fullmatch(name) or _COPY.fullmatch(name)
    return datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC) if match else None


def is_copy(name: str) -> bool:
    """Return whether a name is that of a database copy made before a migration or a restore."""
    return _COPY.fullmatch(name) is not None


def newest_backup(names: Iterable[str]) -> str | None:
    """Return the newest backup, None if there is none; a copy made before a migration or a restore is none."""
    dated = ((at, name) for name in names if not is_copy(name) and (at := parse_backup_time(name)))
    return max(dated, default=(None, None))[1]


def expired_backups(names: Iterable[str], keep: Retention, now: datetime) -> list[str]:
    """Return the expired backups of one store, the oldest first; the newest is always kept.

    A name in the future comes from a wrong clock, so it counts as older than all others.
    Database copies made before a migration or restore are not counted; they expire by age, including the newest.
    """
    dated = sorted((at <= now, at, name) for name in names if (at := parse_backup_time(name)))
    backups = [name for _, _, name in dated if not is_copy(name)]
    spare = set(backups[: max(0, len(backups) - keep.max_backups)]) if keep.max_backups else set[str]()
    old = {name for _, at, name in dated if keep.age and now - at > keep.age}
    return [name for _, _, name in dated if name in spare | old and name not in backups[-1:]]
