"""One file: its beginning if it is text, and the items it is linked to."""

from panorama.web.attachments import MAX_LINKED
from panorama.web.view import Context, ViewRequest
from panorama.web.views.search import address_of

SHOWN_CHARS = 35_000


def show_file(request: ViewRequest) -> Context:
    """Show one file, whose content is offered as a download."""
    file = request.calls.get("files.get", file=request.path["id"], chars=SHOWN_CHARS)
    linked = request.calls.get("graph.related", item=file["id"], limit=MAX_LINKED)["neighbours"]
    return {
        "title": file["name"],
        "file": file,
        "is_cut": len(file.get("text") or "") < (file.get("chars") or 0),
        "linked": [{**row, "address": address_of(row["kind"], row["id"])} for row in linked],
    }
