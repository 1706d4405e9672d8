"""A stand-in for a Qdrant server: the part of its REST interface that we use, with the client's local mode behind it.

It records every request, and validates every body by the models of qdrant-client, which come from the server's own
description and forbid fields that they do not know. Filters on fields without an index are refused as by strict mode.
So it proves our side of the wire, and the local mode is an oracle for what is found. It proves nothing of the server's
own semantics; for that the same tests run against a real one with `PANORAMA_TEST_QDRANT_URL`.
"""

import json
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from qdrant_client import models as m
from qdrant_client.local.qdrant_local import QdrantLocal

Body = Mapping[str, Any]
DONE = {"operation_id": 1, "status": "completed"}
CUT, CUT_AFTER = -1, -2
"""Statuses that close the connection without an answer: before the request is carried out, and after it."""


@dataclass
class Request:
    """What was asked."""

    method: str
    path: str
    query: str
    body: Body
    key: str | None

    @property
    def is_write(self) -> bool:
        """Whether it changes anything."""
        return self.method != "GET" and not self.path.endswith(("/query", "/count", "/scroll"))


class RefusedError(Exception):
    """What is asked cannot be done, with the status that says so."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class StandIn(ThreadingHTTPServer):
    """The server; `delay` makes each request wait, `says` replaces the body of each answer.

    `fails_with` makes every answer that status; `failing` does so for a single request, if it returns one.
    """

    daemon_threads = False
    block_on_close = True

    def __init__(self, key: str = "", version: str = "1.20.0") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.key = key
        self.version = version
        self.fails_with = 0
        self.failing: Callable[[Request], int] = lambda _: 0
        self.delay = threading.Event()
        self.waits = False
        self.replica_state = "Active"
        self.says = b""
        self.local = QdrantLocal(":memory:")
        self.created: dict[str, m.CreateCollection] = {}
        self.indexes: dict[str, dict[str, Any]] = {}
        self.requests: list[Request] = []
        self.lock = threading.Lock()
        self.connections: set[socket.socket] = set()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def asked(self, method: str, path: str) -> list[Request]:
        """Return the requests of a method whose path ends in this."""
        return [request for request in self.requests if request.method == method and request.path.endswith(path)]

    @property
    def names(self) -> list[str]:
        """The names of its collections."""
        return list(self.local.collections)

    @property
    def sizes(self) -> set[int]:
        """The dimensions of its collections."""
        return {self.local.collections[name].get_vector_params("").size for name in self.names}

    def points(self, name: str = "") -> list[dict[str, Any]]:
        """Return the payloads of the points of a collection, or of all."""
        names = [name] if name else self.names
        pages = [self.local.scroll(alias, limit=100_000)[0] for alias in names]
        return [dict(record.payload or {}) for page in pages for record in page]

    def drop(self) -> None:
        """Lose all collections."""
        for name in self.names:
            _drop(self, name, {})

    def resize(self, size: int) -> None:
        """Put empty collections with vectors of another size in the place of those that are there."""
        aliases = dict(self.local.aliases)
        for name, created in list(self.created.items()):
            params = m.VectorParams(size=size, distance=m.Distance.COSINE)
            self.local.delete_collection(name)
            self.local.create_collection(name, vectors_config=params, metadata=created.metadata)
        self.local.aliases = aliases

    def finish(self) -> None:
        """Let go of all who wait, and of the connections that are kept open."""
        self.delay.set()
        for connection in list(self.connections):
            with_shutdown(connection)


def with_shutdown(connection: socket.socket) -> None:
    """End a connection that may have ended."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


@contextmanager
def standing_in(key: str = "", version: str = "1.20.0") -> Generator[StandIn]:
    """Serve until the end of the block."""
    server = StandIn(key, version)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.finish()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: StandIn

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer()

    do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815 (the library's names)

    def _answer(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path, _, query = self.path.partition("?")
        request = Request(self.command, path, query, body, self.headers.get("api-key"))
        began = time.monotonic()
        if self.server.waits:
            self.server.delay.wait(20)
        try:
            with self.server.lock:
                self.server.requests.append(request)
                result = _result(self.server, request)
                if path != "/":
                    result = {"result": result, "status": "ok", "time": time.monotonic() - began}
            status, said = 200, result
        except RefusedError as refused:
            status, said = refused.status, {"status": {"error": f"{refused}"}, "time": 0.0}
        if status in (CUT, CUT_AFTER):
            self.close_connection = True
            with_shutdown(self.connection)
        else:
            self._send(status, json.dumps(said).encode())

    def _send(self, status: int, body: bytes) -> None:
        body = self.server.says or body
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _result(server: StandIn, request: Request) -> Any:
    status = server.fails_with or server.failing(request)
    if status and status != CUT_AFTER:
        raise RefusedError(status, "told to fail")
    result = _carry_out(server, request)
    if status:
        raise RefusedError(status, "told to fail")
    return result


def _carry_out(server: StandIn, request: Request) -> Any:
    if request.path == "/":
        return {"title": "qdrant - vector search engine", "version": server.version}
    if server.key and request.key != server.key:
        raise RefusedError(401, "Invalid API key or JWT")
    for method, pattern, answer in ROUTES:
        match = re.fullmatch(pattern, request.path)
        if match and method == request.method:
            return _answer_by(server, answer, match.groupdict().get("name", ""), request.body)
    raise RefusedError(404, f"no such path {request.path}")


def _answer_by(server: StandIn, answer: "Route", name: str, body: Body) -> Any:
    try:
        with warnings.catch_warnings(action="ignore"):  # of the local mode: it does without indexes of payloads
            result = answer(server, name, body)
    except ValidationError as error:
        raise RefusedError(400, f"invalid body: {error}") from error
    except ValueError as error:
        raise RefusedError(404 if "not found" in f"{error}" else 400, f"{error}") from error
    return result.model_dump(mode="json", exclude_none=True) if isinstance(result, BaseModel) else result


Route = Callable[[StandIn, str, Body], Any]


def _parse(model: Any, body: Body) -> Any:
    """Validate a body by one of the client's models."""
    return TypeAdapter(model).validate_python(body)


def _real_name(server: StandIn, name: str) -> str:
    """Return the name of a collection, given that or its alias."""
    server.local.get_collection(name)  # it says so if there is none
    return server.local.aliases.get(name, name)


def _strict(server: StandIn, name: str, passing: m.Filter | None) -> m.Filter | None:
    """Refuse a filter on a field without an index."""
    indexes = server.indexes[_real_name(server, name)]
    must = passing.must if passing else None
    for condition in must if isinstance(must, list) else []:
        if isinstance(condition, m.FieldCondition) and condition.key not in indexes:
            raise RefusedError(400, f'Bad request: Index required but not found for "{condition.key}"')
    return passing


def _create(server: StandIn, name: str, body: Body) -> bool:
    asked = _parse(m.CreateCollection, body)
    if name in server.created:
        raise RefusedError(409, f"Collection `{name}` already exists!")
    server.local.create_collection(name, vectors_config=asked.vectors, metadata=asked.metadata)
    server.created[name], server.indexes[name] = asked, {}
    return True


def _info(server: StandIn, name: str, _: Body) -> Body:
    real = _real_name(server, name)
    shown: dict[str, Any] = server.local.get_collection(real).model_dump(mode="json", exclude_none=True)
    shown["config"]["params"]["replication_factor"] = server.created[real].replication_factor or 1
    fields = {field: {"data_type": schema["type"], "points": 0} for field, schema in server.indexes[real].items()}
    return {**shown, "payload_schema": fields}


def _index(server: StandIn, name: str, body: Body) -> Body:
    asked = _parse(m.CreateFieldIndex, body)
    server.indexes[name][asked.field_name] = body["field_schema"]
    return DONE


def _upsert(server: StandIn, name: str, body: Body) -> Body:
    asked = _parse(m.PointInsertOperations, body)
    _strict(server, name, asked.update_filter)
    server.local.upsert(name, asked.points, update_filter=asked.update_filter)
    return DONE


def _delete(server: StandIn, name: str, body: Body) -> Body:
    asked = _parse(m.PointsSelector, body)
    _strict(server, name, asked.filter)
    server.local.delete(name, asked)
    return DONE


def _query(server: StandIn, name: str, body: Body) -> Any:
    asked = _parse(m.QueryRequest, body)
    passing = _strict(server, name, asked.filter)
    return server.local.query_points(
        name, asked.query.nearest, query_filter=passing, limit=asked.limit, with_payload=asked.with_payload
    )


def _count(server: StandIn, name: str, body: Body) -> Any:
    asked = _parse(m.CountRequest, body)
    return server.local.count(name, _strict(server, name, asked.filter))


def _scroll(server: StandIn, name: str, body: Body) -> Body:
    asked = _parse(m.ScrollRequest, body)
    passing = _strict(server, name, asked.filter)
    found, following = server.local.scroll(name, passing, limit=asked.limit, offset=asked.offset)
    return {"points": [item.model_dump(mode="json") for item in found], "next_page_offset": following}


def _drop(server: StandIn, name: str, _: Body) -> bool:
    server.indexes.pop(name, None)
    server.created.pop(name, None)
    return server.local.delete_collection(name)


def _switch(server: StandIn, _: str, body: Body) -> bool:
    asked = _parse(m.ChangeAliasesOperation, body)
    return server.local.update_collection_aliases(asked.actions)


def _cluster(server: StandIn, name: str, _: Body) -> Body:
    _real_name(server, name)
    shard = {"shard_id": 0, "points_count": 0, "state": server.replica_state}
    return {"peer_id": 1, "shard_count": 1, "local_shards": [shard], "remote_shards": [], "shard_transfers": []}


ROUTES: list[tuple[str, str, Route]] = [
    ("GET", r"/collections", lambda server, _, __: server.local.get_collections()),
    ("GET", r"/aliases", lambda server, _, __: server.local.get_aliases()),
    ("POST", r"/collections/aliases", _switch),
    ("GET", r"/collections/(?P<name>[^/]+)", _info),
    ("GET", r"/collections/(?P<name>[^/]+)/cluster", _cluster),
    ("PUT", r"/collections/(?P<name>[^/]+)", _create),
    ("DELETE", r"/collections/(?P<name>[^/]+)", _drop),
    ("PUT", r"/collections/(?P<name>[^/]+)/index", _index),
    ("PUT", r"/collections/(?P<name>[^/]+)/points", _upsert),
    ("POST", r"/collections/(?P<name>[^/]+)/points/delete", _delete),
    ("POST", r"/collections/(?P<name>[^/]+)/points/query", _query),
    ("POST", r"/collections/(?P<name>[^/]+)/points/count", _count),
    ("POST", r"/collections/(?P<name>[^/]+)/points/scroll", _scroll),
]
