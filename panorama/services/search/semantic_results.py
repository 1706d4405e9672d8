"""Nearest: what search by meaning answers, and what it says if it did not run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticHit:
    """A passage that is near in meaning: the item it belongs to, its number in it, and the cosine, from -1 to 1."""

    item: str
    position: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticResult:
    """What was found by meaning, best first, several passages of one item apart.

    If it did not run, `missing` says why and `hint` what to do. `pending` counts the changes it has not heard of.
    """

    hits: tuple[SemanticHit, ...] = ()
    missing: str = ""
    hint: str = ""
    pending: int = 0
    model: str = ""

    @property
    def has_run(self) -> bool:
        """Whether meaning was asked at all."""
        return not self.missing
