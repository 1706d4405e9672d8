"""The collections of `query` with their fields, as the reference of the SDK shows them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from panorama.sdk.reference import Entry
from panorama.store.items.query import list_collections

COLLECTIONS = "collections"
"""The group of the entries that describe the collections."""

_WORDS: Mapping[str, str] = {
    "changes": "audit log history who changed what when field before after",
    "calls": "call log which tools were called used errors failed slow tokens client",
}
"""Further search words of a collection, beside its name and its fields."""

_WORD = re.compile("[a-z_]+")


@cache
def collection_entries() -> Sequence[Entry]:
    """Return one entry for each collection: the call that queries it, and its fields."""
    return [_entry(name, fields) for name, fields in list_collections().items()]


def format_collections(entries: Iterable[Entry]) -> list[str]:
    """Return the collections' names in one line."""
    names = ", ".join(entry.name.split('"')[1] for entry in entries)
    return [f"sdk.query(NAME): {names}. Search for one to see its fields."]


def is_named_collection(entry: Entry, query: str) -> bool:
    """Return whether a query names a collection: alone, with words that describe it, or as a call of `query`."""
    if entry.group != COLLECTIONS:
        return False
    name, words = entry.name.split('"')[1], _WORD.findall(query.lower())
    return name in words and {*words} <= {name, "sdk", "query", "collection", *entry.words.split()}


def _entry(name: str, fields: Sequence[str]) -> Entry:
    usage = f'sdk.query("{name}")'
    line = f"Filter, count and sum {name} by their fields."
    stub = f"{usage}\n    Fields: {', '.join(fields)}"
    return Entry(
        name=usage, group=COLLECTIONS, line=line, brief=f"{usage}: {line}", stub=stub, full=stub,
        words=_WORDS.get(name, ""),
    )  # fmt: skip
