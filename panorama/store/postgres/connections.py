"""Connections to one space: their settings, and how they end."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.pool import QueuePool

from panorama.errors import InvalidInputError
from panorama.store.backend import noop
from panorama.store.postgres.errors import missing_password_error, pooler_error
from panorama.store.postgres.pipeline.connection import QueueingConnection, is_readable
from panorama.store.postgres.sql import DRIVER, register
from panorama.system_keyring import read_secret

KEPT_CONNECTIONS = 2
"""Connections for reading that stay open between two calls."""

MOST_CONNECTIONS = 16
"""Connections for reading that are open at most."""

TURN_SECONDS = 300
"""How long a call of a dry run waits for its turn; a call is never that long."""

IDLE_SECONDS = 10
"""After so long without a statement the server ends a write, and with it the lock of a client that is gone."""

VIEW_IDLE_SECONDS = 600
"""The same for a view, which holds up nobody."""

FEED_NAME = "panorama feed"
"""The name of the connection for notifications, as the administrator of the server sees it."""

KEYRING_SERVICE = "panorama"
"""The service of the passwords of databases in the system's keyring; the name of each is its address."""

PASSWORD_PARAMETER = "password"

MEMBER_IDLE_SECONDS = 10
"""After so long without a question the server takes a process for gone and releases its locks, even of a machine that
sleeps or lost its network.
"""

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_LOST_CLIENT = {
    "client_connection_check_interval": "5s",
    "tcp_keepalives_idle": "5s",
    "tcp_keepalives_interval": "2s",
    "tcp_keepalives_count": "2",
    "tcp_user_timeout": "6s",
}
"""How soon the server finds out that a client is gone, also one that waits for the lock and would hold it next."""

_NETWORK = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""How soon a peer that is gone is found out (seconds; the last in ms): libpq's connection parameters."""


_NEW_CONNECTION = (
    "SELECT pg_backend_pid(), current_setting('search_path'), "
    "concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())"
)
"""What a new connection asks the server. A server that recovers from a crash resets its statistics, also if it did not
start anew.
"""

_ROLE_DEFAULTS = {
    "statement_timeout": "0",  # reads have their own limit, and a long write is a move or a migration
    "idle_session_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "lock_timeout": "0",
    "standard_conforming_strings": "on",
    "extra_float_digits": "1",
    "DateStyle": "ISO",
}
"""Settings that a role or database may have defaults for that would change what statements do."""


def parse_url(text: str) -> URL:
    """Return a database's address for the driver.

    Raises:
        InvalidInputError: It is not an address of a PostgreSQL database.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # a port that is no number
        raise _invalid_url("it is not an address") from None  # the cause has a part of it, which may be a password
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise _invalid_url(f"{url.get_backend_name()} is not a kind of database that Panorama can use")
    if not url.database:
        raise _invalid_url("it names no database")
    register()
    password = url.query.get(PASSWORD_PARAMETER)
    if isinstance(password, str):
        url = url.difference_update_query([PASSWORD_PARAMETER]).set(password=password)
    return url.set(drivername=DRIVER)


def _invalid_url(reason: str) -> InvalidInputError:
    return InvalidInputError(
        f"The setting database_url cannot be used: {reason}.",
        hint="Write it as postgresql://role@host:5432/database.",
    )


def describe_url(url: URL) -> str:
    """Return a database's address without password and parameters, which is also its name in the keyring."""
    return URL.create("postgresql", url.username, None, url.host, url.port, url.database).render_as_string()


def split_password(text: str) -> tuple[str, str]:
    """Return an address without its password, and the password, "" if there is none."""
    url = parse_url(text)
    bare = URL.create("postgresql", url.username, None, url.host, url.port, url.database, url.query)
    return bare.render_as_string(hide_password=False), str(url.password or "")


def create_readers(url: URL, schema: str) -> Engine:
    """Return an engine for views, which begins none itself."""
    return _create_engine(
        url, schema, {"idle_in_transaction_session_timeout": f"{VIEW_IDLE_SECONDS}s"}, "AUTOCOMMIT",
        pool_size=KEPT_CONNECTIONS, max_overflow=MOST_CONNECTIONS - KEPT_CONNECTIONS,
    )  # fmt: skip


def create_writers(url: URL, schema: str, busy_seconds: float) -> Engine:
    """Return an engine that begins no transactions: who writes does so, together with taking the lock."""
    settings = {
        "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
        "lock_timeout": f"{busy_seconds * 1000:.0f}ms",
    }
    return _create_engine(url, schema, settings, "AUTOCOMMIT", pool_size=1, max_overflow=4)


def create_feed(url: URL, schema: str) -> Engine:
    """Return an engine for the one connection that sends and receives notifications; a second opens only at start."""
    settings = {"synchronous_commit": "off", "statement_timeout": "30s"}  # a notification need not survive the server
    return _create_engine(url, schema, settings, "AUTOCOMMIT", name=FEED_NAME, pool_size=1, max_overflow=1)


def create_members(url: URL, schema: str) -> Engine:
    """Return an engine for the one connection that holds the locks of a daemon."""
    settings = {
        "idle_session_timeout": f"{MEMBER_IDLE_SECONDS}s",
        "statement_timeout": "5s",
        "synchronous_commit": "off",  # what is lost with the server is written again
    }
    return _create_engine(url, schema, settings, "AUTOCOMMIT", pool_size=1, max_overflow=0)


def create_single(url: URL, search_path: str, before_connecting: Callable[[], None] = noop) -> Engine:
    """Return an engine with one connection, for which threads take turns.

    Args:
        before_connecting: Called before the connection is opened, or opened again; what it raises prevents that.
    """
    return _create_engine(
        url, search_path, {}, "AUTOCOMMIT", before_connecting=before_connecting,
        pool_size=1, max_overflow=0, pool_timeout=TURN_SECONDS,
    )  # fmt: skip


def _create_engine(
    url: URL,
    schema: str,
    settings: dict[str, str],
    isolation: Any,
    *,
    name: str = "panorama",
    before_connecting: Callable[[], None] = noop,
    **pool: int,
) -> Engine:
    options = {
        "search_path": schema,
        "timezone": "UTC",
        "jit": "off",  # to compile a statement takes longer than to run it
        "max_parallel_workers_per_gather": "0",  # to start a worker does too
        "plan_cache_mode": "force_custom_plan",  # a plan for any word is a hundred times slower for some
        **_LOST_CLIENT,
        **_ROLE_DEFAULTS,
        **settings,
    }
    engine = create_engine(
        url,
        poolclass=QueuePool,
        connect_args={
            **_NETWORK,
            "application_name": name,
            "client_encoding": "utf8",
            "options": " ".join(f"-c {name}={value}" for name, value in options.items()),
        },
        isolation_level=isolation,
        json_serializer=_COMPACT.encode,
        paramstyle="format",
        use_native_hstore=False,  # it would ask the server for the type's number
        hide_parameters=True,  # user data stays out of logs
        **pool,
    )
    event.listen(engine, "do_connect", _Connector(url, before_connecting))
    event.listen(engine, "connect", partial(_require_direct, schema))
    event.listen(engine, "checkout", _require_open)
    return engine


class _Connector:
    """Opens connections, with the password of the keyring if the server asks for one and nothing else has it."""

    def __init__(self, url: URL, before_connecting: Callable[[], None]) -> None:
        self._address = describe_url(url)
        self._before_connecting = before_connecting
        self._password = ""

    def __call__(self, _dialect: object, _record: object, _arguments: object, parameters: dict[str, Any]) -> Any:
        """Open a connection.

        Raises:
            InvalidInputError: The address has a parameter that does not exist.
            UnavailableError: There is no password.
        """
        self._before_connecting()
        if self._password:
            parameters["password"] = self._password
        try:
            return QueueingConnection.connect(**parameters)
        except psycopg.ProgrammingError as error:
            raise _invalid_url(str(error).strip()) from None
        except psycopg.OperationalError as error:
            if self._password or not (error.pgconn and error.pgconn.needs_password):
                raise
        self._password = read_secret(KEYRING_SERVICE, self._address) or ""
        if not self._password:
            raise missing_password_error(self._address)
        parameters["password"] = self._password
        return QueueingConnection.connect(**parameters)


def _require_direct(search_path: str, connection: Any, _record: object) -> None:
    """Check that a new connection leads to the server itself: a pooler gives its settings and locks to others.

    The same statement tells the connection when the server started.

    Raises:
        UnavailableError: It leads to a pooler.
    """
    driver: QueueingConnection = connection
    is_autocommit = driver.autocommit
    driver.autocommit = True
    pid, path, driver.server_start = driver.execute(_NEW_CONNECTION).fetchone() or (0, "", "")
    driver.autocommit = is_autocommit
    if (pid, path) != (driver.info.backend_pid, search_path):
        driver.close()
        raise pooler_error()


def _require_open(connection: Any, _record: object, _proxy: object) -> None:
    """Find out whether the server closed an idle connection, without a round trip; the pool then opens another."""
    try:
        connection.finish_ending()
    except psycopg.OperationalError as error:
        raise DisconnectionError from error
    if not is_open(connection):
        raise DisconnectionError


def is_open(connection: psycopg.Connection[Any]) -> bool:
    """Return whether the server has not closed an idle connection: to one that it closed, an end is waiting."""
    return not (connection.closed or is_readable(connection.fileno()))


def driver_connection(connection: Connection) -> QueueingConnection:
    """Return the driver's connection behind one of SQLAlchemy's."""
    driver: Any = connection.connection.dbapi_connection
    return getattr(driver, "driver_connection", driver)


def release(connection: Connection) -> None:
    """Give a connection back to the pool, without what was not committed; one that is closed is forgotten."""
    if driver_connection(connection).closed:
        discard(connection)
    else:
        connection.close()  # the pool rolls back, which costs nothing outside a transaction


def discard(connection: Connection) -> None:
    """Close a connection for good instead of giving it back to the pool."""
    if not connection.invalidated:
        connection.invalidate()
    connection.close()
