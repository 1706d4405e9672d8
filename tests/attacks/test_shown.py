"""Attacks by what is shown in C while a part of it takes another away.

C code shows lists, attributes and arguments of errors from references that it does not own. What it shows may let go of
itself only if it shows several objects of the script: slices, `list[a, b]`, errors of the system.
"""

# ruff: noqa: E501 - one attack, one line

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.sandbox.running import ran, ran_plainly
from tests.sandbox.runs import Runs, nothing_is_left, runs
from tests.sandbox.value_idioms import IDIOMS

__all__ = ["nothing_is_left", "runs"]

# --- slices

_KEPT = """
class Part:
    pass
class Own(list):
    def __getitem__(self, key):
        return key
    def __setitem__(self, key, value):
        found.append(key)
    def __delitem__(self, key):
        found.append(key)
class Missing(dict):
    def __missing__(self, key):
        return key
found, own, p = [], Own(), Part()
"""
SLICES = {
    "read": "return own[p:]",
    "in a tuple": "return own[1, own[0, p:3], 0:p]",
    "as a step": "return own[::p]",
    "set": "own[1:p] = []\nreturn found",
    "deleted": "del own[p:1]\nreturn found",
    "added to": "own[0:p] += 1\nreturn found",
    "in a comprehension": "return [own[p:i] for i in range(2)]",
    "in the variable of a comprehension": "return [own[i:i] for i in [p]]",
    "in a sum with it": "class Part:\n    def __add__(self, other): return self\nreturn [own[i + 1 :] for i in [Part()]]",
    "in the first list of a comprehension": "i = p\nreturn [x for i in [own[i:]] for x in [i]]",
    "in a lambda": "return (lambda x: own[x:])(p)",
    "in a lambda of a comprehension": "return [(lambda: own[i:])() for i in [p]]",
    "in a lambda's argument of a comprehension": "return [(lambda i: own[i:])(p) for i in range(1)]",
    "in the body of a class": "class A:\n    got = own[p:]\nreturn A.got",
    "by the walrus": "return own[(q := p) : 3]",
    "by an own len": "def len(x): return p\nreturn own[len(own) :]",
    "as a target of a loop": "for own[p:] in [1]: pass\nreturn found",
    "by the built-in": "return slice(p)",
    "by the class of one": "return type(slice(1))(p, 2)",
    "by the class of one, asked otherwise": "return slice(1).__class__(p, 2)",
    "applied": "return [*map(slice, [p])]",
    "of a list": "return own[[p]:]",
    "of an aware time": "import datetime\nclass Z(datetime.tzinfo): pass\nreturn own[datetime.datetime(2024, 1, 1, tzinfo=Z()) :]",
    "by difflib, which makes slices of it": "import difflib\nclass N:\n    def __add__(self, o): return self\n    __radd__ = __rsub__ = __add__\n    def __lt__(self, o): return False\n    def __gt__(self, o): return True\nreturn [*difflib.SequenceMatcher(None, 'ab', 'ac').get_grouped_opcodes(N())]",
}  # fmt: skip


@pytest.mark.parametrize("code", SLICES.values(), ids=SLICES.keys())
def test_a_slice_has_no_object_of_the_script_in_it(code: str) -> None:
    with pytest.raises(TypeError, match=r"a slice takes whole numbers|cannot be interpreted as an integer"):
        ran(_KEPT + code)


def test_plain_python_has_it() -> None:
    kept = ran_plainly(_KEPT + "return own[p:], p")

    assert kept[0].start is kept[1]


_PARTS = """
import enum
class Text(str):
    pass
class Level(enum.IntEnum):
    LOW = 1
class Own:
    def __getitem__(self, key):
        return key
    @staticmethod
    def kinds(key):
        return [type(part) for part in (key.start, key.stop, key.step)]
low = Level.LOW
return Own.kinds(Own()[low : Text("x")]) + Own.kinds(slice(low, Text("x")))
"""


def test_numbers_and_texts_of_own_classes_become_plain_ones_in_it() -> None:
    assert ran(_PARTS) == [int, str, type(None)] * 2


# --- what the template takes away

_BOX = """
class S:
    def __repr__(self):
        box.clear()
        return "s"
class K:
    def __repr__(self):
        return "k"
"""
_SLICED = (
    _BOX
    + """
import json
class Start(S):
    def __add__(self, other):
        return K()
class T:
    def __getitem__(self, part):
        box.append(part)
        raise ValueError
for turn in range(20):
    box = []
    try:
        {act}
    except ValueError:
        pass
    repr(box)
"""
)
_ERROR = """
class S:
    def __str__(self):
        act()
        return "s"
class K:
    def __str__(self):
        return "k"
class E(OSError):
    {body}
class Outer(ValueError):
    pass
for turn in range(20):
    {acts}
"""
SHOWN = {
    "list[...] in a list": _BOX + "for turn in range(20):\n    box = [list[S(), K(), K()]]\n    repr(box)",
    "a union with it": _BOX + "for turn in range(20):\n    box = [int | list[S(), K()] | dict[K(), K()]]\n    repr(box)",
    "in the arguments of an error": _BOX + "class E(Exception): pass\nfor turn in range(20):\n    e = E(tuple[S(), K()])\n    class B:\n        def clear(self): e.args = ()\n    box = B()\n    str(e)",
    "the members of an own OSError": _ERROR.format(body="pass", acts="e = E(S(), K())\n    def act(): e.strerror = None; e.args = ()\n    str(e)"),
    "its file": _ERROR.format(body="pass", acts="e = E(S(), K(), K(), None, K())\n    def act(): e.strerror = e.filename = e.filename2 = None; e.args = ()\n    str(e)"),
    "by another name": _ERROR.format(body="other = OSError.strerror", acts="e = E(S(), K())\n    def act(): e.other = None; e.args = ()\n    str(e)"),
    "as the text of another": _ERROR.format(body="pass", acts="e = Outer(OSError(S(), K()))\n    def act(): e.args = ()\n    str(e)"),
    "of one that Python derives": _ERROR.format(body="pass", acts="e = Outer(FileNotFoundError(S(), K()))\n    def act(): e.args = ()\n    str(e)"),
    "by super": _ERROR.format(body="def __str__(self): return super().__str__()", acts="e = E(S(), K())\n    def act(): e.strerror = None; e.args = ()\n    str(e)"),
    "a slice that JSON makes": _SLICED.format(act="json.JSONDecoder().parse_object((T(), Start()), True, None, None, None)"),
    "one of a list in JSON": _SLICED.format(act="json.JSONDecoder().parse_array((T(), Start()), None)"),
}  # fmt: skip
_MENDED = "from panorama.sandbox import statics\nstatics.mend()\n"
_DEBUGGED = {**os.environ, "PYTHONMALLOC": "debug", "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.parametrize("code", SHOWN.values(), ids=SHOWN.keys())
def test_what_is_taken_away_while_it_is_shown_is_not_shown_any_more(code: str) -> None:
    script = f"{_MENDED}from tests.sandbox.running import ran\nprint(ran({code + chr(10) + 'return 1'!r}))"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=_DEBUGGED, timeout=60)

    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr


_NAMED = """
import collections, re, itertools, functools
from collections import Counter, ChainMap, OrderedDict, abc, defaultdict, deque
from contextlib import nullcontext
from difflib import SequenceMatcher
kinds = [list, dict, tuple, set, frozenset, Counter, ChainMap, OrderedDict, defaultdict, deque, re.Pattern, re.Match,
         abc.Mapping, abc.Callable, abc.Iterable, SequenceMatcher, nullcontext, enumerate, BaseException]
return [kind.__name__ for kind in kinds if hasattr_item(kind) and kind[object(), object()] is not kind]
"""


def test_in_a_worker_no_class_makes_an_alias_of_what_stands_in_brackets(runs: Runs) -> None:
    body = "def hasattr_item(kind):\n    try:\n        kind[1]\n        return True\n    except TypeError:\n        return False"

    assert runs.result(f"{body}\n{_NAMED}") == []


@pytest.mark.parametrize("code", IDIOMS.values(), ids=IDIOMS.keys())
def test_in_a_worker_a_script_gives_what_plain_python_gives(code: str, runs: Runs) -> None:
    text = textwrap.dedent(code)

    assert runs.result(text) == json.loads(json.dumps(ran_plainly(text)))


def test_in_a_worker_the_text_of_an_error_of_the_system_is_python_s(runs: Runs) -> None:
    made = "OSError(2, 'a'), OSError(2, 'a', 'b'), OSError(2, 'a', 'b', None, 'c'), OSError('x'), OSError(), TimeoutError(1, 'y', None)"

    assert runs.result(f"return [str(e) for e in ({made})]") == [str(each) for each in eval(made)]
