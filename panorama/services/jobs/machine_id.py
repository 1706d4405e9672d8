"""The name of this machine in a shared database, stored in the data directory: host names may be the same."""

import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path

from panorama.domain.items.item import BASE32
from panorama.errors import UnavailableError

FILE_NAME = "machine"
MAX_HOST_CHARS = 40
RANDOM_CHARS = 8


def read_machine_id(home: Path) -> str:
    """Return the machine's name, such as `laptop-7k3q9xv2`; the first call creates it.

    Raises:
        UnavailableError: The data directory cannot be written or read.
    """
    path = home / FILE_NAME
    try:
        with suppress(FileNotFoundError):
            if name := path.read_text(encoding="utf-8").strip():
                return name
        return _create(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UnavailableError(
            f"The file {path}, which names this machine, cannot be used.",
            hint="Check its owner and permissions, or remove it: a new one is created.",
        ) from error


def _create(path: Path) -> str:
    host = socket.gethostname().split(".")[0][:MAX_HOST_CHARS] or "machine"
    name = f"{host.replace(' ', '-')}-{''.join(secrets.choice(BASE32) for _ in range(RANDOM_CHARS))}"
    part = path.with_name(f"{FILE_NAME}.{os.getpid()}.part")
    part.write_text(f"{name}\n", encoding="utf-8")
    part.replace(path)
    return name
