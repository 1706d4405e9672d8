"""Attacks by what runs in the middle of something: the clean-up of generators that were left behind, and `__hash__`.

Python searches for garbage whenever it likes, from 3.12 on after any call. A generator that refers to itself is ended
then, and its `finally` could change what a guard has just looked at. So in a worker the search is made in the script's
own code alone, and what is looked at is what is used.
"""

import ast
import sys
from collections.abc import Iterator

import pytest

from panorama.sandbox.policy import Policy
from tests.sandbox.running import ran
from tests.sandbox.runs import Host, Runs, limits, nothing_is_left, runs

__all__ = ["nothing_is_left", "runs"]

PLANTED = """
log = []
def left_behind(then):
    me = yield
    try:
        yield
    finally:
        then()
def plant(then):
    made = left_behind(then)
    next(made)
    made.send(made)
"""

RACE = f"""{PLANTED}
class Mine: pass
o = Mine()
def turn():
    global o
    o = sdk.SdkError
def go():
    keep = []
    plant(lambda: log.append("first"))
    for i in range(100_000):
        if log:
            break
        keep.append([])
    keep.extend([] for _ in range(8_500))
    plant(turn)
{{lines}}
try:
    go()
except AttributeError:
    pass
return "canary-4b1d" if "canary-4b1d" in getattr(sdk.SdkError, "name", "") else "held"
"""

SWITCHED = """
keep, junk = [], []
def left_behind(holder):
    try:
        yield
    finally:
        keep.append(holder)
        sdk.items.get("in the clean-up")
def one():
    for i in range(200):
        mine = [{} for _ in range(20)]
        made = left_behind(mine)
        mine.append(made)
        mine.append([mine, {"a": mine}])
        next(made)
    for i in range(300):
        junk.append([[] for _ in range(2000)])
        if i % 10 == 9:
            junk.clear()
            sdk.items.get("between")
def two():
    for i in range(50):
        sdk.items.get("two")
        for each in keep:
            each.clear()
sdk.parallel([one, two, two, two])
return len(keep)
"""


def test_what_a_name_stands_for_is_looked_at_and_used_in_one(runs: Runs):
    lines = "\n".join(f"    l{at} = []; o.name = 'canary-4b1d'" for at in range(3000))

    assert runs.result(RACE.format(lines=lines)) == "held"


def _names(text: str) -> Iterator[ast.Name]:
    tree = Policy(frozenset(), frozenset()).visit(ast.parse(text))
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "o")


@pytest.mark.parametrize(
    "text",
    ["o.x = 1", "o._x", "o._x = 1", "o.x += 1", "o._x += 1", "del o.x", "for o.x in y: pass", "with y as o._x: pass",
     "class A: o.x = 1", "[o._x for y in z]", "[y for y in o._x]", "lambda: o._x", "o.format += 1"],
)  # fmt: skip
def test_no_name_is_read_twice_for_an_attribute(text: str):
    assert len(list(_names(text))) == 1


def test_a_script_has_no_name_for_what_is_held():
    assert ran("class A:\n    def __init__(self): self.x = 1; self._y = 2\na = A()\na.x\nreturn [*vars(a)]") == [
        "x",
        "_y",
    ]
    assert ran("class A:\n    a = lambda: 0\n    a.x = 1\nreturn [*vars(A)]") == ["a"]


def test_a_clean_up_amid_a_search_for_garbage_cannot_call(runs: Runs):
    host = Host()

    found = runs.result(SWITCHED, host=host)

    assert found > 0, "nothing was cleaned up"
    assert not any("in the clean-up" in arguments.values() for _, arguments in host.asked)


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
    with pytest.raises(TypeError, match="_ignore_ takes names, written as texts"):
        ran(FIELDS.format(name=name, ignored=ignored))


def test_a_class_that_is_derived_from_is_no_dataclass_any_more():
    body = "    dataclasses.dataclass(D)\n    A = 1"

    with pytest.raises(TypeError, match="D has been derived from already"):
        ran(f"import dataclasses, enum\nclass D:\n    x: int\nclass E(D, enum.Enum):\n{body}")


def test_names_that_an_enumeration_ignores_are_ignored():
    assert (
        ran("import enum\nclass E(enum.Enum):\n    _ignore_ = 'i j'\n    i = 5\n    A = 1\nreturn [*E]")[0].name == "A"
    )
    assert ran("class A:\n    _ignore_ = 5\nreturn 1") == 1


@pytest.mark.skipif(sys.version_info < (3, 13), reason="members have no second names")
def test_a_member_s_second_name_is_a_plain_text():
    text = "import enum\nclass E(enum.Enum):\n    A = 1\nclass S(str): pass\nE.A._add_alias_(S('foo'))"

    with pytest.raises((TypeError, AttributeError)):
        ran(text)


@pytest.mark.parametrize(
    "text",
    ["class A:\n    x: (__builtins__ := __builtins__) = 1\ndef g(): return len",
     "class A:\n    x: (__name__ := __name__) = 1"],
)  # fmt: skip
def test_an_annotation_binds_no_name_of_python_s(text: str):
    assert ran(f"{text}\nreturn len('abc')") == 3


@pytest.mark.skipif(sys.version_info < (3, 12), reason="functions had no type parameters")
def test_nor_does_a_type_parameter():
    assert ran("def f[__builtins__](): pass\ndef g(): return [len('ab'), abs(-1)]\nreturn g()") == [2, 1]
    assert ran("def f[__import__](): pass\nimport json\nreturn json.dumps([1])") == "[1]"
