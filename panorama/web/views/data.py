"""History, trash, jobs, and the first steps."""

from panorama.domain.items.item import kind_of
from panorama.errors import NotFoundError
from panorama.web.diffs import compare_texts
from panorama.web.view import Context, ViewRequest
from panorama.web.views.search import address_of

PAGE_ROWS = 60
LABEL_CHARS = 120


def show_history(request: ViewRequest) -> Context:
    """Show the last writes of everybody, or the changes of one item with their differences."""
    item = request.query.get("item", "")
    chosen = {name: request.query[name] for name in ("item", "cursor") if request.query.get(name)}
    answer = request.calls.call("history.list", limit=PAGE_ROWS, **chosen)
    rows = answer.data
    if item:
        rows = [{**row, "differences": _compare_fields(row["fields"])} for row in rows]
    return {
        "item": item,
        "label": _find_label(request, item) if item else "",
        "address": address_of(kind_of(item) or "", item) if item else "",
        "rows": rows,
        "cursor": answer.metadata.get("next_cursor", ""),
    }


def show_trash(request: ViewRequest) -> Context:
    """Show what was deleted, to put it back."""
    more = {"cursor": request.query["cursor"]} if request.query.get("cursor") else {}
    answer = request.calls.call("items.trash", limit=PAGE_ROWS, **more)
    return {
        "rows": answer.data,
        "count": answer.metadata.get("total"),
        "cursor": answer.metadata.get("next_cursor", ""),
        "trash_days": request.calls.app.settings.trash_days,
    }


def show_jobs(request: ViewRequest) -> Context:
    """Show what runs and ran in the background."""
    rows = request.calls.get("jobs.list", limit=PAGE_ROWS)
    return {"jobs": rows, "schedules": request.calls.get("schedules.list", limit=100)}


def show_welcome(request: ViewRequest) -> Context:
    """Show how to begin: a first task, a folder to import, a client to connect."""
    return {"is_empty": not any(request.calls.get("status")["counts"].values())}


def _find_label(request: ViewRequest, id_: str) -> str:
    """Return the title of an item, also of one in the trash."""
    try:
        item = request.calls.get("items.get", item=id_)["item"]
    except NotFoundError:
        item = request.calls.get("items.get_trashed", item=id_)["item"]
    return str(item.get("title") or item.get("name") or item.get("text", id_))[:LABEL_CHARS]


def _compare_fields(fields: Context) -> list[tuple[str, object, object, object]]:
    """Return each changed field with its old and new value, and the difference of texts of several lines."""
    rows: list[tuple[str, object, object, object]] = []
    for name, (old, new) in fields.items():
        is_text = isinstance(old, str) and isinstance(new, str) and "\n" in old + new
        rows.append((name, old, new, compare_texts(old, new) if is_text else None))
    return rows
