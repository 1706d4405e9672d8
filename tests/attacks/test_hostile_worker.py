"""A worker that lies: what it says to the host has no effect but the end of its own run.

The language layer is off, and the script writes to the pipe what it likes.
"""

import json
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest

from tests.sandbox.runs import Host, Runs, limits, nothing_is_left, unguarded

__all__ = ["nothing_is_left", "unguarded"]

_SCRIPT = """
import os, socket, struct, time
import msgpack
pipe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, 3)
def frame(kind, body=b"", size=None):
    return struct.pack(">Ic", len(body) if size is None else size, kind) + body
def call(number, operation=b"items.get", arguments=b"\\x80", kind=b"c"):
    return frame(kind, struct.pack(">IB", number, len(operation)) + operation + arguments)
def ending(about, output=b"", state=b"", result=b"1", sizes=None):
    about = about if isinstance(about, bytes) else msgpack.packb(about)
    sizes = sizes or (len(about), len(output), len(state))
    return frame(b"d", struct.pack(">III", *sizes) + about + output + state + result)
FINE = {{"failure": None, "shape": "", "peak_bytes": 1, "cpu_seconds": 0.0}}
def failed(**more):
    return {{"reason": "raised", "message": "", "line": 1, "source": "", "hint": "", "trace": []}} | more
def say(*frames):
    for each in frames:
        pipe.sendall(each)
def main():
    {body}
    while True:
        time.sleep(1)
"""

LIES = {
    "a length of four gigabytes": "say(frame(b'd', size=0xFFFFFFFF))",
    "a length just above what an ending may have": "say(frame(b'd', size=11 << 20))",
    "a frame of an unknown kind": "say(frame(b'?'))",
    "a frame that only the host sends": "say(frame(b'g', b'x'))",
    "noise": "say(os.urandom(4096))",
    "ready for a second time": "say(frame(b'y'))",
    "an ending without its sizes": "say(frame(b'd', b'x'))",
    "an ending whose sizes are wrong": "say(ending(FINE, sizes=(1 << 30, 0, 0)))",
    "an ending whose parts overlap": "say(ending(FINE, sizes=(40, 0xFFFFFFFF, 40)))",
    "an ending that is no message": "say(ending(b'\\xc1'))",
    "an ending that is a list": "say(ending([1, 2]))",
    "an ending without fields": "say(ending({}))",
    "an ending nested a thousand deep": "say(ending(b'\\x91' * 60_000))",
    "an ending whose figures are texts": "say(ending({**FINE, 'peak_bytes': 'many'}))",
    "a failure that is a text": "say(ending({**FINE, 'failure': 'x'}))",
    "a failure for an unknown reason": "say(ending({**FINE, 'failure': failed(reason='fun')}))",
    "a failure for a reason that cannot be compared": "say(ending({**FINE, 'failure': failed(reason=[])}))",
    "a failure whose trace is none": "say(ending({**FINE, 'failure': failed(trace=[['x']])}))",
    "a failure whose line is a text": "say(ending({**FINE, 'failure': failed(line='1')}))",
    "a call with the number of another": "say(call(1), call(1))",
    "a call with a number far ahead": "say(call(70_000))",
    "a call without a head": "say(frame(b'c', b'x'))",
    "a call whose name is longer than the frame": "say(frame(b'c', struct.pack('>IB', 1, 255) + b'x'))",
    "a call whose name is not text": "say(call(1, operation=b'\\xff\\xfe'))",
    "a call whose arguments are no message": "say(call(1, arguments=b'\\xc1'))",
    "a call whose arguments go on after their end": "say(call(1, arguments=b'\\x80\\x80'))",
    "a call whose arguments are cut": "say(call(1, arguments=b'\\xdf\\xff\\xff\\xff\\xff'))",
    "an overlapping call whose arguments are no message": "say(call(1, arguments=b'\\xc1', kind=b'C'))",
    "a call whose arguments have no names": "say(call(1, arguments=b'\\x93\\x01\\x02\\x03'))",
    "a call longer than calls may be": "say(frame(b'c', size=2 << 20))",
    "progress that is none": "say(frame(b'p', b'\\x01'))",
    "progress that is no number": (
        "say(frame(b'p', msgpack.packb({'current': float('nan'), 'total': 1.0, 'message': ''})))"
    ),
    "progress in a flood": "say(*[frame(b'p', msgpack.packb({'current': 1.0, 'total': 1.0, 'message': ''}))] * 9000)",
    "output in crumbs": "say(*[frame(b'o', b'x')] * 9000)",
    "output in empty frames without end": "say(*[frame(b'o')] * 9000)",
    "more output than it may send": "say(frame(b'o', b'x' * 200_000), frame(b'o', b'x' * 200_000))",
    "more calls at the same time than eight": "say(*[call(n, kind=b'C') for n in range(1, 40)])",
}


def lie(body: str) -> str:
    """Return a script that says something to the host and waits."""
    return _SCRIPT.format(body=body)


@pytest.mark.parametrize("body", LIES.values(), ids=LIES.keys())
def test_a_lie_is_the_end_of_the_run(unguarded: Runs, body: str):
    slow = threading.Event()
    host = Host(answers=lambda *_: b"\x80" * (1 + slow.wait(0.05))) if "C'" in body else Host()

    failure = unguarded.failure(lie(body), host=host, limits=limits(seconds=5))

    assert failure.reason == "protocol", failure
    assert unguarded.result("def main(): return 1") == 1


STILL = {
    "half a frame and then nothing": "say(frame(b'd', b'x', size=1000))",
    "half a header and then nothing": "say(b'\\x00\\x00')",
    "calls without reading a single answer": "say(*[call(n) for n in range(1, 9000)])",
    "the place in the script though nobody asked": "time.sleep(9)",
}


@pytest.mark.parametrize("body", STILL.values(), ids=STILL.keys())
def test_a_worker_that_keeps_the_host_waiting_ends_at_its_time(unguarded: Runs, body: str):
    big = Host(answers=lambda *_: b"\x81\xa4data" + b"\xc6\x00\x04\x00\x00" + bytes(1 << 18))

    failure = unguarded.failure(lie(body), host=big, limits=limits(seconds=0.3))

    assert failure.reason == "time"
    assert unguarded.result("def main(): return 1") == 1


def test_what_was_asked_for_and_not_answered_in_time_is_not_done(unguarded: Runs):
    def slow(operation: str, arguments: Mapping[str, Any]) -> bytes:
        threading.Event().wait(0.01)
        return b"\x80"

    host = Host(answers=slow)

    failure = unguarded.failure(
        lie("say(*[call(n) for n in range(1, 3000)])"), host=host, limits=limits(seconds=0.3)
    )  # fmt: skip

    assert failure.reason == "time"
    assert len(host.asked) < 60


def test_overlapping_calls_that_did_not_begin_in_time_are_not_done(unguarded: Runs):
    ended = threading.Event()

    def slow(operation: str, arguments: Mapping[str, Any]) -> bytes:
        ended.wait(1)  # longer than the run has
        return b"\x80"

    host = Host(answers=slow)

    failure = unguarded.failure(
        lie("say(*[call(n, kind=b'C') for n in range(1, 9)])"), host=host, limits=limits(seconds=0.3)
    )

    assert (failure.reason, len(host.asked)) == ("time", 1)


def test_workers_that_never_read_keep_no_other_run_waiting(unguarded: Runs):
    begun, others_are_done = threading.Barrier(3, timeout=20), threading.Event()

    def stuck(operation: str, arguments: Mapping[str, Any]) -> bytes:
        if not others_are_done.is_set():
            begun.wait()
            others_are_done.wait(20)
        return b"\x81\xa4data" + b"\xc6\x00\x10\x00\x00" + bytes(1 << 20)

    host = Host(answers=stuck)
    greedy = lie("say(*[call(n, kind=b'C') for n in range(1, 9)])")
    other = lie("say(call(1, kind=b'C')); pipe.recv(100); say(ending(FINE, result=b'7'))")
    with ThreadPoolExecutor(2) as pool:
        ends = [pool.submit(unguarded.failure, greedy, host=host, limits=limits(seconds=30)) for _ in range(2)]
        begun.wait()
        ending = unguarded(other, limits=limits(seconds=5))
        others_are_done.set()
        host.waits = False

        assert ending.result == b"7"
        assert [end.result().reason for end in ends] == ["cancelled"] * 2


def test_more_calls_than_allowed_end_the_run_whatever_the_worker_counts(unguarded: Runs):
    host = Host()

    failure = unguarded.failure(
        lie("say(*[call(n) for n in range(1, 40)])"), host=host, limits=limits(calls=20)
    )  # fmt: skip

    assert (failure.reason, len(host.asked)) == ("calls", 20)
    assert "20" in failure.message


def test_more_in_its_calls_than_allowed_ends_the_run_whatever_the_worker_counts(unguarded: Runs):
    host = Host()

    failure = unguarded.failure(lie("say(*[call(n) for n in range(1, 40)])"), host=host, limits=limits(sent_bytes=20))

    assert failure.reason == "protocol"
    assert 0 < len(host.asked) <= 20


def test_an_operation_out_of_nowhere_is_refused_by_the_host(unguarded: Runs):
    host = Host()
    calls = "say(call(1, operation=b'__import__'), call(2, operation=b'app.close'))"
    body = f"{calls}\n    print(pipe.recv(9000))\n    return 1"

    ending = unguarded(lie(body), host=host)

    assert b"not_found" in ending.output.encode()
    assert host.asked == []


def test_a_million_empty_lists_do_not_fill_the_hosts_memory(unguarded: Runs):
    lists = "b'\\x81\\xa1x\\xdd' + struct.pack('>I', 900_000) + b'\\x90' * 900_000"
    body = f"say(*[call(n, arguments={lists}, kind=b'C') for n in range(1, 9)])"
    before = psutil.Process().memory_info().rss

    unguarded.failure(lie(body), limits=limits(seconds=1))

    assert psutil.Process().memory_info().rss - before < 200 << 20


def test_a_result_that_is_no_json_is_passed_on_unread(unguarded: Runs):
    ending = unguarded(lie("say(ending(FINE, result=b'\\xff{['))"))

    assert (ending.failure, ending.result) == (None, b"\xff{[")


def test_what_comes_after_the_ending_is_not_heard(unguarded: Runs):
    host = Host()

    ending = unguarded(lie("say(ending(FINE), call(1), os.urandom(4000))"), host=host)

    assert (ending.result, host.asked) == (b"1", [])


def test_a_worker_that_closes_the_pipe_and_goes_on_is_killed(unguarded: Runs):
    before = {process.pid for process in psutil.Process().children(recursive=True)}

    ending = unguarded("import os\ndef main():\n    os._exit(0)")

    assert ending.failure
    assert ending.failure.reason == "crashed"
    assert len({process.pid for process in psutil.Process().children(recursive=True)} - before) <= 2


def test_a_worker_can_claim_to_have_been_anywhere_in_the_script(unguarded: Runs):
    text = 'Stack (most recent call first):\\n  File "<script>", line 999999 in x\\n'

    failure = unguarded.failure(lie(f"say(b'{text}')"))

    assert (failure.line, failure.source) == (999999, "")


def test_a_line_of_five_thousand_digits_is_none(unguarded: Runs):
    text = 'Stack (most recent call first):\\n  File "<script>", line ' + "9" * 5000 + " in x\\n"

    failure = unguarded.failure(lie(f"say(b'{text}')"), limits=limits(seconds=0.3))

    assert failure.line == 0


def test_a_place_within_a_line_is_none_so_that_each_character_is_looked_at_once(unguarded: Runs):
    text = "Stack (most recent call first):\\n" + 'x  File \\"<script>\\", line 7 in ' * 300 + "x\\n"

    failure = unguarded.failure(lie(f'say(b"{text}")'), limits=limits(seconds=0.3))

    assert failure.line == 0


def test_a_text_in_place_of_a_frame_without_end_is_not_kept_for_long(unguarded: Runs):
    failure = unguarded.failure(lie("say(b'Stack' + b'x' * (1 << 22))"), limits=limits(seconds=2))

    assert failure.reason == "cpu"
    assert failure.line == 0


def test_claims_of_endless_texts_are_cut(unguarded: Runs):
    body = "say(ending({**FINE, 'failure': failed(message='x' * 60_000), 'shape': ''}))"

    assert len(unguarded.failure(lie(body)).message) <= 2000


def test_claims_of_endless_names_are_cut(unguarded: Runs):
    body = "say(ending({**FINE, 'failure': failed(trace=[[1, 'x' * 6000]] * 9)}))"

    assert unguarded.failure(lie(body)).trace == ((1, "x" * 200),) * 9


def test_a_worker_sees_nothing_of_another_run(unguarded: Runs):
    unguarded("import builtins\ndef main():\n    builtins.left_behind = secret", inputs={"secret": "tea"})

    assert unguarded.result("import builtins, json\ndef main():\n    return hasattr(builtins, 'left_behind')") is False
    assert json.loads("1") == 1


REMEMBERED = """
import gc
def main():
    kept = [each for each in gc.get_objects() if isinstance(each, dict)]
    return [name for each in kept for name, value in each.items() if value == "sencha-%d" % (4700 + 11)]
"""


def test_a_worker_remembers_nothing_of_another_runs_inputs(unguarded: Runs):
    assert "given" in unguarded.result(REMEMBERED, inputs={"given": "sencha-4711"})

    assert unguarded.result(REMEMBERED) == []
