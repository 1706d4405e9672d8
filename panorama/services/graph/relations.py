"""Operations on relations."""

from dataclasses import replace
from typing import Any

from panorama.domain.items.item import kind_of, validate_text
from panorama.domain.items.references import ItemRef
from panorama.domain.items.relations import Relation, validate_kind
from panorama.domain.paging import Page, PageRequest, Result
from panorama.errors import InvalidInputError
from panorama.services.base import Service
from panorama.services.graph.results import RelationView
from panorama.store.graph import relations
from panorama.store.items import lookup, rows


class Relations(Service):
    """Relations: what connects two items."""

    def list(self, page: PageRequest, item: ItemRef | None = None, kind: str = "") -> Page[RelationView]:
        """List the relations that were created, the newest first.

        Links in texts are relations too: related shows both.

        Args:
            item: Only those from or to it.
        """
        valid_kind = validate_kind(kind) if kind.strip() else ""
        with self._reading() as session:
            found: Page[Any] = relations.list_relations(session, page, item=item or "", kind=valid_kind)
            ends = {end for relation in found.items for end in (relation.from_item, relation.to_item)}
            labels = lookup.get_labels(session, [(kind_of(end) or "", end) for end in ends])
        return replace(found, items=tuple(_to_view(relation, labels) for relation in found.items))

    def create(self, from_item: ItemRef, kind: str, to_item: ItemRef, note: str = "") -> Result[Relation]:
        """Relate two items: from_item kind to_item.

        Such as task blocked_by task, note supports note. It reads in both directions: blocked_by / blocks, part_of /
        contains, depends_on / required_by, implements, extends, supports, contradicts, caused_by / causes, follows /
        precedes; any other word works too.

        Args:
            note: Why.
        """
        if from_item == to_item:
            raise InvalidInputError("An item cannot be related to itself.", hint="Give two different items.")
        for end in (from_item, to_item):
            if kind_of(end) == "relation":
                raise InvalidInputError(f"{end} is a relation itself.", hint="Give the items it connects.")
        now = self._now()
        with self._writing() as session:
            relation = Relation(
                **self._new_item_fields("relation", now), from_item=from_item, kind=validate_kind(kind),
                to_item=to_item, note=validate_text(note, "note"),
            )  # fmt: skip
            if known := relations.find_same(session, relation):
                return Result(rows.load(session, "relation", known), hint="This relation already exists.", wrote=False)
            rows.add(session, relation)
            return Result(relation)


def _to_view(relation: Relation, labels: dict[str, lookup.NamedItem]) -> RelationView:
    return RelationView(
        id=relation.id, version=relation.version, created_at=relation.created_at, updated_at=relation.updated_at,
        from_item=relation.from_item, from_title=labels[relation.from_item][2], kind=relation.kind,
        to_item=relation.to_item, to_title=labels[relation.to_item][2], note=relation.note,
    )  # fmt: skip
