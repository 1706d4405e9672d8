"""Results of semantic search."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticHit:
    """A passage close in meaning: its item, its number in the item, and the cosine, from -1 to 1."""

    item: str
    position: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticResult:
    """The passages found by meaning, best first; an item may have several.

    If it did not run, `missing` says why and `hint` what to do. `pending` counts changes not in the index.
    `successor` is the model that will replace `model`.
    """

    hits: tuple[SemanticHit, ...] = ()
    missing: str = ""
    hint: str = ""
    pending: int = 0
    model: str = ""
    successor: str = ""

    @property
    def has_run(self) -> bool:
        """Whether semantic search ran at all."""
        return not self.missing
