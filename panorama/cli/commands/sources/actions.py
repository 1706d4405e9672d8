"""Implements the commands of `panorama sources`."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from panorama.cli.client import Answer, Client
from panorama.cli.commands.sources import importing, rows
from panorama.cli.commands.sources.adding import AddRequest, choose_secret, describe_secrets, store_entry
from panorama.cli.console import console
from panorama.domain.sources.policy import DECISIONS, Decision
from panorama.domain.text.wording import pluralize
from panorama.errors import DeclinedError, InvalidInputError, NotFoundError
from panorama.sources.config import SourceConfig, load_sources
from panorama.sources.descriptions import describe_functions, describe_source
from panorama.sources.options import probe_source
from panorama.sources.pool import FOLDER
from panorama.sources.secret_store import delete_secrets, list_references, store_secret
from panorama.sources.secrets import open_secrets
from panorama.sources.source import Deadline, open_source
from panorama.sources.sources_file import edit_entries, get_entry, parse_pattern, set_rule
from panorama.transport.address import data_directory

TEST_SECONDS = 60.0


def list_sources(*, as_json: bool) -> None:
    """Print the sources."""
    data = [describe_source(config) for config in load_sources(_home())]
    summary = pluralize(len(data), "source")
    hint = {} if data else {"hint": "`panorama sources add` or `panorama sources import` adds some."}
    console.print_rows(Answer(data, summary, hint), as_json, lambda: console.print_table(rows.sources_table(data)))


def add_source(request: AddRequest, *, in_file: bool, as_json: bool) -> None:
    """Add a source."""
    config = store_entry(_home(), request, in_file=in_file)
    name = config.name
    hint = f"`panorama sources test {name}` connects to it, and lists its functions and what is allowed."
    answer = Answer(describe_source(config), f"Added the source {name}; scripts call sdk.{name}", {"hint": hint})
    console.print_result(answer, as_json)


def list_servers(client: str | None, file: Path | None, *, as_json: bool) -> None:
    """Print the servers of other clients, and which can be added."""
    found = importing.find_servers(_home(), client, file)
    count = sum(server.state == "new" for server in found)
    summary = f"{count} of {len(found)} servers can be added" if found else "No client has MCP servers"
    answer = Answer([server.to_dict() for server in found], summary, {"dry_run": True})
    console.print_rows(answer, as_json, lambda: console.print_table(importing.servers_table(answer.data)))


def import_servers(client: str | None, file: Path | None, *, yes: bool, in_file: bool, as_json: bool) -> None:
    """Add the servers of other clients, after the user has seen them.

    Raises:
        DeclinedError: The user did not agree.
    """
    found = importing.find_servers(_home(), client, file)
    ready = [server for server in found if server.state == "new"]
    data = [server.to_dict() for server in found]
    if not as_json:
        console.print_table(importing.servers_table(data))
    if ready and not yes and not console.confirm(f"Add {len(ready)} as sources?"):
        raise DeclinedError("Nothing was added.")
    importing.add_servers(_home(), ready, in_file=in_file)
    hint = {"hint": "`panorama sources test NAME` connects to one, and lists its functions."} if ready else {}
    console.print_result(Answer(data, f"Added {len(ready)} of {len(found)} servers", hint), as_json)


def show_source(name: str, *, as_json: bool) -> None:
    """Print a source."""
    config = _get_config(name)
    data = {**describe_source(config), "secrets": describe_secrets(_home(), config)}
    answer = Answer(data, f"The source {name}", {})
    console.print_answer(answer, as_json, lambda: console.print_blocks(rows.format_source(data)))


def check_source(name: str, *, as_json: bool) -> None:
    """Connect to a source and print its functions.

    Raises:
        PanoramaError: The source cannot be reached, or refuses the connection.
    """
    home = _home()
    config = _get_config(name)
    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    source = open_source(config, open_secrets(home), folder)
    try:
        deadline = Deadline.after(TEST_SECONDS)
        functions = source.list_functions(deadline)
        probe_source(config.kind, source, functions, deadline)
    finally:
        source.close()
    data = describe_functions(config, functions)
    counts = {decision: sum(row["decision"] == decision for row in data) for decision in DECISIONS}
    words = ", ".join(f"{count} {decision}" for decision, count in counts.items() if count)
    answer = Answer(data, f"{name} works: {pluralize(len(data), 'function')} ({words})", {})
    console.print_rows(answer, as_json, lambda: console.print_table(rows.functions_table(data)))


def replace_secret(name: str, key: str, *, in_file: bool, as_json: bool) -> None:
    """Store a secret that the user types."""
    home = _home()
    place, key = choose_secret(_get_config(name), key)
    reference = store_secret(home, name, key, console.read_secret(f"{key} of {name}:"), in_file=in_file)
    with edit_entries(home) as entries:
        _put_reference(get_entry(entries, name), place, key, reference)
    where = "the key file sources.keys" if reference.startswith("file:") else "the system's keyring"
    data = {"name": name, "secret": key, "reference": reference}
    console.print_result(Answer(data, f"Stored {key} of {name} in {where}", {}), as_json)


def _put_reference(entry: dict[str, Any], place: str, key: str, reference: str) -> None:
    """Write a reference into an entry; `argument_2` is the second argument of a command."""
    number = re.fullmatch("argument_([1-9][0-9]{0,3})", key)
    if place == "env" and number and int(number[1]) <= len(entry.get("args", ())):
        entry["args"][int(number[1]) - 1] = reference
    else:
        entry[place] = {**entry.get(place, {}), key: reference}


def decide(pattern: str, decision: Decision, *, as_json: bool) -> None:
    """Write a rule, and remove the same pattern from the other decisions.

    Raises:
        InvalidInputError: It is not a valid pattern.
        NotFoundError: There is no such source.
    """
    name, functions = parse_pattern(pattern)
    with edit_entries(_home()) as entries:
        set_rule(entries, name, functions, decision)
    allowed = _renew(name, functions) if decision == "allow" else []
    words = {"allow": "Scripts may call", "ask": "Panorama asks before scripts call", "deny": "Scripts cannot call"}
    data = {"source": name, "pattern": functions, "decision": decision}
    data |= {"functions": allowed} if decision == "allow" else {}
    if allowed and not as_json:
        console.print_table(rows.functions_table(allowed))
    unknown = decision == "allow" and not allowed
    hint = (
        {"hint": f"The functions of {name} are not known yet; you are asked before a script calls one."}
        if unknown
        else {}
    )
    console.print_result(Answer(data, f"{words[decision]} {name}.{functions}", hint), as_json)


def sign_in_to(name: str, *, as_json: bool) -> None:
    """Let the user sign in to a server in their browser.

    Raises:
        InvalidInputError: The source has no address where one signs in.
        NotFoundError: There is no such source.
        UnavailableError: Nobody signed in, or the server cannot be reached.
    """
    config = _get_config(name)
    if config.kind != "mcp" or not config.url:
        raise InvalidInputError(f"The source {name} needs no sign-in.", hint="Only MCP servers at an address do.")
    if not config.oauth:
        with edit_entries(_home()) as entries:
            entries[name] = {**entries[name], "auth": "oauth"}
    from panorama.sources.mcp.kind import sign_in  # half a second

    count = sign_in(
        replace(config, oauth=True), open_secrets(_home()), _home() / FOLDER,
        lambda address: console.print_message(f"Open this address in your browser:\n{address}"),
    )  # fmt: skip
    console.print_result(Answer({"name": name, "functions": count}, f"Signed in to {name}", {}), as_json)


def remove_source(name: str, *, yes: bool, as_json: bool) -> None:
    """Remove a source with its secrets, and the files that it kept.

    Raises:
        DeclinedError: The user did not agree.
    """
    home = _home()
    _get_config(name)
    if not yes and console.is_interactive() and not console.confirm(f"Remove the source {name} and its secrets?"):
        raise DeclinedError("Nothing was removed.")
    with edit_entries(home) as entries:
        entry = entries.pop(name)
    delete_secrets(home, list_references(entry))
    for file in (home / FOLDER).glob(f"{name}.*"):  # tokens of a sign-in, logs
        file.unlink(missing_ok=True)
    console.print_result(Answer({"name": name}, f"Removed the source {name}", {}), as_json)


def _renew(name: str, functions: str) -> list[dict[str, Any]]:
    """Tie the rules to the functions as they are now, and return these functions."""
    with Client() as panorama:
        answer = panorama.call("sources.renew", {"source": name, "functions": functions}, whole=True)
    return [{**row, "decision": "allow"} for row in answer.data["functions"]]


def _home() -> Path:
    return Path(data_directory())


def _get_config(name: str) -> SourceConfig:
    configs = {config.name: config for config in load_sources(_home())}
    if name not in configs:
        raise NotFoundError(f"There is no source {name!r}.", hint="`panorama sources list` shows them.")
    return configs[name]
