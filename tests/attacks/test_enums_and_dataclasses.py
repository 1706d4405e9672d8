"""Attacks by what Python's own enumerations and dataclasses read and write, past every guard; found from outside."""

import sys
from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.attacks.reach import Reach, outside, reach
from tests.sandbox.running import loot, run_restricted
from tests.sandbox.runs import nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "outside", "reach", "runs", "unguarded"]

REDIRECTED = """
from enum import Enum
class M:
    def {name}(self): pass
class E(M, Enum):
    {name} = {value}
"""
"""A member that hides a name of a base: from Python 3.12 on, a property reads this name of the member's value."""

UNFINISHED = """
import dataclasses
from enum import Enum
got = []
class E(Enum):
    A = 1
    B = 2
    def __init__(self, value): got.append(getattr(type(self), "B", None))
class Z:
    _member_type_, _use_args_, _value2member_map_, _member_map_, _member_names_ = object, False, {}, {}, []
    _new_member_ = staticmethod(lambda kind: kind())
    def __init__(self, *args): pass
"""
"""`got[0]` is what stands in a class for a member that is still to be made."""

REFUSED = {
    "a member that reads frames": (
        REDIRECTED.format(name="gi_frame", value="1") + "return vars(E)['gi_frame']",
        'the name "gi_frame" is not available in a class',
    ),
    "a method named as what frames hold": (
        "class M:\n    def f_back(self): pass",
        'the name "f_back" is not available in a class; choose another name',
    ),
    "a class attribute named so": ("class M:\n    for f_globals in [1]: pass", '"f_globals" is not available'),
    "a field named so": ("class M:\n    gi_frame: object", '"gi_frame" is not available'),
    "a dunder as a field": (
        "class A:\n    __exit__: object",
        'the method "__exit__" cannot be a field; define it with `def`, or without an annotation',
    ),
    "a dataclass of an enumeration": (
        "import dataclasses, enum\n@dataclasses.dataclass\nclass E(enum.Enum):\n    _create_: object",
        "@dataclass does not work on enumerations; make it a base: class E(Data, Enum)",
    ),
    "a field named as what the metaclass has": (
        "import dataclasses, collections.abc as c\n@dataclasses.dataclass\nclass A(c.Mapping):\n    register: object",
        "the field 'register' is taken by a class that A derives from; rename it, for example to 'register_'",
    ),
    "a hidden field of the metaclass": (
        "import dataclasses, abc\n@dataclasses.dataclass\nclass A(abc.ABC):\n    _dump_registry: object",
        "the field '_dump_registry' is taken by a class that A derives from; rename it",
    ),
    "an inherited field that reads what is hidden": (
        "import dataclasses, enum\n@dataclasses.dataclass(init=False)\nclass D:\n    _new_member_: object\n"
        "class E(D, enum.Enum):\n    A = 1",
        "the field '_new_member_' of a base has a name that another base uses; rename it, for example to 'new_member_'",
    ),
    "an inherited field by way of a class between": (
        "import dataclasses, enum\n@dataclasses.dataclass(init=False)\nclass D:\n    _new_member_: object\n"
        "class C(D): pass\nclass E(C, enum.Enum):\n    A = 1",
        "the field '_new_member_' of a base",
    ),
    "fields that come when the class has been derived from": (
        "import dataclasses, enum\nclass D:\n    _new_member_: object\nclass E(D, enum.Enum): A = 1\n"
        "dataclasses.dataclass(D)",
        "D has been derived from already; decorate it where it is defined",
    ),
    "a field() that is renamed by another class": (
        "import dataclasses, collections\nshared = dataclasses.field(default=1)\n"
        "class A(collections.Counter):\n    plain: int = shared\ndataclasses.dataclass(A)\n"
        "class B:\n    _keep_positive: int = shared\ndataclasses.dataclass(B)\nreturn dataclasses.asdict(A())",
        "the field '_keep_positive' shares its field(...) with another; write one for each",
    ),
    "a field() that is shared behind a descriptor": (
        "import dataclasses\nshared = dataclasses.field(default=1)\n"
        "@dataclasses.dataclass\nclass A:\n    plain: int = staticmethod(shared)",
        "the field 'plain' has a staticmethod as default; write field(default=...)",
    ),
    "a space whose name lies": (
        "from types import SimpleNamespace as N\nclass S(str):\n    def startswith(self, *a): return False\n"
        "class B(N(**{S('__mro_entries__'): lambda bases: (dict,)})): pass\nreturn isinstance(B(), dict)",
        "the name of an attribute must be a string",
    ),
    "a member in the making, in another class": (
        f"{UNFINISHED}class Y(Z):\n    _title = got[0]",
        "'_title' cannot be a _proto_member in the class 'Y'; set a value that is complete",
    ),
    "a member in the making, as a field's default": (
        f"{UNFINISHED}class Y(Z):\n    x = dataclasses.field(default=got[0])",
        "'x' cannot be a Field in the class 'Y'",
    ),
    "a member in the making, when slots make the class anew": (
        f"{UNFINISHED}class Y(Z): pass\nY.x = got[0]\ndataclasses.dataclass(slots=True)(Y)",
        "'x' cannot be a _proto_member in the class 'Y'",
    ),
    "a hidden name that is set by what computes it once": (
        "import functools, enum\nclass A:\n    @functools.cached_property\n    def _missing_(self): return 5\n"
        "class M: pass\nM.x = A._missing_\nclass E(M, enum.Enum): A = 1\nreturn E.A.x",
        "'_missing_' belongs to the library; use another name",
    ),
    "a hidden name that is set by the variables": (
        "import collections\nclass C(collections.Counter): pass\nvars(C())['_keep_positive'] = 1",
        "'_keep_positive' belongs to the library; use another name",
    ),
}


def _refusal(source: str) -> str:
    """Return why a script is refused, with what to write instead."""
    with pytest.raises((TypeError, AttributeError, SyntaxError)) as caught:
        run_restricted(source)
    hint = getattr(caught.value, "hint", "")
    return f"{str(caught.value).partition(' (')[0]}; {hint}" if hint else str(caught.value)


@pytest.mark.parametrize(("source", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_what_python_would_read_past_the_guards_is_refused_with_words(source: str, expected: str) -> None:
    assert expected in _refusal(source)


PRIVATE = {
    "a private name of a base": REDIRECTED.format(name="_dumps", value="json") + "return E._dumps._dumps",
    "a private name that a base gets on the way": (
        "from enum import Enum\nclass M: pass\nclass E(M, Enum):\n    A = 1\n    _dumps = json\n"
        "    def __init__(self, value): M._dumps = lambda self: 0\nreturn E._dumps._dumps"
    ),
    "what is put in its place": REDIRECTED.format(name="_dumps", value="1") + (
        "class F: pass\nF.x = vars(E)['_dumps']\nf = F()\nf._value_ = json\nreturn f.x"
    ),
    "another value by the variables": REDIRECTED.format(name="_dumps", value="1") + (
        "vars(E._dumps)['_value_'] = json\nreturn E._dumps._dumps"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "source"), PRIVATE.items(), ids=PRIVATE.keys())
def test_an_attack_by_members_that_read_private_names_reaches_nothing(reach: Reach, name: str, source: str) -> None:
    reach.check(name, source, is_escape=_reads_private_name(source))


def _reads_private_name(source: str) -> bool:
    class Value:
        _dumps = "read past the guards"

    with suppress(AttributeError, TypeError, KeyError):
        return run_restricted(source, json=Value()) == Value._dumps
    return False


def test_an_attack_by_a_member_called_format_reaches_nothing(reach: Reach) -> None:
    source = "from enum import Enum\nclass E(str, Enum):\n    format = '{0.__class__}'\nreturn E.format.format"

    reach.check("a member called format", source, is_escape=bool(loot(source)))


def test_slots_of_one_class_are_not_handed_to_another() -> None:
    assert run_restricted("class A:\n    __slots__ = ('x',)\n    y = 1\nreturn list(vars(A))") == ["y"]


def test_variables_hold_what_a_script_put_into_its_class() -> None:
    source = """
class A:
    limit = 1
    def f(self): pass
    @property
    def p(self): return 1
    @classmethod
    def c(cls): pass
    @staticmethod
    def s(): pass
    class Inner: pass
return list(vars(A))
"""

    assert run_restricted(source) == ["limit", "f", "p", "c", "s", "Inner"]


def test_clearing_variables_leaves_what_is_the_librarys() -> None:
    source = "import types\nn = types.SimpleNamespace(a=1, b=2)\nvars(n).pop('a')\nvars(n).clear()\nreturn repr(n)"

    assert run_restricted(source) == "namespace()"


NATURAL = {
    "fields as a model names them": (
        "import dataclasses\n@dataclasses.dataclass(slots=True)\nclass A:\n    register: int\n    name: str = 'n'\n"
        "    value: int = 1\n    type: str = 't'\n    title: str = ''\n    count: int = 0\n    index: int = 0\n"
        "    format: str = 'f'\nmatch A(1):\n    case A(register, name): return [register, name, A(2).format]",
        [1, "n", "f"],
    ),
    "members as a model names them": (
        "from enum import Enum, StrEnum\nclass S(StrEnum):\n    title = 't'\n    count = 'c'\n    index = 'i'\n"
        "    name = 'n'\nclass K(Enum):\n    format = 1\n    path = 2\n    object = 3\n    register = 4\n    _x = 5\n"
        "return [str(S.title), S('c') is S.count, S.name.name, K.path.value, K.register.name, K._x.value]",
        ["t", True, "name", 2, "register", 5],
    ),
    "an enumeration with a dataclass for its data": (
        "from dataclasses import dataclass, field\nfrom enum import Enum\n@dataclass\nclass Data:\n    size: str\n"
        "    legs: int = field(default=4)\nclass Creature(Data, Enum):\n    BEETLE = 'small', 6\n    DOG = 'big', 4\n"
        "    @property\n    def tall(self): return self.legs < 5\nreturn [Creature.BEETLE.legs, Creature.DOG.tall]",
        [6, True],
    ),
    "members whose value is set on the way": (
        "from enum import Enum\nclass E(Enum):\n    A = 1, 'x'\n    def __init__(self, code, word):\n"
        "        self._value_ = code\n        self.word = word\nreturn [E.A.value, E.A.word]",
        [1, "x"],
    ),
    "tuples and dicts with such names": (
        "from typing import NamedTuple, TypedDict\nclass T(NamedTuple):\n    name: str\n    count: int\n"
        "    register: int = 1\nclass D(TypedDict):\n    register: int\nreturn [T('a', 2).count, D(register=3)]",
        [2, {"register": 3}],
    ),
    "functions as defaults, and all kinds of fields": (
        "from dataclasses import dataclass, field, KW_ONLY, InitVar\nfrom typing import ClassVar, Callable\n"
        "def twice(x): return 2 * x\n@dataclass\nclass A:\n    key: Callable = twice\n    _: KW_ONLY\n"
        "    size: InitVar[int] = 1\n    kind: ClassVar[str] = 'k'\n    rows: list = field(default_factory=list)\n"
        "    def __post_init__(self, size): self.rows.append(size)\nreturn [A().key(2), A(size=3).rows, A.kind]",
        [4, [3], "k"],
    ),
    "arguments and names outside of classes": (
        "class A:\n    def order(self, mro): return mro\nmro = 1\nreturn A().order(mro)",
        1,
    ),
}


@pytest.mark.parametrize(("source", "result"), NATURAL.values(), ids=NATURAL.keys())
def test_what_people_write_works(source: str, result: object) -> None:
    assert run_restricted(source) == result


IN_PLAIN_PYTHON = (
    "import dataclasses, collections.abc as c\n@dataclasses.dataclass\nclass A(c.Mapping):\n    register: object\n"
    "return dataclasses.fields(A)[0].default.__func__.__globals__",
    "import dataclasses\ngot = []\n@dataclasses.dataclass(slots=True)\nclass A:\n    __exit__: object\n"
    "    __enter__: object\nwith A(lambda *a: got.append(a) or True, lambda: 1):\n    1 / 0\nreturn list(got[0])",
)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before 3.12 enum members hid such names")
def test_in_plain_python_a_member_reads_any_name_of_its_value(plain_loot: Callable[[str], str]) -> None:
    source = REDIRECTED.format(name="gi_frame", value="(x for x in ())") + "return E.gi_frame.gi_frame"

    assert plain_loot(source) == "frame"


@pytest.mark.parametrize("source", IN_PLAIN_PYTHON)
def test_in_plain_python_fields_lead_to_the_inside(source: str, plain_loot: Callable[[str], str]) -> None:
    assert plain_loot(source)
