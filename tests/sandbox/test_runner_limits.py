"""Each limit ends a run with its name, its figure, and the line that was running."""

import json
import threading

import pytest

from tests.sandbox.runs import Host, Runs, limits, nothing_is_left, runs

__all__ = ["nothing_is_left", "runs"]


def test_a_script_that_runs_for_too_long_ends_where_it_is(runs: Runs):
    ending = runs("print('Tea')\ndef loop():\n    while True:\n        pass\nloop()", limits=limits(seconds=0.2))

    failure = ending.failure
    assert failure
    assert (failure.reason, failure.trace[0]) == ("time", (5, ""))
    assert failure.line in (3, 4)
    assert "0.2 s" in failure.message
    assert failure.hint
    assert ending.output == "Tea\n"


def test_a_script_that_sleeps_for_too_long_ends_where_it_is(runs: Runs):
    failure = runs.failure("import time\ntime.sleep(9)", limits=limits(seconds=0.2))

    assert (failure.reason, failure.line, failure.source) == ("time", 2, "time.sleep(9)")


def test_a_script_that_waits_too_long_for_a_call_ends_when_the_call_has_ended(runs: Runs):
    slow = threading.Event()

    failure = runs.failure(
        "x = 1\nsdk.items.get(1)",
        host=Host(answers=lambda *_: bytes(slow.wait(0.4))),
        limits=limits(seconds=0.2),
    )

    assert (failure.reason, failure.line) == ("time", 2)


def test_a_script_in_a_long_call_of_c_code_is_told_with_its_line(runs: Runs):
    ending = runs("x = 3\nprint(x)\ny = max(range(10 ** 12))", limits=limits(seconds=0.8))

    assert ending.failure
    assert (ending.failure.reason, ending.failure.line) == ("time", 3)
    assert ending.output == "3\n"


def test_a_script_that_computes_for_too_long_ends_where_it_is(runs: Runs):
    failure = runs.failure("x = 1\nwhile True: x += 1", limits=limits(cpu=0.2))

    assert (failure.reason, failure.line) == ("cpu", 2)
    assert "0.2 s" in failure.message


def test_a_script_that_computes_for_too_long_in_c_code_ends_where_it_is(runs: Runs):
    failure = runs.failure("x = 1\nmax(range(10 ** 12))", limits=limits(cpu=0.2))

    assert (failure.reason, failure.line) == ("cpu", 2)


def test_a_script_that_takes_too_much_memory_ends_where_it_is(runs: Runs):
    failure = runs.failure("x = []\nwhile True:\n    x.append('a' * 1_000_000)", limits=limits(memory_bytes=64 << 20))

    assert (failure.reason, failure.line) == ("memory", 3)
    assert "64 MB" in failure.message


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\nraise MemoryError('of my own')", "MemoryError: of my own"),
        ("x = 1\nraise MemoryError", "MemoryError"),
        ("try:\n    raise MemoryError('first')\nfinally:\n    x = 1", "MemoryError: first"),
        ("class Full(MemoryError): pass\nraise Full('shelf')", "Full: shelf"),
        (
            "try:\n    x = 'x' * 10 ** 11\nexcept MemoryError:\n    raise MemoryError('too long')",
            "MemoryError: too long",
        ),
    ],
)
def test_a_script_that_raises_a_memory_error_of_its_own_has_not_reached_its_limit(
    runs: Runs, source: str, expected: str
):
    failure = runs.failure(source, limits=limits(memory_bytes=64 << 20))

    assert (failure.reason, failure.message) == ("raised", expected)
    assert "raise " in failure.source


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    x = 'x' * 10 ** 11\nexcept MemoryError:\n    raise",
        "try:\n    x = 'x' * 10 ** 11\nexcept MemoryError as error:\n    raise error",
        "def made():\n    return max(['x' * 10 ** 11])\nmade()",
    ],
)
def test_a_memory_error_that_is_raised_again_is_the_limit_that_it_was(runs: Runs, source: str):
    failure = runs.failure(source, limits=limits(memory_bytes=64 << 20))

    assert failure.reason == "memory"
    assert "64 MB" in failure.message


def test_a_script_with_more_memory_than_others_has_it(runs: Runs):
    assert runs.result("len('x' * 600_000_000)", limits=limits(memory_bytes=1 << 30)) == 600_000_000


def test_a_script_that_calls_too_often_ends_where_it_is(runs: Runs):
    host = Host()

    failure = runs.failure("for i in range(20):\n    sdk.items.get(i)", host=host, limits=limits(calls=5))

    assert (failure.reason, failure.line, len(host.asked)) == ("calls", 2, 5)
    assert "5 calls" in failure.message


def test_as_many_calls_as_allowed_are_answered(runs: Runs):
    assert runs("for i in range(5):\n    sdk.items.get(i)", limits=limits(calls=5)).calls == 5


def test_a_call_with_too_much_in_it_is_not_sent(runs: Runs):
    host = Host()

    failure = runs.failure("sdk.items.get('x' * 3000)", host=host, limits=limits(call_bytes=2048))

    assert (failure.reason, failure.line, host.asked) == ("call_size", 1, [])
    assert "2 KB" in failure.message


def test_a_call_of_just_the_size_is_sent(runs: Runs):
    size = len("x" * 2000) + len(b"\x81\xa4item\xda\x00\x00")

    assert runs("sdk.items.get('x' * 2000)", limits=limits(call_bytes=size)).failure is None
    assert runs("sdk.items.get('x' * 2001)", limits=limits(call_bytes=size)).failure is not None


def test_what_calls_send_together_has_an_end(runs: Runs):
    host = Host()

    failure = runs.failure("while True:\n    sdk.items.get('x' * 1000)", host=host, limits=limits(sent_bytes=10 << 10))

    assert (failure.reason, failure.line, len(host.asked)) == ("sent_size", 2, 10)
    assert "10 KB" in failure.message


def test_a_result_that_is_too_large_is_not_returned(runs: Runs):
    failure = runs.failure("'x' * 3000", limits=limits(result_bytes=2048))

    assert failure.reason == "result_size"
    assert "2 KB" in failure.message


def test_what_is_printed_before_the_limit_is_kept(runs: Runs):
    ending = runs("for i in range(100):\n    print('x' * 99)", limits=limits(output_bytes=1000))

    assert ending.failure
    assert (ending.failure.reason, ending.failure.line, len(ending.output)) == ("output_size", 2, 1000)


def test_a_state_that_is_too_large_is_not_kept(runs: Runs):
    ending = runs("sdk.state['x'] = 'x' * 3000", limits=limits(state_bytes=2048))

    assert ending.failure
    assert (ending.failure.reason, ending.state) == ("state_size", b"")


def test_a_state_that_is_no_data_is_told_by_its_name(runs: Runs):
    failure = runs.failure("sdk.state['f'] = lambda: 1")

    assert "sdk.state['f']" in failure.message


def test_a_generator_cannot_be_a_result(runs: Runs):
    failure = runs.failure("(x for x in [1])")

    assert "generator" in failure.message
    assert "list(" in failure.hint


def test_a_limit_cannot_be_caught(runs: Runs):
    source = """
while True:
    try:
        sdk.items.get(1)
    except BaseException:
        pass
    finally:
        print(1)
"""

    assert runs.failure(source, limits=limits(calls=5, output_bytes=1 << 20)).reason == "calls"


def test_a_script_that_nobody_waits_for_is_cancelled(runs: Runs):
    host = Host(waits=False)

    failure = runs.failure("while True:\n    pass", host=host)

    assert (failure.reason, failure.line) in (("cancelled", 1), ("cancelled", 2))


def test_a_script_that_nobody_waits_for_is_cancelled_while_it_sleeps(runs: Runs):
    assert runs.failure("import time\ntime.sleep(9)", host=Host(waits=False)).reason == "cancelled"


def test_a_crash_says_so_and_the_next_script_runs(runs: Runs):
    assert json.loads(runs("1").result) == 1


@pytest.mark.parametrize("seconds", [0.001, 0.01])
def test_a_limit_that_is_over_before_the_script_begins_is_a_limit_too(runs: Runs, seconds: float):
    assert runs.failure("while True: pass", limits=limits(seconds=seconds)).reason == "time"
