"""Notes: the list, one note to read, and the editor."""

from functools import cache

from panorama.domain.items.item import kind_of
from panorama.web.attachments import list_attachments
from panorama.web.markdown import MAX_CHARS, FindItem, render_markdown
from panorama.web.page_calls import PageCalls
from panorama.web.view import Context, ViewRequest
from panorama.web.views.search import address_of

PAGE_ROWS = 60
MAX_NAMED = 8
"""The notes that name a note without a link to it."""


def show_notes(request: ViewRequest) -> Context:
    """Show the notes, pinned ones first, then the last changed."""
    chosen = {name: request.query[name] for name in ("project", "tag", "cursor") if request.query.get(name)}
    answer = request.calls.call("notes.list", limit=PAGE_ROWS, **chosen)
    return {
        "notes": answer.data,
        "count": answer.metadata.get("total"),
        "cursor": answer.metadata.get("next_cursor", ""),
        "chosen": chosen,
    }


def show_note(request: ViewRequest) -> Context:
    """Show one note, what mentions it, and how it may be changed."""
    answer = request.calls.get("items.get", item=request.path["id"])
    note, backlinks = answer["item"], answer["belonging"].get("backlinks", ())
    named = request.calls.get("search", query=f'"{note["title"]}"', kinds=["note"], mode="keyword", limit=MAX_NAMED)
    attachments = list_attachments(request.calls, note["id"])
    attached = {row["id"] for row in attachments}
    linked = {note["id"], *(row["id"] for row in backlinks)}
    return {
        "title": note["title"],
        "note": note,
        "html": render_markdown(_without_title(note["content"], note["title"]), make_finder(request.calls)),
        "is_cut": len(note["content"]) > MAX_CHARS,
        "attachments": attachments,
        "backlinks": [
            {**row, "address": address_of(row["kind"], row["id"])} for row in backlinks if row["id"] not in attached
        ],
        "named": [row for row in named if row["id"] not in linked],
        "more": answer["more"],
    }


def edit_note(request: ViewRequest) -> Context:
    """Show a note's text in a form, with the version that was read."""
    note = request.calls.get("items.get", item=request.path["id"])["item"]
    return {"title": note["title"], "note": note, "attachments": list_attachments(request.calls, note["id"])}


def create_note(request: ViewRequest) -> Context:
    """Show an empty form for a note."""
    return {"note": None, "project": request.query.get("project", ""), "suggested": request.query.get("title", "")}


def _without_title(text: str, title: str) -> str:
    """Return a text without a first heading that repeats its title, which the page shows above it."""
    first, _, rest = text.partition("\n")
    return rest if first.startswith("# ") and first[2:].strip() == title else text


def make_finder(calls: PageCalls) -> FindItem:
    """Return a function that finds the address of the item that a link in a text means, "" if there is none."""

    @cache
    def find(target: str) -> str:
        id_ = calls.resolve_link(target)
        return address_of(kind_of(id_) or "", id_) if id_ else ""

    return find
