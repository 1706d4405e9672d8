"""Sets: texts and queries of which the right answers are known, built in or made of a person's own notes; no model."""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from panorama.domain.chunks import chunks, legible
from panorama.domain.items import folded

BUILT_IN = Path(__file__).with_name("notes.toml")
TITLE = "title"
"""The kind of a query that is the title of a person's note."""

MOST_NOTES = 300
ENOUGH = 120
"""Characters that the beginning of a note must have, so that there is something to find it by."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for, of which kind, and the numbers of the texts that are right."""

    kind: str
    text: str
    wanted: frozenset[int]


@dataclass(frozen=True, slots=True)
class Check:
    """Texts to be embedded, and queries for them."""

    texts: tuple[str, ...]
    queries: tuple[Query, ...]


def built_in() -> Check:
    """Return the set that ships: 60 notes with their titles, 40 queries of four kinds."""
    told = tomllib.loads(BUILT_IN.read_text(encoding="utf-8"))
    places = {note["title"]: place for place, note in enumerate(told["notes"])}
    texts = tuple(f"{note['title']}\n{note['text']}" for note in told["notes"])
    queries = (Query(each["kind"], each["text"], frozenset({places[each["wanted"]]})) for each in told["queries"])
    return Check(texts, tuple(queries))


def of_notes(notes: Iterable[tuple[str, str]]) -> Check:
    """Return a set of the first 300 notes, as (title, body), that have a title and enough text.

    Each title is searched for once, among the beginnings of the bodies; notes of one title are all right. A heading
    that repeats the title is left out, or it would be found by itself.
    """
    taken = list(islice(_usable(notes), MOST_NOTES))
    places: dict[str, set[int]] = {}
    for place, (title, _) in enumerate(taken):
        places.setdefault(folded(title), set()).add(place)
    first = {key: min(found) for key, found in places.items()}
    queries = (Query(TITLE, taken[first[key]][0], frozenset(found)) for key, found in places.items())
    return Check(tuple(text for _, text in taken), tuple(queries))


def _usable(notes: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for title, body in notes:
        name, text = legible(title), _beginning(title, body)
        if name and len(text) >= ENOUGH:
            yield name, text


def _beginning(title: str, body: str) -> str:
    """Return the first passage of a body, about as much as models read at once."""
    head, _, rest = body.lstrip().partition("\n")
    found = chunks("", rest if folded(head.lstrip("# ")) == folded(title) else body)
    return found[0].text if found else ""
