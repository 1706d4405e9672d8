"""Tables of relations and neighbours; pure."""

from collections.abc import Sequence

from rich.text import Text

from panorama.cli.console.tables import Column, Row, TextTable, safe_line


def neighbours(rows: Sequence[Row]) -> TextTable:
    """Build the table of the items near another one; those farther away are indented."""
    columns = (
        Column("relation"), Column("kind", drop=3), Column("title", fold=True), Column("id", drop=2),
        Column("why", width=48, flexible=True, drop=1),
    )  # fmt: skip
    return TextTable(columns, tuple(_neighbour_row(row) for row in rows))


def _neighbour_row(row: Row) -> tuple[Text, ...]:
    indent = "  " * (int(row["depth"]) - 1)
    return (
        safe_line(f"{indent}{row['relation']}", "cyan" if row["source"] == "explicit" else ""),
        safe_line(row["kind"], "dim"),
        safe_line(row["title"], "bold"),
        safe_line(row["id"], "dim"),
        safe_line(row.get("why", ""), "dim"),
    )


def relations(rows: Sequence[Row]) -> TextTable:
    """Build the table of relations."""
    columns = (
        Column("id", drop=2), Column("from", fold=True), Column("kind"), Column("to", fold=True),
        Column("note", width=30, flexible=True, drop=3),
    )  # fmt: skip
    cells = tuple(
        (
            safe_line(row["id"], "dim"), safe_line(row["from_title"]), safe_line(row["kind"], "cyan"),
            safe_line(row["to_title"]), safe_line(row.get("note", "")),
        )
        for row in rows
    )  # fmt: skip
    return TextTable(columns, cells)
