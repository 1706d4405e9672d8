"""Tables: rows as GitHub's Markdown shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from panorama.sdk._told import told


@told
def markdown_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | Mapping[str, str] | None = None) -> str:
    """Return rows as a table in Markdown.

    Args:
        rows: Rows of the SDK, or dicts.
        columns: Names of fields in order, or {field: heading}; all fields of the rows if left out.

    Returns:
        A GitHub table, "" without rows and columns. Lists are joined by commas; pipes are escaped, line breaks become
        <br>.

    Example:
        print(sdk.markdown_table(sdk.tasks.list(view="overdue"), columns=["title", "deadline", "tags"]))
    """
    every = [*rows]
    wanted = columns if columns is not None else dict.fromkeys(name for row in every for name in row)
    headings = wanted if isinstance(wanted, Mapping) and columns is not None else {name: name for name in wanted}
    if not headings:
        return ""
    lines = [headings.values(), ["---"] * len(headings), *([_of(row, name) for name in headings] for row in every)]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _of(row: Mapping[str, Any], name: str) -> Any:
    """A field that one row lacks is an empty cell: rows of several kinds may stand in one table."""
    return row.get(name)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple | set):
        return ", ".join(_cell(each) for each in cast("Iterable[Any]", value))
    text = str(value).replace("\\", "\\\\").replace("|", "\\|")
    return "<br>".join(text.splitlines())
