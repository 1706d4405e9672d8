"""Chunk batches: the current passages of changed items, and the texts to embed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from panorama.domain.changes import digest
from panorama.domain.items.item import Item
from panorama.domain.text.chunks import split_chunks
from panorama.index.points import in_batches
from panorama.store.backend import Session
from panorama.store.items import passages
from panorama.store.items.passages import Passage

ITEMS_PER_READ = 32
"""Items read at once; each may have 10 MB."""


@dataclass(frozen=True, slots=True)
class ChunkBatch:
    """The passages of some items and the texts to embed by their digests, as they were after the change `seen`.

    `last` is the last of the processed changes.
    """

    passages: dict[str, list[Passage]]
    texts: dict[str, str]
    last: int
    seen: int


def chunk_changes(session: Session, changes: Sequence[tuple[int, str, str]], limit: int) -> ChunkBatch:
    """Split the changed items into passages, in order, until the number of texts reaches a limit."""
    cut, texts = dict[str, list[Passage]](), dict[str, str]()
    for kind, id_, item in _iter_items(session, collect_items(changes)):
        cut[id_] = _build_passages(kind, item, texts) if item else []
        if len(texts) >= limit:
            break
    last = 0
    for number, _, id_ in changes:
        if id_ not in cut:
            break
        last = number
    return ChunkBatch(cut, texts, last, passages.last_change_id(session))


def _iter_items(session: Session, items: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, Item | None]]:
    """Yield items as (kind, id, item), those in the trash without the item."""
    for batch in in_batches(items, ITEMS_PER_READ):
        living = passages.load_living(session, batch)
        yield from ((kind, id_, living.get(id_)) for kind, id_ in batch)


def _build_passages(kind: str, item: Item, texts: dict[str, str]) -> list[Passage]:
    passages_: list[Passage] = []
    for chunk in split_chunks(*item.search_text()):
        name = digest(chunk.text)
        texts[name] = chunk.text
        passages_.append(Passage(item.id, kind, chunk.position, name, chunk.begin, chunk.end))
    return passages_


def collect_items(changes: Iterable[tuple[int, str, str]]) -> list[tuple[str, str]]:
    """Return the changed items as (kind, id), each once."""
    return list(dict.fromkeys((kind, id_) for _, kind, id_ in changes))
