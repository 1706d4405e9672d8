"""Formats rows as Markdown tables."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from panorama.sdk.core.rows import NoFieldError, Row
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.errors import InvalidInputError

_MAX_LISTED = 30
"""The maximum number of fields named in an error."""


@explain_misuse
def markdown_table(
    rows: Iterable[Mapping[str, Any] | Sequence[Any]], columns: Sequence[str] | Mapping[str, str] | None = None
) -> str:
    """Return rows as a table in Markdown.

    Args:
        rows: Rows of the SDK, or dicts; or tuples or lists, whose headings `columns` names.
        columns: Names of fields in order, or {field: heading}; all fields of the rows if left out.

    Returns:
        A GitHub table, "" without rows and columns. Lists are joined by commas; pipes are escaped, line breaks become
        <br>.

    Raises:
        InvalidInputError: No row has a field that `columns` names, or a row has more or fewer values than `columns`.

    Example:
        print(sdk.markdown_table(sdk.tasks.list(view="overdue"), columns=["title", "deadline", "tags"]))
    """
    every, named = _to_list(rows), _column_headings(columns)
    if every and all(isinstance(row, list | tuple) for row in every):
        lines = [_sequence_values(row, named or []) for row in every]
    else:
        named, lines = _tabulate([*map(_require_mapping, every)], named)
    if not named:
        return ""
    head = [[heading for _, heading in named], ["---"] * len(named)]
    return "\n".join(f"| {' | '.join(map(_render_cell, line))} |" for line in [*head, *lines])


def _to_list(rows: Any) -> list[Any]:
    if isinstance(rows, Mapping):
        raise InvalidInputError(
            "rows is one row or a dict, not a list of rows.",
            hint='Write [row], or [*counts.items()] with columns=["…", "…"].',
        )
    return [*rows]


def _column_headings(columns: Any) -> list[tuple[str, str]] | None:
    """Return the selected fields with their headings; None for all fields."""
    if columns is None or isinstance(columns, str):
        return [(columns, columns)] if columns else None
    if isinstance(columns, Mapping):
        return [*cast("Mapping[str, str]", columns).items()]
    return [(name, name) for name in columns]


def _sequence_values(row: Sequence[Any], named: Sequence[tuple[str, str]]) -> list[Any]:
    """Return the values of a tuple or a list, one for each heading."""
    if len(row) != len(named):
        raise InvalidInputError(
            f"A row has {len(row)} values, and columns names {len(named)}.",
            hint="Name a heading for each value, in order: columns=[…].",
        )
    return [*row]


def _require_mapping(row: Any) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return cast("Mapping[str, Any]", row)
    raise InvalidInputError(
        f"A row is a {type(row).__name__}.", hint="Give rows of the SDK, dicts, or all of them tuples or lists."
    )


def _tabulate(
    rows: list[Mapping[str, Any]], named: list[tuple[str, str]] | None
) -> tuple[list[tuple[str, str]], list[list[Any]]]:
    """Return headings and lines; a missing field is an empty cell, so that kinds can be mixed."""
    fields = dict.fromkeys(name for row in rows for name in row)
    columns = [(name, name) for name in fields] if named is None else named
    for name, _ in columns:
        if rows and name not in fields:
            raise _missing_field_error(rows[0], name, [*map(str, fields)])
    return columns, [[row.get(name) for name, _ in columns] for row in rows]


def _missing_field_error(row: Any, name: Any, fields: list[str]) -> InvalidInputError:
    if isinstance(row, Row):
        return InvalidInputError(f"No row has the field {name!r}.", hint=str(NoFieldError(row, name)))
    near = difflib.get_close_matches(str(name), fields, 2)
    suggestion = f"Did you mean {' or '.join(near)}? " if near else ""
    more = ", …" if len(fields) > _MAX_LISTED else ""
    return InvalidInputError(
        f"No row has the field {name!r}.", hint=f"{suggestion}They have {', '.join(fields[:_MAX_LISTED])}{more}."
    )


def _render_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple | set):
        return ", ".join(_render_cell(entry) for entry in cast("Iterable[Any]", value))
    text = str(value).replace("\\", "\\\\").replace("|", "\\|")
    return "<br>".join(text.splitlines())
