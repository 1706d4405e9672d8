"""Rewrites the links to an item that gets a new name."""

from collections.abc import Sequence
from typing import Any

from panorama.domain.items.item import Item, kind_of, normalize_name
from panorama.domain.items.notes import Note
from panorama.domain.markdown.wiki_links import can_be_target, rename_links
from panorama.domain.text.wording import pluralize
from panorama.services.base import LargeCall, Service, ServiceContext
from panorama.services.graph.task_lines import TaskLines
from panorama.services.jobs.portions import LARGE_UNIT, apply_in_portions, is_large_unit
from panorama.store.backend import Session
from panorama.store.graph import edges, task_lines
from panorama.store.items import listing, rows
from panorama.store.items.rows import ItemUpdate


class LinkRenames(Service):
    """Links that follow the title or name of what they link to."""

    def __init__(self, context: ServiceContext) -> None:
        super().__init__(context)
        self._lines = TaskLines(context)

    def split(self, item: str, name: str | None, arguments: dict[str, Any]) -> LargeCall | None:
        """Return a call that renames an item with links from too many others for one transaction; else None."""
        if name is None:
            return None
        with self._reading() as session:
            old: Item = rows.load(session, kind_of(item) or "", item)
            sources = _list_sources(session, old, name)
            session.prefetched |= {old.id: old, _sources_name(old): sources}
            chars = sum(listing.measure_texts(session, sources[:LARGE_UNIT]).values())
        return LargeCall(arguments, is_long=False) if is_large_unit(len(sources), chars) else None

    def rename_item(self, item: str, name: str) -> str:
        """Rewrite the links by the name of an item, as `rename` does."""
        with self._reading() as session:
            old: Item = rows.load(session, kind_of(item) or "", item)
            session.prefetched[old.id] = old
        return self.rename(old, name)

    def rename(self, old: Item, name: str) -> str:
        """Rewrite the links by an item's name before it gets a new one; return a remark, "" if there are none.

        They are rewritten in the open transaction, else in several, so that an interrupted rename can be repeated.
        """
        with self._reading() as session:
            sources = session.prefetched.pop(_sources_name(old), None)
            sources = _list_sources(session, old, name) if sources is None else sources
            target = _choose_target(session, old, name) if sources else ""
            sizes = listing.measure_texts(session, sources)
        former, links, items = frozenset({normalize_name(old.label)}), 0, 0

        def rewrite(session: Session, batch: Sequence[str]) -> None:
            nonlocal links, items
            counts = self.rewrite_links(session, batch, former, target)
            links, items = links + sum(counts.values()), items + len(counts)

        message = f"rewriting the links to “{old.label}”"
        apply_in_portions(self._writing, sources, rewrite, message, lambda id_: sizes.get(id_, 0))
        if not links:
            return ""
        return f"Changed {pluralize(links, 'link')} to it in {pluralize(items, 'item')} to [[{target}]]."

    def rewrite_links(
        self, session: Session, items: Sequence[str], former: frozenset[str], target: str
    ) -> dict[str, int]:
        """Rewrite the links to some names in the texts of living items; return how many in each that has one, by id.

        Args:
            former: Normalised names, or ids.
            target: The new name, or an id.
        """
        updates: list[ItemUpdate] = []
        counts: dict[str, int] = {}
        linked = task_lines.list_linked_notes(session, items)
        for item in rows.load_all(session, items).values():
            text, count = rename_links(item.linked_text(), former, target)
            if item.deleted_at is not None or not count:
                continue
            changed = item.with_changes(self._now(), **{item.LINKED: text})
            if isinstance(item, Note) and item.id in linked:
                self._lines.save_note(session, item, changed, keeps_lines=True)
            else:
                updates.append(ItemUpdate(item, changed))
            counts[item.id] = count
        rows.save_all(session, updates)
        return counts


def rename_own_links(item: Item, values: dict[str, Any], name: str | None) -> dict[str, Any]:
    """Return new field values in which the links of an item to itself have its new name."""
    if name is None or item.LINKED in values or not can_be_target(name):
        return values
    text, count = rename_links(item.linked_text(), frozenset({normalize_name(item.label)}), name)
    return {**values, item.LINKED: text} if count else values


def _sources_name(item: Item) -> str:
    """Return the name under which the items that link to one are kept from `split` to `rename`."""
    return f"links to {item.id}"


def _list_sources(session: Session, item: Item, name: str) -> list[str]:
    """Return the other items with links by the name of an item; none if the name stays."""
    former = normalize_name(item.label)
    if normalize_name(name) == former:
        return []
    return [source for source in edges.list_linking(session, item.id, former) if source != item.id]


def _choose_target(session: Session, item: Item, name: str) -> str:
    """Return what links to an item say from now on: its new name, or its id if a link by that name means another."""
    if not can_be_target(name) or set(edges.resolve_keys(session, [normalize_name(name)]).values()) - {item.id}:
        return item.id
    return name
