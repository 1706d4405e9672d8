"""Attacks by knowing where in memory objects lie: what a fault of Python's own needs to lead out of the language."""

# ruff: noqa: E501 - one attack, one line

import textwrap
from typing import Any

import pytest

from panorama.sandbox import identity
from tests.sandbox.running import ran


class _Thing:
    pass


ADDRESSES = {
    "id": "return id(x)",
    "id, applied": "return [*map(id, [x])][0]",
    "hash": "return hash(x)",
    "hash of a function": "x = lambda: 0\nreturn hash(x) if hash(x) != id(x) // 16 else 0",
    "its method": "return object.__hash__(x)",
    "the method of an own object": "class A: pass\nknown.append(A())\nreturn known[0].__hash__()",
    "by super": "class A:\n    def __hash__(self): return super().__hash__()\nknown.append(A())\nreturn hash(known[0])",
    "taken over": "class A:\n    __hash__ = object.__hash__\nknown.append(A())\nreturn hash(known[0])",
    "called by name": "import operator\nclass A: pass\nknown.append(A())\nreturn operator.methodcaller('__hash__')(known[0])",
    "of a class": "class A: pass\nknown.append(A)\nreturn hash(A)",
    "of a method": "class A:\n    def f(self): pass\nknown.append(A().f)\nreturn hash(known[0])",
    "in a tuple": "known.append((x,))\nreturn hash((x,))",
    "deep in tuples": "known.append((1, (2, (x,))))\nreturn hash(known[0])",
    "in a set": "known.append(frozenset([x]))\nreturn hash(known[0])",
    "in a tuple, by its method": "known.append((x,))\nreturn tuple.__hash__((x,))",
    "in a named tuple": "import collections\nN = collections.namedtuple('N', 'a')\nknown.append(N(x))\nreturn hash(known[0])",
    "in a named tuple, by its method": "import collections\nN = collections.namedtuple('N', 'a')\nknown.append(N(x))\nreturn known[0].__hash__()",
    "in a dataclass": "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass A:\n    a: object\nknown.append(A(x))\nreturn hash(known[0])",
    "in a dataclass, by its method": "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass A:\n    a: object\nknown.append(A(x))\nreturn known[0].__hash__()",
    "in a copy's memory": "import copy\nclass A:\n    def __deepcopy__(self, memo): return [*memo]\nknown.append([A()])\nreturn copy.deepcopy(known[0])[0] or 0",
    "in what pprint says": "import pprint\nx = []\nx.append(x)\nknown.append(x)\nreturn int(pprint.pformat(x).split('=')[1].rstrip('>]'))",
    "as a bound method": "class A: pass\nknown.append(A())\nf = known[0].__hash__\nreturn f()",
    "of what is no number": "x = float('nan')\nknown.append(x)\nreturn hash(x)",
    "of what is no number, in a tuple": "x = (float('nan'),)\nknown.append(x)\nreturn hash(x)",
    "of a decimal that is none": "import decimal\nx = decimal.Decimal('nan')\nknown.append(x)\nreturn hash(x)",
    "in a UUID": "import uuid\nclass I:\n    def __ge__(self, other): return True\n    __lt__ = __le__ = __ge__\ni = I()\nknown.append(i)\nreturn hash(uuid.UUID(int=i))",
    "in a fraction": "from fractions import Fraction\nclass X:\n    def __abs__(self): return x\n    def __ge__(self, other): return True\nclass N(int):\n    @property\n    def numerator(self): return X()\nreturn hash(Fraction(N(1)))",
    "of None": "known.append(None)\nreturn hash(None) if hash(None) > 1 << 40 else 0",
}  # fmt: skip


def _told(value: Any) -> set[int]:
    return {id(value), id(value) >> 4, object.__hash__(value), *_hashes(value)}


def _hashes(value: Any) -> list[int]:
    try:
        return [] if type(value).__hash__.__module__ in ("script", identity.__name__) else [hash(value)]
    except (TypeError, AttributeError):
        return [] if type(value).__hash__ is None else [hash(value)]


@pytest.mark.parametrize("code", ADDRESSES.values(), ids=ADDRESSES.keys())
def test_no_function_tells_where_an_object_lies(code: str) -> None:
    x, known = _Thing(), list[Any]()

    found = ran(code, x=x, known=known)

    addresses = set[int]().union(*map(_told, [x, *known]))
    assert addresses.isdisjoint(found if isinstance(found, list) else [found])


def test_an_id_is_that_of_one_object_as_long_as_it_is_there() -> None:
    assert ran("a, b = [], []\nreturn id(a) == id(a), id(a) == id(b), id(a) > 0, len({id(x) for x in [[i] for i in range(1000)] for _ in 'ab'})") in [
        (True, False, True, 1000)
    ]  # fmt: skip


PLAIN = """
import datetime, decimal, fractions, uuid, enum, collections
class Text(str): pass
class Number(int): pass
class Own:
    def __hash__(self): return 5
class Said(str):
    def __eq__(self, other): return str.__eq__(self, other)
    __hash__ = str.__hash__
P = collections.namedtuple("P", "x y")
values = [1, -1, 1 << 70, 1.5, True, "a", b"a", 2j, (1, "a"), (1, ("a", (2.5,))), decimal.Decimal("1.5"), fractions.Fraction(3, 2),
          datetime.date(2024, 1, 1), datetime.timedelta(1), uuid.UUID(int=5), frozenset([1, 2]), P(1, 2), Said("a"), (Said("a"), 1),
          Text("a"), Number(5), Own(), (Own(), 1), (), frozenset()]
"""


def test_the_hash_of_plain_values_is_python_s() -> None:
    values, hashes = ran(f"{PLAIN}return values, [hash(each) for each in values]")

    assert hashes == [hash(each) for each in values]


def test_equal_values_have_equal_hashes() -> None:
    text = "class A: pass\nP = namedtuple('P', 'x y')\na = A()\nreturn hash((a, 1)) == hash((a, 1.0)) == hash(P(a, 1)), hash(a) != hash(A()), hash(frozenset([a, 1])) == hash(frozenset([1, a])), hash(a) == a.__hash__() == object.__hash__(a)"

    assert ran(f"from collections import namedtuple\n{textwrap.dedent(text)}") == (True, True, True, True)


def test_a_hash_that_is_taken_over_is_the_one_of_its_method() -> None:
    code = "class A:\n    __hash__ = object.__hash__\na = A()\nreturn hash(a) == object.__hash__(a) == a.__hash__()"

    assert ran(code) is True


def test_what_cannot_be_hashed_cannot_be_hashed() -> None:
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        ran("return hash(([],))")
