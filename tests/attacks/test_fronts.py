"""Attacks on classes of Python's library written in C: by what all their users share, by `super`, and by odd parts."""

# ruff: noqa: E501 - one attack, one line

import textwrap

import pytest

from tests.sandbox.running import ran, ran_plainly

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


@pytest.mark.parametrize("act", _METADATA.values(), ids=_METADATA.keys())
def test_the_metadata_that_all_fields_share_is_nothing_that_can_be_changed(act: str) -> None:
    ran("return 1")

    with pytest.raises((TypeError, AttributeError)):
        ran(f"{_SPY}{act}\nspy.got['x'] = 1")

    assert ran("import dataclasses\nreturn dict(dataclasses.field().metadata)") == {}


_CACHED = {
    "a class of errors": "class E(AttributeError):\n    peek = functools.lru_cache(AttributeError).obj\nreturn E('m', obj=['loot']).peek",
    "with brackets": "class E(AttributeError):\n    peek = functools.lru_cache(maxsize=1)(AttributeError).obj\nreturn E('m', obj=['loot']).peek",
    "for ever": "class E(AttributeError):\n    peek = functools.cache(AttributeError).obj\nreturn E('m', obj=['loot']).peek",
    "a class with slots": "class A:\n    __slots__ = ('a',)\nx = A()\nx.a = ['loot']\nclass B(A):\n    b = functools.lru_cache(A).a\nreturn B.b and x.a",
}


@pytest.mark.parametrize("code", _CACHED.values(), ids=_CACHED.keys())
def test_a_class_that_is_cached_does_not_hand_out_what_stands_in_it(code: str) -> None:
    code = f"import functools\n{code}"

    assert ran_plainly(textwrap.dedent(code)) == ["loot"]
    with pytest.raises(AttributeError):
        ran(code)


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
        ran(_ZONE + act)


def test_super_sets_no_names_of_python_s_on_a_namespace() -> None:
    names = "(**{'__wrapped__': 1})"
    code = (
        f"from types import SimpleNamespace\nspace = SimpleNamespace()\nsuper(SimpleNamespace, space).__init__{names}"
    )

    assert "__wrapped__" in ran_plainly(f"from types import SimpleNamespace\nreturn vars(SimpleNamespace{names})")
    with pytest.raises(TypeError, match="cannot be set in scripts"):
        ran(code)


_PICKLES = {
    "a date": "datetime.date(b'\\x07\\xea\\x01\\x02')",
    "a date as text": "datetime.date('\\x07\xea\\x01\\x02')",
    "a time": "datetime.time(b'\\xff' + bytes(5))",
    "a moment": "datetime.datetime(b'\\x07\\xea\\x01\\x02' + bytes(6), None)",
    "by the class of an object": "type(datetime.date.today())(b'\\x07\\xea\\x01\\x02')",
    "by a map": "next(map(datetime.date, [b'\\x07\\xea\\x01\\x02']))",
    "of a class of bytes": "datetime.date(B(b'\\x07\\xea\\x01\\x02'))",
}


@pytest.mark.parametrize("act", _PICKLES.values(), ids=_PICKLES.keys())
def test_dates_and_times_are_made_of_numbers_and_not_of_what_stands_in_a_pickle(act: str) -> None:
    code = f"import datetime\nclass B(bytes): pass\nreturn str({act})"

    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        ran(code)


_PARTS = ["[object()] * 9", "[*range(9), b'UTC']", "range(9), {'tm_zone': object()}", "range(9), {object(): 1}"]


@pytest.mark.parametrize("parts", _PARTS)
def test_a_struct_time_holds_numbers_and_text_alone(parts: str) -> None:
    with pytest.raises(TypeError):
        ran(f"import time\nreturn time.struct_time({parts})")
