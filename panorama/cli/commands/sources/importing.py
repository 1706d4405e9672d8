"""Finds the MCP servers of other clients, and adds them as sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from panorama.cli.clients import configurations
from panorama.cli.clients.clients import CLIENT_NAMES
from panorama.cli.clients.servers import ClientServer, read_servers
from panorama.cli.commands.sources.adding import check_name
from panorama.cli.console.tables import Column, TextTable, safe_line
from panorama.domain.sources.names import to_identifier
from panorama.errors import ConflictError, InvalidInputError, PanoramaError
from panorama.sources.config import MAX_NAME_CHARS, parse_entry
from panorama.sources.secret_store import move_secrets
from panorama.sources.sources_file import edit_entries

State = Literal["new", "known", "refused"]
_STYLES = {"new": "green", "known": "dim", "refused": "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServer:
    """A server in a client's file: whether it can be added as a source, and the reason if not."""

    name: str
    client: str
    file: Path
    state: State
    entry: Mapping[str, Any]
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the row for programs; the entry is left out, because it may contain secrets."""
        row = {"name": self.name, "client": self.client, "file": str(self.file), "state": self.state}
        return {**row, **({"reason": self.reason} if self.reason else {})}


def find_servers(home: Path, client: str | None, file: Path | None) -> list[FoundServer]:
    """Return the servers of a client, or of all, without Panorama itself.

    Raises:
        InvalidInputError: There is no such client, or a file without one.
        UnavailableError: The file of the named client cannot be read.
    """
    if client is not None and client not in CLIENT_NAMES:
        raise InvalidInputError(f"There is no client {client[:40]!r}.", hint=f"Use {', '.join(CLIENT_NAMES)}.")
    if file is not None and client is None:
        raise InvalidInputError("A file needs a client.", hint="Write `panorama sources import claude-code --file …`.")
    found: list[FoundServer] = []
    for name, known in configurations.all_clients().items():
        if client is not None and name != client:
            continue
        place = file or known.file
        try:
            servers = read_servers(name, known.servers, configurations.read_config(known, file))
        except PanoramaError as error:
            if client is not None:
                raise
            found.append(FoundServer(name="", client=name, file=place, state="refused", entry={}, reason=error.message))
            continue
        taken = {row.name for row in found if row.state == "new"}
        found += [_classify(home, name, place, server, taken) for server in servers if not _is_own(server)]
    return found


def add_servers(home: Path, found: Sequence[FoundServer], *, in_file: bool) -> None:
    """Add servers as sources; their secrets are moved.

    Raises:
        UnavailableError: A file cannot be written.
    """
    with edit_entries(home) as entries:
        for server in found:
            entries[server.name] = move_secrets(home, server.name, server.entry, in_file=in_file)


def servers_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build the table of found servers."""
    columns = (Column("source"), Column("client"), Column(""), Column("why not", fold=True))
    cells = tuple(
        (
            safe_line(row["name"], "bold"),
            safe_line(row["client"]),
            safe_line(row["state"], _STYLES[row["state"]]),
            safe_line(row.get("reason", "")),
        )
        for row in rows
    )
    return TextTable(columns, cells)


def _is_own(server: ClientServer) -> bool:
    return configurations.is_own_entry(server.name, server.entry)


def _classify(home: Path, client: str, file: Path, server: ClientServer, taken: set[str]) -> FoundServer:
    """Return a server with its state: new, already known, or refused."""
    name = to_identifier(server.name)[:MAX_NAME_CHARS]

    def build(state: State, reason: str = "") -> FoundServer:
        return FoundServer(name=name, client=client, file=file, state=state, entry=server.entry, reason=reason)

    if server.problem:
        return build("refused", server.problem)
    try:
        parse_entry(name, server.entry)
        check_name(home, name)
    except ConflictError as error:
        return build("known", error.message)
    except InvalidInputError as error:
        return build("refused", error.message)
    if name in taken:
        return build("known", "another client has a server of this name")
    taken.add(name)
    return build("new")
