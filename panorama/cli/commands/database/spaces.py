"""`panorama spaces`: the spaces of a PostgreSQL database, for administrators; needs no daemon."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from panorama.cli.client import Answer
from panorama.cli.console import console
from panorama.cli.console.tables import Column, Row, TextTable, safe_line
from panorama.cli.options import AsJson, Yes, argument, examples, group, option
from panorama.domain.text.sizes import format_size
from panorama.domain.text.wording import pluralize
from panorama.errors import ConfirmationError, DeclinedError

if TYPE_CHECKING:
    from panorama.store.postgres.administration.administration import SpaceAdministration

app = group("spaces", "List the spaces of a PostgreSQL database; create, grant, migrate or drop one.", default="list")
Name = Annotated[str, argument("The space.", metavar="NAME")]


def _administration() -> "SpaceAdministration":
    from panorama.config import read_settings
    from panorama.databases import open_administration  # a second, and not needed for the help

    return open_administration(read_settings())


@app.command("list", epilog=examples("panorama spaces", "panorama spaces list --json"))
def list_(as_json: AsJson = False) -> None:
    """List the spaces that your role may use, with the other roles that may use them."""
    data = [asdict(space) for space in _administration().list_spaces()]
    hint = {} if data else {"hint": "`panorama spaces create NAME` creates one."}
    answer = Answer(data, pluralize(len(data), "space"), hint)
    console.print_rows(answer, as_json, lambda: console.print_table(spaces_table(data)))


def spaces_table(rows: Sequence[Row]) -> TextTable:
    """Build the table of spaces."""
    columns = (
        Column("space", fold=True), Column("items", right=True), Column("size", right=True, drop=2),
        Column("revision", drop=1), Column("owner"), Column("other roles", fold=True),
    )  # fmt: skip
    return TextTable(columns, tuple(_build_row(row) for row in rows))


def _build_row(row: Row) -> tuple[Text, ...]:
    roles = ", ".join(
        role if rights == "write" else f"{role} (read only)" for role, rights in sorted(row["roles"].items())
    )
    values = (row["name"], f"{row['items']:,}", format_size(row["size_bytes"]), row["revision"], row["owner"], roles)
    return tuple(map(safe_line, values))


@app.command(
    epilog=examples(
        "panorama spaces create anna --role anna   # belongs to the role anna",
        "panorama spaces create team               # belongs to your role; grant it to others",
    )
)
def create(
    name: Name,
    role: Annotated[str, option("The role that it belongs to; by default your own.", "--role", metavar="ROLE")] = "",
    as_json: AsJson = False,
) -> None:
    """Create a space with empty tables.

    Its owner may migrate, grant and drop it. Only an administrator, or a member of the role, can create one for
    another role.
    """
    space = _administration().create(name, role)
    hint = f'To use it, set space = "{name}" in config.toml; `panorama spaces grant {name} ROLE` lets others use it.'
    console.print_result(
        Answer(asdict(space), f"Created the space {name}, owned by {space.owner}", {"hint": hint}), as_json
    )


@app.command(
    epilog=examples(
        "panorama spaces grant team bert",
        "panorama spaces grant team carla --read-only",
        "panorama spaces grant team bert --revoke",
    )
)
def grant(
    name: Name,
    role: Annotated[str, argument("A role of the database server.", metavar="ROLE")],
    read_only: Annotated[bool, option("Let the role read the space, but not change it.", "--read-only")] = False,
    revoke: Annotated[bool, option("Take all rights on the space from the role.", "--revoke")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a role use a space, also after later migrations, or take that right from it. Only the owner can."""
    if revoke:
        _administration().revoke(name, role)
        summary = f"{role} may no longer use the space {name}"
    else:
        _administration().grant(name, role, is_read_only=read_only)
        summary = f"{role} may {'read' if read_only else 'use'} the space {name}"
    rights = "none" if revoke else "read" if read_only else "write"
    console.print_result(Answer({"space": name, "role": role, "rights": rights}, summary, {}), as_json)


@app.command(epilog=examples("panorama spaces migrate team"))
def migrate(name: Name, as_json: AsJson = False) -> None:
    """Bring the tables of a space up to date, in one transaction; the owner's daemon also does so when it starts."""
    from panorama.config import data_directory

    is_changed = _administration().migrate(name, backups=data_directory() / "backups", now=datetime.now(UTC))
    summary = f"Migrated the space {name}" if is_changed else f"The space {name} is up to date"
    console.print_result(Answer({"space": name, "changed": is_changed}, summary, {}), as_json)


@app.command(epilog=examples("panorama spaces drop anna_before_20260520080000", "panorama spaces drop bert --yes"))
def drop(name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Delete a space with everything in it, after you typed its name again. Only the owner can."""
    administration = _administration()
    space = administration.get(name)
    lost = f"{pluralize(space.items, 'item')} with their history and trash ({format_size(space.size_bytes)})"
    if not yes:
        _require_name(name, f"{lost} will be lost; only a backup brings them back. Type {name} to drop the space:")
    administration.drop(name)
    console.print_result(Answer(asdict(space), f"Dropped the space {name}: {lost}", {}), as_json)


def _require_name(name: str, question: str) -> None:
    """Let the user type a name.

    Raises:
        ConfirmationError: The terminal cannot ask.
        DeclinedError: The user typed something else.
    """
    if not console.is_interactive():
        raise ConfirmationError(question, hint="Add --yes to agree to it.")
    console.prompt(question)
    if sys.stdin.readline().strip() != name:
        raise DeclinedError("Nothing was changed.")
