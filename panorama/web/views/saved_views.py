"""The user's own views of tasks: filters under a name, kept in one file item, so that they have versions and undo."""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from panorama.calls import Answer
from panorama.domain.items.item import single_line
from panorama.domain.text.json_types import is_object, is_sequence
from panorama.errors import ConflictError, InvalidInputError
from panorama.web.page_calls import PageCalls
from panorama.web.texts import Texts

FILE_NAME = "task-views.json"
FILTERS = ("view", "project", "tag", "q")
MAX_VIEWS = 30
MAX_NAME_CHARS = 60
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class SavedView:
    """Filters of the list of tasks under a name."""

    name: str
    filters: Mapping[str, str]

    @property
    def address(self) -> str:
        """The address of the list with these filters."""
        return f"/tasks?{urlencode(self.filters)}"


def pick_filters(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the filters among fields of a form or a query, without empty ones."""
    return {name: text for name in FILTERS if (text := fields.get(name, "").strip())}


def list_saved_views(calls: PageCalls) -> list[SavedView]:
    """Return the views in the order in which they were saved; none if the file was changed to something else."""
    return _parse(_read_text(calls)) or []


def save_view(calls: PageCalls, name: str, filters: Mapping[str, str], texts: Texts) -> Answer:
    """Save filters under a name; a view of this name is replaced.

    Raises:
        InvalidInputError: The name is empty or too long, there is no filter, or there are too many views.
        ConflictError: The file contains something else.
    """
    view = SavedView(single_line(name, "name", limit=MAX_NAME_CHARS), filters)
    if not filters:
        raise InvalidInputError(texts("No filter is chosen."), hint=texts("Choose one first."))
    with _lock:
        views = _read_views(calls, texts)
        is_known = any(known.name == view.name for known in views)
        if len(views) >= MAX_VIEWS and not is_known:
            raise InvalidInputError(texts("There are {number} views already.", number=len(views)))
        views = [view if known.name == view.name else known for known in views]
        return _write(calls, views if is_known else [*views, view])


def remove_view(calls: PageCalls, name: str, texts: Texts) -> Answer:
    """Remove a view.

    Raises:
        ConflictError: The file contains something else.
    """
    with _lock:
        return _write(calls, [view for view in _read_views(calls, texts) if view.name != name])


def _read_views(calls: PageCalls, texts: Texts) -> list[SavedView]:
    views = _parse(_read_text(calls))
    if views is None:
        raise ConflictError(
            texts("The file {name} contains no saved views.", name=FILE_NAME), hint=texts("Rename or delete it.")
        )
    return views


def _read_text(calls: PageCalls) -> str:
    where = {"name": FILE_NAME, "project": None}
    rows = calls.get("query", collection="files", where=where, limit=1)
    return str(calls.get("files.get", file=rows[0]["id"]).get("text", "")) if rows else ""


def _parse(text: str) -> list[SavedView] | None:
    """Return the views of the file's text, None if it is something else."""
    if not text:
        return []
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError):
        return None
    rows: Any = stored.get("views") if is_object(stored) else None
    if not is_sequence(rows) or not all(is_object(row) and is_object(row.get("filters")) for row in rows):
        return None
    return [
        SavedView(
            str(row.get("name"))[:MAX_NAME_CHARS],
            pick_filters({key: str(value) for key, value in row["filters"].items()}),
        )
        for row in rows[:MAX_VIEWS]
    ]


def _write(calls: PageCalls, views: Sequence[SavedView]) -> Answer:
    text = json.dumps({"views": [asdict(view) for view in views]}, ensure_ascii=False, indent=1)
    return calls.call("files.write", name=FILE_NAME, text=text)
