"""What a script leaves behind, as JSON."""

import json
import math
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.scripts.scripts import Limits
from panorama.sandbox.worker.result_summary import describe_shape
from panorama.sandbox.worker.results import MAX_DEPTH, encode_json
from panorama.sandbox.worker.state import diff_state
from panorama.sandbox.worker.tracebacks import OutcomeError
from panorama.sdk.core.rows import Row

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


class Colour(Enum):
    """Colours."""

    RED = "red"


class Size(IntEnum):
    """Sizes."""

    SMALL = 1


class Kind(StrEnum):
    """Kinds."""

    TEA = "tea"


class Point(NamedTuple):
    """A point."""

    x: int
    y: int


@dataclass
class Cup:
    """A cup."""

    of: str
    parts: list[Any] = field(default_factory=list[Any])


@dataclass(frozen=True, slots=True)
class Plate:
    """A plate."""

    size: int


class Plain:
    """An object with fields."""

    def __init__(self) -> None:
        self.shown = 1
        self._hidden = 2


VALUES: dict[str, tuple[Any, Any]] = {
    "a row": (Row(title="Tea"), {"title": "Tea"}),
    "an Enum": ([Colour.RED, Size.SMALL, Kind.TEA], ["red", 1, "tea"]),
    "Enum keys": ({Colour.RED: 1, Kind.TEA: 2}, {"red": 1, "tea": 2}),
    "a dataclass": (Cup("tea", [Plate(2)]), {"of": "tea", "parts": [{"size": 2}]}),
    "a named tuple": (Point(1, 2), [1, 2]),
    "days and moments": (
        [date(2026, 5, 20), datetime(2026, 5, 20, 8, tzinfo=UTC), time(8, 30)],
        ["2026-05-20", "2026-05-20T08:00:00+00:00", "08:30:00"],
    ),
    "a span": (timedelta(days=1, hours=2), "1 day, 2:00:00"),
    "sets in order": ([{3, 1, 2}, frozenset({"b", "a"})], [[1, 2, 3], ["a", "b"]]),
    "a set of what has no order": ({1, "a"}, [1, "a"]),
    "decimals": ([Decimal("1.50"), Fraction(1, 3)], ["1.50", "1/3"]),
    "no numbers": ([math.nan, math.inf, -math.inf, 1.5], [None, None, None, 1.5]),
    "bytes": ([b"tea", bytearray(b"cup"), b"\xff"], ["tea", "cup", "/w=="]),
    "an id": (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "a complex number": (1 + 2j, "(1+2j)"),
    "collections": (
        [Counter("aab"), OrderedDict(a=1), defaultdict(list, a=[1]), deque([1]), MappingProxyType({"a": 1})],
        [{"a": 2, "b": 1}, {"a": 1}, {"a": [1]}, [1], {"a": 1}],
    ),
    "views of a dict": ([{"a": 1}.keys(), {"a": 1}.values(), {"a": 1}.items()], [["a"], [1], [["a", 1]]]),
    "a range": (range(3), [0, 1, 2]),
    "keys that are no text": (
        {1: "a", None: "b", False: "c", (1, 2): "d", date(2026, 1, 2): "e"},
        {"1": "a", "null": "b", "false": "c", "1, 2": "d", "2026-01-02": "e"},
    ),
    "an object": ([Plain(), SimpleNamespace(a=1)], [{"shown": 1}, {"a": 1}]),
    "a large number": (2**200, 2**200),
    "a number too large to write down": ([10**5000], ["<a number of 16,610 bits>"]),
    "a text that is no Unicode": ("a\ud800", "a?"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES.keys())
def test_a_value_of_python_has_a_form_in_json(value: Any, expected: Any):
    assert json.loads(encode_json(value)) == expected


@given(JSON)
def test_what_is_json_already_stays_as_it_is(value: Any):
    assert json.loads(encode_json(value)) == json.loads(json.dumps(value).encode("utf-8", "replace"))


@given(st.recursive(st.floats() | st.dates() | st.binary() | st.sets(st.integers()), lambda inner: st.lists(inner)))
def test_whatever_comes_is_json_that_strict_readers_read(value: Any):
    def never(_: str) -> None:
        raise AssertionError("no JSON")

    json.loads(encode_json(value), parse_constant=never)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ((x for x in [1]), "generator"),
        (iter([1]), "list_iterator"),
        ([map(str, [1])], "map"),
        ({"a": zip([1], strict=True)}, "zip"),
        (print, "builtin_function"),
        ([lambda: 1], "function"),
        (Cup, "type"),
        (json, "module"),
    ],
)
def test_what_is_no_data_is_refused_with_a_hint(value: Any, word: str):
    with pytest.raises(OutcomeError, match=word) as caught:
        encode_json(value)

    assert caught.value.hint


def test_what_is_nested_too_deeply_is_refused():
    value: Any = []
    for _ in range(2000):
        value = [value]

    with pytest.raises(OutcomeError, match=f"deeper than {MAX_DEPTH}"):
        encode_json(value)


def test_brackets_within_texts_are_no_depth():
    value = ["[" * 5000, {"]]": "{" * 200}, [[[1]]]]

    assert json.loads(encode_json(value)) == value


def test_what_holds_itself_is_refused():
    value: dict[str, Any] = {}
    value["again"] = value

    with pytest.raises(OutcomeError, match="contains itself"):
        encode_json(value)


def test_a_shape_tells_keys_lengths_and_first_rows():
    rows = [{"id": i, "text": "x" * 1000, "tags": ["a", "b"]} for i in range(5000)]

    shape = describe_shape({"rows": rows, "count": 5000, "none": None})

    assert shape.splitlines()[0] == "object with 3 keys"
    assert "  rows: list of 5,000" in shape
    assert '"tags": ["a", "b"]' in shape
    assert len(shape) < 4000


@given(JSON)
def test_a_shape_is_always_short(value: Any):
    assert len(describe_shape(value)) <= 4000


def test_a_shape_of_very_much_is_short_and_quick():
    wide = {f"key {i}" * 50: [{"x" * 500: "y" * 5000}] * 100 for i in range(1000)}

    assert len(describe_shape([wide] * 1000)) <= 4000


def test_only_names_that_changed_are_told():
    before = json.dumps({"a": 1, "b": [1, {"c": 2}], "gone": 0}).encode()

    changes = diff_state(before, {"a": 1, "b": [1, {"c": 3}], "new": "x"}, Limits())

    assert json.loads(changes) == {"set": {"b": [1, {"c": 3}], "new": "x"}, "removed": ["gone"]}


def test_a_state_over_its_size_is_refused_with_the_figure():
    with pytest.raises(OutcomeError, match="1 KB") as caught:
        diff_state(b"{}", {"a": "x" * 1024}, Limits(state_bytes=1024))

    assert caught.value.reason == "state_size"


def test_a_state_that_is_too_deep_already_can_be_mended() -> None:
    before = b'{"deep":' + b"[" * 300 + b"]" * 300 + b',"fine":1}'
    deep = json.loads(before)

    assert json.loads(diff_state(before, {"fine": 1}, Limits())) == {"set": {}, "removed": ["deep"]}
    assert json.loads(diff_state(before, {"deep": 1, "fine": 1}, Limits())) == {"set": {"deep": 1}, "removed": []}
    with pytest.raises(OutcomeError, match="deep"):
        diff_state(before, deep, Limits())


@pytest.mark.parametrize("value", [None, True, 0, -1, 2**63 - 1, 2**63, -(2**63), 2**64, -(10**40)])
def test_nothing_and_whole_numbers_are_told_as_json_tells_them(value: object) -> None:
    assert encode_json(value) == json.dumps(value).encode()
