"""Models of search by meaning: which can be chosen, what is kept of each, and forgetting what one made."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from panorama.errors import ConflictError, NotFoundError
from panorama.index.embedders import choosing
from panorama.index.embedders.minilm import MiniLM
from panorama.index.embedders.static import Static
from panorama.services.base import Desk, Service
from panorama.services.progress import told_to_the_door
from panorama.store import models, passages
from panorama.store.models import Kept

OFF = "none"
BATCH = 250
"""Vectors that are forgotten in one transaction: their pages lie all over the file, and nobody waits over 50 ms."""

_ABOUT = {
    "minilm": "Ships with Panorama; finds best of the two.",
    "static": "Ships with Panorama; small and very fast, but finds less.",
    OFF: "Turns search by meaning off; words are still found.",
    "ollama:<model>": "An embedding model that Ollama serves.",
    "openai:<address>#<model>": "An embedding model of a service that speaks OpenAI's API.",
}
HALF = 2
"""Bytes of a number of a vector that is kept."""

_SIZES = {"minilm": MiniLM.size, "static": Static.size}


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model that can be chosen, or of which vectors are kept; `size` counts dimensions.

    A service may have had several under one name: `vectors` and `size_bytes` count what is kept of all of them, `size`
    and `passages` tell of the present one.
    `is_there` tells whether it can run here, as far as that is known without asking a service.
    """

    name: str
    is_used: bool
    is_there: bool
    about: str
    size: int | None
    passages: int
    vectors: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModels:
    """All models; `passages` counts those that a model has to embed, `searched` is whose vectors are searched now."""

    used: str
    is_default: bool
    searched: str | None
    hint: str
    passages: int
    models: tuple[Model, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """How many vectors of a model were forgotten, and the bytes that they took."""

    model: str
    vectors: int
    size_bytes: int


class Models(Service):
    """The models; `chosen` is the name that the settings say, "" for the default."""

    def __init__(self, desk: Desk, chosen: str) -> None:
        super().__init__(desk)
        self._chosen = chosen

    def list(self) -> KnownModels:
        """List the models of search by meaning: those that can be chosen, and those that made vectors here."""
        default = choosing.default()
        used = self._chosen or default.name
        with self._reading() as session:
            kept, count, served = models.kept(session), models.passage_count(session), passages.served(session)
        others = (each.id for each in kept if not each.is_of(used))
        names = dict.fromkeys((*choosing.SHIPPED, OFF, used, *others, *_ABOUT))
        return KnownModels(
            used=used,
            is_default=not self._chosen,
            searched=served[0] if served and used != OFF else None,
            hint=default.hint if not self._chosen else "",
            passages=count,
            models=tuple(_model(name, name == used, _ordered(kept, name, served)) for name in names),
        )

    def remove(self, model: str) -> Forgotten:
        """Forget the vectors that a model made, to free their room in the database.

        They are no one's own: if the model is chosen again, it makes them anew.

        Args:
            model: Its name, as `models.list` has it.

        Raises:
            NotFoundError: No vector of this model is kept.
            ConflictError: It is in use.
        """
        found = self._removable(model)
        total, done = sum(each.vectors for each in found), 0
        for each in found:
            with self._writing() as session:
                models.forget_marks(session, each.name)
            after = ""
            while some := self._next(each.name, after):
                with self._writing() as session:
                    done += models.forget(session, each.name, some)
                after = some[-1]
                told_to_the_door(done, total, model)
        return Forgotten(model=model, vectors=done, size_bytes=sum(each.size_bytes for each in found))

    def remove_question(self, model: str) -> str:
        """Return what to ask before a model's vectors are forgotten."""
        found = self._removable(model)
        count, size = sum(each.vectors for each in found), sum(each.size_bytes for each in found)
        return f"Forget {_vectors(count)} of {model} ({megabytes(size)})? If it is chosen again, it makes them anew."

    def listed(self, found: KnownModels) -> str:
        """Return which model is in use, in one line."""
        if found.used == OFF:
            return "Search by meaning is off"
        changing = f", {found.searched} is searched until it is done" if _is_changing(found) else ""
        return f"{found.used} is in use{' by default' if found.is_default else ''}{changing}"

    def removed(self, done: Forgotten) -> str:
        """Return what was forgotten, in one line."""
        freed = f"{megabytes(done.size_bytes)} of the database are free for what comes next"
        return f"Forgot {_vectors(done.vectors)} of {done.model}; {freed}"

    def _next(self, name: str, after: str) -> Sequence[str]:
        with self._reading() as session:
            return models.digests(session, name, after, BATCH)

    def _removable(self, model: str) -> Sequence[Kept]:
        used = self._chosen or choosing.default().name
        if model == used:
            raise ConflictError(f"{model} is in use.", hint="Choose another first: `panorama models use NAME`.")
        with self._reading() as session:
            kept, served = models.kept(session), passages.served(session)
        found = [each for each in kept if each.is_of(model)]
        if not found:
            raise _unknown(model, {each.id for each in kept})
        if served and used != OFF and any(each.is_of(served[0]) and not each.is_of(used) for each in found):
            raise ConflictError(
                f"{model} is searched until {used} has embedded everything.",
                hint="Try again later; `panorama models list` shows how far it is.",
            )
        return found


def _unknown(model: str, names: set[str]) -> NotFoundError:
    near = get_close_matches(model, sorted(names), n=3, cutoff=0.4)
    return NotFoundError(
        f"No vectors of {model!r} are kept.",
        hint="`panorama models list` shows of which models there are some.",
        candidates=[{"id": name} for name in near],
    )


def _ordered(kept: Sequence[Kept], name: str, served: tuple[str, str, int] | None) -> list[Kept]:
    """Return what is kept of a model, its present state first: whose vectors are searched, else what has read most."""
    present = passages.model_name(*served[:2]) if served else ""
    found = [each for each in kept if each.is_of(name)]
    return sorted(found, key=lambda each: (each.name == present, each.read, each.passages), reverse=True)


def _model(name: str, is_used: bool, kept: Sequence[Kept]) -> Model:
    """Return what is told of a model, by what is kept of its states, the present one first."""
    vectors, size_bytes = sum(each.vectors for each in kept), sum(each.size_bytes for each in kept)
    missing = choosing.default().hint if name == "minilm" else ""
    return Model(
        name=name,
        is_used=is_used,
        is_there=not missing,
        about=missing or _ABOUT.get(name, ""),
        size=_SIZES.get(name) or (kept[0].size_bytes // kept[0].vectors // HALF if kept else None),
        passages=kept[0].passages if kept else 0,
        vectors=vectors,
        size_bytes=size_bytes,
    )


def _is_changing(found: KnownModels) -> bool:
    return found.searched not in (None, found.used)


def _vectors(count: int) -> str:
    return f"{count:,} vector{'' if count == 1 else 's'}"


def megabytes(size_bytes: int) -> str:
    """Return a size as a person reads it."""
    return f"{size_bytes / 1e6:,.1f} MB"
