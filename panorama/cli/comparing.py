"""Comparing models: each is tried on the built-in notes or on the person's own, and measured."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from typing import Any

from panorama.cli import show
from panorama.cli.client import Client
from panorama.cli.tables import Column, Sheet, line
from panorama.errors import ConfirmationError, DeclinedError, InvalidInputError, PanoramaError
from panorama.index.checking import sets
from panorama.index.checking.sets import Check
from panorama.index.checking.trial import Trial, tried
from panorama.index.embedders import choosing
from panorama.index.embedders.choosing import SHIPPED, Embedder
from panorama.index.embedders.dialects import ollama_base
from panorama.index.embedders.line import Limits

OFF = "none"
LIMITS = Limits(documents=120.0, query=20.0, pause=20.0, repeats_queries=True)
"""A service answers the first query within 20 seconds, or is refused; a batch may take it long."""

PAGE_ROWS = 100
MOST_READ = 2_000
"""Notes that are looked at for those that have a title and enough text."""

FEW_NOTES = 30
"""With fewer, chance decides."""


def compared(names: Sequence[str], *, own: bool, yes: bool, as_json: bool) -> None:
    """Measure models, the one in use if none is named, and show how they did.

    Raises:
        InvalidInputError: There is none of a name.
        UnavailableError: One cannot be loaded, or its service does not answer as it should.
        PanoramaError: The person did not agree, or there are no notes to look for.
    """
    chosen = list(dict.fromkeys(name.strip() for name in names or [_used()]))
    with ExitStack() as stack:
        models = [stack.enter_context(closing(choosing.embedder(name, limits=LIMITS))) for name in chosen]
        check = _own(chosen, yes=yes) if own else sets.built_in()
        for model in models:  # so that none is measured in vain
            _loaded(model)
        trials = [_tried(model, check) for model in models]
    _shown(trials, own, as_json)


def _used() -> str:
    """Return the model in use.

    Raises:
        InvalidInputError: There is none.
    """
    from panorama.config import read_settings  # 300 ms

    used = read_settings().embedder or choosing.default().name
    if used == OFF:
        raise InvalidInputError("Search by meaning is off.", hint="Name a model: `panorama models test minilm`.")
    return used


def _loaded(model: Embedder) -> None:
    with show.progress(f"Trying {model.id}"):
        model.embed_query("tea")  # in short: `load` may wait for a service as long as a batch


def _tried(model: Embedder, check: Check) -> Trial:
    with show.progress(f"Testing {model.id}") as bar:
        return tried(model, check, lambda done, total: bar(done, total, ""))


def _own(names: Iterable[str], *, yes: bool) -> Check:
    """Return a set of the person's own notes, once they agree that services get them.

    Raises:
        ConfirmationError: There is nobody to ask.
        DeclinedError: The person did not say yes.
        PanoramaError: There are no notes to look for.
    """
    if services := [name for name in names if name not in SHIPPED]:
        _ask_to_send(services, yes=yes)
    with Client() as panorama, show.progress("Reading notes"):
        check = sets.of_notes(_notes(panorama))
    if not check.queries:
        raise PanoramaError(
            f"No note has a title and {sets.ENOUGH} characters of text.", hint="Leave out --own for the built-in notes."
        )
    return check


def _ask_to_send(names: Sequence[str], *, yes: bool) -> None:
    places = " and ".join(dict.fromkeys(_service(name) for name in names))
    words = f"The titles and beginnings of up to {sets.MOST_NOTES} of your notes go to {places}"
    if yes:
        show.aside(f"{words}.", "yellow")
        return
    if not show.person_is_there():
        raise ConfirmationError(f"{words}.", hint="Add --yes to agree to it.")
    if not show.asked(f"{words}. Send them?"):
        raise DeclinedError("Nothing was sent.")


def _service(name: str) -> str:
    kind, _, rest = name.partition(":")
    return ollama_base() if kind == "ollama" else rest.partition("#")[0]


def _notes(panorama: Client) -> Iterator[tuple[str, str]]:
    """Give the last changed notes as (title, text), page by page as they are needed."""
    wanted = {"collection": "notes", "select": ["title", "content"], "sort": ["-updated_at"], "limit": PAGE_ROWS}
    cursor, read = None, 0
    while read < MOST_READ:
        page = panorama.call("query", {**wanted, "cursor": cursor})
        yield from ((row["title"], row["content"]) for row in page.data)
        read, cursor = read + len(page.data), page.metadata.get("next_cursor")
        if not cursor:
            return


def _shown(trials: Sequence[Trial], own: bool, as_json: bool) -> None:
    first = trials[0]
    what = f"{first.scores[-1].queries} titles of your notes" if own else f"{first.scores[-1].queries} built-in queries"
    summary = f"Looked for {what} among {first.texts} notes"
    if as_json:
        rows = [_plain(trial) for trial in trials]
        show.data({"data": rows, "summary": summary, "metadata": {"source": "models", "policy": "read"}})
        return
    show.sheet(_scores(trials))
    show.text("\n")
    show.sheet(_speeds(trials))
    show.aside(f"{summary}{'; take so few with care' if first.texts < FEW_NOTES else ''}")


def _plain(trial: Trial) -> dict[str, Any]:
    scores = [{name: _rounded(value) for name, value in asdict(score).items()} for score in trial.scores]
    return {name: _rounded(value) for name, value in asdict(trial).items()} | {"scores": scores}


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def _scores(trials: Sequence[Trial]) -> Sheet:
    """Return the scores, the models of each kind one under the other."""
    columns = (
        Column("queries"), Column("count", right=True), Column("model", fold=True), Column("recall@1", right=True),
        Column("recall@5", right=True), Column("MRR@10", right=True),
    )  # fmt: skip
    rows = [
        (
            line(score.kind if trial is trials[0] else "", "cyan"),
            line(f"{score.queries}" if trial is trials[0] else ""),
            line(trial.model),
            *(line(f"{each:.2f}") for each in (score.recall_1, score.recall_5, score.mrr_10)),
        )
        for scores in zip(*(trial.scores for trial in trials), strict=True)
        for trial, score in zip(trials, scores, strict=True)
    ]
    return Sheet(columns, tuple(rows))


def _speeds(trials: Sequence[Trial]) -> Sheet:
    columns = (
        Column("model", fold=True), Column("dimensions", right=True), Column("texts per second", right=True),
        Column("ms per query", right=True),
    )  # fmt: skip
    rows = [
        (line(trial.model), line(trial.size), line(f"{trial.texts_per_second:,.0f}"), line(f"{trial.query_ms:,.2f}"))
        for trial in trials
    ]
    return Sheet(columns, tuple(rows))
