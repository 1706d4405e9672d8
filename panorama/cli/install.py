"""`panorama install` and `panorama uninstall`: set Panorama up in an MCP client, or take it out again."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from panorama.cli import configurations, show
from panorama.cli.clients import NAMES, Client
from panorama.cli.configurations import Configuration, Outcome
from panorama.cli.options import AsJson, argument, option
from panorama.cli.tables import Column, Sheet, line

_SAID = {
    "added": "Panorama is set up in {title}, in {file}",
    "changed": "Panorama is set up anew in {title}, in {file}",
    "kept": "Panorama is already there in {title}, in {file}",
    "removed": "Panorama is taken out of {title}, from {file}",
    "absent": "Panorama was not set up in {title}; there is nothing to take out of {file}",
}
_CACHE = "archive-v0"
"""The folder of uv's cache in which `uvx` keeps environments; `uv cache clean` removes it."""


def _known(name: str | None) -> str | None:
    if name is not None and name not in NAMES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(NAMES)}.")
    return name


def _name(help_: str) -> Any:
    return argument(help_, metavar="CLIENT", callback=_known, autocompletion=lambda: list(NAMES))


def install(
    client: Annotated[str | None, _name(f"Where to ({', '.join(NAMES)}); else list them.")] = None,
    only_print: Annotated[bool, option("Print what would be put there, and where; change nothing.", "--print")] = False,
    as_json: AsJson = False,
) -> None:
    """Set Panorama up in an MCP client; without one, list the clients and where they stand.

    All else in the client's file stays as it is, and a dated copy is put beside it first. May be run again.
    """
    if client is None:
        if only_print:
            raise typer.BadParameter(f"--print needs a client: {', '.join(NAMES)}.")
        return _listed(as_json)
    chosen = configurations.all_clients()[client]
    return _printed(chosen, as_json) if only_print else _installed(chosen, as_json)


def uninstall(client: Annotated[str, _name(f"Where from: {', '.join(NAMES)}.")], as_json: AsJson = False) -> None:
    """Take Panorama out of an MCP client; your data stay, and so does all else in the client's file."""
    chosen = configurations.all_clients()[client]
    _told(chosen, configurations.uninstall(chosen), "", as_json)


def _installed(client: Client, as_json: bool) -> None:
    found = client.is_found()
    outcome = configurations.install(client)
    remarks = [] if found else [f"{client.title} does not seem to be installed here: {client.folder} was not there."]
    if _CACHE in str(configurations.entry(client)["command"]):
        remarks.append("The command stands in uv's cache; `uv tool install panorama-mcp` gives it a lasting place.")
    _told(client, outcome, " ".join(remarks), as_json)


def _told(client: Client, outcome: Outcome, hint: str, as_json: bool) -> None:
    summary = f"{_SAID[outcome.did].format(title=client.title, file=client.file)}."
    next_step = _next_step(client, outcome)
    if as_json:
        data = {"client": client.name, "file": client.file, "did": outcome.did}
        more = {"copy": outcome.copy, "next": next_step}
        return _as_json(data | {key: value for key, value in more.items() if value}, summary, "write", hint)
    show.blocks([line(summary)])
    if outcome.copy:
        show.aside(f"As it was: {outcome.copy}")
    if hint:
        show.aside(hint, "yellow")
    if next_step:
        show.aside(f"→ {next_step}", "cyan")
    return None


def _next_step(client: Client, outcome: Outcome) -> str:
    if outcome.did in ("added", "changed"):
        return client.next_step
    return f"Restart {client.title}." if outcome.did == "removed" else ""


def _printed(client: Client, as_json: bool) -> None:
    words = configurations.snippet(client)
    summary = f"This belongs into {client.file}; nothing was changed."
    if as_json:
        data = {"client": client.name, "file": client.file, "entry": configurations.entry(client), "text": words}
        return _as_json(data, summary, "read")
    show.raw(words)
    return show.aside(summary)


def _listed(as_json: bool) -> None:
    rows = [_row(client, configurations.examined(client)) for client in configurations.all_clients().values()]
    there = sum(row["set_up"] for row in rows)
    summary = f"Panorama is set up in {there} of {len(rows)} clients."
    if as_json:
        return _as_json(rows, summary, "read")
    show.sheet(_sheet(rows))
    return show.aside(summary)


def _row(client: Client, standing: Configuration | None) -> dict[str, Any]:
    row = {
        "client": client.name,
        "title": client.title,
        "file": str(client.file),
        "found": client.is_found(),
        "set_up": standing is not None and standing.state != "fail",
    }
    wrong = {"problem": standing.problem, "mend": standing.mend} if standing and standing.problem else {}
    return row | wrong


def _sheet(rows: Sequence[dict[str, Any]]) -> Sheet:
    columns = (Column("client"), Column("panorama"), Column("installed"), Column("file", fold=True))
    return Sheet(columns, tuple((line(row["client"], "bold"), *_cells(row), line(row["file"])) for row in rows))


def _cells(row: dict[str, Any]) -> tuple[Text, Text]:
    if "problem" in row:
        there = Text.assemble(line(row["problem"], "red"), line(f" → {row['mend']}", "cyan"))
    else:
        there = line("set up", "green") if row["set_up"] else line("no", "dim")
    return there, line("yes") if row["found"] else line("no", "dim")


def _as_json(data: Any, summary: str, policy: str, hint: str = "") -> None:
    metadata = {"source": "clients", "policy": policy} | ({"hint": hint} if hint else {})
    show.data({"data": data, "summary": summary, "metadata": metadata})
