"""A pooler in front of a server: pgbouncer, which gives a connection to another client after each transaction."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import make_url

PATIENCE = 10.0
_CONFIGURATION = """\
[databases]
* = host={host} port={server_port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = plain
auth_file = {folder}/users
pool_mode = transaction
logfile = {folder}/log
{extra}
"""


@contextmanager
def run_pooler(url: str, extra: str = "") -> Generator[str]:
    """Yield the address of a pooler in front of the server of an address.

    Args:
        extra: A further line of its configuration.
    """
    address = make_url(url)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="panorama-pooler") as name:
        folder = Path(name)
        password = str(address.password).replace('"', '""')
        (folder / "users").write_text(f'"{address.username}" "{password}"\n')
        (folder / "pooler.ini").write_text(
            _CONFIGURATION.format(host=address.host, server_port=address.port, port=port, folder=folder, extra=extra)
        )
        user = "postgres" if os.geteuid() == 0 else None  # it does not run as root
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, user) if user else None
        process = subprocess.Popen(["pgbouncer", "-q", str(folder / "pooler.ini")], user=user)
        try:
            _wait_for(port)
            yield address.set(host="127.0.0.1", port=port).render_as_string(hide_password=False).replace(" ", "%20")
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert time.monotonic() < deadline, "pgbouncer does not start"
            time.sleep(0.05)
        else:
            return
