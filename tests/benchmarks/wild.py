"""Wild scripts, which do not end by themselves or want all there is; clients who run them, and who work beside."""

import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from itertools import count

from .raw import Raw

LASTS_SECONDS = 2.0
_numbers = count()

HOSTILE: Mapping[str, str] = {
    "busy loop": "while True: pass",
    "busy function": "def f(n):\n    while True:\n        n = (n * 7 + 3) % 1000003\nf(1)",
    "10 ** 10 ** 8": "len(bin(10 ** 10 ** 8))",
    "pow of long numbers": "pow(3, 10 ** 7, 10 ** 200_000 + 7)",
    "factorial": "import math\nmath.factorial(10 ** 8)",
    "sum in C": "sum(range(10 ** 13))",
    "regular expression": "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
    "search in a text": "('a' * 2_000_000 + 'b').count('a' * 1_000_000 + 'c') or [x for x in iter(int, 1)]",
    "sleep": "import time\ntime.sleep(60)",
    "except BaseException": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "finally": "def f():\n    try:\n        while True: pass\n    finally:\n        f()\nf()",
    "generator": "def g():\n    while True: yield 1\nsum(g())",
    "recursion in a loop": "def f(n): return f(n + 1)\nwhile True:\n    try: f(0)\n    except RecursionError: pass",
    "recursion in texts": "class A:\n    def __repr__(self): return repr([self])\nwhile True:\n    try: repr(A())\n"
    "    except RecursionError: pass",
    "sort with a hostile __lt__": "class A:\n    def __lt__(self, other):\n        while True: pass\nsorted([A()] * 2)",
    "hostile __hash__": "class A:\n    def __hash__(self):\n        while True: pass\n{A()}",
    "hostile __eq__": "class A:\n    def __eq__(self, other):\n        while True: pass\nA() in [A()]",
    "hostile __str__ of an error": "class A(Exception):\n    def __str__(self):\n        while True: pass\nraise A()",
    "hash collisions": "d = {}\nfor i in range(10 ** 6): d[i * (2 ** 61 - 1)] = i",
    "permutations": "import itertools\nsum(1 for _ in itertools.permutations(range(30)))",
    "differences of texts": "import difflib\n"
    "list(difflib.ndiff(['x' + str(i) for i in range(3000)], ['y' + str(i) for i in range(3000)]))",
    "print nothing": "while True: print(end='')",
    "print flood": "while True: print('x' * 100)",
    "progress flood": "while True: sdk.progress(1, 2, 'x' * 500)",
    "call flood": "while True: sdk.status()",
    "eight calls at a time": "def f():\n    while True: sdk.status()\nsdk.parallel(f, f, f, f, f, f, f, f)",
    "list that grows": "x = []\nwhile True: x.append(len(x))",
    "list that grows to its end": "x = []\nwhile True: x.append('x' * 100_000)",
    "list that doubles": "x = [0]\nwhile True: x += x",
    "list of lists": "x = [[] for _ in range(10 ** 9)]",
    "memory again and again": "while True:\n    try:\n        x = []\n        while True: x.append('a' * 1_000_000)\n"
    "    except MemoryError: x = None",
    "str multiplication": "x = 'ab' * 50_000_000\nwhile True: y = x * 2",
    "str join": "while True: x = ''.join(str(i) for i in range(10 ** 6))",
    "JSON of much": "import json\nx = [[i] * 10 for i in range(100_000)]\nwhile True: json.loads(json.dumps(x))",
    "sort of much": "import random\nx = [random.random() for _ in range(10 ** 6)]\nwhile True: sorted(x)",
    "a result without end": "class A(dict):\n    def items(self):\n        while True: pass\nreturn A(a=1)",
}  # fmt: skip
"""Scripts that no limit of time should see for long."""

BESIDE: Mapping[str, str] = {
    "CPU": "while True: pass",
    "memory": "x = []\nwhile True: x.append('x' * 100_000)",
    "print flood": "while True: print('x' * 1000)",
    "call flood": "while True: sdk.status()",
    "eight calls at a time": "def f():\n    while True: sdk.tasks.list(limit=5)\nsdk.parallel(f, f, f, f, f, f, f, f)",
    "all tasks again and again": "while True: sdk.tasks.list(status='any')",
}
"""What runs while others go on with their work, by what it wants."""

NEVER_READING = """
import os, struct
def main():
    name, arguments, number = b"status", b"\\x80", 0
    while True:
        number += 1
        body = struct.pack(">IB", number, len(name)) + name + arguments
        os.write(3, struct.pack(">Ic", len(body), b"c") + body)
"""
"""A worker, not held by the language, that makes calls and reads no answers."""


class Client:
    """A client in a thread that runs a wild script again and again; `took` is how many milliseconds each took."""

    def __init__(self, client: Raw, source: str) -> None:
        self.took: list[float] = []
        self._client = client
        self._source = source
        self._over = threading.Event()

    @contextmanager
    def raging(self) -> Generator[None]:
        """Run it meanwhile."""
        self._over.clear()
        thread = threading.Thread(target=self._rage)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _rage(self) -> None:
        while not self._over.is_set():
            self.took.append(self._client.took("run_code", code=self._source, timeout=1))


def worked(client: Raw) -> list[float]:
    """Work as a client does, for some seconds, never asking the same twice; return what its calls took."""
    took, until = list[float](), time.monotonic() + LASTS_SECONDS
    while time.monotonic() < until:
        number = next(_numbers)
        took.append(client.took("list_tasks", limit=10 + number % 20, due_until=f"+{number}d"))
        took.append(client.took("create_task", title=f"Errand {number}"))
        took.append(client.took("search", query=f"errand {number}"))
        time.sleep(0.005)
    return took
