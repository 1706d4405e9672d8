"""The commands of `panorama sources`.

Adding a source runs a program or sends data elsewhere, so only a user at a terminal adds one or allows more. No
operation, tool or script reaches these commands. A running daemon notices the changed file at its next call. What the
commands do is imported late, because all other commands import this module.
"""

from pathlib import Path
from typing import Annotated

from panorama.cli.clients.clients import CLIENT_NAMES
from panorama.cli.console.confirm import require_terminal
from panorama.cli.options import AsJson, Yes, argument, examples, group, option

app = group("sources", "Connect MCP servers and web services to scripts; list, check or remove them.", default="list")
Name = Annotated[str, argument("The source.", metavar="NAME")]
Pattern = Annotated[str, argument("SOURCE.FUNCTION, where * stands for any letters.", metavar="PATTERN")]
InFile = Annotated[bool, option("Use the key file, not the system's keyring.", "--in-file")]
Client = Annotated[str | None, argument(f"The client ({', '.join(CLIENT_NAMES)}); by default all.", metavar="[CLIENT]")]
Key = Annotated[str, argument("The option, variable or header; by default the kind's key.", metavar="[KEY]")]
Pairs = list[str] | None


@app.command("list", epilog=examples("panorama sources", "panorama sources list --json"))
def list_(as_json: AsJson = False) -> None:
    """List the sources, with the rules for their functions."""
    from panorama.cli.commands.sources import actions

    actions.list_sources(as_json=as_json)


@app.command(
    epilog=examples(
        "panorama sources add clock -- uvx mcp-server-time    # an MCP server on this machine",
        "panorama sources add docs --url https://docs.example/mcp",
        "panorama sources add claap --kind claap              # asks for the key",
        "panorama sources add papers --kind folder --option path=~/Papers",
    )
)
def add(
    name: Name,
    command: Annotated[Pairs, argument("The command of an MCP server, after --.", metavar="[-- COMMAND…]")] = None,
    url: Annotated[str, option("Address of an MCP server, or of a service of your own.", "--url")] = "",
    kind: Annotated[
        str, option("mcp (default), claap, lemlist, notion, helpscout, wordpress, folder.", "--kind", "-k")
    ] = "mcp",
    transport: Annotated[str, option("How to reach the address: http (default) or sse.", "--type")] = "",
    env: Annotated[Pairs, option("A variable of the command: NAME=VALUE.", "--env", "-e", metavar="K=V")] = None,
    header: Annotated[Pairs, option("A header for the address: NAME=VALUE.", "--header", metavar="K=V")] = None,
    options: Annotated[Pairs, option("An option of the kind: NAME=VALUE.", "--option", "-o", metavar="K=V")] = None,
    local: Annotated[bool, option("Confirm that it does not use the network.", "--local")] = False,
    in_file: InFile = False,
    as_json: AsJson = False,
) -> None:
    """Add a source: an MCP server by its command or address, or a kind of service.

    Values that look like secrets, and the keys of services, go to the system's keyring, or to a file that only you
    can read.
    """
    from panorama.cli.commands.sources import actions
    from panorama.cli.commands.sources.adding import AddRequest, parse_pairs

    require_terminal("sources add", "nothing was added")
    request = AddRequest(
        name=name, kind=kind, command=tuple(command or ()), url=url, transport=transport, env=parse_pairs(env),
        headers=parse_pairs(header), options=parse_pairs(options), local=local,
    )  # fmt: skip
    actions.add_source(request, in_file=in_file, as_json=as_json)


@app.command(
    "import",
    epilog=examples(
        "panorama sources import --dry-run                 # all clients, nothing is changed",
        "panorama sources import codex",
        "panorama sources import claude-code --file .mcp.json",
    ),
)
def import_(
    client: Client = None,
    file: Annotated[Path | None, option("Another file in this client's format.", "--file", metavar="PATH")] = None,
    dry_run: Annotated[bool, option("Only show what would be added.", "--dry-run")] = False,
    yes: Yes = False,
    in_file: InFile = False,
    as_json: AsJson = False,
) -> None:
    """Add the MCP servers that other clients know.

    Each entry is read separately; one that cannot be taken over is listed with the reason. Secrets move to the
    keyring. The clients' files are not changed.
    """
    from panorama.cli.commands.sources import actions

    if dry_run:
        actions.list_servers(client, file, as_json=as_json)
        return
    require_terminal("sources import", "nothing was added")
    actions.import_servers(client, file, yes=yes, in_file=in_file, as_json=as_json)


@app.command(epilog=examples("panorama sources show claap"))
def show(name: Name, as_json: AsJson = False) -> None:
    """Show how a source is reached, its rules and its secrets; their values are hidden."""
    from panorama.cli.commands.sources import actions

    actions.show_source(name, as_json=as_json)


@app.command("test", epilog=examples("panorama sources test claap", "panorama sources test claap --json"))
def check(name: Name, as_json: AsJson = False) -> None:
    """Connect to a source, and list its functions and what happens when a script calls them."""
    from panorama.cli.commands.sources import actions

    actions.check_source(name, as_json=as_json)


@app.command(epilog=examples("panorama sources login docs"))
def login(name: Name, as_json: AsJson = False) -> None:
    """Sign in to an MCP server that asks for it (OAuth): open the address that is shown."""
    from panorama.cli.commands.sources import actions

    require_terminal("sources login", "nobody signed in")
    actions.sign_in_to(name, as_json=as_json)


@app.command(epilog=examples("panorama sources secret claap", "panorama sources secret github TOKEN < token.txt"))
def secret(name: Name, key: Key = "", in_file: InFile = False, as_json: AsJson = False) -> None:
    """Store a secret of a source, typed without showing it, or read from a pipe."""
    from panorama.cli.commands.sources import actions

    actions.replace_secret(name, key, in_file=in_file, as_json=as_json)


@app.command(epilog=examples("panorama sources allow lemlist.add_lead", "panorama sources allow 'clock.*'"))
def allow(pattern: Pattern, as_json: AsJson = False) -> None:
    """Let scripts call functions without asking; the longest pattern wins, deny before ask before allow."""
    from panorama.cli.commands.sources import actions

    require_terminal("sources allow", "nothing was allowed")
    actions.decide(pattern, "allow", as_json=as_json)


@app.command(epilog=examples("panorama sources ask 'notion.*'"))
def ask(pattern: Pattern, as_json: AsJson = False) -> None:
    """Ask before scripts call functions."""
    from panorama.cli.commands.sources import actions

    require_terminal("sources ask", "nothing was changed")
    actions.decide(pattern, "ask", as_json=as_json)


@app.command(epilog=examples("panorama sources deny 'lemlist.delete_*'"))
def deny(pattern: Pattern, as_json: AsJson = False) -> None:
    """Never let scripts call functions."""
    from panorama.cli.commands.sources import actions

    actions.decide(pattern, "deny", as_json=as_json)


@app.command(epilog=examples("panorama sources remove claap"))
def remove(name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Remove a source with its secrets; nothing changes at the service."""
    from panorama.cli.commands.sources import actions

    actions.remove_source(name, yes=yes, as_json=as_json)
