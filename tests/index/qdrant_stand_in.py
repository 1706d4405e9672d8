"""A stand-in for a Qdrant server: the part of its REST interface that we use, over HTTP, with numpy behind it.

It records every request, and answers 400 to bodies that hold what it does not know. So it proves our side of the wire:
what we send, with which key, and what we make of the answers. It proves nothing of the server's own semantics; for that
the same tests run against a real one with `PANORAMA_TEST_QDRANT_URL`.
"""

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import numpy as np

Body = Mapping[str, Any]
DONE = {"operation_id": 1, "status": "completed"}


@dataclass
class Request:
    """What was asked."""

    method: str
    path: str
    query: str
    body: Body
    key: str | None


@dataclass
class Collection:
    """Points by id, each a vector of length 1 and a payload."""

    size: int
    metadata: Body
    indexes: dict[str, Any] = field(default_factory=dict)
    points: dict[str, tuple[Any, Body]] = field(default_factory=dict)


class RefusedError(Exception):
    """What is asked cannot be done, with the status that says so."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class StandIn(ThreadingHTTPServer):
    """The server; `fails_with` makes every answer that status, `delay` makes each wait, `says` replaces its body."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, key: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.key = key
        self.fails_with = 0
        self.delay = threading.Event()
        self.waits = False
        self.says = b""
        self.collections: dict[str, Collection] = {}
        self.requests: list[Request] = []
        self.lock = threading.Lock()
        self.connections: set[socket.socket] = set()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def asked(self, method: str, path: str) -> list[Request]:
        """Return the requests of a method whose path ends in this."""
        return [each for each in self.requests if each.method == method and each.path.endswith(path)]

    def finish(self) -> None:
        """Let go of all who wait, and of the connections that are kept open."""
        self.delay.set()
        for each in list(self.connections):
            with_shutdown(each)


def with_shutdown(connection: socket.socket) -> None:
    """End a connection that may have ended."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


@contextmanager
def standing_in(key: str = "") -> Generator[StandIn]:
    """Serve until the end of the block."""
    server = StandIn(key)
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
                said: Any = {"result": _result(self.server, request), "status": "ok"}
            status = 200
        except RefusedError as refused:
            status, said = refused.status, {"status": {"error": f"{refused}"}}
        self._send(status, json.dumps({**said, "time": time.monotonic() - began}).encode())

    def _send(self, status: int, body: bytes) -> None:
        body = self.server.says or body
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _result(server: StandIn, request: Request) -> Any:
    if server.fails_with:
        raise RefusedError(server.fails_with, "told to fail")
    if server.key and request.key != server.key:
        raise RefusedError(401, "Invalid API key or JWT")
    for method, pattern, answer in ROUTES:
        match = re.fullmatch(pattern, request.path)
        if match and method == request.method:
            return answer(server, match["name"], request.body)
    raise RefusedError(404, f"no such path {request.path}")


def _collection(server: StandIn, name: str) -> Collection:
    if name not in server.collections:
        raise RefusedError(404, f"Not found: Collection `{name}` doesn't exist!")
    return server.collections[name]


def _only(body: Body, *names: str) -> None:
    if unknown := set(body) - set(names):
        raise RefusedError(400, f"unknown fields {sorted(unknown)}")


def _create(server: StandIn, name: str, body: Body) -> bool:
    _only(body, "vectors", "metadata")
    _only(body["vectors"], "size", "distance")
    if name in server.collections:
        raise RefusedError(409, f"Collection `{name}` already exists!")
    if body["vectors"]["distance"] != "Cosine":
        raise RefusedError(400, "the stand-in knows cosine alone")
    server.collections[name] = Collection(body["vectors"]["size"], body.get("metadata", {}))
    return True


def _info(server: StandIn, name: str, _: Body) -> Body:
    found = _collection(server, name)
    return {
        "status": "green", "optimizer_status": "ok", "segments_count": 1, "points_count": len(found.points),
        "payload_schema": {},
        "config": {
            "params": {"vectors": {"size": found.size, "distance": "Cosine"}},
            "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
            "optimizer_config": {
                "deleted_threshold": 0.2, "vacuum_min_vector_number": 1000, "default_segment_number": 0,
                "flush_interval_sec": 5,
            },
            "metadata": found.metadata,
        },
    }  # fmt: skip


def _index(server: StandIn, name: str, body: Body) -> Body:
    _only(body, "field_name", "field_schema")
    _collection(server, name).indexes[body["field_name"]] = body["field_schema"]
    return DONE


def _upsert(server: StandIn, name: str, body: Body) -> Body:
    _only(body, "points")
    found = _collection(server, name)
    for each in body["points"]:
        _only(each, "id", "vector", "payload")
        vector = np.array(each["vector"], np.float32)
        if vector.shape != (found.size,):
            raise RefusedError(400, f"Vector dimension error: expected dim: {found.size}, got {len(vector)}")
        found.points[str(UUID(each["id"]))] = vector / (np.linalg.norm(vector) or 1), each["payload"]
    return DONE


def _delete(server: StandIn, name: str, body: Body) -> Body:
    _only(body, "points")
    for each in body["points"]:
        _collection(server, name).points.pop(each, None)
    return DONE


def _query(server: StandIn, name: str, body: Body) -> Body:
    _only(body, "query", "filter", "limit", "with_payload", "with_vector")
    _only(body["query"], "nearest")
    query = np.array(body["query"]["nearest"], np.float32)
    size = _collection(server, name).size
    if query.shape != (size,):
        raise RefusedError(400, f"Wrong input: Vector dimension error: expected dim: {size}, got {len(query)}")
    query /= np.linalg.norm(query) or 1
    found = [
        {"id": id_, "version": 1, "score": float(np.sum(vector * query)), "payload": _part(kept, body["with_payload"])}
        for id_, (vector, kept) in _collection(server, name).points.items()
        if _passes(kept, body.get("filter"))
    ]
    return {"points": sorted(found, key=lambda each: -each["score"])[: body["limit"]]}


def _count(server: StandIn, name: str, body: Body) -> Body:
    _only(body, "exact")
    return {"count": len(_collection(server, name).points)}


def _scroll(server: StandIn, name: str, body: Body) -> Body:
    _only(body, "limit", "offset", "with_payload", "with_vector")
    points = _collection(server, name).points
    ids = sorted(id_ for id_ in points if id_ >= (body.get("offset") or ""))
    limit = body["limit"]
    some = [{"id": id_, "payload": _part(points[id_][1], body["with_payload"])} for id_ in ids[:limit]]
    return {"points": some, "next_page_offset": ids[limit] if len(ids) > limit else None}


def _drop(server: StandIn, name: str, _: Body) -> bool:
    return server.collections.pop(name, None) is not None


def _exists(server: StandIn, name: str, _: Body) -> Body:
    return {"exists": name in server.collections}


def _part(payload: Body, names: list[str]) -> Body:
    return {name: payload[name] for name in names}


def _passes(payload: Body, wanted: Body | None) -> bool:
    if wanted is None:
        return True
    _only(wanted, "must")
    return all(_holds(payload, each) for each in wanted["must"])


def _holds(payload: Body, condition: Body) -> bool:
    _only(condition, "key", "match", "range")
    value = payload[condition["key"]]
    if "match" in condition:
        _only(condition["match"], "any")
        return value in condition["match"]["any"]
    _only(condition["range"], "gte", "lt")
    first, end = condition["range"].get("gte"), condition["range"].get("lt")
    return (first is None or value >= first) and (end is None or value < end)


ROUTES: list[tuple[str, str, Callable[[StandIn, str, Body], Any]]] = [
    ("GET", r"/collections/(?P<name>[^/]+)/exists", _exists),
    ("GET", r"/collections/(?P<name>[^/]+)", _info),
    ("PUT", r"/collections/(?P<name>[^/]+)", _create),
    ("DELETE", r"/collections/(?P<name>[^/]+)", _drop),
    ("PUT", r"/collections/(?P<name>[^/]+)/index", _index),
    ("PUT", r"/collections/(?P<name>[^/]+)/points", _upsert),
    ("POST", r"/collections/(?P<name>[^/]+)/points/delete", _delete),
    ("POST", r"/collections/(?P<name>[^/]+)/points/query", _query),
    ("POST", r"/collections/(?P<name>[^/]+)/points/count", _count),
    ("POST", r"/collections/(?P<name>[^/]+)/points/scroll", _scroll),
]
