"""What a door knows and says, without any process: the law of every death."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from panorama.cli.proxy.requests import RequestTracker
from panorama.transport.lines import LineDecoder, OversizedLine
from tests.tool_errors import read_result


def line(**said: Any) -> bytes:
    """Return a message as a line."""
    return json.dumps({"jsonrpc": "2.0", **said}, separators=(",", ":")).encode() + b"\n"


def read(lines: Any) -> list[Mapping[str, Any]]:
    """Return the messages of lines."""
    return [json.loads(raw) for raw in lines]


INITIALIZE = line(id=0, method="initialize", params={})
INITIALIZED = line(method="notifications/initialized")
CALL = line(id=1, method="tools/call", params={"name": "create_task"})
LIST = line(id=2, method="tools/list")
UPDATED = "notifications/resources/updated"
BEGAN = b'{"panorama":"began","id":1}'


@pytest.fixture
def exchange() -> RequestTracker:
    """A door whose client has shaken hands."""
    made = RequestTracker()
    made.on_client_line(INITIALIZE)
    made.on_daemon_line(line(id=0, result={}))
    made.on_client_line(INITIALIZED)
    return made


def test_a_call_that_had_begun_is_unknown_and_one_that_had_not_is_sent_again(exchange: RequestTracker) -> None:
    exchange.on_client_line(CALL)
    exchange.on_client_line(line(id=3, method="tools/call", params={"name": "undo"}))
    assert exchange.on_daemon_line(BEGAN) is None

    (lost,) = read(exchange.on_daemon_lost())

    assert (lost["id"], read_result(lost["result"])["error"]["code"]) == (1, "outcome_unknown")
    assert [message.get("id") for message in read(exchange.replay())] == [0, None, 3]


def test_the_answer_to_a_repeated_handshake_is_not_the_clients(exchange: RequestTracker) -> None:
    list(exchange.on_daemon_lost())
    list(exchange.replay())

    assert exchange.on_daemon_line(line(id=0, result={"again": True})) is None
    assert exchange.on_daemon_line(line(id=0, result={"new": True})) is not None


def test_a_handshake_that_was_under_way_is_answered_to_the_client() -> None:
    exchange = RequestTracker()
    exchange.on_client_line(INITIALIZE)

    list(exchange.on_daemon_lost())

    assert [message["id"] for message in read(exchange.replay())] == [0]
    assert exchange.on_daemon_line(line(id=0, result={})) is not None


def test_subscriptions_are_repeated_until_they_are_taken_back(exchange: RequestTracker) -> None:
    for number, (method, uri) in enumerate([("subscribe", "a"), ("subscribe", "b"), ("unsubscribe", "a")], 5):
        exchange.on_client_line(line(id=number, method=f"resources/{method}", params={"uri": uri}))
        exchange.on_daemon_line(line(id=number, result={}))

    list(exchange.on_daemon_lost())

    assert [message.get("params", {}).get("uri") for message in read(exchange.replay())] == [None, None, "b"]
    assert exchange.on_daemon_line(line(id=6, result={})) is None


def test_a_request_that_kills_every_daemon_is_not_sent_to_a_third(exchange: RequestTracker) -> None:
    exchange.on_client_line(LIST)
    assert read(exchange.on_daemon_lost()) == []
    assert [message.get("id") for message in read(exchange.replay())] == [0, None, 2]

    (lost,) = read(exchange.on_daemon_lost())

    assert (lost["id"], lost["error"]["code"]) == (2, -32000)
    assert [message.get("id") for message in read(exchange.replay())] == [0, None]


def test_an_orderly_end_does_not_count_as_a_death(exchange: RequestTracker) -> None:
    exchange.on_client_line(LIST)
    for _ in range(5):
        exchange.on_daemon_line(b'{"panorama":"leaving","stopped":false,"unfinished":[]}')

        assert read(exchange.on_daemon_lost()) == []
        assert [message.get("id") for message in read(exchange.replay())] == [0, None, 2]


def test_what_a_leaving_daemon_could_not_finish_is_unknown(exchange: RequestTracker) -> None:
    exchange.on_client_line(CALL)
    exchange.on_client_line(LIST)
    exchange.on_daemon_line(b'{"panorama":"leaving","stopped":true,"unfinished":[1]}')

    assert [message["id"] for message in read(exchange.on_daemon_lost())] == [1]
    assert exchange.farewell
    assert exchange.farewell["stopped"]


def test_what_may_have_changed_meanwhile_is_told_in_the_handshake_era(exchange: RequestTracker) -> None:
    exchange.on_client_line(line(id=5, method="resources/subscribe", params={"uri": "a"}))

    tools, pages = read(exchange.tools_changed_notifications()), read(exchange.pages_changed_notifications())

    assert [message["method"] for message in tools] == ["notifications/tools/list_changed"]
    assert [(message["method"], message["params"]["uri"]) for message in pages] == [(UPDATED, "a")]


def test_what_may_have_changed_meanwhile_is_told_to_listeners() -> None:
    exchange = RequestTracker()
    notifications = {"toolsListChanged": True, "resourceSubscriptions": ["a"]}
    exchange.on_client_line(line(id=5, method="subscriptions/listen", params={"notifications": notifications}))

    sent = read([*exchange.tools_changed_notifications(), *exchange.pages_changed_notifications()])

    assert [message["method"].rpartition("/")[2] for message in sent] == ["list_changed", "updated"]
    assert {message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for message in sent} == {5}


def test_an_answer_to_a_dead_daemons_question_is_not_taken_for_an_answer_to_the_next(exchange: RequestTracker) -> None:
    asked = line(id=1, method="elicitation/create", params={})
    assert exchange.on_daemon_line(asked) == asked
    (cancelled,) = read(exchange.on_daemon_lost())
    list(exchange.replay())
    shown = json.loads(exchange.on_daemon_line(asked) or b"")

    assert (cancelled["method"], cancelled["params"]["requestId"]) == ("notifications/cancelled", 1)
    assert shown["id"] == "1:1"
    assert exchange.on_client_line(line(id=1, result={"action": "accept"})) is None
    assert json.loads(exchange.on_client_line(line(id="1:1", result={"action": "decline"})) or b"")["id"] == 1


def test_a_cancelled_request_is_waited_for_no_more(exchange: RequestTracker) -> None:
    exchange.on_client_line(CALL)

    exchange.on_client_line(line(method="notifications/cancelled", params={"requestId": 1}))

    assert not exchange.is_awaiting_answer


def test_ids_of_different_kinds_are_told_apart(exchange: RequestTracker) -> None:
    exchange.on_client_line(line(id=1, method="tools/call", params={"name": "a"}))
    exchange.on_client_line(line(id="1", method="tools/call", params={"name": "b"}))

    exchange.on_daemon_line(line(id="1", result={}))

    assert exchange.is_awaiting_answer
    exchange.on_daemon_line(line(id=1, result={}))
    assert not exchange.is_awaiting_answer


@pytest.mark.parametrize(
    "text", [b"garbage\n", b"[]\n", b"[1,2]\n", b"{}\n", b'{"id":{}}\n', b'{"params":[],"method":3}\n', b"\xff\n"]
)
def test_what_is_no_message_passes_for_the_daemon_to_answer(exchange: RequestTracker, text: bytes) -> None:
    assert exchange.on_client_line(text) == text
    assert not exchange.is_awaiting_answer


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_lines_come_out_whole_however_they_are_cut(size: int) -> None:
    text = b"one\n\ntwo three\n" + b"x" * 40 + b"\nlast"
    lines = LineDecoder()

    got = [raw for at in range(0, len(text), size) for raw in lines.feed(text[at : at + size])]

    assert got == [b"one", b"", b"two three", b"x" * 40]


def test_a_line_that_is_too_long_leaves_its_edges_and_the_next_line() -> None:
    lines = LineDecoder(limit=100)

    got = [raw for part in (b'{"id":7,', b"x" * 90, b"y" * 90, b"end\nnext\n") for raw in lines.feed(part)]

    assert isinstance(got[0], OversizedLine)
    assert got[0].edges.startswith(b'{"id":7,')
    assert got[0].edges.endswith(b"end")
    assert got[1:] == [b"next"]


def test_what_comes_while_no_daemon_is_connected_reaches_the_next_one_once(exchange: RequestTracker) -> None:
    list(exchange.on_daemon_lost())
    for early in (LIST, b"garbage\n", line(method="notifications/roots/list_changed")):
        exchange.on_early_line(early)

    sent = list(exchange.replay())

    assert [*sent[2:]] == [LIST, b"garbage\n", line(method="notifications/roots/list_changed")]
    assert len(list(exchange.replay())) == 3
