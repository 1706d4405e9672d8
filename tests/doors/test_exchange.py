"""What a door knows and says, without any process: the law of every death."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from panorama.cli.exchange import Exchange
from panorama.framing import Lines, TooLong


def line(**said: Any) -> bytes:
    """Return a message as a line."""
    return json.dumps({"jsonrpc": "2.0", **said}, separators=(",", ":")).encode() + b"\n"


def read(lines: Any) -> list[Mapping[str, Any]]:
    """Return the messages of lines."""
    return [json.loads(each) for each in lines]


INITIALIZE = line(id=0, method="initialize", params={})
INITIALIZED = line(method="notifications/initialized")
CALL = line(id=1, method="tools/call", params={"name": "create_task"})
LIST = line(id=2, method="tools/list")
BEGAN = b'{"panorama":"began","id":1}'


@pytest.fixture
def exchange() -> Exchange:
    """A door whose client has shaken hands."""
    made = Exchange()
    made.take(INITIALIZE)
    made.give(line(id=0, result={}))
    made.take(INITIALIZED)
    return made


def test_a_call_that_had_begun_is_unknown_and_one_that_had_not_is_sent_again(exchange: Exchange) -> None:
    exchange.take(CALL)
    exchange.take(line(id=3, method="tools/call", params={"name": "undo"}))
    assert exchange.give(BEGAN) is None

    (told,) = read(exchange.lose())

    assert (told["id"], told["result"]["structuredContent"]["error"]["code"]) == (1, "outcome_unknown")
    assert [each.get("id") for each in read(exchange.replay())] == [0, None, 3]


def test_the_answer_to_a_repeated_handshake_is_not_the_clients(exchange: Exchange) -> None:
    list(exchange.lose())
    list(exchange.replay())

    assert exchange.give(line(id=0, result={"again": True})) is None
    assert exchange.give(line(id=0, result={"new": True})) is not None


def test_a_handshake_that_was_under_way_is_answered_to_the_client() -> None:
    exchange = Exchange()
    exchange.take(INITIALIZE)

    list(exchange.lose())

    assert [each["id"] for each in read(exchange.replay())] == [0]
    assert exchange.give(line(id=0, result={})) is not None


def test_subscriptions_are_repeated_until_they_are_taken_back(exchange: Exchange) -> None:
    for number, (method, uri) in enumerate([("subscribe", "a"), ("subscribe", "b"), ("unsubscribe", "a")], 5):
        exchange.take(line(id=number, method=f"resources/{method}", params={"uri": uri}))
        exchange.give(line(id=number, result={}))

    list(exchange.lose())

    assert [each.get("params", {}).get("uri") for each in read(exchange.replay())] == [None, None, "b"]
    assert exchange.give(line(id=6, result={})) is None


def test_a_request_that_kills_every_daemon_is_not_sent_to_a_third(exchange: Exchange) -> None:
    exchange.take(LIST)
    assert read(exchange.lose()) == []
    assert [each.get("id") for each in read(exchange.replay())] == [0, None, 2]

    (told,) = read(exchange.lose())

    assert (told["id"], told["error"]["code"]) == (2, -32000)
    assert [each.get("id") for each in read(exchange.replay())] == [0, None]


def test_an_orderly_end_does_not_count_as_a_death(exchange: Exchange) -> None:
    exchange.take(LIST)
    for _ in range(5):
        exchange.give(b'{"panorama":"leaving","stopped":false,"unfinished":[]}')

        assert read(exchange.lose()) == []
        assert [each.get("id") for each in read(exchange.replay())] == [0, None, 2]


def test_what_a_leaving_daemon_could_not_finish_is_unknown(exchange: Exchange) -> None:
    exchange.take(CALL)
    exchange.take(LIST)
    exchange.give(b'{"panorama":"leaving","stopped":true,"unfinished":[1]}')

    assert [each["id"] for each in read(exchange.lose())] == [1]
    assert exchange.farewell
    assert exchange.farewell["stopped"]


def test_what_may_have_changed_meanwhile_is_told_in_the_handshake_era(exchange: Exchange) -> None:
    exchange.take(line(id=5, method="resources/subscribe", params={"uri": "a"}))

    told = [(each["method"], each["params"].get("uri")) for each in read(exchange.stale(tools=True))]

    assert told == [("notifications/tools/list_changed", None), ("notifications/resources/updated", "a")]
    assert [each["params"]["uri"] for each in read(exchange.stale(tools=False))] == ["a"]


def test_what_may_have_changed_meanwhile_is_told_to_listeners() -> None:
    exchange = Exchange()
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["a"]}
    exchange.take(line(id=5, method="subscriptions/listen", params={"notifications": wanted}))

    told = read(exchange.stale(tools=True))

    assert [each["method"].rpartition("/")[2] for each in told] == ["list_changed", "updated"]
    assert {each["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for each in told} == {5}


def test_an_answer_to_a_dead_daemons_question_is_not_taken_for_an_answer_to_the_next(exchange: Exchange) -> None:
    asked = line(id=1, method="elicitation/create", params={})
    assert exchange.give(asked) == asked
    (cancelled,) = read(exchange.lose())
    list(exchange.replay())
    shown = json.loads(exchange.give(asked) or b"")

    assert (cancelled["method"], cancelled["params"]["requestId"]) == ("notifications/cancelled", 1)
    assert shown["id"] == "1:1"
    assert exchange.take(line(id=1, result={"action": "accept"})) is None
    assert json.loads(exchange.take(line(id="1:1", result={"action": "decline"})) or b"")["id"] == 1


def test_a_cancelled_request_is_waited_for_no_more(exchange: Exchange) -> None:
    exchange.take(CALL)

    exchange.take(line(method="notifications/cancelled", params={"requestId": 1}))

    assert not exchange.waits


def test_ids_of_different_kinds_are_told_apart(exchange: Exchange) -> None:
    exchange.take(line(id=1, method="tools/call", params={"name": "a"}))
    exchange.take(line(id="1", method="tools/call", params={"name": "b"}))

    exchange.give(line(id="1", result={}))

    assert exchange.waits
    exchange.give(line(id=1, result={}))
    assert not exchange.waits


@pytest.mark.parametrize(
    "said", [b"garbage\n", b"[]\n", b"[1,2]\n", b"{}\n", b'{"id":{}}\n', b'{"params":[],"method":3}\n', b"\xff\n"]
)
def test_what_is_no_message_passes_for_the_daemon_to_answer(exchange: Exchange, said: bytes) -> None:
    assert exchange.take(said) == said
    assert not exchange.waits


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_lines_come_out_whole_however_they_are_cut(size: int) -> None:
    text = b"one\n\ntwo three\n" + b"x" * 40 + b"\nlast"
    lines = Lines()

    got = [each for at in range(0, len(text), size) for each in lines.feed(text[at : at + size])]

    assert got == [b"one", b"", b"two three", b"x" * 40]


def test_a_line_that_is_too_long_leaves_its_edges_and_the_next_line() -> None:
    lines = Lines(most=100)

    got = [each for part in (b'{"id":7,', b"x" * 90, b"y" * 90, b"end\nnext\n") for each in lines.feed(part)]

    assert isinstance(got[0], TooLong)
    assert got[0].edges.startswith(b'{"id":7,')
    assert got[0].edges.endswith(b"end")
    assert got[1:] == [b"next"]
