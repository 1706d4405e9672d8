"""Adds a model to the data directory and shows its properties."""

from dataclasses import asdict
from pathlib import Path

from panorama.cli.console import console
from panorama.domain.text.sizes import format_size
from panorama.index.embedders import registry
from panorama.index.embedders.added import manifest
from panorama.index.embedders.added.adding import add_folder
from panorama.index.embedders.added.manifest import AddedModel
from panorama.index.embedders.multilingual import trio_files
from panorama.index.embedders.multilingual.trio import Trio


def add_model(source: str, *, name: str, file: str, prompts: tuple[str | None, str | None], as_json: bool) -> None:
    """Add the model of a folder.

    Args:
        prompts: The texts before queries and before passages, None for those of the folder.

    Raises:
        InvalidInputError: The folder is not a model that is supported.
        ConflictError: Another model has this name.
        UnavailableError: The model does not work, or cannot be copied.
    """
    models = registry.models_folder()
    with console.progress("Copying") as bar:
        model = add_folder(
            models, Path(source), name=name, file=file, query_prompt=prompts[0], passage_prompt=prompts[1],
            copied=lambda done, total: bar(done, total, ""),
        )  # fmt: skip
    summary = f"Added {model.id}: {_describe(model, models)}. Select it: panorama models use {model.id}"
    if as_json:
        row = {**asdict(model), "id": model.id, "digest": model.digest}
        console.print_json({"data": row, "summary": summary, "metadata": {"source": "models", "policy": "write"}})
        return
    console.print_message(summary)


def add_trio_model(weights: str, *, as_json: bool) -> None:
    """Make the files of `trio`.

    Args:
        weights: The path of the weights, "" for those of the installed package.

    Raises:
        InvalidInputError: There are no weights, or others than those known.
        UnavailableError: The package onnx is missing, or the files cannot be written.
    """
    with console.progress("Adding trio") as bar:
        size = trio_files.add_trio(
            registry.models_folder(), Path(weights).expanduser() if weights else None, lambda step: bar(0, 0, step)
        )
    summary = f"Added trio: {Trio.size} dimensions, {format_size(size)}. Select it: panorama models use trio"
    if as_json:
        row = {"id": Trio.id, "digest": Trio.digest, "size": Trio.size, "size_bytes": size}
        console.print_json({"data": row, "summary": summary, "metadata": {"source": "models", "policy": "write"}})
        return
    console.print_message(summary)


def _describe(model: AddedModel, models: Path) -> str:
    prompts = f", prompts {model.query_prompt!r} and {model.passage_prompt!r}"
    return (
        f"{model.size} dimensions, {model.pooling} pooling, {format_size(manifest.count_bytes(models, model.name))}"
        f"{prompts if model.query_prompt or model.passage_prompt else ''}"
    )
