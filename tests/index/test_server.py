"""What goes over the wire to a Qdrant server, and what is made of its answers, good and bad."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from panorama.errors import UnavailableError
from panorama.index.points import Filter, Model, point_id
from panorama.index.qdrant import collection, connection
from panorama.index.qdrant.server_index import ServerIndex
from tests.working import until

from .making_points import DAY, OTHER, SIZE, SMALL, many, point, toward
from .qdrant_stand_in import StandIn

ALL = Filter()


class Clock:
    """A clock that moves when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def index(server: StandIn, clock: Clock) -> Iterator[ServerIndex]:
    index = ServerIndex(server.url, "secret", "store", SMALL, clock=clock)
    yield index
    index.close()


def test_the_first_call_makes_a_collection_for_the_model_and_the_store(index: ServerIndex, server: StandIn) -> None:
    index.upsert([point("n_a:0", 1)])

    (name,) = server.names
    assert name.startswith("panorama-store-5e1f00d5e1f00d00-")
    assert server.local.aliases == {"panorama-store-5e1f00d5e1f00d00-live": name}
    assert server.sizes == {SIZE}
    assert {field: schema["type"] for field, schema in server.indexes[name].items()} == {
        "kind": "keyword", "project": "keyword", "at": "integer", "change": "integer",
    }  # fmt: skip


def test_every_request_carries_the_key(index: ServerIndex, server: StandIn) -> None:
    index.upsert([point("n_a:0", 1)])
    index.search(toward(1), 3, ALL)
    index.delete(["n_a:0"])

    assert {request.key for request in server.requests} == {"secret"}


def test_a_point_is_sent_under_its_own_id_with_what_it_may_be_filtered_by(index: ServerIndex, server: StandIn) -> None:
    index.upsert([point("n_a:0", 3, project="p_1")], 41)

    (sent,) = server.asked("PUT", "/points")
    assert "wait=true" in sent.query
    assert sent.body == {
        "points": [
            {
                "id": str(point_id("n_a:0")),
                "vector": [1.0, *[0.0] * 7],
                "payload": {
                    "chunk": "n_a:0", "item": "n_a", "kind": "note", "project": "p_1",
                    "at": int(DAY.timestamp()) * 1_000_000, "digest": "d-n_a:0", "change": 41,
                },
            }
        ],
        "update_filter": {"must": [{"key": "change", "range": {"lte": 41}}]},
    }  # fmt: skip


def test_many_points_are_sent_in_batches_and_each_write_is_waited_for(index: ServerIndex, server: StandIn) -> None:
    index.upsert(many(600))
    index.delete([item.chunk for item in many(300)])

    writes, deletes = server.asked("PUT", "/points"), server.asked("POST", "/points/delete")
    assert [len(write.body["points"]) for write in writes] == [256, 256, 88]
    assert [len(delete.body["filter"]["must"][-1]["has_id"]) for delete in deletes] == [256, 44]
    assert all("wait=true" in write.query for write in (*writes, *deletes))


def test_a_filter_is_sent_as_conditions_that_must_all_hold(index: ServerIndex, server: StandIn) -> None:
    index.search(toward(1), 3, Filter(kinds=("note", "task"), project="none", since=DAY))

    (sent,) = server.asked("POST", "/points/query")
    assert sent.body["filter"] == {
        "must": [
            {"key": "kind", "match": {"any": ["note", "task"]}},
            {"key": "project", "match": {"any": [""]}},
            {"key": "at", "range": {"gte": DAY.timestamp() * 1e6}},
        ]
    }


def test_two_stores_and_two_models_share_a_server(index: ServerIndex, server: StandIn) -> None:
    others = [ServerIndex(server.url, "secret", "other", SMALL), ServerIndex(server.url, "secret", "store", OTHER)]
    index.upsert([point("n_a:0", 1)])

    assert [item.count() for item in others] == [0, 0]
    assert len(server.names) == 3
    for other in others:
        other.close()


def test_a_collection_with_vectors_of_another_size_is_said_and_made_anew_by_the_next_write(
    index: ServerIndex, server: StandIn
) -> None:
    index.upsert(many(3))
    longer = ServerIndex(server.url, "secret", "store", Model(id="small", digest=SMALL.digest, size=16))

    with pytest.raises(UnavailableError, match=r"another size .8 instead of 16.; it is rebuilt"):
        longer.count()
    assert (longer.state().status, server.sizes) == ("starting", {8})
    longer.build([point("n_a:0", vector=toward(1, size=16))])

    assert (server.sizes, longer.count()) == ({16}, 1)
    assert "it is rebuilt" in longer.state().note
    assert all(server.indexes[name] for name in server.names)
    longer.close()


def test_a_collection_that_gets_another_size_meanwhile_is_noticed_by_what_is_refused(
    index: ServerIndex, server: StandIn
) -> None:
    index.upsert(many(3))
    before = index.state().identity
    server.resize(5)

    for ask in (lambda: index.upsert(many(3)), lambda: index.search(toward(1), 3, ALL)):
        with pytest.raises(UnavailableError):
            ask()
    assert index.state().status == "starting"
    index.upsert(many(3))

    assert (index.count(), index.state().status) == (3, "ready")
    assert index.state().identity != before


def test_what_is_written_is_counted_once_it_is_flushed(index: ServerIndex) -> None:
    index.upsert(many(3))
    index.flush()
    index.delete(["n_00001:0"])
    counts = [index.state().count]
    index.flush()

    assert [*counts, index.state().count] == [3, 2]


@pytest.mark.parametrize("status", [500, 429, 403])
def test_a_server_that_refuses_everything_is_down_until_it_does_not(
    index: ServerIndex, server: StandIn, clock: Clock, status: int
) -> None:
    index.count()
    server.fails_with = status
    with pytest.raises(UnavailableError):
        index.search(toward(1), 3, ALL)

    assert (index.state().status, f"{status}" in index.state().note) == ("down", True)
    server.fails_with = 0
    clock.now += 6
    index.count()

    assert (index.state().status, index.state().note) == ("ready", "")


def test_a_collection_that_was_dropped_is_said_and_made_anew(index: ServerIndex, server: StandIn) -> None:
    index.upsert(many(3))
    before = index.state().identity
    server.drop()

    with pytest.raises(UnavailableError, match="gone"):
        index.upsert(many(3))
    index.upsert(many(3))

    assert index.count() == 3
    assert index.state().identity != before


def test_a_build_removes_what_is_not_in_it_and_the_collection_of_the_model_before(
    index: ServerIndex, server: StandIn
) -> None:
    index.upsert(many(5))

    index.build(many(3))
    index.build([point("n_a:0", vector=toward(1, size=4))], OTHER)

    assert [name[:-13] for name in server.names] == ["panorama-store-07e4000000000000"]
    assert not any(name in request.path for request in server.asked("POST", "/points/delete") for name in server.names)


def test_a_wrong_key_is_said_without_showing_it(server: StandIn) -> None:
    index = ServerIndex(server.url, "wrong-key", "store", SMALL)

    with pytest.raises(UnavailableError, match=r"refused the key \(401\)") as refused:
        index.count()

    assert "PANORAMA_QDRANT_KEY" in refused.value.hint
    assert "wrong-key" not in f"{refused.value.to_dict()} {refused.value.__cause__} {index.state()} {index!r}"
    index.close()


@pytest.mark.parametrize(
    ("status", "why"), [(500, r"refused a request \(500\): told to fail"), (503, "503"), (429, "429")]
)
def test_what_the_server_refuses_is_told_in_its_words(
    index: ServerIndex, server: StandIn, status: int, why: str
) -> None:
    index.count()
    server.fails_with = status

    with pytest.raises(UnavailableError, match=why):
        index.search(toward(1), 3, ALL)
    server.fails_with = 0

    assert index.search(toward(1), 3, ALL) == []


def test_a_server_that_is_not_there_is_asked_by_one_search_in_five_seconds(clock: Clock) -> None:
    index = ServerIndex("http://user:word@127.0.0.1:9", "", "store", SMALL, clock=clock)

    for _ in range(2):
        with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:9 cannot be reached") as refused:
            index.search(toward(1), 3, ALL)
    errors = [refused.value]
    clock.now += 6
    with pytest.raises(UnavailableError) as refused:
        index.search(toward(1), 3, ALL)

    assert refused.value is not errors[0]
    assert "PANORAMA_QDRANT_URL" in refused.value.hint
    assert (index.state().status, "word" in f"{index.state()}") == ("down", False)
    index.close()


def test_a_server_that_comes_back_is_used_again(index: ServerIndex, server: StandIn, clock: Clock) -> None:
    server.says = b"<html>a router</html>"
    with pytest.raises(UnavailableError, match="not Qdrant"):
        index.search(toward(1), 3, ALL)
    server.says = b""

    with pytest.raises(UnavailableError, match="not Qdrant"):
        index.search(toward(1), 3, ALL)
    clock.now += 6

    assert index.search(toward(1), 3, ALL) == []
    assert index.state().status == "ready"


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (0, b"<html>a router</html>"), (0, b"{}"), (0, b"[]"), (0, b'{"result": null}'), (0, b'{"result": {}}'),
        (0, b"\xff\x00"), (301, b"moved"), (404, b"<html>nothing here</html>"), (404, b'{"error": "no route"}'),
        (405, b"no"),
    ],
)  # fmt: skip
def test_what_answers_but_not_as_qdrant_does_is_said_with_what_to_check(
    index: ServerIndex, server: StandIn, status: int, says: bytes
) -> None:
    server.fails_with, server.says = status, says

    for ask in (index.count, lambda: index.upsert(many(1)), lambda: list(index.iter_digests())):
        with pytest.raises(UnavailableError, match="is not Qdrant") as refused:
            ask()

    assert "Check host, port" in refused.value.hint
    assert "PANORAMA_QDRANT_URL" in refused.value.hint
    assert index.state().status == "down"


def test_a_write_does_not_spare_a_server_that_was_away(index: ServerIndex, server: StandIn) -> None:
    server.says = b"nonsense"
    with pytest.raises(UnavailableError):
        index.search(toward(1), 3, ALL)
    server.says = b""

    index.upsert(many(2))

    assert index.count() == 2


def test_a_search_waits_no_longer_than_it_may(
    index: ServerIndex, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "READ_SECONDS", 1)
    monkeypatch.setattr(collection, "READ_SECONDS", 1)
    server.waits = True

    with pytest.raises(UnavailableError, match="did not answer in 1 s"):
        index.search(toward(1), 3, ALL)


def test_the_state_is_told_without_asking_the_server(index: ServerIndex, server: StandIn) -> None:
    assert (index.state().status, index.state().count) == ("starting", None)
    index.upsert(many(2))
    index.count()
    asked = len(server.requests)

    assert (index.state().status, index.state().count) == ("ready", 2)
    assert len(server.requests) == asked


def test_one_that_is_closed_opens_no_connection_any_more(index: ServerIndex, server: StandIn) -> None:
    index.upsert([point("n_a:0", 1)])
    index.close()
    asked = len(server.requests)

    with pytest.raises(UnavailableError, match="closed"):
        index.search(toward(1), 3, ALL)

    assert len(server.requests) == asked


def test_one_that_is_closed_while_it_connects_leaves_no_connection_open(
    index: ServerIndex, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.upsert([point("n_a:0", 1)])
    connect, connecting, closed = socket.create_connection, Event(), Event()

    def slow(*arguments: Any, **named: Any) -> socket.socket:
        connecting.set()
        assert closed.wait(10)
        return connect(*arguments, **named)

    monkeypatch.setattr(socket, "create_connection", slow)
    with ThreadPoolExecutor() as pool:
        found = pool.submit(index.search, toward(1), 3, ALL)
        assert connecting.wait(10)
        index.close()
        closed.set()

        assert [item.chunk for item in found.result()] == ["n_a:0"]

    until(lambda: not server.connections, "the end of the connection")  # its other side hears of it in a thread
