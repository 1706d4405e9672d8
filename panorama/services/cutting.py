"""Cutting: the passages of items as they are now, and the texts of these that a model is to embed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from panorama.domain.changes import digest
from panorama.domain.chunks import chunks
from panorama.domain.items import Item
from panorama.index.points import in_batches
from panorama.store import passages
from panorama.store.engine import Session
from panorama.store.passages import Passage

ITEMS = 32
"""Items that are read at once; each may have 10 MB."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The passages of some items and the texts to embed by their digests, as they were after the change `seen`.

    `last` is the last of the changes that led to these items.
    """

    passages: dict[str, list[Passage]]
    texts: dict[str, str]
    last: int
    seen: int


def cut_of(session: Session, found: Sequence[tuple[int, str, str]], most: int) -> Cut:
    """Cut the items that some changes touched, in their order, up to those that reach so many texts."""
    cut, texts = dict[str, list[Passage]](), dict[str, str]()
    for kind, id_, item in _living(session, items_of(found)):
        cut[id_] = _passages(kind, item, texts) if item else []
        if len(texts) >= most:
            break
    last = 0
    for number, _, id_ in found:
        if id_ not in cut:
            break
        last = number
    return Cut(cut, texts, last, passages.newest(session))


def _living(session: Session, items: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, Item | None]]:
    """Give items as (kind, id, item), those in the trash without the item."""
    for some in in_batches(items, ITEMS):
        living = passages.living(session, some)
        yield from ((kind, id_, living.get(id_)) for kind, id_ in some)


def _passages(kind: str, item: Item, texts: dict[str, str]) -> list[Passage]:
    made: list[Passage] = []
    for each in chunks(*item.words()):
        name = digest(each.text)
        texts[name] = each.text
        made.append(Passage(item.id, kind, each.position, name, each.begin, each.end))
    return made


def items_of(found: Iterable[tuple[int, str, str]]) -> list[tuple[str, str]]:
    """Return the items that some changes touched as (kind, id), each once."""
    return list(dict.fromkeys((kind, id_) for _, kind, id_ in found))
