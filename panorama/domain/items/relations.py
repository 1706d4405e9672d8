"""Relations between two items, and the names of their kinds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from panorama.domain.items.item import Item, Kind, single_line
from panorama.errors import InvalidInputError

KIND_CHARS = 60
MENTIONS = "mentions"
"""The kind of a link that does not say another one."""

_PAIRS = {
    MENTIONS: "mentioned_by",
    "blocked_by": "blocks",
    "part_of": "contains",
    "depends_on": "required_by",
    "implements": "implemented_by",
    "extends": "extended_by",
    "supports": "supported_by",
    "contradicts": "contradicted_by",
    "caused_by": "causes",
    "follows": "precedes",
}
_FIELD_PAIRS = {
    "assigned_to": "assigned",
    "waiting_for": "awaited_by",
    "attended_by": "attended",
    "member_of": "has_member",
    "managed_by": "manages",
}
_SYMMETRIC = ("relates_to", "similar_to")
INVERSES: Mapping[str, str] = {
    **_PAIRS,
    **{inverse: kind for kind, inverse in _PAIRS.items()},
    **_FIELD_PAIRS,
    **{inverse: kind for kind, inverse in _FIELD_PAIRS.items()},
    **{kind: kind for kind in _SYMMETRIC},
}
"""The name of a kind seen from the other side: of mentions, of nine common pairs, of those that fields give, and of two
that have no direction."""

FIELD_KINDS: Mapping[str, str] = dict(
    zip(("assignee", "waiting_for", "people", "team", "manager"), _FIELD_PAIRS, strict=True)
)
"""The kind of the edges from an item to those whose ids a field has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation(Item):
    """A directed relation of a kind from one item to another."""

    KIND: ClassVar[Kind] = "relation"
    BRIEF: ClassVar[tuple[str, ...]] = ("id", "from_item", "kind", "to_item", "note")
    LONG: ClassVar[tuple[str, ...]] = ("note",)

    from_item: str
    kind: str
    to_item: str
    note: str = ""

    @property
    def label(self) -> str:
        """The kind: a relation has no name."""
        return self.kind

    def search_text(self) -> tuple[str, str]:
        """No title; its note."""
        return "", self.note


def validate_kind(text: str) -> str:
    """Return a kind in normal form.

    Raises:
        InvalidInputError: It is empty, too long, or has no letter.
    """
    kind = normalize_kind(single_line(text, "kind", limit=KIND_CHARS), is_quoted=True)
    if not kind:
        raise InvalidInputError(f"kind is {text[:60]!r}.", hint="Use words, such as blocked_by or part_of.")
    return kind


def normalize_kind(text: str, *, is_quoted: bool = False) -> str:
    """Return a kind in lower case with `_` between words; "" if a text is none.

    Several words are a kind if they are quoted, or one of the kinds that have an inverse.
    """
    words = text.casefold().replace("-", " ").replace("_", " ").split()
    kind = "_".join(words)
    if len(words) > 1 and not is_quoted and "_" not in text and "-" not in text and kind not in INVERSES:
        return ""
    return kind if any(sign.isalpha() for sign in kind) else ""


def name_inverse(kind: str) -> str:
    """Return the inverse name of a relation kind, or the kind itself if it has none."""
    return INVERSES.get(kind, kind)
