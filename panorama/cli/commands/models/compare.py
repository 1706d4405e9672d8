"""Measures and compares models on built-in notes or the user's own."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from typing import Any

from panorama.cli.client import Client
from panorama.cli.console import console
from panorama.cli.console.tables import Column, TextTable, safe_line
from panorama.errors import ConfirmationError, DeclinedError, InvalidInputError, PanoramaError
from panorama.index.embedders import registry
from panorama.index.embedders.apis import ollama_base
from panorama.index.embedders.http import Limits
from panorama.index.embedders.registry import Embedder, runs_in_process
from panorama.index.evaluation import sets
from panorama.index.evaluation.sets import EvaluationSet
from panorama.index.evaluation.trial import Evaluation, evaluate

OFF = "none"
LIMITS = Limits(documents=120.0, query=20.0, pause=20.0, repeats_queries=True)
"""The time limits of a service: 20 seconds for the first query, longer for a batch."""

PAGE_ROWS = 100
MAX_NOTES_READ = 2_000
"""The maximum number of notes examined for ones with a title and enough text."""

FEW_NOTES = 30
"""With fewer notes the result is mostly chance."""


def compare_models(names: Sequence[str], *, own: bool, yes: bool, as_json: bool) -> None:
    """Measure models (by default the one in use), and show the results.

    Raises:
        InvalidInputError: A model does not exist.
        UnavailableError: A model cannot be loaded, or its service gives an invalid answer.
        PanoramaError: The user did not agree, or there are no suitable notes.
    """
    chosen = list(dict.fromkeys(name.strip() for name in names or [_get_current_model()]))
    with ExitStack() as stack:
        models = [stack.enter_context(closing(registry.create_embedder(name, limits=LIMITS))) for name in chosen]
        check = _build_own_check(chosen, yes=yes) if own else sets.load_built_in()
        for model in models:  # so that no measurement is wasted
            _load(model)
        trials = [_evaluate(model, check) for model in models]
    _print_trials(trials, own, as_json)


def _get_current_model() -> str:
    """Return the model in use.

    Raises:
        InvalidInputError: Search by meaning is off.
    """
    from panorama.config import read_settings  # 300 ms

    used = read_settings().embedder or registry.default_choice().name
    if used == OFF:
        raise InvalidInputError("Search by meaning is off.", hint="Name a model: `panorama models test duo`.")
    return used


def _load(model: Embedder) -> None:
    with console.progress(f"Trying {model.id}"):
        model.embed_query("tea")  # with a short limit: `load` may wait for a service as long as for a batch


def _evaluate(model: Embedder, check: EvaluationSet) -> Evaluation:
    with console.progress(f"Testing {model.id}") as bar:
        return evaluate(model, check, lambda done, total: bar(done, total, ""))


def _build_own_check(names: Iterable[str], *, yes: bool) -> EvaluationSet:
    """Return a set of the user's notes, after they agree to send them to services.

    Raises:
        ConfirmationError: There is no terminal to ask at.
        DeclinedError: The user did not agree.
        PanoramaError: There are no suitable notes.
    """
    if services := [name for name in names if not runs_in_process(name)]:
        _ask_to_send(services, yes=yes)
    with Client() as panorama, console.progress("Reading notes"):
        check = sets.from_notes(_iter_notes(panorama))
    if not check.queries:
        raise PanoramaError(
            f"No note has a title and {sets.MIN_CHARS} characters of text.",
            hint="Leave out --own for the built-in notes.",
        )
    return check


def _ask_to_send(names: Sequence[str], *, yes: bool) -> None:
    places = " and ".join(dict.fromkeys(_service_url(name) for name in names))
    words = f"The titles and beginnings of up to {sets.MAX_NOTES} of your notes go to {places}"
    if yes:
        console.print_message(f"{words}.", "yellow")
        return
    if not console.is_interactive():
        raise ConfirmationError(f"{words}.", hint="Add --yes to agree to it.")
    if not console.confirm(f"{words}. Send them?"):
        raise DeclinedError("Nothing was sent.")


def _service_url(name: str) -> str:
    kind, _, rest = name.partition(":")
    return ollama_base() if kind == "ollama" else rest.partition("#")[0]


def _iter_notes(panorama: Client) -> Iterator[tuple[str, str]]:
    """Yield the last changed notes as (title, text), loading pages as needed."""
    arguments = {"collection": "notes", "select": ["title", "content"], "sort": ["-updated_at"], "limit": PAGE_ROWS}
    cursor, read = None, 0
    while read < MAX_NOTES_READ:
        page = panorama.call("query", {**arguments, "cursor": cursor})
        yield from ((row["title"], row["content"]) for row in page.data)
        read, cursor = read + len(page.data), page.metadata.get("next_cursor")
        if not cursor:
            return


def _print_trials(trials: Sequence[Evaluation], own: bool, as_json: bool) -> None:
    first = trials[0]
    subject = (
        f"{first.scores[-1].queries} titles of your notes" if own else f"{first.scores[-1].queries} built-in queries"
    )
    summary = f"Searched {subject} among {first.texts} notes"
    if as_json:
        rows = [_to_dict(trial) for trial in trials]
        console.print_json({"data": rows, "summary": summary, "metadata": {"source": "models", "policy": "read"}})
        return
    console.print_table(scores_table(trials))
    console.print_text("\n")
    console.print_table(speeds_table(trials))
    console.print_message(f"{summary}{'; results from so few are not reliable' if first.texts < FEW_NOTES else ''}")


def _to_dict(trial: Evaluation) -> dict[str, Any]:
    scores = [{name: _round_float(value) for name, value in asdict(score).items()} for score in trial.scores]
    return {name: _round_float(value) for name, value in asdict(trial).items()} | {"scores": scores}


def _round_float(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def scores_table(trials: Sequence[Evaluation]) -> TextTable:
    """Build the table of scores, with the models grouped by kind."""
    columns = (
        Column("queries", drop=3), Column("count", right=True, drop=4), Column("model", fold=True),
        Column("recall@1", right=True), Column("recall@5", right=True, drop=2), Column("MRR@10", right=True, drop=1),
    )  # fmt: skip
    rows = [
        (
            safe_line(score.kind if trial is trials[0] else "", "cyan"),
            safe_line(f"{score.queries}" if trial is trials[0] else ""),
            safe_line(trial.model),
            *(safe_line(f"{score_value:.2f}") for score_value in (score.recall_1, score.recall_5, score.mrr_10)),
        )
        for scores in zip(*(trial.scores for trial in trials), strict=True)
        for trial, score in zip(trials, scores, strict=True)
    ]
    return TextTable(columns, tuple(rows))


def speeds_table(trials: Sequence[Evaluation]) -> TextTable:
    """Build the table of speeds."""
    columns = (
        Column("model", fold=True), Column("dimensions", right=True, drop=1), Column("texts per second", right=True),
        Column("ms per query", right=True),
    )  # fmt: skip
    rows = [
        (
            safe_line(trial.model),
            safe_line(trial.size),
            safe_line(f"{trial.texts_per_second:,.0f}"),
            safe_line(f"{trial.query_ms:,.2f}"),
        )
        for trial in trials
    ]
    return TextTable(columns, tuple(rows))
