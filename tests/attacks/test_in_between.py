"""Attacks by what runs in the middle of something, such as `__hash__` while a class is made."""

import sys

import pytest

from tests.sandbox.running import run_restricted
from tests.sandbox.runs import Runs, limits, nothing_is_left, runs

__all__ = ["nothing_is_left", "runs"]


def test_objects_that_refer_to_each_other_are_taken_back(runs: Runs):
    text = (
        "for i in range(30_000):\n    one, other = [bytearray(100_000)], []\n    one.append(other); other.append(one)"
    )

    assert runs(text, limits=limits(memory_bytes=400 << 20)).failure is None


FIELDS = """
import dataclasses, enum
class D:
    {name}: object
    def __init__(self, *args): pass
class K:
    count = 0
    def __hash__(self):
        K.count += 1
        if K.count > 1:
            dataclasses.dataclass(init=False, repr=False, eq=False)(D)
        return 5
    def __eq__(self, other): return False
class E(D, enum.Enum):
    {ignored}
    A = 1
match E.A:
    case E(found):
        return "canary-4b1d"
"""


@pytest.mark.parametrize("name", ["_new_member_", "_member_map_", "_generate_next_value_", "_add_alias_"])
@pytest.mark.parametrize("ignored", ["_ignore_ = [K()]", "_ignore_ = []\n    _ignore_.append(K())"])
def test_a_base_has_no_fields_after_it_was_looked_at(name: str, ignored: str):
    with pytest.raises(TypeError, match="_ignore_ takes names, written as strings"):
        run_restricted(FIELDS.format(name=name, ignored=ignored))


def test_a_class_that_is_derived_from_is_no_dataclass_any_more():
    body = "    dataclasses.dataclass(D)\n    A = 1"

    with pytest.raises(TypeError, match="D has been derived from already"):
        run_restricted(f"import dataclasses, enum\nclass D:\n    x: int\nclass E(D, enum.Enum):\n{body}")


def test_names_that_an_enumeration_ignores_are_ignored():
    assert (
        run_restricted("import enum\nclass E(enum.Enum):\n    _ignore_ = 'i j'\n    i = 5\n    A = 1\nreturn [*E]")[
            0
        ].name
        == "A"
    )
    assert run_restricted("class A:\n    _ignore_ = 5\nreturn 1") == 1


@pytest.mark.skipif(sys.version_info < (3, 13), reason="enum members have second names from 3.13")
def test_a_member_s_second_name_is_a_plain_text():
    text = "import enum\nclass E(enum.Enum):\n    A = 1\nclass S(str): pass\nE.A._add_alias_(S('foo'))"

    with pytest.raises((TypeError, AttributeError)):
        run_restricted(text)


@pytest.mark.parametrize(
    "text",
    ["class A:\n    x: (__builtins__ := __builtins__) = 1\ndef g(): return len",
     "class A:\n    x: (__name__ := __name__) = 1"],
)  # fmt: skip
def test_an_annotation_binds_no_name_of_python_s(text: str):
    assert run_restricted(f"{text}\nreturn len('abc')") == 3


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters exist from 3.12")
def test_nor_does_a_type_parameter():
    assert run_restricted("def f[__builtins__](): pass\ndef g(): return [len('ab'), abs(-1)]\nreturn g()") == [2, 1]
    assert run_restricted("def f[__import__](): pass\nimport json\nreturn json.dumps([1])") == "[1]"
