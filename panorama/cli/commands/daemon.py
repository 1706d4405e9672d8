"""The commands of the daemon: to be it, to see it, to end it, to read its log."""

import os
import time
from collections import deque
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from panorama.cli.client import translate_errors
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
app = group("daemon", "The process that owns the store and serves every client.", default="status")


def serve(
    http: Annotated[
        int | None,
        option("Also serve MCP over HTTP on this port of this machine.", "--http", metavar="PORT", min=1, max=65535),
    ] = None,
    detached: Annotated[bool, option("", "--detached", hidden=True)] = False,
) -> None:
    """Be the daemon, in the foreground. There is no need to: the first client starts one by itself."""
    from panorama.daemon.serve import serve as be_daemon  # a second

    be_daemon(detached=detached, http_port=http)


@app.command(epilog=examples("panorama daemon status", "panorama daemon status --json"))
def status(as_json: AsJson = False) -> int:
    """Return whether the daemon runs, since when, and who is connected."""
    address = Address(data_directory())
    status_data = _fetch_status(address)
    summary = (
        f"The daemon runs as process {status_data['pid']}"
        if status_data
        else "No daemon runs; the next client starts one"
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
    """Return what the daemon tells of itself, empty if none runs."""
    direct = connect_to_daemon(address)
    if direct is None:
        return {}
    with direct, translate_errors():
        return direct.request("panorama/daemon", {})


@app.command(epilog=examples("panorama daemon stop", "panorama daemon stop --force   # if it does not answer"))
def stop(
    force: Annotated[bool, option("Kill it if it does not leave in time.", "--force")] = False,
) -> None:
    """Let the daemon finish what runs and end. Open clients start it again when they need it."""
    address = Address(data_directory())
    pid = end_daemon(address, again=False, force=force)
    console.print_message(f"The daemon (process {pid}) has ended" if pid else "No daemon runs")


@app.command(epilog=examples("panorama daemon restart"))
def restart(
    force: Annotated[bool, option("Kill it if it does not leave in time.", "--force")] = False,
) -> None:
    """Let the daemon finish what runs, and start a new one with the settings of this moment; no call is lost."""
    address = Address(data_directory())

    with translate_errors(), exclusive_start(address):
        _keep_http(address)
        end_daemon(address, again=True, force=force)
        launch(address)
    console.print_message(f"The daemon runs as process {address.find_pid()}")


def _keep_http(address: Address) -> None:
    """Let the next daemon serve over HTTP where this one was told to (`panorama serve --http`)."""
    with suppress(UnavailableError), translate_errors():
        if (direct := connect_to_daemon(address, REQUEST_SECONDS)) is not None:
            with direct:
                port = direct.request("panorama/daemon", {}).get("http_port")
            if port:
                os.environ["PANORAMA_HTTP_PORT"] = str(port)


@app.command(epilog=examples("panorama daemon logs", "panorama daemon logs -n 200 --follow"))
def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last lines.")] = 50,
    follow: Annotated[bool, option("Go on until Ctrl-C.", "--follow", "-f")] = False,
) -> None:
    """Show the daemon's log."""
    path = Path(Address(data_directory()).log)
    if not path.exists():
        console.print_message(f"There is no {path} yet")
        return
    with ExitStack() as stack:
        file = stack.enter_context(path.open(encoding="utf-8", errors="replace"))
        console.print_text("".join(deque(file, maxlen=lines)))
        while follow:
            time.sleep(FOLLOW_SECONDS)
            console.print_text(file.read())
            if path.exists() and path.stat().st_ino != os.fstat(file.fileno()).st_ino:  # begun anew
                file = stack.enter_context(path.open(encoding="utf-8", errors="replace"))
