"""Collections on a Qdrant server: one for each space or one for all, replicas, swaps, late writers and failures."""

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from panorama.errors import UnavailableError
from panorama.index.exact_index import ExactIndex
from panorama.index.points import NO_PROJECT, Filter, pack_vector
from panorama.index.qdrant import connection
from panorama.index.qdrant.layout import ServerLayout
from panorama.index.qdrant.server_index import ServerIndex

from .making_points import DAY, OTHER, SIZE, SMALL, many, point, toward
from .qdrant_stand_in import CUT, CUT_AFTER, Request, StandIn, standing_in

ALL = Filter()
OWN, SHARED = ServerLayout(), ServerLayout(is_shared=True)
BASE = "panorama-store-5e1f00d5e1f00d00"
READS = ("/points/query", "/points/count", "/points/scroll", "/points/delete")

Opening = Callable[..., ServerIndex]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(connection, "WRITE_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(connection, "SPARE_SECONDS", 0.0)


@pytest.fixture
def opening(server: StandIn) -> Iterator[Opening]:
    """Opens indexes on the stand-in, by layout and space."""
    opened: list[ServerIndex] = []

    def open_one(layout: ServerLayout = OWN, store: str = "store", model: Any = SMALL) -> ServerIndex:
        opened.append(ServerIndex(server.url, "secret", store, model, layout=layout))
        return opened[-1]

    yield open_one
    for item in opened:
        item.close()


def chunks(index: ServerIndex) -> list[str]:
    return sorted(hit.chunk for hit in index.search(toward(1), 99, ALL))


@pytest.mark.parametrize("layout", [OWN, SHARED])
def test_a_hundred_filtered_searches_find_what_numpy_finds(opening: Opening, layout: ServerLayout) -> None:
    chance, exact, other = random.Random(1), ExactIndex(SMALL), opening(layout, "other")

    def guess() -> bytes:
        return pack_vector(chance.gauss(0, 1) for _ in range(SIZE))

    points = [
        point(
            f"n_{at:04d}:0", kind=chance.choice(("note", "task")), project=chance.choice((None, "p_a", "p_b")),
            at=DAY + timedelta(hours=at), vector=guess(),
        )
        for at in range(300)
    ]  # fmt: skip
    filters = [
        ALL, Filter(kinds=("note",)), Filter(project=NO_PROJECT), Filter(project="p_a", kinds=("task",)),
        Filter(since=DAY + timedelta(hours=50), until=DAY + timedelta(hours=200)),
    ]  # fmt: skip
    other.upsert(points[:100])
    index = opening(layout)
    for item in (index, exact):
        item.build(points)
        item.delete([point.chunk for point in points[:20]])
        item.upsert(points[5:10])

    asked = [(guess(), expected) for expected in filters for _ in range(20)]
    answers = [
        [[hit.chunk for hit in entry.search(vector, 10, expected)] for vector, expected in asked]
        for entry in (index, exact)
    ]

    assert answers[0] == answers[1]
    assert (index.count(), exact.count(), other.count()) == (285, 285, 100)


def test_the_spaces_of_a_shared_collection_do_not_meet(opening: Opening, server: StandIn) -> None:
    anna, team = opening(SHARED, "anna"), opening(SHARED, "team")
    anna.upsert(many(3))
    team.upsert([point("n_00001:0", 1, digest="of the team"), point("n_team:0", 1)])

    team.delete(["n_00002:0"])
    anna.build(many(2))

    assert server.names == ["panorama-shared-5e1f00d5e1f00d00"]
    assert dict(team.iter_digests()) == {"n_00001:0": "of the team", "n_team:0": "d-n_team:0"}
    assert (chunks(anna), anna.count(), team.count()) == (["n_00000:0", "n_00001:0"], 2, 2)


def test_every_request_to_a_shared_collection_begins_with_the_space(opening: Opening, server: StandIn) -> None:
    index = opening(SHARED)
    index.build(many(5))
    index.build(many(3))
    index.delete(["n_00001:0"])
    index.search(toward(1), 3, Filter(kinds=("note",)))

    filters = [request.body["filter"] for path in READS for request in server.asked("POST", path)]
    guards = [request.body["update_filter"] for request in server.asked("PUT", "/points")]
    assert len(filters) > 5
    assert {str(item["must"][0]) for item in [*filters, *guards]} == {"{'key': 'space', 'match': {'value': 'store'}}"}
    assert {item["space"] for item in server.points()} == {"store"}


def test_a_shared_collection_has_a_graph_for_each_space_and_half_precision_on_disk(
    opening: Opening, server: StandIn
) -> None:
    opening(SHARED).count()

    (name,) = server.names
    made, fields = server.created[name].model_dump(mode="json", exclude_none=True), server.indexes[name]
    assert made["vectors"] == {"size": SIZE, "distance": "Cosine", "datatype": "float16", "on_disk": True}
    assert made["hnsw_config"] == {"m": 0, "payload_m": 16}
    assert made["strict_mode_config"]["unindexed_filtering_retrieve"] is False
    assert made["quantization_config"] == {"scalar": {"type": "int8", "always_ram": False}}
    assert next(iter(fields.items())) == ("space", {"type": "keyword", "is_tenant": True})
    assert {name for name, schema in fields.items() if schema.get("enable_hnsw") is False} == {*fields} - {"space"}


def test_a_crash_between_a_shared_collection_and_its_indexes_is_made_good_by_the_next_start(
    opening: Opening, server: StandIn
) -> None:
    server.failing = lambda request: 500 if request.path.endswith("/index") else 0
    with pytest.raises(UnavailableError):
        opening(SHARED).count()
    server.failing = lambda _: 0

    index = opening(SHARED)
    index.upsert(many(3))

    assert (index.count(), len(server.indexes[server.names[0]])) == (3, 5)


def test_another_model_leaves_the_points_of_other_spaces(opening: Opening, server: StandIn) -> None:
    anna, team = opening(SHARED, "anna"), opening(SHARED, "team")
    for item in (anna, team):
        item.upsert(many(3))

    anna.build([point("n_a:0", vector=toward(1, size=4))], OTHER)

    assert (anna.count(), team.count(), len(server.names)) == (1, 3, 2)
    assert {entry["space"] for entry in server.points("panorama-shared-5e1f00d5e1f00d00")} == {"team"}


@pytest.mark.parametrize("layout", [OWN, SHARED])
def test_a_batch_that_comes_late_overwrites_and_deletes_nothing_newer(opening: Opening, layout: ServerLayout) -> None:
    duty, late = opening(layout), opening(layout)
    duty.upsert([point("n_a:0", 1, digest="first"), point("n_b:0", 1)], 10)
    duty.upsert([point("n_a:0", 1, digest="newer")], 12)

    late.upsert([point("n_a:0", 1, digest="late")], 11)
    late.delete(["n_a:0", "n_b:0"], 11)
    duty.upsert([point("n_a:0", 1, digest="again")], 12)

    assert dict(duty.iter_digests()) == {"n_a:0": "again"}


def test_a_build_writes_without_waiting_waits_once_counts_and_switches_the_alias_in_one_call(
    opening: Opening, server: StandIn
) -> None:
    index = opening()
    index.upsert(many(3))
    (old,) = server.names
    server.requests.clear()

    index.build(many(600), change=7)

    (new,) = server.names
    assert ["wait=true" in request.query for request in server.asked("PUT", "/points")] == [False, False, True]
    (switch,) = server.asked("POST", "/collections/aliases")
    assert switch.body["actions"] == [
        {"delete_alias": {"alias_name": f"{BASE}-live"}},
        {"create_alias": {"collection_name": new, "alias_name": f"{BASE}-live"}},
    ]
    order = [f"{request.method} {request.path.replace(new, 'new').replace(old, 'old')}" for request in server.requests]
    assert order[order.index("POST /collections/aliases") - 1 :][:4] == [
        "POST /collections/new/points/count", "POST /collections/aliases",
        "GET /collections", "DELETE /collections/old",
    ]  # fmt: skip


@pytest.mark.slow  # it builds some forty times
@pytest.mark.parametrize("status", [500, CUT, CUT_AFTER])
def test_a_build_that_dies_at_any_request_leaves_the_old_points_and_the_next_start_goes_on(
    opening: Opening, server: StandIn, status: int
) -> None:
    opening().upsert([point("n_old:0", 1)])
    steps = 0
    while _dies_at(opening, server, steps, status):
        assert len(dict(opening().iter_digests())) in (1, 300)
        steps += 1

    last = opening()
    last.build([point("n_old:0", 1)])
    assert steps > 10
    assert (chunks(last), len(server.names)) == (["n_old:0"], 1)


def _dies_at(opening: Opening, server: StandIn, step: int, status: int) -> bool:
    """Build with a server that answers some requests and no more; tell whether one was refused."""
    opening().build([point("n_old:0", 1)])
    refused, asked = False, 0

    def fail(_: Request) -> int:
        nonlocal refused, asked
        asked += 1
        refused = refused or asked > step
        return status if asked > step else 0

    index = opening()
    server.failing = fail
    try:
        index.build(many(300))
    except UnavailableError:
        pass
    finally:
        server.failing = lambda _: 0
    return refused


def test_a_collection_of_the_former_layout_is_replaced_and_status_says_so(opening: Opening, server: StandIn) -> None:
    before = opening(store="before")
    before.upsert(many(3))
    (name,) = server.names
    for table in (server.local.collections, server.created, server.indexes):
        table[BASE] = table.pop(name)  # type: ignore[attr-defined]  (each is a dictionary of its own type)
    server.local.aliases.clear()

    index = opening()
    assert (index.count(), BASE in server.names) == (0, True)
    index.build(many(4))

    assert "layout of an earlier version" in index.state().note
    assert (index.count(), BASE in server.names, len(server.names)) == (4, False, 1)


def test_a_collection_that_another_program_has_replaced_is_noticed(opening: Opening, server: StandIn) -> None:
    one, two = opening(), opening()
    one.upsert(many(3))
    two.count()

    one.build(many(5))
    assert (two.count(), two.state().identity == one.state().identity) == (5, False)
    two.flush()
    two.upsert([point("n_b:0", 1)])

    assert (two.state().identity, one.count()) == (one.state().identity, 6)


def test_a_write_to_a_collection_that_was_replaced_fails_and_the_next_goes_to_the_new_one(opening: Opening) -> None:
    one, two = opening(), opening()
    two.upsert(many(3))
    one.build(many(5))

    with pytest.raises(UnavailableError, match="gone"):
        two.upsert([point("n_b:0", 1)])
    two.upsert([point("n_b:0", 1)])

    assert one.count() == 6


@pytest.mark.parametrize(("old", "new"), [(OWN, SHARED), (SHARED, OWN)])
def test_a_build_in_the_other_layout_leaves_no_points_behind(
    opening: Opening, server: StandIn, old: ServerLayout, new: ServerLayout
) -> None:
    opening(old).upsert(many(5))

    opening(new).build(many(3))

    assert len(server.points()) == 3


def test_replicas_are_asked_for_and_writes_are_ordered(opening: Opening, server: StandIn) -> None:
    index = opening(ServerLayout(replicas=3, write_consistency=2, quantization="off"))
    index.upsert(many(1))
    index.delete(["n_00000:0"])

    made = server.created[server.names[0]]
    assert (made.replication_factor, made.write_consistency_factor, made.quantization_config) == (3, 2, None)
    writes = [*server.asked("PUT", "/points"), *server.asked("POST", "/points/delete")]
    assert all("ordering=medium" in write.query for write in writes)


def test_candidates_are_ranked_by_their_vectors(opening: Opening, server: StandIn) -> None:
    opening().search(toward(1), 3, ALL)

    (sent,) = server.asked("POST", "/points/query")
    assert sent.body["params"]["quantization"] == {"rescore": True, "oversampling": 2.0}


@pytest.mark.parametrize(
    ("version", "layout", "why"),
    [
        ("1.13.6", OWN, "is version 1.13; Panorama needs 1.14 or later"),
        ("1.17.1", ServerLayout(quantization="turbo"), "qdrant_quantization = turbo needs 1.18 or later"),
    ],
)
def test_a_server_that_is_too_old_is_named_with_its_version(version: str, layout: ServerLayout, why: str) -> None:
    with standing_in("secret", version) as server:
        index = ServerIndex(server.url, "secret", "store", SMALL, layout=layout)

        with pytest.raises(UnavailableError, match=why):
            index.count()
        assert why in index.state().note
        index.close()


@pytest.mark.parametrize(("version", "guards"), [("1.15.0", False), ("1.16.0", True), ("dev", True)])
def test_only_a_server_that_knows_guards_gets_them(version: str, guards: bool) -> None:
    with standing_in("secret", version) as server:
        index = ServerIndex(server.url, "secret", "store", SMALL)
        index.upsert(many(2))

        (sent,) = server.asked("PUT", "/points")
        assert (("update_filter" in sent.body), index.count()) == (guards, 2)
        index.close()


@pytest.mark.parametrize("status", [429, 503, CUT])
def test_a_busy_server_and_a_lost_connection_are_tried_once_more(
    opening: Opening, server: StandIn, status: int
) -> None:
    index, failures = opening(), [0]
    index.upsert(many(3))

    def fail(most: int) -> Callable[[Request], int]:
        def one(_: Request) -> int:
            failures[0] += 1
            return status if failures[0] <= most else 0

        return one

    server.failing = fail(1)
    assert len(chunks(index)) == 3
    failures[0], server.failing = 0, fail(2)
    with pytest.raises(UnavailableError):
        index.upsert(many(4))
    failures[0] = 0
    server.failing = fail(1)
    index.upsert(many(4))

    assert index.count() == 4


def test_a_key_that_may_only_read_is_said_and_searches_go_on(opening: Opening, server: StandIn) -> None:
    opening().upsert(many(3))
    server.failing = lambda request: 403 if request.is_write else 0
    index = opening()

    with pytest.raises(UnavailableError, match=r"refused the key \(403\)") as refused:
        index.upsert(many(4))

    assert "allowed to create collections and to write" in refused.value.hint
    assert len(chunks(index)) == 3


def test_a_full_disk_ends_a_build_and_what_was_there_is_found(opening: Opening, server: StandIn) -> None:
    index = opening()
    index.upsert(many(3))
    server.failing = lambda request: 507 if request.path.endswith("/points") else 0

    with pytest.raises(UnavailableError, match=r"refused a request \(507\)"):
        index.build(many(600))
    server.failing = lambda _: 0

    assert (len(chunks(index)), len(server.names)) == (3, 1)
