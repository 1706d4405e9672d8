"""Chooses the columns of a table that fit into a terminal, and their widths. Pure.

A narrow terminal loses the columns with the highest `drop` first, then parts of others; titles are kept longest.
"""

from collections.abc import Mapping

from rich.cells import cell_len

from panorama.cli.console.tables import Column, TextTable

GAP = 2
"""Spaces between two columns."""

TEXT_WIDTH = 20
"""The minimum width of a column of free text."""


def fit_columns(table: TextTable, width: int) -> Mapping[int, int]:
    """Return the indexes of the columns that fit, with their widths."""
    natural = {at: _natural_width(table, at) for at in range(len(table.columns))}
    least = {at: min(width, TEXT_WIDTH) if table.columns[at].is_text else width for at, width in natural.items()}
    while _total(least) > width and (dropped := _next_dropped(table.columns, least)) is not None:
        del least[dropped]
    _shrink(least, width)
    return _widen(table.columns, least, natural, width)


def _natural_width(table: TextTable, at: int) -> int:
    column = table.columns[at]
    widest = max(cell_len(text) for text in (column.name, *(row[at].plain for row in table.rows)))
    return min(widest, column.width or widest)


def _total(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + GAP * (len(widths) - 1)


def _next_dropped(columns: tuple[Column, ...], shown: Mapping[int, int]) -> int | None:
    first = max(shown, key=lambda at: columns[at].drop)
    return first if columns[first].drop else None


def _shrink(widths: dict[int, int], width: int) -> None:
    """Shrink the widest columns to fit."""
    while _total(widths) > width and max(widths.values()) > 1:
        widths[max(widths, key=lambda at: widths[at])] -= 1


def _widen(
    columns: tuple[Column, ...], widths: dict[int, int], natural: Mapping[int, int], width: int
) -> Mapping[int, int]:
    """Distribute the remaining width, to folded columns first."""
    for at in sorted(widths, key=lambda at: not columns[at].fold):
        widths[at] += min(natural[at] - widths[at], max(0, width - _total(widths)))
    return widths
