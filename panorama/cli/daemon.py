"""The commands of the daemon: to be it, to see it, to end it, to read its log."""

import os
import signal
import time
from collections import deque
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from panorama.address import GREETING_SECONDS, NOBODY, Address, data_directory, greeted, hello
from panorama.cli import show, state_tables
from panorama.cli.client import CONVERSATION, translated
from panorama.cli.options import AsJson, examples, group, option
from panorama.direct import Direct
from panorama.errors import UnavailableError
from panorama.starting import alone, launch

STOP_SECONDS = 40.0
"""How long a daemon is given to leave: it finishes what runs, for at most 30 seconds."""

ASKING_SECONDS = 3.0
KILL_SECONDS = 5.0
FOLLOW_SECONDS = 0.25
app = group("daemon", "The process that owns the store and serves every client.")


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
    """Tell whether the daemon runs, since when, and who is connected."""
    address = Address(data_directory())
    told = _told(address)
    summary = f"The daemon runs as process {told['pid']}" if told else "No daemon runs; the next client starts one"
    if as_json:
        show.data({"data": told, "summary": summary, "metadata": {"source": "daemon", "policy": "read"}})
    else:
        show.aside(summary)
        show.sheet(state_tables.daemon(told))
    return 0 if told else 1


def _told(address: Address) -> dict[str, Any]:
    """Return what the daemon tells of itself, empty if none runs."""
    direct = _reached(address)
    if direct is None:
        return {}
    with direct, translated():
        return direct.ask("panorama/daemon", {})


def _reached(address: Address, seconds: float = GREETING_SECONDS) -> Direct | None:
    with translated():
        try:
            return Direct(address, greeted(address, hello(address, "calls", CONVERSATION), seconds=seconds))
        except NOBODY:
            return None


@app.command(epilog=examples("panorama daemon stop", "panorama daemon stop --force   # if it does not answer"))
def stop(
    force: Annotated[bool, option("Kill it if it does not leave in time.", "--force")] = False,
) -> None:
    """Let the daemon finish what runs and end. Open clients start it again when they need it."""
    address = Address(data_directory())
    pid = end_daemon(address, again=False, force=force)
    show.aside(f"The daemon (process {pid}) has ended" if pid else "No daemon runs")


@app.command(epilog=examples("panorama daemon restart"))
def restart(
    force: Annotated[bool, option("Kill it if it does not leave in time.", "--force")] = False,
) -> None:
    """Let the daemon finish what runs, and start a new one with the settings of this moment; no call is lost."""
    address = Address(data_directory())

    with translated(), alone(address):
        _keep_http(address)
        end_daemon(address, again=True, force=force)
        launch(address)
    show.aside(f"The daemon runs as process {address.pid()}")


def end_daemon(address: Address, *, again: bool, force: bool = False) -> int | None:
    """Let the daemon finish what runs, and wait for its end; return its process, None if none ran.

    Args:
        again: Whether open clients are to look for a successor at once.

    Raises:
        UnavailableError: It has not left in time.
    """
    pid = address.pid()
    if pid is not None:
        _ask_to_stop(address, pid, again=again)
        _await_end(address, pid, force=force)
    return pid


def _keep_http(address: Address) -> None:
    """Let the next daemon serve over HTTP where this one was told to (`panorama serve --http`)."""
    with suppress(UnavailableError), translated():
        if (direct := _reached(address, ASKING_SECONDS)) is not None:
            with direct:
                port = direct.ask("panorama/daemon", {}).get("http_port")
            if port:
                os.environ["PANORAMA_HTTP_PORT"] = str(port)


def _ask_to_stop(address: Address, pid: int, *, again: bool) -> None:
    """Ask over the socket; a daemon that does not answer there is sent a signal."""
    with suppress(UnavailableError):
        if (direct := _reached(address, ASKING_SECONDS)) is not None:
            with direct, translated():
                direct.ask("panorama/stop", {"again": again})
            return
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


def _await_end(address: Address, pid: int, *, force: bool) -> None:
    if _ended(address, pid, KILL_SECONDS if force else STOP_SECONDS):
        return
    if not force:
        raise UnavailableError(
            f"The daemon (process {pid}) is still running.", hint="Wait, or `panorama daemon stop --force` kills it."
        )
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _ended(address, pid, KILL_SECONDS)


def _ended(address: Address, pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while address.pid() == pid:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@app.command(epilog=examples("panorama daemon logs", "panorama daemon logs -n 200 --follow"))
def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last lines.")] = 50,
    follow: Annotated[bool, option("Go on until Ctrl-C.", "--follow", "-f")] = False,
) -> None:
    """Show the daemon's log."""
    path = Path(Address(data_directory()).log)
    if not path.exists():
        show.aside(f"There is no {path} yet")
        return
    with ExitStack() as stack:
        file = stack.enter_context(path.open(encoding="utf-8", errors="replace"))
        show.text("".join(deque(file, maxlen=lines)))
        while follow:
            time.sleep(FOLLOW_SECONDS)
            show.text(file.read())
            if path.exists() and path.stat().st_ino != os.fstat(file.fileno()).st_ino:  # begun anew
                file = stack.enter_context(path.open(encoding="utf-8", errors="replace"))
