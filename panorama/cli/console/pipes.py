"""Broken pipes: what happens when nobody reads on (`| head`)."""

import os
import sys


def silence_stdout() -> None:
    """Send what is still to be written nowhere, so that the interpreter's last flush is silent too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
