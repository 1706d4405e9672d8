"""What attacks on the language get in plain Python, so that each is known to be one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_APART = """
import os, sys, textwrap
from json import dumps, loads
import panorama.sdk
from tests.sandbox.running import dangerous, ran_plainly

for line in sys.stdin:
    told, telling = os.pipe()
    if not os.fork():
        found = dangerous(ran_plainly(textwrap.dedent(loads(line)), sdk=panorama.sdk))
        os.write(telling, dumps(found).encode())
        os._exit(0)
    os.close(telling)
    os.wait()
    os.write(1, (os.read(told, 10_000) or b'""') + b"\\n")
    os.close(told)
"""


@pytest.fixture(scope="module")
def plain_loot() -> Iterator[Callable[[str], str]]:
    """Give a function that runs an attack in plain Python and returns what is dangerous about its result.

    Each attack has a process of its own: many change what all of a process share.
    """
    command, environment = [sys.executable, "-c", _APART], {**os.environ, "PYTHONPATH": str(_ROOT)}
    with subprocess.Popen(command, text=True, stdin=-1, stdout=-1, env=environment) as apart:
        assert apart.stdin
        assert apart.stdout
        asked, told = apart.stdin, apart.stdout

        def loot(code: str) -> str:
            asked.write(f"{json.dumps(code)}\n")
            asked.flush()
            return json.loads(told.readline())

        yield loot
