"""`panorama install` and `panorama uninstall`: add Panorama to an MCP client, or remove it."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from panorama.cli.clients import configurations
from panorama.cli.clients.clients import CLIENT_NAMES, McpClient
from panorama.cli.clients.configurations import ConfigCheck, Outcome
from panorama.cli.console import console
from panorama.cli.console.tables import Column, TextTable, safe_line
from panorama.cli.options import AsJson, argument, option

_SUMMARIES = {
    "added": "Panorama is set up in {title}, in {file}",
    "changed": "Panorama is updated in {title}, in {file}",
    "kept": "Panorama is already set up in {title}, in {file}",
    "removed": "Panorama is removed from {title}, from {file}",
    "absent": "Panorama was not set up in {title}; nothing to remove from {file}",
}
_UVX_CACHE = "archive-v0"
"""The folder of uv's cache with the environments of `uvx`; `uv cache clean` deletes it."""


def _validate_client(name: str | None) -> str | None:
    if name is not None and name not in CLIENT_NAMES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(CLIENT_NAMES)}.")
    return name


def _client_argument(help_: str) -> Any:
    return argument(help_, metavar="CLIENT", callback=_validate_client, autocompletion=lambda: list(CLIENT_NAMES))


def install(
    client: Annotated[str | None, _client_argument(f"The client ({', '.join(CLIENT_NAMES)}).")] = None,
    only_print: Annotated[bool, option("Only print what would be written, and where.", "--print")] = False,
    as_json: AsJson = False,
) -> None:
    """Add Panorama to an MCP client; without one, list the clients and their state.

    Everything else in the client's file is kept, and a dated copy is written first. Can be repeated.
    """
    if client is None:
        if only_print:
            raise typer.BadParameter(f"--print needs a client: {', '.join(CLIENT_NAMES)}.")
        return _list_clients(as_json)
    chosen = configurations.all_clients()[client]
    return _print_snippet(chosen, as_json) if only_print else _install(chosen, as_json)


def uninstall(
    client: Annotated[str, _client_argument(f"The client ({', '.join(CLIENT_NAMES)}).")], as_json: AsJson = False
) -> None:
    """Remove Panorama from an MCP client; your data and everything else in the client's file are kept."""
    chosen = configurations.all_clients()[client]
    _print_outcome(chosen, configurations.uninstall(chosen), "", as_json)


def _install(client: McpClient, as_json: bool) -> None:
    is_found = client.is_found()
    outcome = configurations.install(client)
    remarks = [] if is_found else [f"{client.title} does not seem to be installed here: {client.folder} did not exist."]
    if _UVX_CACHE in str(configurations.build_entry(client)["command"]):
        remarks.append("The command is in uv's cache; install it permanently with `uv tool install panorama-mcp`.")
    _print_outcome(client, outcome, " ".join(remarks), as_json)


def _print_outcome(client: McpClient, outcome: Outcome, hint: str, as_json: bool) -> None:
    summary = f"{_SUMMARIES[outcome.did].format(title=client.title, file=client.file)}."
    next_step = _next_step(client, outcome)
    if as_json:
        data = {"client": client.name, "file": client.file, "did": outcome.did}
        more = {"copy": outcome.copy, "next": next_step}
        return _print_json(data | {key: value for key, value in more.items() if value}, summary, "write", hint)
    console.print_blocks([safe_line(summary)])
    if outcome.copy:
        console.print_message(f"Previous file: {outcome.copy}")
    if hint:
        console.print_message(hint, "yellow")
    if next_step:
        console.print_message(f"→ {next_step}", "cyan")
    return None


def _next_step(client: McpClient, outcome: Outcome) -> str:
    if outcome.did in ("added", "changed"):
        return client.next_step
    return f"Restart {client.title}." if outcome.did == "removed" else ""


def _print_snippet(client: McpClient, as_json: bool) -> None:
    words = configurations.render_snippet(client)
    summary = f"Add this to {client.file}; nothing was changed."
    if as_json:
        data = {"client": client.name, "file": client.file, "entry": configurations.build_entry(client), "text": words}
        return _print_json(data, summary, "read")
    console.print_raw(words)
    return console.print_message(summary)


def _list_clients(as_json: bool) -> None:
    rows = [
        _client_row(client, configurations.check_config(client)) for client in configurations.all_clients().values()
    ]
    there = sum(row["set_up"] for row in rows)
    summary = f"Panorama is set up in {there} of {len(rows)} clients."
    if as_json:
        return _print_json(rows, summary, "read")
    console.print_table(clients_table(rows))
    return console.print_message(summary)


def _client_row(client: McpClient, standing: ConfigCheck | None) -> dict[str, Any]:
    row = {
        "client": client.name,
        "title": client.title,
        "file": str(client.file),
        "found": client.is_found(),
        "set_up": standing is not None and standing.state != "fail",
    }
    wrong = {"problem": standing.problem, "mend": standing.mend} if standing and standing.problem else {}
    return row | wrong


def clients_table(rows: Sequence[dict[str, Any]]) -> TextTable:
    """Build the table of clients."""
    columns = (Column("client"), Column("panorama"), Column("installed", drop=1), Column("file", fold=True, drop=2))
    return TextTable(
        columns, tuple((safe_line(row["client"], "bold"), *_cells(row), safe_line(row["file"])) for row in rows)
    )


def _cells(row: dict[str, Any]) -> tuple[Text, Text]:
    if "problem" in row:
        there = Text.assemble(safe_line(row["problem"], "red"), safe_line(f" → {row['mend']}", "cyan"))
    else:
        there = safe_line("set up", "green") if row["set_up"] else safe_line("no", "dim")
    return there, safe_line("yes") if row["found"] else safe_line("no", "dim")


def _print_json(data: Any, summary: str, policy: str, hint: str = "") -> None:
    metadata = {"source": "clients", "policy": policy} | ({"hint": hint} if hint else {})
    console.print_json({"data": data, "summary": summary, "metadata": metadata})
