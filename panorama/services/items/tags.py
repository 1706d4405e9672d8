"""Operations on tags."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from panorama.domain.items.item import Item, normalize_name, normalize_tags
from panorama.domain.paging import Page
from panorama.errors import InvalidInputError, NotFoundError
from panorama.services.base import LargeCall, Service
from panorama.services.items.results import TagChange
from panorama.services.jobs.portions import MAX_BATCH, apply_in_portions, is_large_unit
from panorama.store.backend import Session
from panorama.store.items import listing, rows, tags
from panorama.store.items.lookup import NamedItem


class Tags(Service):
    """Tags: words that items of several kinds share."""

    def list(self) -> Page[Mapping[str, Any]]:
        """List the tags in use, the most used first."""
        with self._reading() as session:
            counts = tags.count_tags(session)
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], normalize_name(pair[0])))
        return _whole_page([{"tag": tag, "items": count} for tag, count in ordered])

    def get(self, tag: str) -> Page[Mapping[str, Any]]:
        """List the items that have a tag."""
        with self._reading() as session:
            tagged = _require_tagged(session, _single_tag(tag))
        return _whole_page([{"id": id_, "kind": kind, "title": label} for kind, id_, label in tagged])

    def rename(self, tag: str, name: str) -> TagChange:
        """Rename a tag on every item that has it; an existing tag takes over the items.

        Raises:
            NotFoundError: No item has the tag.
        """
        new = _single_tag(name)
        return TagChange(tag=_single_tag(tag), renamed=new, items=self._replace(tag, (new,)))

    def delete(self, tag: str) -> TagChange:
        """Remove a tag from every item that has it; the items stay.

        Raises:
            NotFoundError: No item has the tag.
        """
        return TagChange(tag=_single_tag(tag), renamed="", items=self._replace(tag, ()))

    def _replace(self, tag: str, new: tuple[str, ...]) -> int:
        old = normalize_name(_single_tag(tag))

        def replace(session: Session, tagged: Sequence[NamedItem]) -> None:
            items = rows.load_all(session, [id_ for _, id_, _ in tagged]).values()
            living = [item for item in items if item.deleted_at is None]  # some were deleted in the meantime
            rows.save_all(session, [rows.ItemUpdate(item, change(item)) for item in living])

        def change(item: Item) -> Item:
            words = (
                new_tag for tag_ in _tags_of(item) for new_tag in (new if normalize_name(tag_) == old else (tag_,))
            )
            return item.with_changes(self._now(), tags=normalize_tags(words))

        with self._reading() as session:
            found = _require_tagged(session, _single_tag(tag))
            sizes = _measure(session, found)
            is_large = session.origin is None and is_large_unit(len(found), sum(sizes.values()))
        if is_large:
            apply_in_portions(self._writing, found, replace, f"the tag {tag}", lambda item: sizes.get(item[1], 0))
            return len(found)
        with self._writing() as session:
            found = _require_tagged(session, _single_tag(tag))
            for start in range(0, len(found), MAX_BATCH):
                replace(session, found[start : start + MAX_BATCH])
        return len(found)

    def split_change(self, tag: str, name: str = "") -> LargeCall | None:
        """Return the arguments of a tag change that is too large for one transaction; else None."""
        with self._reading() as session:
            found = _require_tagged(session, _single_tag(tag))
            if not is_large_unit(len(found), sum(_measure(session, found).values())):
                return None
        return LargeCall({"tag": tag} | ({"name": name} if name else {}), is_long=False)


def _measure(session: Session, tagged: Sequence[NamedItem]) -> dict[str, int]:
    return listing.measure_texts(session, [id_ for _, id_, _ in tagged])


def _tags_of(item: Item) -> tuple[str, ...]:
    return getattr(item, "tags", ())


def _single_tag(text: str) -> str:
    words = normalize_tags((text,), "tag")
    if not words:
        raise InvalidInputError("tag is empty.", hint="Give one word, such as spring.")
    return words[0]


def _require_tagged(session: Session, tag: str) -> list[NamedItem]:
    if tagged := tags.list_tagged(session, tag):
        return tagged
    near = get_close_matches(tag, tags.count_tags(session), cutoff=0.5)
    raise NotFoundError(
        f"No item has the tag “{tag}”.",
        hint="Give one of the candidates." if near else "`panorama tags` lists those in use.",
        candidates=[{"tag": name} for name in near],
    )


def _whole_page(tagged: list[dict[str, Any]]) -> Page[Mapping[str, Any]]:
    return Page(items=tuple(tagged), keys=((),) * len(tagged), total=len(tagged), more=False)
