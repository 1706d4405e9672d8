"""What the doctor finds on a Qdrant server."""

import pytest

from panorama.errors import UnavailableError
from panorama.index.qdrant.health import check_server
from panorama.index.qdrant.layout import DEFAULT_LAYOUT, ServerLayout
from panorama.index.qdrant.server_index import ServerIndex

from .making_points import SMALL, many
from .qdrant_stand_in import StandIn, standing_in


@pytest.fixture
def filled(server: StandIn) -> StandIn:
    index = ServerIndex(server.url, "secret", "store", SMALL)
    index.upsert(many(3))
    index.close()
    return server


def test_a_sound_server_is_described_and_nothing_is_written(filled: StandIn) -> None:
    filled.requests.clear()

    health = check_server(filled.url, "secret", DEFAULT_LAYOUT)

    assert health.state == "ok"
    assert health.found.endswith("Qdrant 1.20, collections of Panorama: 1")
    assert not any(request.is_write for request in filled.requests)


def test_too_few_and_inactive_replicas_are_found(filled: StandIn) -> None:
    few = check_server(filled.url, "secret", ServerLayout(replicas=2))
    filled.replica_state = "Dead"
    dead = check_server(filled.url, "secret", DEFAULT_LAYOUT)

    assert "has 1 of 2 replicas (qdrant_replicas)" in few.found
    assert few.mend == "panorama reindex index"
    assert (dead.state, "1 of 1 replicas that are not active (Dead)" in dead.found) == ("warn", True)


def test_a_wrong_key_and_an_address_without_a_server_are_found(filled: StandIn) -> None:
    with pytest.raises(UnavailableError, match="refused the key"):
        check_server(filled.url, "wrong", DEFAULT_LAYOUT)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        check_server("http://127.0.0.1:9", "", DEFAULT_LAYOUT)


def test_an_old_version_is_found() -> None:
    with standing_in(version="1.15.4") as server:
        assert "it cannot refuse late writes" in check_server(server.url, "", DEFAULT_LAYOUT).found
    with standing_in(version="1.9.0") as server, pytest.raises(UnavailableError, match=r"1\.14 or later"):
        check_server(server.url, "", DEFAULT_LAYOUT)
