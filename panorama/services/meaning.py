"""Meaning: what search asks of the model and the index; it answers at once, or says why it cannot."""

from dataclasses import dataclass

from panorama.index.points import Filter


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A passage that is near in meaning: the item it belongs to, its number in it, and the cosine, from -1 to 1."""

    item: str
    position: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """What was found by meaning, best first, several passages of one item apart.

    If it did not run, `missing` says why and `hint` what to do. `pending` counts the changes it has not heard of.
    """

    hits: tuple[Near, ...] = ()
    missing: str = ""
    hint: str = ""
    pending: int = 0
    model: str = ""

    @property
    def ran(self) -> bool:
        """Whether meaning was asked at all."""
        return not self.missing


class Meaning:
    """Search by meaning, as far as it is there; nothing here raises, and nothing waits for a model."""

    def nearest(self, query: str, limit: int, wanted: Filter) -> Nearest:
        """Return the passages that are nearest to a query in meaning."""
        return Nearest(missing="Search by meaning is off.")

    def like(self, item: str, limit: int, wanted: Filter) -> Nearest:
        """Return the passages of other items that are nearest to those of one item; no model is needed."""
        return Nearest(missing="Search by meaning is off.")

    def close_to(self, title: str, body: str, wanted: Filter) -> Nearest:
        """Return what is nearest to a new item's beginning, if the model is in memory; else nothing, at once."""
        return Nearest(missing="Search by meaning is off.")
