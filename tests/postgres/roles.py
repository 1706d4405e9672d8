"""Roles of a server, as the people who share it."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg import sql
from sqlalchemy import make_url

PASSWORD = "a wörd/of @them:all"


@contextmanager
def create_roles(url: str, *names: str) -> Generator[dict[str, str]]:
    """Yield the address of a database for each role; at the end the roles are dropped with all they own there."""
    with psycopg.connect(url, autocommit=True) as admin:
        for name in names:
            _drop_role(admin, name)
            statement = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
            admin.execute(statement.format(sql.Identifier(name), sql.Literal(PASSWORD)))
        try:
            yield {name: _address_for(admin, url, name) for name in names}
        finally:
            for name in names:
                _drop_role(admin, name)


def _drop_role(admin: psycopg.Connection, name: str) -> None:
    if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)).fetchone():
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (name,))
        admin.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(sql.Identifier(name)))
        admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def _address_for(admin: psycopg.Connection, url: str, name: str) -> str:
    """Return the address over TCP, if the server has one: a socket may let in only the user of the same name."""
    hosts, port = (admin.execute(f"SHOW {setting}".encode()).fetchone() for setting in ("listen_addresses", "port"))
    address = make_url(url).set(username=name, password=PASSWORD)
    if hosts and hosts[0] and port:
        host = hosts[0].split(",")[0].strip()
        address = address.set(host="127.0.0.1" if host in ("*", "localhost") else host, port=int(port[0]), query={})
    return address.render_as_string(hide_password=False).replace(" ", "%20")
