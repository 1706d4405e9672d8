"""Attacks on what C code of Python's library holds without owning it: they take it away between two looks at it.

Under `PYTHONMALLOC=debug` whoever uses memory that was freed dies of it, on Pythons that have the fault; so each has a
process of its own.
"""

# ruff: noqa: E501 - one attack, one line

import os
import subprocess
import sys

import pytest

from tests.sandbox.running import ran

_DEBUGGED = {**os.environ, "PYTHONMALLOC": "debug", "PYTHONPATH": os.pathsep.join(sys.path)}

_LYING = """
class Key:
    def __init__(self, number):
        self.number = number
    def __hash__(self):
        return 1
    def __eq__(self, other):
        if armed[0]:
            armed[0] -= 1
            if not armed[0]:
                taken[0].clear()
        return self is other
armed, taken = [0], [None]
"""
_ORDERED = f"""
from collections import OrderedDict
import copy
{_LYING}
for act in (
    lambda d, k: d.pop(k, 1), lambda d, k: d.__delitem__(k), lambda d, k: d.popitem(), lambda d, k: d.move_to_end(k),
    lambda d, k: list(d.items()), lambda d, k: list(reversed(d)), lambda d, k: d.copy(), lambda d, k: d | d,
    lambda d, k: d == OrderedDict.fromkeys(keys), lambda d, k: copy.copy(d), lambda d, k: d.popitem(last=False),
):
    for number in range(1, 9):
        armed[0] = 0
        keys = [Key(each) for each in range(6)]
        found = taken[0] = OrderedDict((key, [key]) for key in keys)
        armed[0] = number
        try:
            act(found, keys[-1])
        except (KeyError, RuntimeError):
            pass
        armed[0] = 0
        repr(found), found.update({{1: 2}}), list(found)
"""
_COPIED = """
from collections import OrderedDict
class Own(OrderedDict):
    def __getitem__(self, key):
        made[0].clear()
        return [1]
    def __setitem__(self, key, value):
        super().__setitem__(key + "x", value)
for turn in range(50):
    made = [Own()]
    for number in range(6):
        OrderedDict.__setitem__(made[0], str(number) * 5, [number])
    try:
        made[0].copy()
    except (KeyError, RuntimeError):
        pass
"""
_COUNTED = """
from collections import Counter
class Value:
    def __add__(self, other):
        self = other = None
        counts[0].clear()
        return NotImplemented
class Key(str):
    def __hash__(self):
        return str.__hash__(self)
    def __eq__(self, other):
        if armed:
            armed.clear()
            dict.__setitem__(counts[0], "a", Value())
        return False
counts, armed = [Counter()], []
for turn in range(50):
    for first in ({"a": Value()}, {Key("a"): 1, "a": 1}):
        counts[0] = Counter()
        dict.update(counts[0], first)
        armed.append(1)
        try:
            counts[0].update(["a", "a"])
        except TypeError:
            pass
"""
_GROUPED = """
import itertools
class Key:
    def __init__(self):
        self.pad = bytes(100)
    def __eq__(self, other):
        if armed:
            armed.clear()
            for _ in range(3):
                next(groups[0], None)
        return NotImplemented
for turn in range(20):
    armed, groups = [1], [itertools.groupby(Key() for _ in range(20))]
    try:
        for key, members in groups[0]:
            list(members)
            key = members = None
    except ValueError:
        pass
"""
_QUEUED = """
from collections import deque
class Value:
    def __eq__(self, other):
        self = other = None
        one[0].clear(), two[0].clear()
        return NotImplemented
    __lt__ = __eq__
class Own(deque):
    def index(self, value):
        return super().index(value)
one, two = [None], [None]
acts = [
    lambda d: d == two[0], lambda d: d < two[0], lambda d: d.index(3), lambda d: d.remove(3), lambda d: d.count(3),
    lambda d: 3 in d, lambda d: deque.index(d, 3), lambda d: deque.__eq__(d, two[0]),
    lambda d: super(deque, d).index(3), lambda d: super(deque, d).count(3), lambda d: super(deque, d).remove(3),
    lambda d: super(deque, d).__eq__(two[0]), lambda d: super(deque, d).__contains__(3),
]
for act in acts:
    for kind in (deque, Own):
        for turn in range(10):
            one[0], two[0] = kind(Value() for _ in range(5)), kind(Value() for _ in range(5))
            try:
                act(one[0])
            except (RuntimeError, IndexError, ValueError, TypeError):
                pass
"""
_ENTERED_AGAIN = """
from itertools import accumulate, chain, count, cycle, islice, pairwise, zip_longest
import itertools, operator
class Value:
    def __eq__(self, other):
        self = other = None
        next(going[0], None)
        return NotImplemented
def steps():
    next(going[0], None)
    yield 1
class Numbered:
    def __getitem__(self, number):
        next(going[0], None)
        raise IndexError
batched = getattr(itertools, "batched", lambda every, _: pairwise(every))
for make in (
    lambda: islice(steps(), 5), lambda: cycle(steps()), lambda: pairwise(steps()), lambda: chain.from_iterable(steps()),
    lambda: zip_longest(steps(), steps()), lambda: accumulate([[Value()], [Value()], [Value()]], operator.eq),
    lambda: iter(lambda: (Value(),), (Value(), Value())), lambda: iter(Numbered()), lambda: map(None, Numbered()),
    lambda: chain(zip(steps())), lambda: batched(steps(), 2),
):
    for turn in range(20):
        going = [None]
        going[0] = make()
        try:
            next(going[0], None)
            next(going[0], None)
        except (ValueError, TypeError, RuntimeError):
            pass
        [bytearray(each) for each in range(100)]
"""
_ENCODED = """
import json
class Odd: pass
class Other: pass
class Own(dict):
    def items(self):
        outer[0].clear()
        return 5
class Unchecked(json.JSONEncoder):
    def __init__(self, **options):
        super().__init__(**options)
        self.check_circular = False
def default(value):
    seen.append(type(value))
    outer[0].clear()
    kept.append([in_dict(Other) for _ in range(9)])
    return 1
def in_dict(kind):
    return {str(at): kind() for at in range(9)}
seen, outer, kept = [], [None], []
for encoded in (
    lambda: json.dumps(outer[0], default=default, check_circular=False),
    lambda: json.JSONEncoder(default=default, check_circular=False).encode(outer[0]),
    lambda: json.dumps(outer[0], default=default, cls=Unchecked),
):
    outer[0] = [in_dict(Odd)]
    encoded()
    assert {*seen} == {Odd}
    outer[0] = [Own(a=1)]
    try:
        encoded()
    except TypeError as error:
        assert "Own.items" in str(error)
"""
_MISSED = """
from collections import defaultdict
from functools import partial
class Own(defaultdict): pass
class Taking:
    def __divmod__(self, other):
        self = other = None
        take()
        return NotImplemented
class Taken:
    __slots__ = ("a", "b", "c", "d")
    def __rdivmod__(self, other):
        return 1
def own():
    found[0] = Own()
    found[0].default_factory = partial(divmod, Taking(), Taken())
def any_one():
    found[0] = defaultdict(partial(divmod, Taking(), Taken()))
def set_another():
    found[0].default_factory = None
def begin_anew():
    defaultdict.__init__(found[0], None)
found = [None]
for make, take in ((own, set_another), (any_one, begin_anew)):
    for ask in (
        lambda: found[0][1], lambda: found[0].__missing__(1), lambda: defaultdict.__missing__(found[0], 1),
        lambda: super(defaultdict, found[0]).__missing__(1),
    ):
        make()
        ask()
"""
_TOLD = """
import time
from collections import defaultdict
from types import SimpleNamespace
class Taken:
    def __repr__(self):
        return "taken"
class Taking:
    def __repr__(self):
        take()
        return "taking"
class Own(defaultdict): pass
def namespace():
    held[0] = SimpleNamespace(parts=slice(Taking(), Taken(), Taken()))
    return held[0]
def empty():
    held[0].parts = None
def factory():
    held[0] = Own()
    held[0].default_factory = slice(Taking(), Taken(), Taken())
    return held[0]
def without():
    held[0].default_factory = None
def moment():
    held[0] = [time.struct_time([Taking(), *(Taken() for _ in range(8))])]
    return held[0]
def clear():
    held[0].clear()
held = [None]
for make, take in ((namespace, empty), (factory, without), (moment, clear)):
    for tell in (repr, str):
        try:
            tell(make())
        except TypeError:
            pass
"""
TAKEN_AWAY = {
    "what JSON is made of, by `default` and `items`": _ENCODED,
    "a defaultdict's factory, by what it calls": _MISSED,
    "a factory and attributes, by what they tell of themselves": _TOLD,
    "iterators that are entered again by what they go through": _ENTERED_AGAIN,
    "an OrderedDict whose keys clear it": _ORDERED,
    "an OrderedDict that is cleared while it is copied": _COPIED,
    "a Counter whose counts and keys clear it": _COUNTED,
    "groupby, entered again by a key": _GROUPED,
    "a deque whose elements clear it": _QUEUED,
}


@pytest.mark.parametrize("code", TAKEN_AWAY.values(), ids=TAKEN_AWAY.keys())
def test_what_a_script_takes_away_in_the_midst_is_not_used_any_more(code: str) -> None:
    script = f"from tests.sandbox.running import ran\nprint(ran({code + 'return 1'!r}))"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=_DEBUGGED, timeout=60)

    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr


_ENDED_TWICE = """
class Numbered:
    entered = 0
    def __getitem__(self, number):
        self.entered += 1
        if self.entered == 1:
            next(going, None)
        raise IndexError
held = Numbered()
before = references(held)
going = iter(held)
try:
    next(going, None)
except ValueError:
    pass
going = None
return before, references(held)
"""

_MEMBER = """
from enum import Enum
class Numbered({base}):
    {ignored}
    A = 1
    def __getitem__(self, number):
        if asked.pop():
            next(going, None)
        raise IndexError
asked = [False, True]
held = Numbered.A
before = references(held)
going = iter(held)
try:
    next(going, None)
except ValueError:
    pass
going = None
return before, references(held)
"""


@pytest.mark.parametrize(
    "code", [_ENDED_TWICE, _MEMBER.format(base="Enum", ignored=""), _MEMBER.format(base="int, Enum", ignored="_ignore_ = ['x']")],
    ids=["an object", "a member of an enumeration", "a member that is a number"],
)  # fmt: skip
def test_what_ends_twice_is_let_go_of_once(code: str) -> None:
    before, after = ran(code, references=sys.getrefcount)

    assert before == after


@pytest.mark.parametrize("names", ["['__iter__']", "'x __iter__'", "('__exit__',)"])
def test_an_enumeration_ignores_nothing_that_means_something_to_python(names: str) -> None:
    with pytest.raises(TypeError, match="without two underscores"):
        ran(_MEMBER.format(base="Enum", ignored=f"_ignore_ = {names}"), references=sys.getrefcount)
