"""Attacks that once went through, found by somebody who did not build the sandbox; each in a real worker."""

import pytest

from tests.attacks.reach import Reach, outside, reach
from tests.sandbox.runs import Runs, nothing_is_left, runs, unguarded

__all__ = ["nothing_is_left", "outside", "reach", "runs", "unguarded"]


ODD = """
class G:
    def __iter__(self): return self
    def __next__(self): return 1
    def throw(self, *a): got.append(a); raise StopIteration
"""


@pytest.mark.parametrize(
    "thrown",
    [
        "from contextlib import contextmanager\n@contextmanager\ndef f(): return G()\nwith f(): raise ValueError('x')",
        "def f(): yield from G()\ng = f()\nnext(g)\ng.throw(ValueError('x'))",
    ],
)
def test_nobody_gets_a_traceback_by_throw(runs: Runs, thrown: str) -> None:
    lines = thrown.replace("\n", "\n    ")
    source = (
        f"got = []\n{ODD}\ntry:\n    {lines}\nexcept BaseException: pass\nreturn [type(x).__name__ for x in got[0]]"
    )

    assert runs(source).result == b'["ValueError"]'


@pytest.mark.parametrize(
    "body",
    [
        "class H:\n    def __str__(self): raise ValueError\nraise sdk.SdkError('m', hint=H())",
        "class H:\n    def __bool__(self): raise ValueError\nraise sdk.SdkError(H())",
        "class E(Exception):\n    def __str__(self): return 'x' * 400_000_000\nraise E()",
        "class S(str):\n    def __format__(self, spec): raise ValueError\n"
        "class E(Exception):\n    def __str__(self): return S('x')\nraise E()",
        "class J:\n    def join(self, x): return self\nprint('a', sep=J())",
        "sdk.progress(float('nan'), 1)",
        "class O: pass\nsdk.progress(1, 1, O())\n1 / 0",
    ],
)
def test_what_a_script_says_of_itself_ends_it_in_peace(runs: Runs, body: str) -> None:
    ending = runs(body)

    assert ending.failure
    assert ending.failure.reason in ("raised", "memory"), ending.failure


def test_a_context_manager_of_the_script_works_as_pythons(runs: Runs) -> None:
    source = """
from contextlib import contextmanager
said = []
@contextmanager
def within(name):
    said.append("in " + name)
    try:
        yield name.upper()
    except KeyError:
        said.append("caught")
    finally:
        said.append("out " + name)
with within("a") as got:
    said.append(got)
with within("b"):
    raise KeyError
try:
    with within("c"):
        1 / 0
except ZeroDivisionError:
    said.append("raised")
return said
"""

    text = '["in a","A","out a","in b","caught","out b","in c","out c","raised"]'
    assert runs(source).result.decode() == text


def test_a_base_that_claims_to_equal_everything_is_no_base(runs: Runs) -> None:
    source = "class E:\n    def __eq__(self, o): return True\n    def __hash__(self): return 1\nclass B(E()):\n    pass"

    ending = runs(source)

    assert ending.failure
    assert "cannot derive a class from a value like E" in ending.failure.message


# What Python's `copy` and `dataclasses` do at the word of an object.

_SPACE = "import abc, copy, dataclasses, json\nfrom types import SimpleNamespace as N\n"
_PASSED = "'__subclasshook__': lambda c: True, '__match_args__': ('__globals__',)"
_LIE = f"lambda *_: (lambda: A, (), (None, {{{_PASSED}}}))"
_HELD = """
@dataclasses.dataclass
class D:
    x: object
class A(abc.ABC): pass
"""
_GOT = """
match json.loads:
    case A(g):
        return g['codecs'].sys.modules['os'].getpid()
"""
_FIELDS = """
@dataclasses.dataclass
class E(Exception):
    def __init__(self, **kw): self.kw = kw
class F:
    _field_type = None
    init = True
    def __init__(self, name): self.name = name
try:
    raise E()
except E as x:
    e = x
"""
COPIES = {
    "a bound method whose name is another's": (
        "class A: g = classmethod(N(**{'__name__': '__getattribute__'}))\n"
        "return copy.copy(A.g)(json.loads, '__globals__')['codecs'].sys.modules['os'].getpid()"
    ),
    "asdict of an object that says how it is made": (
        f"{_HELD}dataclasses.asdict(D(N(**{{'__reduce__': {_LIE}}})))\n{_GOT}"
    ),
    "astuple of an object that says how it is made": (
        f"{_HELD}dataclasses.astuple(D(N(**{{'__reduce_ex__': {_LIE}}})))\n{_GOT}"
    ),
    "copy of a space that says how it is made": f"{_HELD}copy.copy(N(**{{'__reduce_ex__': {_LIE}}}))\n{_GOT}",
    "deepcopy of a space that says how it is made": f"{_HELD}copy.deepcopy(N(**{{'__reduce__': {_LIE}}}))\n{_GOT}",
    "a set that is told so by its variables": (
        f"{_HELD}class S(set): pass\ns = S()\nvars(s)['__reduce_ex__'] = {_LIE}\ncopy.copy(s)\n{_GOT}"
    ),
    "an object that is told so by update": (
        f"{_HELD}class S: pass\ns = S()\nvars(s).update(__reduce_ex__={_LIE})\ncopy.copy(s)\n{_GOT}"
    ),
    "an object that is told so by setdefault": (
        f"{_HELD}class S: pass\ns = S()\ns.__dict__.setdefault('__reduce_ex__', {_LIE})\ncopy.copy(s)\n{_GOT}"
    ),
    "an object that is told so by |=": (
        f"{_HELD}class S: pass\ns = S()\nd = vars(s)\nd |= {{'__reduce_ex__': {_LIE}}}\ncopy.copy(s)\n{_GOT}"
    ),
    "an object that is told so past its variables": (
        f"{_HELD}class S: pass\ns = S()\ndict.__setitem__(vars(s), '__reduce_ex__', {_LIE})\ncopy.copy(s)\n{_GOT}"
    ),
    "a space that is told so by its base": (
        f"{_HELD}class S(N):\n    def __init__(self):\n        try: super().__init__(**{{'__reduce__': {_LIE}}})\n"
        f"        except TypeError: pass\ncopy.deepcopy(S())\n{_GOT}"
    ),
    "a facade that is changed": (
        "copy.copy(N(**{'__reduce_ex__': lambda *_: (lambda: json, (), {'leak': 1})}))\nreturn json.leak"
    ),
    "a traceback that is a field": (
        f"{_FIELDS}vars(e)['__dataclass_fields__'] = {{1: F('__traceback__')}}\n"
        "return str(dataclasses.replace(e).kw['__traceback__'])"
    ),
    "a new object's maker that is a field": (
        f"{_FIELDS}vars(e).update(__dataclass_fields__={{1: F('__reduce_ex__')}})\n"
        "return str(dataclasses.replace(e).kw['__reduce_ex__'])"
    ),
}


@pytest.mark.parametrize("source", COPIES.values(), ids=COPIES.keys())
def test_an_attack_by_copies_reaches_nothing(reach: Reach, runs: Runs, source: str) -> None:
    ending = runs(_SPACE + source)

    reach.check(source, _SPACE + source, is_escape=ending.result not in (b"", b"null"))


def test_the_memory_of_a_copy_holds_nothing_of_the_sandbox(runs: Runs) -> None:
    source = """
import copy
got = []
class Spy:
    def __deepcopy__(self, memo):
        got.extend(memo.values())
        return self
sdk.state['s'] = Spy()
for what in (print, sdk, copy, sdk.state, [Spy(), [1]]):
    try:
        copy.deepcopy(what)
    except TypeError:
        pass
sdk.state.clear()
return sorted({type(x).__name__ for x in got})
"""

    assert runs(source).result == b'["dict","list"]'
