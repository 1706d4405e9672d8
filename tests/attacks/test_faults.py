"""Attacks by faults of older Pythons, whose C code goes on with what it does not own while a script's methods run.

Each makes Python read or write memory that is not its own any more; a debugging allocator ends such a process.
"""

import os
import subprocess
import sys

import pytest

from tests.sandbox.runs import Runs, nothing_is_left, runs

__all__ = ["nothing_is_left", "runs"]

_COMPARED = """
class Second:
    __slots__ = ("a", "b", "c", "d")
    def __lt__(self, other):
        return False
    __gt__ = __le__ = __ge__ = __lt__
class First:
    def __eq__(self, other):
        return False
    def __lt__(self, other):
        other = None
        x.clear()
        y.clear()
        kept.append([bytearray(48 + i % 32) for i in range(200)])
        return NotImplemented
    __gt__ = __le__ = __ge__ = __lt__
kept = []
for turn in range(20):
    x, y = [First()], [Second()]
    {act}
"""
_TAKEN = """
class Holder:
    __slots__ = ("suspended", "name")
class A:
    pass
class Derived(A):
    pass
def suspended():
    try:
        yield
    finally:
        got.append(A.x)
def go():
    held = Holder()
    held.suspended = suspended()
    next(held.suspended)
    held.name = "n"
    A.x = held
    held = None
    A.x, A.x
    {act}
for turn in range(20):
    got = []
    A.x = None
    try:
        go()
    except AttributeError:
        pass
    repr(got)
"""
_SHRUNK = """
import operator
class Shrinking:
    def __iter__(self):
        x.clear()
        x.append(1)
        return iter(range(500))
class Own(list):
    pass
for turn in range(20):
    x = {made}([None] * 1000)
    try:
        {act}
    except ValueError:
        pass
"""
COMPARED = {
    "compared": _COMPARED.format(act="x < y"),
    "compared the other way": _COMPARED.format(act="x >= y"),
    "sorted": _COMPARED.format(act="sorted([y, x])"),
    "the larger of them": _COMPARED.format(act="max([y, x])"),
    "in tuples": _COMPARED.format(act="(1, x) < (1, y)"),
    "by operator": _COMPARED.format(act="import operator\n    operator.lt(x, y)"),
}
TAKEN = {
    "set": _TAKEN.format(act="A.x = 1"),
    "deleted": _TAKEN.format(act="del A.x"),
    "set by name": _TAKEN.format(act="setattr(A, 'x', 1)"),
    "deleted by name": _TAKEN.format(act="delattr(A, 'x')"),
    "read from one derived": _TAKEN.replace("A.x, A.x", "Derived.x, Derived.x").format(act="A.x = 1"),
}
SHRUNK = {
    "every second item set": _SHRUNK.format(made="", act="x[::2] = Shrinking()"),
    "by a slice made before": _SHRUNK.format(made="", act="s = slice(None, None, 2); x[s] = Shrinking()"),
    "by operator, too": _SHRUNK.format(made="", act="operator.setitem(x, slice(None, None, 2), Shrinking())"),
    "by the class": _SHRUNK.format(made="", act="list.__setitem__(x, slice(None, None, 2), Shrinking())"),
    "of a class derived": _SHRUNK.format(made="Own", act="x[::2] = Shrinking()"),
}
_EMPTIED = """
class Emptying(str):
    def __len__(self):
        return self.__bytes__()
    def __bytes__(self):
        x.clear()
        kept.append([bytearray(48 + i % 32) for i in range(200)])
        return {length}
kept = []
x = bytearray(b"%s" + b"a" * {size})
text = {act}
{seen}
"""
EMPTIED = {
    "shown in hex": _EMPTIED.format(
        length=1, size=90, act='x.hex(Emptying("-"))', seen='assert text == "-".join(["25", "73", *["61"] * 90])'
    ),
    "formatted": _EMPTIED.format(
        length='b"zz"', size=90, act="x % (Emptying(),)", seen='assert text == b"zz" + b"a" * 90'
    ),
    "formatted by operator": _EMPTIED.format(
        length='b"zz"', size=90, act="__import__('operator').mod(x, (Emptying(),))", seen='assert text[2:] == b"a" * 90'
    ).replace("__import__('operator')", "operator").replace("kept = []", "import operator\nkept = []"),
    "formatted in place": _EMPTIED.format(
        length='b"zz"', size=90, act="x\ny = x\ny %= (Emptying(),)\ntext = y", seen='assert text[2:] == b"a" * 90'
    ),
}  # fmt: skip
_LYING = """
class Lying:
    def __len__(self):
        return 0
    def __iter__(self):
        return iter([55, 56, 57])
x = bytearray()
x.extend(Lying())
assert (x, bytearray()) == (b"789", b""), x
"""
EMPTIED |= {"extended by what lies about its length": _LYING}
FAULTS = COMPARED | TAKEN | SHRUNK | EMPTIED
_MENDED = (
    "from panorama.sandbox import faults\nfrom tests.sandbox.running import ran\n"
    "ran('return 0')\nfaults.mend()\n"  # as the template does: the language is made before
)
_RAN = "print(ran({!r}))"
_DEBUGGED = {**os.environ, "PYTHONMALLOC": "debug", "PYTHONPATH": os.pathsep.join(sys.path)}


def done(script: str) -> tuple[str, int]:
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=_DEBUGGED, timeout=60)
    return ended.stdout, ended.returncode


@pytest.mark.parametrize("code", FAULTS.values(), ids=FAULTS.keys())
def test_what_a_script_takes_away_meanwhile_is_not_used_any_more(code: str) -> None:
    assert done(_MENDED + _RAN.format(code + "\nreturn 1")) == ("1\n", 0)


OLD = {
    **dict.fromkeys(("compared", "sorted", "in tuples", "every second item set", "of a class derived"), (3, 12, 5)),
    **dict.fromkeys(("set", "deleted"), (3, 13)),
    **dict.fromkeys(("shown in hex", "formatted"), (3, 13, 12)),
}


@pytest.mark.parametrize("name", [name for name, mended in OLD.items() if sys.version_info < mended])
def test_plain_python_uses_it(name: str) -> None:
    assert done(FAULTS[name])[1] != 0


LISTS = """
class Own(list):
    pass
class Odd:
    def __eq__(self, other): return True
x, own = [*range(10)], Own([1, 2])
x[::2] = (i for i in 'abcde')
x[-1], x[3:4], own[0] = 0, 'xyz', 5
def error(act):
    try:
        act()
    except Exception as e:
        return f'{type(e).__name__}: {e}'
def put(value): x[::2] = value
return [
    x, own, own < Own([6]), [1, 2] < [1, 3], [2] < [1], [1] < [1, 2], [1] <= [1], [2] > [1], [1] >= [1], [] < [1],
    [Odd(), 1] < [2, 2], sorted([[3], [1, 2], [1]]), max([[1], [2]]), [[1], [2]] < [[1], [3]],
    error(lambda: [1] < (1,)), error(lambda: [1] < ['a']), error(lambda: put([1])),
]
"""


def test_lists_compare_and_take_items_as_python_s_do(runs: Runs) -> None:
    names: dict[str, object] = {}
    exec("def script():\n" + "".join(f"    {line}\n" for line in LISTS.splitlines()), names)

    assert runs.result(LISTS) == names["script"]()  # type: ignore[operator] (a name of no known type)


BYTEARRAYS = """
import operator
b = bytearray(b"ab%s-%d")
c = b
c %= (b"q", 5)
class Odd:
    def __rmod__(self, other): return "mine"
def error(act):
    try:
        return act()
    except Exception as e:
        return f'{type(e).__name__}: {e}'
return [
    repr(b % (b"z", 3)), repr(c), repr(operator.mod(b, (b"z", 3))), repr(bytearray(b"%(a)s") % {b"a": b"v"}),
    error(lambda: b % 3), error(lambda: 5 % b), error(lambda: [1] % b), repr(b"<%s>" % b), error(lambda: "%s" % b),
    error(lambda: bytearray(b"x") % Odd()), b.hex(), b.hex(":"), b.hex(":", 2), b.hex(sep="-", bytes_per_sep=3),
    b.extend(b"x"), b.extend([1, 2]), b.extend(i for i in (3, 4)), b.extend(bytearray(b"y")), repr(b),
    error(lambda: b.extend("ab")), error(lambda: b.extend([256])),
    error(lambda: b.hex("ab")), error(lambda: b.hex(1)), bytearray.hex(b),
]
"""


def test_bytearrays_are_shown_and_formatted_as_python_does(runs: Runs) -> None:
    names: dict[str, object] = {}
    exec("def script():\n" + "".join(f"    {line}\n" for line in BYTEARRAYS.splitlines()), names)

    assert runs.result(BYTEARRAYS) == names["script"]()  # type: ignore[operator] (a name of no known type)


ADDRESSES = {
    "an object": "class A: pass\nx = A()\nreturn repr(x), id(x)",
    "an error's argument": "class A: pass\nx = A()\nreturn str(ValueError(x)), id(x)",
    "by a format": "class A: pass\nx = A()\nreturn f'{x}' + '%r' % x + '{}'.format(x) + str([x]), id(x)",
    "a function": "def f(): pass\nreturn repr(f), id(f)",
    "a method of C": "x = []\nreturn repr(x.append), id(x)",
    "a method of a class": "return repr(bytearray.fromhex), id(bytearray)",
    "a static method of C": "return repr(str.maketrans), id(str)",
    "a generator": "x = (i for i in [])\nreturn repr(x), id(x)",
    "a method": "class A:\n    def f(self): pass\nx = A()\nreturn repr(x.f), id(x)",
    "an iterator": "x = iter([])\nreturn repr(x), id(x)",
    "a function of the library": "import json\nreturn repr(json.loads), id(json.loads)",
    "a digest": "import hashlib\nx = hashlib.sha256()\nreturn repr(x), id(x)",
}


@pytest.mark.parametrize("code", ADDRESSES.values(), ids=ADDRESSES.keys())
def test_what_an_object_shows_is_its_id_which_is_no_address(code: str, runs: Runs) -> None:
    text, number = runs.result(code)

    assert f" 0x{number:x}" in text
    assert text.count("0x") == text.count(f"0x{number:x}")


BUFFERS = {
    "by name": "return io.BytesIO(b'abc').getbuffer()",
    "by getattr": "return getattr(io.BytesIO(b'abc'), 'getbuffer')()",
    "by the class": "return io.BytesIO.getbuffer(io.BytesIO(b'abc'))",
    "by operator": "import operator\nreturn operator.methodcaller('getbuffer')(io.BytesIO(b'abc'))",
    "by attrgetter": "import operator\nreturn operator.attrgetter('getbuffer')(io.BytesIO(b'abc'))()",
    "by a format": "return '{0.getbuffer}'.format(io.BytesIO(b'abc'))",
    "by a pattern": "match io.BytesIO():\n    case io.BytesIO(getbuffer=x): return x()\n    case _: raise ValueError",
}  # fmt: skip


@pytest.mark.parametrize("code", BUFFERS.values(), ids=BUFFERS.keys())
def test_no_view_of_a_buffer_is_given(code: str, runs: Runs) -> None:
    assert runs.failure("import io\n" + code).reason in ("policy", "raised")
