"""Scripts that take all they can: each ends by its limit, and the host answers the next."""

import os
import threading

import psutil
import pytest

from panorama.domain.scripts.scripts import Limits
from tests.sandbox.runs import Host, Runs, limits, nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "runs", "unguarded"]

SHORT = limits(seconds=0.25)
SMALL = limits(seconds=5, memory_bytes=64 << 20)

BY_TIME = {
    "a loop without end": "while True: pass",
    "a loop that catches everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass"
    ),
    "a loop in a finally": "try:\n    1 / 0\nfinally:\n    while True: pass",
    "a generator without end": "def forever():\n    while True: yield 1\nsum(forever())",
    "a number of billions of digits": "10 ** 10 ** 10",
    "a power that takes years": "pow(3, 10 ** 7, 10 ** 200_000 + 7)",
    "factorials": "import math\nmath.factorial(10 ** 8)",
    "a regular expression that tries everything": "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
    "a difference of long texts": (
        "import difflib\n"
        "difflib.ndiff(['ab' * 2000] * 99, ['ba' * 2000] * 99)\n"
        "list(difflib.ndiff(['x' + str(i) for i in range(3000)], ['y' + str(i) for i in range(3000)]))"
    ),
    "a search through all permutations": "import itertools\nsum(1 for _ in itertools.permutations(range(30)))",
    "C code that goes on counting": "sum(range(10 ** 13))",
    "a text that takes long to search": (
        "('a' * 2_000_000 + 'b').count('a' * 1_000_000 + 'c') or [x for x in iter(int, 1)]"
    ),
    "sleeping": "import time\ntime.sleep(3600)",
    "a method that never gives its text": "class Odd:\n    def __str__(self):\n        while True: pass\nprint(Odd())",
    "an exception that never gives its text": (
        "class Odd(Exception):\n    def __str__(self):\n        while True: pass\nraise Odd()"
    ),
    "a result that never gives its fields": (
        "class Odd(dict):\n    def items(self):\n        while True: pass\nreturn Odd(a=1)"
    ),
    "a comparison that never ends": (
        "class Odd:\n    def __lt__(self, other):\n        while True: pass\nsorted([Odd(), Odd()])"
    ),
    "a hash that never ends": "class Odd:\n    def __hash__(self):\n        while True: pass\n{Odd()}",
    "exceptions in a chain without end": (
        "def f():\n"
        "    try:\n"
        "        1 / 0\n"
        "    except ZeroDivisionError:\n"
        "        f()\n"
        "while True:\n"
        "    try:\n"
        "        f()\n"
        "    except RecursionError:\n"
        "        pass"
    ),
    "functions side by side without end": "def f():\n    while True: sdk.items.get(1)\nsdk.parallel(f, f, f)",
    "progress without end": "while True: sdk.progress(1, 2, 'x' * 500)",
}


@pytest.mark.parametrize("source", BY_TIME.values(), ids=BY_TIME.keys())
def test_what_takes_all_the_time_ends_by_its_limit(runs: Runs, source: str):
    failure = runs.failure(source, limits=SHORT)

    assert failure.reason == "time", failure
    assert runs.result("return 1") == 1


BY_MEMORY = {
    "a text of many gigabytes": "'x' * 10 ** 11",
    "a list that doubles": "x = [0]\nwhile True: x += x",
    "a dict that grows": "x = {}\nwhile True: x[len(x)] = 'a' * 1000",
    "a thousand million lists": "x = [[] for _ in range(10 ** 9)]",
    "bytes": "x = bytearray(10 ** 10)",
    "a generator that is kept": "x = list(range(10 ** 10))",
    "texts that are joined": "x = 'x' * 1000\nwhile True: x = ''.join([x, x])",
    "a format that is wide": "f'{1:1000000000}'",
    "a result that is large in JSON": "x = ['a' * 1000] * 300_000\nreturn x",
    "a deque": "from collections import deque\nx = deque()\nwhile True: x.append('a' * 1000)",
}


@pytest.mark.parametrize("source", BY_MEMORY.values(), ids=BY_MEMORY.keys())
def test_what_takes_all_the_memory_ends_by_its_limit(runs: Runs, source: str):
    before = psutil.Process().memory_info().rss

    failure = runs.failure(source, limits=SMALL)

    assert failure.reason in ("memory", "result_size"), failure
    assert psutil.Process().memory_info().rss - before < 64 << 20
    assert runs.result("return 1") == 1


def test_a_script_may_catch_that_memory_ran_out_and_go_on(runs: Runs):
    source = "try:\n    x = 'x' * 10 ** 11\nexcept MemoryError:\n    x = 'small'\nx"

    assert runs.result(source, limits=SMALL) == "small"


def test_memory_taken_again_and_again_ends_by_time(runs: Runs):
    source = """
while True:
    try:
        x = []
        while True: x.append('a' * 100_000)
    except MemoryError:
        x = None
"""

    failure = runs.failure(source, limits=limits(seconds=0.4, memory_bytes=64 << 20))

    assert failure.reason in ("time", "memory")
    assert runs.result("return 1") == 1


OTHERS: dict[str, tuple[str, Limits, set[str]]] = {
    "printing without end": ("while True: print('x' * 100)", limits(output_bytes=100_000), {"output_size"}),
    "printing much at once": ("print('x' * 50_000_000)", limits(output_bytes=100_000), {"output_size"}),
    "printing nothing without end": ("while True: print(end='')", SHORT, {"time"}),
    "calling without end": ("while True: sdk.items.get(1)", limits(calls=500), {"calls"}),
    "calling with large arguments": ("while True: sdk.items.get('x' * 2_000_000)", limits(), {"call_size"}),
    "calling with much in all": ("while True: sdk.items.get('x' * 100_000)", limits(sent_bytes=1 << 20), {"sent_size"}),
    "a recursion without end": ("def f(): f()\nf()", limits(), {"raised"}),
    "a recursion through texts": (
        "class Odd:\n    def __repr__(self): return repr(self)\nrepr(Odd())",
        limits(),
        {"raised"},
    ),
    "a result nested without end": ("x = []\nfor _ in range(100_000): x = [x]\nx", limits(), {"raised"}),
    "a result that holds itself": ("x = {}\nx['x'] = x\nx", limits(), {"raised"}),
    "arguments nested without end": (
        "x = []\nfor _ in range(100_000): x = [x]\nsdk.items.get(x)",
        limits(),
        {"raised"},
    ),
    "a text nested without end": ("(" * 5000 + ")" * 5000, limits(), {"syntax", "policy"}),
    "a sum that is nested without end": ("1" + " + 1" * 40_000, limits(), {"syntax", "policy", "raised"}),
    "JSON nested without end": ("import json\njson.loads('[' * 100_000)", limits(), {"raised"}),
    "digits without end": ("str(10 ** 100_000)", limits(), {"raised"}),
    "state without end": (
        "i = 0\nwhile True:\n    i += 1\n    sdk.state[str(i)] = 'x' * 1000\n    if i > 2000: break",
        limits(),
        {"state_size"},
    ),
}


@pytest.mark.parametrize(("source", "given", "reasons"), OTHERS.values(), ids=OTHERS.keys())
def test_what_goes_on_without_end_is_ended(runs: Runs, source: str, given: Limits, reasons: set[str]):
    failure = runs.failure(source, limits=given)

    assert failure.reason in reasons, failure
    assert runs.result("return 1") == 1


UNGUARDED = {
    "taking no notice of signals": (
        "import signal\n"
        "def main():\n"
        "    import _signal\n"
        "    while True:\n"
        "        try:\n"
        "            while True: pass\n"
        "        except BaseException: pass"
    ),
    "C code that takes no notice of signals": (
        "import ctypes\ndef main():\n    ctypes.CDLL(None).sleep(60)\n    while True: ctypes.CDLL(None).sleep(60)"
    ),
    "a lock that nobody opens": (
        "import _thread\n"
        "def main():\n"
        "    lock = _thread.allocate_lock()\n"
        "    lock.acquire()\n"
        "    while True:\n"
        "        lock.acquire()"
    ),
}


@pytest.mark.parametrize("source", UNGUARDED.values(), ids=UNGUARDED.keys())
def test_a_worker_that_does_not_hear_is_killed(unguarded: Runs, source: str):
    failure = unguarded.failure(source, limits=SHORT)

    assert failure.reason == "time"
    assert unguarded.result("def main(): return 1") == 1


@pytest.mark.parametrize("source", ["os.kill", "ctypes.string_at(0)", "os.abort()", "os._exit(1)"])
def test_a_crash_is_told_as_one(unguarded: Runs, source: str):
    failure = unguarded.failure(f"import ctypes, os\ndef main():\n    return {source}")

    assert failure.reason in ("crashed", "raised")
    assert unguarded.result("def main(): return 1") == 1


def test_the_host_answers_others_while_a_worker_reads_nothing(unguarded: Runs):
    flood = """
import os, struct
def main():
    frame = struct.pack(">IB", 1, 9) + b"items.get" + b"\\x80"
    n = 0
    while True:
        n += 1
        body = struct.pack(">IB", n, 9) + b"items.get" + b"\\x80"
        os.write(3, struct.pack(">Ic", len(body), b"c") + body)
"""
    big = Host(answers=lambda *_: os.urandom(1 << 18))
    wild = threading.Thread(target=unguarded, args=(flood,), kwargs={"host": big, "limits": limits(seconds=0.5)})
    wild.start()

    results = [unguarded.result("def main(): return 1") for _ in range(5)]

    wild.join()
    assert results == [1] * 5
