"""Results of semantic search, and why there are none."""

from dataclasses import dataclass

from panorama.index.points import Hit
from panorama.services.search.semantic_index import IndexedModel, SemanticIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticHit:
    """A passage close in meaning: its item, its number in the item, and the cosine, from -1 to 1."""

    item: str
    position: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticResult:
    """The passages found by meaning, best first; an item may have several.

    If it did not run, `missing` says why and `hint` what to do. `pending` counts changes not in the index, and
    `last_change` is the last one in it.
    `successor` is the model that will replace `model`; if that failed, `hint` says why and what to do.
    """

    hits: tuple[SemanticHit, ...] = ()
    missing: str = ""
    hint: str = ""
    pending: int = 0
    last_change: int = 0
    model: str = ""
    successor: str = ""

    @property
    def has_run(self) -> bool:
        """Whether semantic search ran at all."""
        return not self.missing


def to_semantic_hit(hit: Hit) -> SemanticHit:
    """Return a hit of the vector index as a passage of its item."""
    return SemanticHit(item=hit.item, position=int(hit.chunk.rpartition(":")[2]), score=hit.score)


def explain_building(opened: SemanticIndex) -> SemanticResult:
    """Return why an index that did not fail cannot be searched yet."""
    state = opened.index.state()
    if state.status == "down":  # the follower still waits for it
        return SemanticResult(missing=state.note, hint="It is retried automatically; `status` shows its state.")
    pending = opened.chosen.indexing.measure_lag().unread
    return SemanticResult(
        missing="The semantic index is being built.",
        hint=f"Ask again later; {_format_pending(pending)}." if pending else "Ask again in a moment.",
        pending=pending,
    )


def explain_late(side: IndexedModel) -> SemanticResult:
    """Return why a search by meaning has no result yet: its model is loading, or a part is slow."""
    who = f"model {side.model.id}" if side.embedder.has_waiting_query else "semantic index"
    is_loading = side.embedder.has_waiting_query and side.resident.state.status == "loading"
    reason = "is being loaded" if is_loading else "did not answer in time"
    return SemanticResult(missing=f"The {who} {reason}.", hint="Ask again in a moment.")


def _format_pending(changes: int) -> str:
    return "1 change waits" if changes == 1 else f"{changes:,} changes wait"
