"""Notes: the list, one note to read, and the editor."""

from panorama.web.markdown import MAX_CHARS, FindItem, render_markdown
from panorama.web.page_calls import PageCalls
from panorama.web.view import Context, ViewRequest

PAGE_ROWS = 60
BACKLINKS = 8
MAX_TITLES = 2000


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
    note = request.calls.get("items.get", item=request.path["id"])["item"]
    mentions = request.calls.get("search", query=f'"{note["title"]}"', kinds=["note"], mode="keyword", limit=BACKLINKS)
    return {
        "title": note["title"],
        "note": note,
        "html": render_markdown(note["content"], make_finder(request.calls)),
        "is_cut": len(note["content"]) > MAX_CHARS,
        "backlinks": [row for row in mentions if row["id"] != note["id"]],
    }


def edit_note(request: ViewRequest) -> Context:
    """Show a note's text in a form, with the version that was read."""
    note = request.calls.get("items.get", item=request.path["id"])["item"]
    return {"title": note["title"], "note": note}


def create_note(request: ViewRequest) -> Context:
    """Show an empty form for a note."""
    return {"note": None, "project": request.query.get("project", ""), "suggested": request.query.get("title", "")}


def make_finder(calls: PageCalls) -> FindItem:
    """Return a function that finds the address of the note with a title; it reads the titles once it is asked."""
    titles: dict[str, str] = {}

    def find(title: str) -> str:
        if not titles:
            rows = calls.get("notes.list", limit=MAX_TITLES)
            titles.update({row["title"].casefold(): row["id"] for row in reversed(rows)})
        id_ = titles.get(title.casefold())
        return f"/notes/{id_}" if id_ else ""

    return find
