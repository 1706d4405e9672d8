"""Attacks on classes of Python's library: by what all their users share, and by `super`."""

# ruff: noqa: E501 - one attack, one line

import textwrap
from contextlib import suppress

import pytest

from tests.attacks.reach import Reach, outside, reach
from tests.sandbox.running import ran_plainly, run_restricted
from tests.sandbox.runs import nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "outside", "reach", "runs", "unguarded"]

_SPY = """
import dataclasses
class Spy:
    def __eq__(self, other):
        self.got = other
        return True
    __ror__ = __eq__
spy = Spy()
"""
_METADATA = {
    "compared": "dataclasses.field().metadata == spy",
    "joined": "dataclasses.field().metadata | spy",
    "of a field that a class made": "@dataclasses.dataclass\nclass A:\n    a: int = 1\ndataclasses.fields(A)[0].metadata | spy",
}


def _is_escape(code: str) -> bool:
    with suppress(TypeError, AttributeError):
        run_restricted(code)
        return True
    return False


@pytest.mark.parametrize(("name", "act"), _METADATA.items(), ids=_METADATA.keys())
def test_an_attack_by_the_metadata_that_all_fields_share_reaches_nothing(reach: Reach, name: str, act: str) -> None:
    code = f"{_SPY}{act}\nspy.got['x'] = 1"

    reach.check(f"metadata {name}", code, is_escape=_is_escape(code))


_CACHED = {
    "a class of errors": "class E(AttributeError):\n    peek = functools.lru_cache(AttributeError).obj\nreturn E('m', obj=['loot']).peek",
    "with brackets": "class E(AttributeError):\n    peek = functools.lru_cache(maxsize=1)(AttributeError).obj\nreturn E('m', obj=['loot']).peek",
    "for ever": "class E(AttributeError):\n    peek = functools.cache(AttributeError).obj\nreturn E('m', obj=['loot']).peek",
    "a class with slots": "class A:\n    __slots__ = ('a',)\nx = A()\nx.a = ['loot']\nclass B(A):\n    b = functools.lru_cache(A).a\nreturn B.b and x.a",
}


@pytest.mark.parametrize(("name", "code"), _CACHED.items(), ids=_CACHED.keys())
def test_an_attack_by_a_class_that_is_cached_reaches_nothing(reach: Reach, name: str, code: str) -> None:
    code = f"import functools\n{code}"

    assert ran_plainly(textwrap.dedent(code)) == ["loot"]
    reach.check(f"a cached class: {name}", code, is_escape=_is_escape(code))


_BEHIND = {
    "a time zone of the script's data": "return super(zoneinfo.ZoneInfo, zoneinfo.ZoneInfo).from_file(io.BytesIO(data)).tzname(None)",
    "by an object of the class": "return super(zoneinfo.ZoneInfo, zoneinfo.ZoneInfo('UTC')).from_file(io.BytesIO(data)).tzname(None)",
    "a time zone from a file": "return super(zoneinfo.ZoneInfo, zoneinfo.ZoneInfo).no_cache('UTC').tzname(None)",
    "forgetting all": "return super(zoneinfo.ZoneInfo, zoneinfo.ZoneInfo).clear_cache()",
}

_ZONE = """
import io, zoneinfo
def number(value):
    return value.to_bytes(4, "big")
data = b"TZif" + bytes(32) + number(1) + number(4) + bytes(6) + b"UTC" + bytes(1)
"""


@pytest.mark.parametrize("act", _BEHIND.values(), ids=_BEHIND.keys())
def test_super_does_not_lead_past_what_refuses(act: str) -> None:
    assert ran_plainly(f"{_ZONE}return zoneinfo.ZoneInfo.from_file(io.BytesIO(data)).tzname(None)") == "UTC"
    with pytest.raises(TypeError, match="time zones are made by name"):
        run_restricted(_ZONE + act)


def test_super_sets_no_names_of_python_s_on_a_namespace() -> None:
    names = "(**{'__wrapped__': 1})"
    code = (
        f"from types import SimpleNamespace\nspace = SimpleNamespace()\nsuper(SimpleNamespace, space).__init__{names}"
    )

    assert "__wrapped__" in ran_plainly(f"from types import SimpleNamespace\nreturn vars(SimpleNamespace{names})")
    with pytest.raises(TypeError, match="cannot be set in scripts"):
        run_restricted(code)
