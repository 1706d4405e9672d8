"""Lists the embedding models, and deletes the vectors and files of unused ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from panorama.domain.text.visible_text import escape_name
from panorama.errors import ConflictError, NotFoundError
from panorama.index.embedders import registry
from panorama.index.embedders.added import manifest
from panorama.index.embedders.added.manifest import AddedModel
from panorama.index.embedders.minilm import MiniLM
from panorama.index.embedders.multilingual import trio_files
from panorama.index.embedders.multilingual.duo import Duo
from panorama.index.embedders.multilingual.trio import Trio
from panorama.index.embedders.static import StaticEmbedder
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.jobs.progress import report_progress
from panorama.store.items import models, passages
from panorama.store.items.models import ModelUsage
from panorama.store.log import marks

OFF = "none"
BATCH_SIZE = 250
"""Vectors deleted in one transaction: their pages are scattered, and others wait 50 ms at most."""

_DESCRIPTIONS = {
    "duo": "Ships with Panorama; finds best, in sixteen languages and across them.",
    "minilm": "Ships with Panorama; knows English only, and embeds faster.",
    "static": "Ships with Panorama; small and very fast, but finds less.",
    registry.TRIO: "Finds a little more than duo, and embeds at a third of its speed.",
    OFF: "Turns search by meaning off; keyword search still works.",
    "local:<name>": "A model of your own: `panorama models add DIR` adds it.",
    "ollama:<model>": "An embedding model that Ollama serves.",
    "openai:<address>#<model>": "An embedding model of a service that speaks OpenAI's API.",
}
BYTES_PER_NUMBER = 2
"""Bytes per stored vector component."""

_DIMENSIONS = {"duo": Duo.size, "minilm": MiniLM.size, "static": StaticEmbedder.size, registry.TRIO: Trio.size}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """A model that can be selected, or has stored vectors; `size` counts dimensions.

    A service may have had several models under one name: `vectors` and `size_bytes` cover all of them, `size` and
    `passages` only the present one. `is_there` says whether it can run here, as far as known without asking a service.
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
class ModelList:
    """All models; `passages` counts the passages to embed, `searched` is the model in use for searches."""

    used: str
    is_default: bool
    searched: str | None
    hint: str
    passages: int
    models: tuple[ModelInfo, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveModelResult:
    """The number and bytes of the deleted vectors of a model."""

    model: str
    vectors: int
    size_bytes: int


class Models(Service):
    """The models; `chosen` is the name in the settings, "" for the default, `home` the data directory."""

    def __init__(self, context: ServiceContext, chosen: str, home: Path) -> None:
        super().__init__(context)
        self._chosen, self._folder = chosen, registry.models_folder(home)

    def list(self) -> ModelList:
        """List the models of search by meaning: those available, and those with vectors here."""
        default = registry.default_choice()
        used = self._chosen or default.name
        with self._reading() as session:
            usage, count, served = (
                models.list_usage(session),
                models.count_passages(session),
                marks.find_served_model(session),
            )
        others = (model.id for model in usage if not model.is_of(used))
        added = {model.id: model for model in manifest.iter_added(self._folder)}
        names = dict.fromkeys((*registry.BUNDLED, registry.TRIO, *added, OFF, used, *others, *_DESCRIPTIONS))
        return ModelList(
            used=used,
            is_default=not self._chosen,
            searched=served[0] if served and used != OFF else None,
            hint=default.hint if not self._chosen else "",
            passages=count,
            models=tuple(
                _model_info(
                    name, name == used, _sort_states(usage, name, served), added.get(name), self._find_missing(name)
                )
                for name in names
            ),
        )

    def _find_missing(self, name: str) -> str:
        """Return why a model cannot run here, "" if nothing is known."""
        if name == registry.TRIO and not trio_files.is_added(self._folder):
            return f"{_DESCRIPTIONS[name]} `panorama models add trio` adds it."
        return registry.default_choice().hint if name in registry.NEEDS_ONNX_RUNTIME else ""

    def remove(self, model: str) -> RemoveModelResult:
        """Delete the vectors of a model, to free space in the database.

        If the model is chosen again, it creates them again. The files of an added model are deleted, too.

        Args:
            model: Its name in `models.list`.

        Raises:
            NotFoundError: No vector of this model is kept, and it was not added.
            ConflictError: It is in use.
        """
        states = self._get_removable(model)
        total, done = sum(state.vectors for state in states), 0
        for state in states:
            with self._writing() as session:
                marks.clear_readers(session, state.name)
            after = ""
            while batch := self._read_batch(state.name, after):
                with self._writing() as session:
                    done += models.delete_vectors(session, state.name, batch)
                after = batch[-1]
                report_progress(done, total, model)
        files = manifest.remove(self._folder, model) if _is_added(model) else 0
        return RemoveModelResult(
            model=model, vectors=done, size_bytes=files + sum(state.size_bytes for state in states)
        )

    def plan_remove(self, model: str) -> Plan:
        """Ask before a model's vectors are forgotten."""
        found = self._get_removable(model)
        count, size = sum(model.vectors for model in found), sum(model.size_bytes for model in found)
        vectors = f"{_format_vectors(count)} ({format_megabytes(size)}) of {escape_name(model)}"
        if _is_added(model) and (files := manifest.count_bytes(self._folder, model)):
            again = "It can be added again with `panorama models add`."
            return Plan(f"Delete {vectors}, and its files ({format_megabytes(files)})? {again}")
        return Plan(f"Delete {vectors}? If this model is chosen again, it creates them again.")

    def summarize_list(self, models_: ModelList) -> str:
        """Summarize which model is in use."""
        if models_.used == OFF:
            return "Search by meaning is off"
        changing = f", {models_.searched} is searched until it is ready" if _is_changing(models_) else ""
        return f"{models_.used} is in use{' by default' if models_.is_default else ''}{changing}"

    def summarize_removal(self, done: RemoveModelResult) -> str:
        """Summarize the deletion."""
        where = "are free" if _is_added(done.model) else "of the database can be reused"
        freed = f"{format_megabytes(done.size_bytes)} {where}"
        return f"Deleted {_format_vectors(done.vectors)} of {done.model}; {freed}"

    def _read_batch(self, name: str, after: str) -> Sequence[str]:
        with self._reading() as session:
            return models.list_digests(session, name, after, BATCH_SIZE)

    def _get_removable(self, model: str) -> Sequence[ModelUsage]:
        used = self._chosen or registry.default_choice().name
        if model == used:
            raise ConflictError(f"{model} is in use.", hint="Choose another first: `panorama models use NAME`.")
        with self._reading() as session:
            usage, served = models.list_usage(session), marks.find_served_model(session)
        states = [state for state in usage if state.is_of(model)]
        if not states and not (_is_added(model) and manifest.count_bytes(self._folder, model)):
            raise _unknown_model_error(model, {state.id for state in usage})
        if served and used != OFF and any(state.is_of(served[0]) and not state.is_of(used) for state in states):
            raise ConflictError(
                f"{model} is searched until {used} has embedded everything.",
                hint="Try again later; `panorama models list` shows its progress.",
            )
        return states


def _is_added(model: str) -> bool:
    """Return whether a model has files in the data directory."""
    return model == registry.TRIO or model.startswith(manifest.PREFIX)


def _unknown_model_error(model: str, names: set[str]) -> NotFoundError:
    near = get_close_matches(model, sorted(names), n=3, cutoff=0.4)
    return NotFoundError(
        f"There are no vectors of {model!r}.",
        hint="`panorama models list` shows the models with vectors.",
        candidates=[{"id": name} for name in near],
    )


def _sort_states(usage: Sequence[ModelUsage], name: str, served: tuple[str, str, int] | None) -> list[ModelUsage]:
    """Return the versions of a model, the present one first: the served one, else the most complete."""
    present = passages.model_name(*served[:2]) if served else ""
    states = [state for state in usage if state.is_of(name)]
    return sorted(states, key=lambda state: (state.name == present, state.read, state.passages), reverse=True)


def _model_info(
    name: str, is_used: bool, usage: Sequence[ModelUsage], added: AddedModel | None, missing: str
) -> ModelInfo:
    """Describe a model by its versions, the present one first."""
    vectors, size_bytes = sum(state.vectors for state in usage), sum(state.size_bytes for state in usage)
    if not added and _is_added(name) and name not in _DESCRIPTIONS:
        missing = "Its files are missing or damaged: add it again, or choose another."
    about = f"Added from {escape_name(added.source)}." if added else _DESCRIPTIONS.get(name, "")
    dimensions = added.size if added else _DIMENSIONS.get(name)
    return ModelInfo(
        name=name,
        is_used=is_used,
        is_there=not missing,
        about=missing or about,
        size=dimensions or (usage[0].size_bytes // usage[0].vectors // BYTES_PER_NUMBER if usage else None),
        passages=usage[0].passages if usage else 0,
        vectors=vectors,
        size_bytes=size_bytes,
    )


def _is_changing(models_: ModelList) -> bool:
    return models_.searched not in (None, models_.used)


def _format_vectors(count: int) -> str:
    return f"{count:,} vector{'' if count == 1 else 's'}"


def format_megabytes(size_bytes: int) -> str:
    """Format a size in MB."""
    return f"{size_bytes / 1e6:,.1f} MB"
