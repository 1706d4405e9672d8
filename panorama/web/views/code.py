"""Scripts and their review, and runs."""

import re
from collections.abc import Mapping
from typing import Any

from panorama.domain.time import times
from panorama.errors import InvalidInputError, NotFoundError
from panorama.web.diffs import DiffLine, compare_texts
from panorama.web.highlight import highlight_python
from panorama.web.view import Context, ViewRequest

PAGE_ROWS = 50
TARGETS = ("task", "note", "project", "item", "file", "link", "reminder")
"""The arguments that name the item a call changes."""

DATES = frozenset({"deadline", "scheduled_at", "start_at", "target_date", "starts_at", "ends_at"})
"""Arguments that may be a date in words."""

UNIMPORTANT = frozenset({"position", "separator", "after_marker", "skip_if_contains", "detail", "limit"})
SHOWN_CHARS = 80
_ID = re.compile(r"[a-z]_[0-9a-z]{10}")


def show_scripts(request: ViewRequest) -> Context:
    """Show the saved scripts, those that wait for a decision first."""
    rows = request.calls.get("scripts.list", limit=500)
    return {
        "waiting": [row for row in rows if row["state"] == "draft"],
        "others": [row for row in rows if row["state"] != "draft"],
    }


def show_script(request: ViewRequest) -> Context:
    """Show a script: its changes since its approval, the operations that it may call, and its last dry run."""
    script = request.calls.get("scripts.get", script=request.path["name"])
    approved = script.get("reviewed", "")
    diff = compare_texts(approved, script["text"])
    signs = [line.sign for line in diff if isinstance(line, DiffLine)]
    return {
        "title": script["name"],
        "script": script,
        "diff": diff,
        "added": signs.count("+"),
        "removed": signs.count("-"),
        "source": highlight_python(script["text"]),
        "known_writes": {name for name in script["writes"] if f"sdk.{name}(" in approved},
        "dry_run": [_describe_call(request, call) for call in script.get("dry_run", ())],
        "versions": request.calls.get("scripts.history", script=script["name"])["versions"],
    }


def show_runs(request: ViewRequest) -> Context:
    """Show the runs of scripts, the newest first."""
    more = {"cursor": request.query["cursor"]} if request.query.get("cursor") else {}
    answer = request.calls.call("runs.list", limit=PAGE_ROWS, **more)
    return {"runs": answer.data, "cursor": answer.metadata.get("next_cursor", "")}


def show_run(request: ViewRequest) -> Context:
    """Show a run: source, output, calls and changes, and how to undo it."""
    run = request.calls.get("runs.get", run=request.path["id"])
    return {
        "title": run["script"] or run["id"],
        "run": run,
        "source": highlight_python(run["source"]),
        "longest": max([0.001, *(call["ms"] for call in run["calls"])]),
    }


def _describe_call(request: ViewRequest, call: Mapping[str, Any]) -> tuple[str, str, list[tuple[str, str, str]]]:
    """Return the name of a call, the title of its item, and the changed fields: name, current value, new value."""
    arguments = dict(call["arguments"])
    target = next((str(arguments.pop(name)) for name in TARGETS if name in arguments), "")
    item: Mapping[str, Any] = _find_item(request, target) if _ID.fullmatch(target) else {}
    title = str(item.get("title") or item.get("full_name") or item.get("name") or target)
    changes = [
        (name, _show_value(item.get(name)), _show_value(_resolve_date(request, name, value)))
        for name, value in arguments.items()
        if value and name not in UNIMPORTANT
    ]
    return call["name"], title, changes


def _resolve_date(request: ViewRequest, name: str, value: Any) -> Any:
    """Return the date that a value such as +2d means today; other values as they are."""
    if name not in DATES or not isinstance(value, str):
        return value
    now, zone = request.calls.now, request.calls.app.context.zone
    try:
        return times.format_time(times.parse_deadline(value, name, now=now, zone=zone), zone)
    except InvalidInputError:
        return value


def _find_item(request: ViewRequest, id_: str) -> Mapping[str, Any]:
    """Return an item as it is now, {} if it is gone."""
    try:
        return request.calls.get("items.get", item=id_)["item"]
    except NotFoundError:
        return {}


def _show_value(value: Any) -> str:
    return "" if value is None else str(value)[:SHOWN_CHARS]
