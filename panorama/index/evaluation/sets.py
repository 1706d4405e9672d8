"""Evaluation sets: queries with known answers."""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from panorama.domain.items.item import normalize_name
from panorama.domain.text.chunks import split_chunks, strip_blobs

BUILT_IN_FILE = Path(__file__).with_name("notes.toml")
TITLE_KIND = "title"
"""The kind of query that is the title of a user's note."""

MAX_NOTES = 300
MIN_CHARS = 120
"""The least characters in the beginning of a usable note."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query, its kind, and the indexes of the relevant texts."""

    kind: str
    text: str
    wanted: frozenset[int]


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Texts and queries for them."""

    texts: tuple[str, ...]
    queries: tuple[Query, ...]


def load_built_in() -> EvaluationSet:
    """Return the built-in set: 60 notes with titles, 40 queries of four kinds."""
    data = tomllib.loads(BUILT_IN_FILE.read_text(encoding="utf-8"))
    places = {note["title"]: place for place, note in enumerate(data["notes"])}
    texts = tuple(f"{note['title']}\n{note['text']}" for note in data["notes"])
    queries = (Query(entry["kind"], entry["text"], frozenset({places[entry["wanted"]]})) for entry in data["queries"])
    return EvaluationSet(texts, tuple(queries))


def from_notes(notes: Iterable[tuple[str, str]]) -> EvaluationSet:
    """Return a set of the first 300 notes, as (title, body), that have a title and enough text.

    Each title is a query over the beginnings of the bodies; all notes with the title are relevant. A heading that
    repeats the title is removed, because it would match trivially.
    """
    usable = list(islice(_iter_usable(notes), MAX_NOTES))
    places: dict[str, set[int]] = {}
    for place, (title, _) in enumerate(usable):
        places.setdefault(normalize_name(title), set()).add(place)
    first = {key: min(positions) for key, positions in places.items()}
    queries = (Query(TITLE_KIND, usable[first[key]][0], frozenset(positions)) for key, positions in places.items())
    return EvaluationSet(tuple(text for _, text in usable), tuple(queries))


def _iter_usable(notes: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for title, body in notes:
        name, text = strip_blobs(title), _first_passage(title, body)
        if name and len(text) >= MIN_CHARS:
            yield name, text


def _first_passage(title: str, body: str) -> str:
    """Return the first passage of a body, about as long as models read."""
    head, _, rest = body.lstrip().partition("\n")
    chunks = split_chunks("", rest if normalize_name(head.lstrip("# ")) == normalize_name(title) else body)
    return chunks[0].text if chunks else ""
