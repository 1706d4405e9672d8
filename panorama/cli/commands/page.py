"""`panorama open`: starts the web page and signs a browser in."""

import html
import os
import sys
from pathlib import Path
from typing import Annotated

from panorama.cli.client import CONVERSATION, translate_errors
from panorama.cli.console import console
from panorama.cli.options import argument, option
from panorama.errors import UnavailableError
from panorama.transport.address import Address, data_directory, hello_message, is_in_process
from panorama.transport.launch import connect_or_launch
from panorama.transport.rpc_client import RpcClient

_REDIRECT = """\
<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Panorama</title>
<meta http-equiv="refresh" content="0;url={first}">
<p>Panorama opens. If it does not: <a href="{first}">by name</a>, or <a href="{second}">by number</a>.</p>
"""


def open_page(
    view: Annotated[str, argument("The page to show first: today, tasks, notes, review, scripts …")] = "",
    read_only: Annotated[bool, option("Let this browser read, but not change anything.", "--read-only")] = False,
    print_: Annotated[bool, option("Only print the addresses and the code.", "--print")] = False,
) -> None:
    """Open the web page of this machine in your browser, and sign it in.

    The address works once, for a minute. Sessions last 30 days; the page's settings list and end them.
    """
    if is_in_process():
        raise UnavailableError("The page needs the daemon.", hint="Run it without PANORAMA_NO_DAEMON.")
    address = Address(data_directory())
    with translate_errors():
        greeted = connect_or_launch(address, hello_message(address, "calls", CONVERSATION))
        with RpcClient(address, greeted) as client:
            page = client.request("panorama/page", {"view": view, "read_only": read_only})
    if not print_ and _open_in_browser(Path(page["file"]), page["addresses"]):
        console.print_message("Panorama opens in your browser")
        return
    first, second = page["addresses"]
    console.print_text(f"{first}\n{second}\n")
    console.print_message(f"Open one of them within a minute; each works once. The code is {page['code']}", "dim")


def _open_in_browser(file: Path, addresses: list[str]) -> bool:
    """Open a file that leads to the address; return whether there is a browser for it.

    A browser's command line can be read by every user of the machine, so the code is in a file that only its owner can
    read.
    """
    if not _has_display():
        return False
    import webbrowser  # 20 ms

    first, second = map(html.escape, addresses)
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as stream:
        stream.write(_REDIRECT.format(first=first, second=second))
    return webbrowser.open(file.as_uri())


def _has_display() -> bool:
    """Return whether a graphical browser can be shown here, and not on the other side of a remote terminal."""
    if "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform == "darwin" or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))
