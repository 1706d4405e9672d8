"""`panorama daemon`: run, show, stop and restart the daemon, and show its log."""

import os
import time
from collections import deque
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from panorama.cli.client import Client, translate_errors
from panorama.cli.console import console, status_tables
from panorama.cli.daemon_process import REQUEST_SECONDS, connect_to_daemon, end_daemon
from panorama.cli.options import AsJson, examples, group, option
from panorama.errors import UnavailableError
from panorama.transport.address import (
    Address,
    data_directory,
)
from panorama.transport.launch import exclusive_start, launch

FOLLOW_SECONDS = 0.25
app = group("daemon", "Manage the background process that serves all clients.", default="status")


def serve(
    http: Annotated[
        int | None,
        option("Also serve MCP over HTTP on this local port.", "--http", metavar="PORT", min=1, max=65535),
    ] = None,
    detached: Annotated[bool, option("", "--detached", hidden=True)] = False,
) -> None:
    """Run the daemon in the foreground. Clients start it automatically."""
    from panorama.daemon.serve import serve as be_daemon  # a second

    be_daemon(detached=detached, http_port=http)


def daemons(as_json: AsJson = False) -> None:
    """List the daemons of all machines that serve the data, and which of them does what is done once."""
    with Client() as panorama:
        answer = panorama.call("daemons.list", {})
        now = panorama.now
    rows = answer.data["daemons"]
    console.print_answer(answer, as_json, lambda: console.print_table(status_tables.daemons(rows, now)))


@app.command(epilog=examples("panorama daemon status", "panorama daemon status --json"))
def status(as_json: AsJson = False) -> int:
    """Show whether the daemon runs, since when, and who is connected."""
    address = Address(data_directory())
    status_data = _fetch_status(address)
    summary = (
        f"The daemon runs as process {status_data['pid']}"
        if status_data
        else "No daemon is running; the next client starts one"
    )
    if as_json:
        console.print_json(
            {"data": status_data, "summary": summary, "metadata": {"source": "daemon", "policy": "read"}}
        )
    else:
        console.print_message(summary)
        console.print_table(status_tables.daemon(status_data))
    return 0 if status_data else 1


def _fetch_status(address: Address) -> dict[str, Any]:
    """Return the daemon's status, empty if none runs."""
    direct = connect_to_daemon(address)
    if direct is None:
        return {}
    with direct, translate_errors():
        return direct.request("panorama/daemon", {})


@app.command(epilog=examples("panorama daemon stop", "panorama daemon stop --force   # if it does not answer"))
def stop(
    force: Annotated[bool, option("Kill it if it does not stop in time.", "--force")] = False,
) -> None:
    """Stop the daemon after running calls have finished. Open clients start it again when needed."""
    address = Address(data_directory())
    pid = end_daemon(address, again=False, force=force)
    console.print_message(f"The daemon (process {pid}) has ended" if pid else "No daemon is running")


@app.command(epilog=examples("panorama daemon restart"))
def restart(
    force: Annotated[bool, option("Kill it if it does not stop in time.", "--force")] = False,
) -> None:
    """Restart the daemon with the current settings; no call is lost."""
    address = Address(data_directory())

    with translate_errors(), exclusive_start(address):
        _keep_http(address)
        end_daemon(address, again=True, force=force)
        launch(address)
    console.print_message(f"The daemon runs as process {address.find_pid()}")


def _keep_http(address: Address) -> None:
    """Pass the HTTP port of this daemon to the next one (`panorama serve --http`)."""
    with suppress(UnavailableError), translate_errors():
        if (direct := connect_to_daemon(address, REQUEST_SECONDS)) is not None:
            with direct:
                port = direct.request("panorama/daemon", {}).get("http_port")
            if port:
                os.environ["PANORAMA_HTTP_PORT"] = str(port)


@app.command(epilog=examples("panorama daemon logs", "panorama daemon logs -n 200 --follow"))
def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="The number of last lines.")] = 50,
    follow: Annotated[bool, option("Follow the log until Ctrl-C.", "--follow", "-f")] = False,
) -> None:
    """Show the daemon's log."""
    path = Path(Address(data_directory()).log)
    if not path.exists():
        console.print_message(f"{path} does not exist yet")
        return
    with ExitStack() as stack:
        file = stack.enter_context(path.open(encoding="utf-8", errors="replace"))
        console.print_text("".join(deque(file, maxlen=lines)))
        while follow:
            time.sleep(FOLLOW_SECONDS)
            console.print_text(file.read())
            if path.exists() and path.stat().st_ino != os.fstat(file.fileno()).st_ino:  # truncated
                file = stack.enter_context(path.open(encoding="utf-8", errors="replace"))
