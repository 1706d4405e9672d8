"""`panorama search` and `panorama similar`."""

from typing import Annotated, Literal

from panorama.cli.client import Answer, Client
from panorama.cli.console import console, tables
from panorama.cli.options import AsJson, Kinds, Limit, Project, argument, examples, option

Mode = Literal["hybrid", "keyword", "semantic"]
Cursor = Annotated[
    str | None, option("Continue after a page: the next_cursor from --json.", "--cursor", metavar="CURSOR")
]

SEARCH_EXAMPLES = examples(
    "panorama search tomato seeds",
    "panorama search '\"late frost\"' --kind note --kind task",
    "panorama search budget --project Garden --limit 3",
    "panorama search invoice --since 2026-05-01 --until 2026-05-31",
    "panorama search 'what did the doctor say' --mode semantic",
)
SIMILAR_EXAMPLES = examples(
    'panorama similar "Order seeds"',
    "panorama similar n_7k3q9xv2mh --kind note --limit 3",
)


def search(
    query: Annotated[list[str], argument("The words to search.")],
    kind: Kinds = None,
    project: Project = None,
    since: Annotated[str | None, option("Changed on this day or later: 2026-05-01, yesterday, -7d.", "--since")] = None,
    until: Annotated[str | None, option("Changed on this day or earlier.", "--until")] = None,
    mode: Annotated[Mode, option("By words, by meaning, or both.", "--mode")] = "hybrid",
    limit: Limit = 10,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """Find anything by its words and its meaning."""
    when = {"since": since, "until": until}
    asked = {"query": " ".join(query), "kinds": kind, "project": project, "mode": mode, **when, "cursor": cursor}
    with Client() as panorama:
        answer = panorama.list_rows("search", asked, limit)
    console.print_rows(answer, as_json, lambda: _print_hits(answer))


def similar(
    item: Annotated[str, argument("Any item, by id or name.")],
    kind: Kinds = None,
    project: Project = None,
    limit: Limit = 10,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """Find items similar in meaning: related notes and tasks, duplicates."""
    asked = {"item": item, "kinds": kind, "project": project, "cursor": cursor}
    with Client() as panorama:
        answer = panorama.list_rows("similar", asked, limit)
    console.print_rows(answer, as_json, lambda: _print_hits(answer))


def _print_hits(answer: Answer) -> None:
    names = answer.metadata.get("names", {})
    if console.is_terminal():
        console.print_blocks(tables.hit(row, names) for row in answer.data)
    else:
        console.print_table(tables.hits(answer.data, names))
