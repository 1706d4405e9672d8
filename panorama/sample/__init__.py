"""The sample workspace: a folder of Markdown whose dates are written relative to the day on which it is laid out."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

_DAY = re.compile(r"\{\{today([+-]\d+)?\}\}")


def render_dates(text: str, today: date) -> str:
    """Return a text with `{{today}}`, `{{today+3}}` and `{{today-10}}` written as dates (2026-05-31)."""
    return _DAY.sub(lambda found: (today + timedelta(days=int(found[1] or 0))).isoformat(), text)


def write_files(folder: Path, today: date) -> tuple[Path, ...]:
    """Write the workspace into a folder, which is made if need be, and return its files."""
    made: list[Path] = []
    for place, text in _iter_files(resources.files(__name__), PurePosixPath()):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render_dates(text, today), encoding="utf-8", newline="\n")
        made.append(path)
    return tuple(made)


def _iter_files(folder: Traversable, place: PurePosixPath) -> Iterator[tuple[PurePosixPath, str]]:
    for path in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if path.is_dir():
            yield from _iter_files(path, place / path.name)
        elif path.name.endswith(".md"):
            yield place / path.name, path.read_text(encoding="utf-8")
