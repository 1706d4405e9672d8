"""Search by words and meaning, and exact queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from panorama.sdk.core import wire
from panorama.sdk.core.rows import Row
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Collection, Found, Item, Mode, Project


@explain_misuse
def search(
    query: str,
    kinds: str | Sequence[str] = (),
    project: str | Project | None = None,
    since: str | date = "",
    until: str | date = "",
    mode: Mode = "hybrid",
    limit: int | None = 50,
) -> list[Found]:
    """Find anything by its words and its meaning: projects, tasks, notes, links, reminders, journal, files.

    Misspelt words are repaired. For exact filters and counts use query.

    Args:
        query: Words or a question; only the first 1,000 characters are used; "quoted words" are a phrase.
        kinds: Some of project, task, note, link, reminder, journal, file; all if left out.
        project: Its id, its name, or its row; all projects if left out.
        since: Changed on this day or later: 2026-05-31, -30d, or a date.
        until: Last day of it: 2026-05-31, -30d, or a date.
        mode: keyword for words alone, semantic for meaning alone.
        limit: The most hits; None for all (at most 1,000).

    Returns:
        Rows, best first, with id, kind, title, snippet, project (an id), why, score, updated_at.

    Raises:
        NotFoundError: No project has this name.
        InvalidInputError: The kind or mode is unknown, a day is invalid, or `since` is later than `until`.

    Example:
        for hit in sdk.search("grout colour", kinds=["task", "note"], limit=5):
            print(hit.kind, hit.title, hit.snippet)
    """
    return wire.list_rows(
        "search", limit, query=query, kinds=_as_list(kinds), project=project, since=since, until=until, mode=mode
    )


@explain_misuse
def similar(
    item: str | Item,
    kinds: str | Sequence[str] = (),
    project: str | Project | None = None,
    limit: int | None = 50,
) -> list[Found]:
    """Find items with a similar meaning: related notes, tasks on the same matter, duplicates.

    Args:
        item: Its id, its name, or its row.
        kinds: Some of project, task, note, link, reminder, journal, file; all if left out.
        project: Only in this project: its id, its name, or its row.
        limit: The most hits; None for all (at most 1,000).

    Returns:
        Rows, the nearest first, with id, kind, title, snippet, project (an id), why, score.

    Raises:
        NotFoundError: No item or project has this name.
        ConflictError: Several items have this name; `candidates` lists them.
        InvalidInputError: The kind is unknown, or `limit` is below 1.

    Example:
        for hit in sdk.similar("Kitchen budget", kinds="note", limit=3):
            print(hit.title)
    """
    return wire.list_rows("search.similar", limit, item=item, kinds=_as_list(kinds), project=project)


@explain_misuse
def query(
    collection: Collection,
    where: Mapping[str, Any] = {},
    select: str | Sequence[str] = (),
    sort: str | Sequence[str] = (),
    group_by: str | Sequence[str] = (),
    count: bool = False,
    sum: str | Sequence[str] = (),
    limit: int | None = None,
) -> list[Row]:
    """Filter, sort, count and sum any collection exactly.

    Operators: eq ne lt lte gt gte in nin contains, joined by and, or, not.

    Args:
        collection: A kind of item, or changes or calls.
        where: {"status": "todo", "deadline": {"lt": "2026-06-01"}, "or": [{…}, {…}]}
        select: Fields of the rows; the usual ones if left out.
        sort: Fields; "-field" for the largest first.
        group_by: Fields; each group is a row with these and its `count`.
        count: Only count: one row with `count`.
        sum: Number fields to add up, in all or by group.
        limit: The most rows; all if left out.

    Returns:
        Rows with the fields that were selected (None if empty), or the groups.

    Raises:
        InvalidInputError: A field or operator is unknown; the text lists the known ones.
        NotFoundError: `where` names a project, parent or item that does not exist.
        ConflictError: `where` uses a title that several items have.

    Example:
        for group in sdk.query("tasks", where={"status": {"in": ["todo", "in_progress"]}}, group_by="project"):
            print(group.project, group.count)
    """
    selected = _as_list(select)
    rows = wire.list_rows(
        "query", limit, collection=collection, where=where, select=selected, sort=_as_list(sort),
        group_by=_as_list(group_by), count=count, sum=_as_list(sum),
    )  # fmt: skip
    return _fill_missing(rows, [*selected, *_as_list(group_by)])


def _as_list(words: str | Sequence[str] | None) -> list[str]:
    return [words] if isinstance(words, str) and words else list(() if words is None else words)


def _fill_missing(rows: list[Row], fields: list[str]) -> list[Row]:
    """Add the selected fields that are empty: nulls are not sent."""
    if fields:
        for row in rows:
            for name in fields:
                row.setdefault(name, None)
    return rows
