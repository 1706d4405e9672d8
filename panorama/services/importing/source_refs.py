"""Source references: the names that items have in other systems."""

from typing import Any, Literal

from panorama.domain.items.item import Item, kind_of, validate_external_ref
from panorama.domain.items.references import ItemRef
from panorama.domain.paging import Result
from panorama.errors import ConflictError, InvalidInputError
from panorama.kinds import ITEM_KINDS
from panorama.services.base import Service
from panorama.services.items.any_item import field_conflict
from panorama.services.items.results import SourceMatch
from panorama.store.items import lookup, rows

KINDS = tuple(kind.name for kind in ITEM_KINDS if "source_ref" in kind.fields)
"""The kinds of items that can come from another system."""


class SourceRefs(Service):
    """Items that come from other systems."""

    def find(
        self, source_ref: str, kind: Literal["task", "note", "session"] | None = None, trash: bool = False
    ) -> SourceMatch:
        """Find an item by its name in another system, such as claap:rec_1.

        Args:
            kind: Only an item of this kind.
            trash: Also one in the trash, if no other is found.

        Raises:
            ConflictError: Items of several kinds have it.
        """
        name, kinds = validate_external_ref(source_ref), (kind,) if kind else KINDS
        with self._reading() as session:
            found = lookup.list_by_source(session, kinds, name)
            if not found and trash:
                found = lookup.list_by_source(session, kinds, name, trash=True)
            if len(found) > 1:
                both = ", ".join(f"{other} “{label}” ({id_})" for other, id_, label in found)
                raise ConflictError(f"Several items come from {name}: {both}.", hint="Give kind.")
            item: Item | None = rows.load(session, *found[0][:2], trash=trash) if found else None
        return SourceMatch(
            source_ref=name, kind=item.KIND if item else "", item=item.public_view() if item else None,
            in_trash=item is not None and item.deleted_at is not None,
        )  # fmt: skip

    def link(self, item: ItemRef, source_ref: str) -> Result[Any]:
        """Store the name of an item in another system, such as claap:rec_1; "" removes it.

        Raises:
            InvalidInputError: It is of another kind, or the name has no system before a colon.
            ConflictError: Another item of its kind has this name, or it is a task of a checkbox.
        """
        kind = kind_of(item) or ""
        if kind not in KINDS:
            raise InvalidInputError(
                "Only tasks, notes and sessions have a source_ref.", hint="Link one of these, or create a relation."
            )
        with self._writing() as session:
            old: Item = rows.load(session, kind, item)
            if not old.external_ref and getattr(old, "source_ref", None):
                raise ConflictError(
                    f"The {old.describe()} is a checkbox of a note.", hint="Delete the line from the note first."
                )
            name = validate_external_ref(source_ref) if source_ref.strip() else None
            new = old.with_changes(self._now(), source_ref=name)
            if problem := field_conflict(session, new, ("source_ref",)):
                raise ConflictError(problem, hint="Update that item, or remove its source_ref first.")
            rows.save(session, old, new)
        return Result(new.public_view(), wrote=new is not old)
