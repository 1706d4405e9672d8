"""The addresses of pages, and which of them a change of an item affects."""

import re
from collections.abc import Iterator

from panorama.domain.changes import ItemChange
from panorama.domain.items.item import FAVORITE_FIELDS, Kind, kind_of
from panorama.domain.jobs import JOB_ID_LETTER

SCHEME = "panorama://"
TODAY = f"{SCHEME}today"
REMINDERS = f"{SCHEME}reminders"
SCRIPTS = f"{SCHEME}scripts"
"""How scripts are written; it never changes."""

KINDS: tuple[Kind, ...] = ("note", "project", "task")
"""The kinds whose items have a page each."""

_JOB = re.compile(f"{JOB_ID_LETTER}_[0-9a-z]{{10}}")
_LISTED_FIELDS = frozenset({"name", "title", *FAVORITE_FIELDS.values()})


def page_uri(kind: str, id_: str) -> str:
    """Return the address of an item's page."""
    return f"{SCHEME}{kind}/{id_}"


def is_page(uri: str) -> bool:
    """Return whether this is the address of a page, whether it exists now or not: a deleted item can be restored."""
    kind, _, id_ = uri.removeprefix(SCHEME).partition("/")
    is_item = kind in KINDS and kind_of(id_) == kind
    is_job = kind == "job" and bool(_JOB.fullmatch(id_))
    return uri in (TODAY, REMINDERS) or (uri.startswith(SCHEME) and (is_item or is_job))


def affected_uris(touch: ItemChange) -> Iterator[str]:
    """Return the pages that show a changed item.

    A project's page lists its tasks and notes, also those that have left it just now; today's page lists tasks, and
    one page all reminders.
    """
    if touch.kind in KINDS:
        yield page_uri(touch.kind, touch.id)
    if touch.kind in ("task", "note"):
        yield from (page_uri("project", id_) for id_ in touch.projects)
    if touch.kind == "task":
        yield TODAY
    if touch.kind == "reminder":
        yield REMINDERS


def is_list_change(touch: ItemChange) -> bool:
    """Return whether a change shows in the list of pages, which holds pinned notes and favourite projects by name."""
    return touch.marked and (touch.action != "update" or not _LISTED_FIELDS.isdisjoint(touch.fields))
