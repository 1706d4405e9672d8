"""Search by meaning on a Qdrant server, and what becomes of its misbehaviour."""

from pathlib import Path

import pytest

from tests.faults.meanings import converges, followed, searched
from tests.index.qdrant_stand_in import StandIn
from tests.services.lacking import NOWHERE, impatient, recovers, speaks, stand_in

__all__ = ["impatient", "stand_in"]


def test_a_qdrant_server_that_is_down_is_said(home: Path) -> None:
    with followed(home, qdrant_url=NOWHERE) as house:
        assert "cannot be reached" in speaks(house)["last_error"]


def test_a_qdrant_server_that_refuses_the_key_is_said_until_it_takes_it(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="wrong") as house:
        said = speaks(house)
        stand_in.key = "wrong"
        recovers(house)

    assert "refused the key" in said["last_error"]
    assert "PANORAMA_QDRANT_KEY" in said["do"]


@pytest.mark.parametrize("url", ["localhost:6333", "ftp://localhost", "http://me:geheim@localhost:port", "http://[::1"])
def test_an_address_that_is_none_is_said_with_the_form_of_one(home: Path, url: str) -> None:
    with followed(home, qdrant_url=url) as house:
        said = speaks(house)
        missing = searched(house, "quince")["metadata"]["index"]["missing"]

    assert said["last_error"] == missing
    assert "PANORAMA_QDRANT_URL" in missing
    assert "http://localhost:6333" in said["do"]
    assert "geheim" not in str(said)


def test_a_web_server_that_is_not_qdrant_is_said_until_there_is_one(home: Path, stand_in: StandIn) -> None:
    stand_in.says = b'{"hello": "world"}'
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        said = speaks(house)
        stand_in.says = b""
        recovers(house)

    assert "is not Qdrant" in said["last_error"]
    assert "Check host, port" in said["do"]


@pytest.mark.slow
def test_a_qdrant_server_that_is_slow_does_not_delay_the_answers(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        recovers(house)
        stand_in.waits = True
        found = [searched(house, "steam engines") for _ in range(20)]

        assert {tuple(each["metadata"]["index"]["ran"]) for each in found} == {("keyword",)}
        assert "in time" in found[0]["metadata"]["index"]["missing"]
        stand_in.waits = False
        stand_in.delay.set()
        recovers(house)


def test_a_qdrant_server_that_has_everything_is_told_nothing_again(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        recovers(house)
    stand_in.requests.clear()

    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        converges(house)

    assert stand_in.asked("PUT", "/points") == []


@pytest.mark.slow
def test_a_qdrant_server_that_lost_everything_is_told_all_again(home: Path, stand_in: StandIn) -> None:
    with followed(home, qdrant_url=stand_in.url, qdrant_key="secret") as house:
        recovers(house)
        stand_in.collections.clear()

        recovers(house)
