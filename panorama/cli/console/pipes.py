"""Broken pipes, as with `| head`."""

import os
import sys


def silence_stdout() -> None:
    """Redirect remaining output to the null device, so that the interpreter's last flush is silent."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
