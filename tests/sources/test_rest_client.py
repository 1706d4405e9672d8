"""The HTTP client of hand-written sources: waiting, repeating, giving up, and telling the truth about it."""

import threading
import time
from collections.abc import Callable

import pytest

from panorama.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    OutcomeUnknownError,
    PanoramaError,
    SourceError,
    UnavailableError,
)
from panorama.sources.source import Deadline
from tests.sources.conftest import Caller, OpenCaller
from tests.sources.documented import answer_as_claap, answer_as_lemlist
from tests.sources.stand_ins import Call, Reply

ADD_LEAD = {"campaign": "cam_1", "email": "ada@example.org"}


@pytest.fixture
def claap(open_caller: OpenCaller) -> Caller:
    return open_caller("claap", answer_as_claap)


@pytest.fixture
def lemlist(open_caller: OpenCaller) -> Caller:
    return open_caller("lemlist", answer_as_lemlist)


@pytest.mark.parametrize("status", [429, 529, 500, 502, 503, 504])
def test_a_read_is_repeated_when_the_service_is_busy_or_broken(claap: Caller, status: int) -> None:
    claap.stand_in.fail_next(Reply(status=status, headers={"Retry-After": "0"}))

    assert claap.call("recording", recording="rec1")["id"] == "rec1"
    assert len(claap.stand_in.calls) == 2


def test_waiting_as_asked_does_not_count_as_the_time_of_a_call(open_caller: OpenCaller) -> None:
    claap = open_caller("claap", answer_as_claap, call_seconds=0.5)
    claap.stand_in.fail_next(Reply(status=429, headers={"Retry-After": "1"}))

    assert claap.call("recording", recording="rec1")["id"] == "rec1"

    claap.stand_in.fail_next(Reply(body="x" * 10_000, pace_seconds=0.05))
    with pytest.raises(UnavailableError, match="Claap did not answer in time"):
        claap.call("recording", seconds=600, recording="rec1")


@pytest.mark.parametrize("header", ["Retry-After", "X-RateLimit-Retry-After"])
def test_the_client_waits_as_long_as_the_service_asks(claap: Caller, header: str) -> None:
    claap.stand_in.fail_next(Reply(status=429, headers={header: "1"}))
    began = time.monotonic()

    claap.call("recording", recording="rec1")

    assert time.monotonic() - began >= 1


def test_a_wait_longer_than_the_run_has_is_refused_at_once(claap: Caller) -> None:
    claap.stand_in.fail_next(Reply(status=429, headers={"Retry-After": "3800"}))

    with pytest.raises(
        UnavailableError, match=r"Claap asks to wait [34],\d+ s, and this run has \d+ s left"
    ) as refused:
        claap.call("recording", seconds=900, recording="rec1")

    assert "background" in refused.value.hint


def test_one_refusal_holds_back_all_threads_of_the_key(claap: Caller) -> None:
    claap.stand_in.fail_next(Reply(status=429, headers={"Retry-After": "3000"}))
    with pytest.raises(UnavailableError):
        claap.call("recording", recording="rec1")

    with pytest.raises(UnavailableError, match="asks to wait"):
        claap.call("recording", recording="rec2")

    assert len(claap.stand_in.calls) == 1


def test_a_write_that_was_refused_as_too_much_is_sent_again(lemlist: Caller) -> None:
    lemlist.stand_in.fail_next(Reply(status=429, headers={"Retry-After": "0"}))

    assert lemlist.call("add_lead", **ADD_LEAD)["_id"] == "lea_1"


@pytest.mark.parametrize("reply", [Reply(status=500), Reply(status=503), Reply(status=200, body={"a": 1}, cut=True)])
def test_a_write_without_an_answer_is_sent_once_and_its_outcome_is_unknown(lemlist: Caller, reply: Reply) -> None:
    lemlist.stand_in.fail_next(reply)

    with pytest.raises(OutcomeUnknownError, match="It is not known whether the call was carried out"):
        lemlist.call("add_lead", **ADD_LEAD)

    assert len(lemlist.stand_in.calls) == 1


def test_a_delete_that_fails_after_a_broken_attempt_has_an_unknown_outcome(claap: Caller) -> None:
    claap.stand_in.fail_next(Reply(status=502), Reply(status=404))

    with pytest.raises(OutcomeUnknownError):
        claap.call("delete_recording", recording="rec1")


def test_a_read_that_was_cut_off_is_repeated(claap: Caller) -> None:
    claap.stand_in.fail_next(Reply(body={"result": {}}, cut=True))

    assert claap.call("recording", recording="rec1")["id"] == "rec1"


def test_the_client_gives_up_after_five_attempts(claap: Caller) -> None:
    claap.stand_in.fail_next(*[Reply(status=503, headers={"Retry-After": "0"})] * 9)

    with pytest.raises(UnavailableError, match="Claap answered 503"):
        claap.call("recording", recording="rec1")

    assert len(claap.stand_in.calls) == 5


@pytest.mark.parametrize(
    ("status", "expected"),
    [(400, InvalidInputError), (403, SourceError), (404, NotFoundError), (409, ConflictError), (402, SourceError)],
)
@pytest.mark.parametrize(
    "body",
    [
        {"message": "Nothing of that kind", "code": "odd"},
        {"error": {"type": "odd", "message": "Nothing of that kind"}},
        {"error": "odd", "error_description": "Nothing of that kind"},
        "Nothing of that kind",
    ],
)
def test_a_refusal_says_what_the_service_says(
    claap: Caller, status: int, expected: type[PanoramaError], body: object
) -> None:
    claap.stand_in.fail_next(Reply(status=status, body=body))

    with pytest.raises(expected, match=f"Claap answered {status}: Nothing of that kind"):
        claap.call("recording", recording="rec1")


def test_a_page_of_a_proxy_is_not_repeated_as_a_message(claap: Caller) -> None:
    claap.stand_in.fail_next(Reply(status=400, body="<html><body>Bad gateway"))

    with pytest.raises(InvalidInputError, match=r"^Claap answered 400\.$"):
        claap.call("recording", recording="rec1")


@pytest.mark.parametrize("body", ["{", "<html>", {"result": []}, {"result": {"recording": 7}}, [], None])
def test_an_answer_in_another_form_is_refused(claap: Caller, body: object) -> None:
    claap.stand_in.fail_next(Reply(body=body))

    with pytest.raises(SourceError, match=r"not JSON|unexpected form"):
        claap.call("recording", recording="rec1")


def test_a_service_that_sends_a_byte_now_and_then_does_not_outlive_the_deadline(claap: Caller) -> None:
    claap.stand_in.fail_next(Reply(body="x" * 10_000, pace_seconds=0.05))

    with pytest.raises(UnavailableError, match="Claap did not answer in time"):
        claap.call("recording", seconds=0.5, recording="rec1")


def test_a_slow_write_has_an_unknown_outcome(lemlist: Caller) -> None:
    lemlist.stand_in.fail_next(Reply(body="x" * 1000, pace_seconds=0.05))

    with pytest.raises(OutcomeUnknownError):
        lemlist.call("add_lead", seconds=0.5, **ADD_LEAD)


def test_a_caller_that_stops_ends_the_wait(claap: Caller) -> None:
    claap.stand_in.fail_next(Reply(status=429, headers={"Retry-After": "3000"}))
    is_stopped = iter([False] * 10 + [True] * 1000)
    deadline = Deadline.after(6000, is_stopped=lambda: next(is_stopped))

    with pytest.raises(UnavailableError):
        claap.source.call(claap.functions["recording"], {"recording": "rec1"}, deadline)


def test_an_answer_over_the_limit_is_refused(claap: Caller) -> None:
    claap.stand_in.fail_next(Reply(body="x" * (9 << 20)))

    with pytest.raises(SourceError, match="Claap returned more than 8 MB"):
        claap.call("recording", recording="rec1")


def test_a_service_that_is_not_there_cannot_be_reached(open_caller: OpenCaller) -> None:
    gone = open_caller("claap", answer_as_claap, url="http://127.0.0.1:9")

    with pytest.raises(UnavailableError, match="Claap cannot be reached"):
        gone.call("recording", seconds=1, recording="rec1")


@pytest.mark.parametrize(
    ("open_kind", "name"),
    [("claap", "recordings"), ("lemlist", "activities"), ("notion", "search")],
)
def test_a_service_that_repeats_a_page_for_ever_is_stopped(open_caller: OpenCaller, open_kind: str, name: str) -> None:
    rows = [{"id": f"{number}"} for number in range(100)]
    bodies: dict[str, object] = {
        "claap": {"result": {"recordings": rows, "pagination": {"nextCursor": "same"}}},
        "lemlist": rows,
        "notion": {"results": rows, "has_more": True, "next_cursor": "same"},
    }
    caller = open_caller(open_kind, _answer_always(bodies[open_kind]))

    with pytest.raises(SourceError, match="returned the same page twice"):
        caller.list_all(name)


def _answer_always(body: object) -> Callable[[Call], Reply]:
    return lambda _: Reply(body=body)


def test_a_source_that_was_closed_connects_again(claap: Caller) -> None:
    claap.call("recording", recording="rec1")
    claap.source.close()

    assert claap.call("recording", recording="rec1")["id"] == "rec1"


@pytest.mark.parametrize(
    ("name", "arguments"), [("recording", {"recording": "rec1"}), ("delete_recording", {"recording": "rec1"})]
)
def test_closing_during_a_call_is_an_error_that_a_script_understands(
    claap: Caller, name: str, arguments: dict[str, str]
) -> None:
    claap.stand_in.fail_next(*[Reply(body="x" * 10_000, pace_seconds=0.05)] * 5)
    is_closing = threading.Event()

    def close() -> None:
        while not is_closing.is_set():
            claap.source.close()

    thread = threading.Thread(target=close)
    thread.start()
    try:
        with pytest.raises((UnavailableError, OutcomeUnknownError)):
            claap.call(name, seconds=3, **arguments)
    finally:
        is_closing.set()
        thread.join()
