"""Search, and what the palette finds."""

import re
from collections.abc import Mapping
from typing import Any

from panorama.web.page_calls import PageCalls
from panorama.web.texts import Texts
from panorama.web.view import Context, ViewRequest

PAGE_ROWS = 30
PALETTE_ROWS = 10
_FOUND_WORDS = re.compile(r"\*\*([^*]+)\*\*")
ADDRESSES = {
    "task": "/tasks/{}", "note": "/notes/{}", "project": "/projects/{}", "person": "/people/{}",
    "event": "/events/{}", "session": "/sessions/{}", "file": "/files/{}",
}  # fmt: skip
"""Where items of a kind are shown; others are shown by their history."""

KIND_NAMES = (
    ("task", "Tasks"), ("note", "Notes"), ("project", "Projects"), ("person", "People"), ("event", "Events"),
    ("session", "Meetings"), ("file", "Files"),
)  # fmt: skip
"""The kinds that results are narrowed to."""


def show_search(request: ViewRequest) -> Context:
    """Show what a query finds, and why."""
    text = request.query.get("q", "").strip()
    kind = request.query.get("kind", "")
    kinds = {"kinds": [kind]} if kind in ADDRESSES else {}
    more = {"cursor": request.query["cursor"]} if request.query.get("cursor") else {}
    answer = request.calls.call("search", query=text, limit=PAGE_ROWS, **kinds, **more) if text else None
    return {
        "text": text,
        "kind": kind,
        "kinds": KIND_NAMES,
        "hits": [_to_row(hit) for hit in answer.data] if answer else [],
        "index": answer.metadata.get("index", {}) if answer else {},
        "cursor": answer.metadata.get("next_cursor", "") if answer else "",
    }


def _to_row(hit: Mapping[str, Any]) -> dict[str, Any]:
    """Return a hit with its address, and its snippet in parts: every second one is a word that was searched for."""
    parts = _FOUND_WORDS.split(hit.get("snippet", "").removeprefix("# "))
    return {**hit, "address": address_of(hit["kind"], hit["id"]), "parts": parts}


def find_items(calls: PageCalls, text: str, texts: Texts) -> list[dict[str, Any]]:
    """Return the items that the palette offers for a text."""
    hits: list[Any] = calls.get("search", query=text, limit=PALETTE_ROWS) if text else []
    return [
        {"title": hit["title"], "href": address_of(hit["kind"], hit["id"]), "kind": texts(hit["kind"].capitalize())}
        for hit in hits
    ]


def address_of(kind: str, id_: str) -> str:
    """Return where an item is shown."""
    return ADDRESSES.get(kind, "/history?item={}").format(id_)
