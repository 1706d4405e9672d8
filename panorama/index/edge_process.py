"""The child process of Qdrant Edge, whose calls block all other threads.

It reads requests from the socket on its standard input, answers each, and ends with its parent. Imports only the
standard library and Qdrant Edge, so that it starts in about 50 ms.
"""

import gc
import os
import select
import signal
import socket
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import qdrant_edge as edge

from panorama.index.filters import KEYWORD_FIELDS
from panorama.index.frames import Frame, FrameStream
from panorama.index.points import RawHit, point_id, rank_hits

OVERSAMPLING = 4.0
"""The oversampling factor for rescoring with full vectors; 2 finds 0.99 of the ten nearest, 3 all but one in 2000."""


def build_config(size: int) -> edge.EdgeConfig:
    """Return the storage configuration for vectors of this size.

    Without a graph (`m=0`): all TurboQuant codes are scanned, and the best are rescored. With 200,000 vectors that
    takes 3 ms and equals numpy's results; a graph takes 267 s to build and finds fewer.
    """
    return edge.EdgeConfig(
        vectors=edge.EdgeVectorParams(size=size, distance=edge.Distance.Cosine),
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=16, full_scan_threshold=10_000),
        quantization_config=edge.TurboQuantQuantizationConfig(memory=edge.Memory.Pinned),
        max_search_threads=1,  # there is one segment; passing it to another thread takes 4 ms on busy cores
        wal_enabled=True,  # also the lock: without it a second process opens the same files
    )


class ShardHandler:
    """The request handlers; none runs Edge's optimizer, which blocks for seconds without a gain."""

    def __init__(self) -> None:
        self._shard: edge.EdgeShard
        self._size = 0

    def open(self, request: Mapping[str, Any], _: bytes) -> Frame:
        """Load or create the shard in a folder."""
        self._size = request["size"]
        if request["new"]:
            self._shard = _create_shard(request["folder"], self._size)
        else:
            self._shard = edge.EdgeShard.load(request["folder"])
        return self.count({}, b"")

    def upsert(self, request: Mapping[str, Any], vectors: bytes) -> Frame:
        """Write points: a payload for each, and their vectors one after another."""
        numbers = _as_floats(vectors)
        points = [
            edge.Point(id=point_id(entry["chunk"]), vector=numbers[at : at + self._size], payload=_pack_payload(entry))
            for entry, at in zip(request["payloads"], range(0, len(numbers), self._size), strict=True)
        ]
        self._shard.update(edge.UpdateOperation.upsert_points(points))
        return Frame({})

    def delete(self, request: Mapping[str, Any], _: bytes) -> Frame:
        """Remove chunks."""
        self._shard.update(edge.UpdateOperation.delete_points([point_id(chunk) for chunk in request["chunks"]]))
        return Frame({})

    def search(self, request: Mapping[str, Any], vector: bytes) -> Frame:
        """Return the nearest chunks with item and score; includes all ties with the last one."""
        query, condition = edge.Query.Nearest(_as_floats(vector)), _to_filter(request["must"])
        return Frame({"hits": rank_hits(lambda asked: self._query(query, asked, condition), request["limit"])})

    def _query(self, query: edge.Query, limit: int, condition: edge.Filter | None) -> list[RawHit]:
        rescored = edge.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING)
        params = edge.SearchParams(quantization=rescored)
        request = edge.QueryRequest(limit=limit, query=query, filter=condition, params=params, with_payload=["about"])
        return [(entry.score, *_unpack_about(entry.payload)[:2]) for entry in self._shard.query(request)]

    def count(self, _: Mapping[str, Any], __: bytes) -> Frame:
        """Return the number of points."""
        return Frame({"count": self._shard.info().points_count})

    def page(self, request: Mapping[str, Any], _: bytes) -> Frame:
        """Return some points' payloads, optionally with vectors, and the next offset."""
        after, limit, vectors = request["after"], request["limit"], request["vectors"]
        asked = edge.ScrollRequest(offset=after, limit=limit, with_payload=True, with_vector=vectors)
        records, after = self._shard.scroll(asked)
        raw = b"".join(array("f", cast("list[float]", entry.vector)).tobytes() for entry in records) if vectors else b""
        return Frame(
            {"payloads": [_unpack_payload(entry.payload) for entry in records], "after": after and str(after)}, raw
        )

    def flush(self, _: Mapping[str, Any], __: bytes) -> Frame:
        """Write everything to the disk."""
        self._shard.flush()
        return Frame({})

    def close(self, _: Mapping[str, Any], __: bytes) -> Frame:
        """Write everything to the disk, and close it."""
        self._shard.flush()
        self._shard.close()
        return Frame({})


def _create_shard(folder: str, size: int) -> edge.EdgeShard:
    shard = edge.EdgeShard.create(folder, build_config(size))
    for field in KEYWORD_FIELDS:
        shard.update(edge.UpdateOperation.create_field_index(field, edge.KeywordIndexParams()))
    moments = edge.IntegerIndexParams(lookup=False, range=True)
    shard.update(edge.UpdateOperation.create_field_index("at", moments))
    return shard


def _as_floats(vectors: bytes) -> Any:
    """Return numbers as a buffer for Edge, because converting them to a list doubles the time."""
    return memoryview(vectors).cast("f")


def _pack_payload(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payload with all unfiltered fields in one text, because Edge takes 5 us for each text."""
    about = "\n".join((payload["chunk"], payload["item"], payload["digest"]))
    return {"kind": payload["kind"], "project": payload["project"], "at": payload["at"], "about": about}


def _unpack_about(payload: Mapping[str, Any] | None) -> tuple[str, str, str]:
    chunk, item, digest = payload["about"].split("\n") if payload else ("", "", "")
    return chunk, item, digest


def _unpack_payload(payload: Mapping[str, Any] | None) -> dict[str, Any]:
    chunk, item, digest = _unpack_about(payload)
    about = {"chunk": chunk, "item": item, "digest": digest}
    return about | {name: value for name, value in (payload or {}).items() if name != "about"}


def _to_filter(must: Sequence[Mapping[str, Any]]) -> edge.Filter | None:
    return edge.Filter(must=[_to_condition(entry) for entry in must]) if must else None


def _to_condition(must: Mapping[str, Any]) -> edge.FieldCondition:
    if "range" in must:
        return edge.FieldCondition(key=must["key"], range=edge.RangeFloat(**must["range"]))
    return edge.FieldCondition(key=must["key"], match=edge.MatchAny(must["match"]["any"]))


def handle_request(answer: Callable[[Mapping[str, Any], bytes], Frame], request: Frame) -> Frame:
    """Return the answer or the error; a panic in Edge is not an Exception, but Python continues normally."""
    try:
        return answer(*request)
    except BaseException as error:  # the parent process raises the returned error
        return Frame({"error": f"{error}" or type(error).__name__})


def build_open_check(stream: socket.socket) -> Callable[[], bool]:
    """Return a function that says whether the parent is alive; unread requests may remain after its end.

    A killed parent may have sent 3 MB of requests: executing them would block the files for its successor.
    """
    poll = select.poll()
    poll.register(stream, 0)  # a hangup is always reported
    return lambda: not poll.poll(0)


def main() -> None:
    """Answer requests until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the whole group; the parent decides
    gc.disable()  # there are no cycles here, and scanning 100,000 numbers per batch takes a third of the time
    shard = ShardHandler()
    with socket.socket(fileno=0) as stream:
        frames, is_heard = FrameStream(stream), build_open_check(stream)
        while True:
            try:
                request = frames.receive()
                if not is_heard():
                    raise ConnectionResetError
                frame = handle_request(getattr(shard, request.head["do"]), request)
                frames.send(Frame({**frame.head, "number": request.head["number"]}, frame.tail))
            except OSError:
                os._exit(0)  # immediately: answered writes are in the log, and a successor may be waiting for the files


if __name__ == "__main__":
    main()
