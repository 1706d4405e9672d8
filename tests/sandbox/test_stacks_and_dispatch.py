"""What the library has of functions and contexts: `ExitStack`, `redirect_stdout`, `singledispatch` and their like."""

# ruff: noqa: E501 - one script, one line

import pytest

from tests.sandbox.running import loot, ran_plainly, run_restricted

_CONTEXTS = """
from contextlib import ExitStack, contextmanager
said = []
class C:
    def __init__(self, n, swallows=False, raises=None): self.n, self.swallows, self.raises = n, swallows, raises
    def __enter__(self): said.append(self.n); return self.n
    def __exit__(self, kind, error, _):
        said.append((self.n, kind and kind.__name__, str(error)))
        if self.raises: raise self.raises
        return self.swallows
def ended(*all, then=lambda: None):
    try:
        with ExitStack() as stack:
            for each in all: stack.enter_context(each)
            then()
    except Exception as e: said.append(repr(e))
    return said
"""
_ANY = "import functools\n@functools.singledispatch\ndef f(x): return 'any'\n"

SAME = {
    "in order": f"{_CONTEXTS}return ended(C(1), C(2), C(3))",
    "an error": f"{_CONTEXTS}return ended(C(1), C(2), then=lambda: 1 / 0)",
    "an error that ends": f"{_CONTEXTS}return ended(C(1), C(2, True), then=lambda: 1 / 0)",
    "another error": f"{_CONTEXTS}return ended(C(1), C(2, raises=KeyError('k')), C(3), then=lambda: 1 / 0)",
    "an error on the way out": f"{_CONTEXTS}return ended(C(1), C(2, raises=KeyError('k')))",
    "generators": f"{_CONTEXTS}@contextmanager\ndef m(n):\n    said.append(n)\n    try: yield n\n    finally: said.append(-n)\nreturn ended(m(1), m(2), then=lambda: 1 / 0), m.__name__",
    "functions": f"{_CONTEXTS}with ExitStack() as s:\n    s.callback(said.append, 1)\n    s.push(lambda *a: said.append(a))\n    s.push(C(7))\n    @s.callback\n    def f(): said.append('f')\nreturn said",
    "given on": f"{_CONTEXTS}with ExitStack() as s:\n    s.enter_context(C(1))\n    kept = s.pop_all()\nsaid.append('after')\nkept.close()\nreturn said, isinstance(s, ExitStack)",
    "no context": f"{_CONTEXTS}try:\n    ExitStack().enter_context(3)\nexcept TypeError:\n    return 'refused'",
    "redirected": "import io\nfrom contextlib import redirect_stdout\nb, c = io.StringIO(), io.StringIO()\nwith redirect_stdout(b) as d:\n    print(1)\n    with redirect_stdout(c): print(2)\n    import pprint\n    pprint.pprint([3])\n    print(4, file=c)\nreturn b.getvalue(), c.getvalue(), d is b",
    "redirected until an error": "import io\nfrom contextlib import redirect_stdout\nb, c = io.StringIO(), io.StringIO()\nwith redirect_stdout(c):\n    try:\n        with redirect_stdout(b): 1 / 0\n    except ZeroDivisionError: pass\n    print(2)\nreturn b.getvalue(), c.getvalue()",
    "dispatch": f"{_ANY}@f.register(int)\ndef _(x): return 'int'\n@f.register(list)\ndef g(x): return 'list'\nf.register(str, lambda x: 'str')\nf.register(float | complex)(lambda x: 'num')\nclass A(list): pass\nreturn [f(1), f(True), f([]), f(A()), f('a'), f(None), f(1j)], f.__name__, g([]), f.dispatch(bool)(1)",
    "dispatch by own classes": f"{_ANY}class A: pass\nclass B(A): pass\nf.register(A)(lambda x: 'A')\nf.register(ValueError)(lambda x: 'e')\nreturn f(A()), f(B()), f(UnicodeError()), f(A)",
    "dispatch by abstract classes": f"{_ANY}from collections.abc import Mapping, Sequence\nf.register(Mapping)(lambda x: 'map')\nf.register(Sequence)(lambda x: 'seq')\nreturn f({{}}), f([]), f(1)",
    "dispatch on nothing": f"{_ANY}try:\n    f()\nexcept TypeError as e:\n    return str(e)",
    "update_wrapper": "import functools\ndef f():\n    'text'\ndef w(): pass\nreturn functools.update_wrapper(w, f) is w, w.__name__, w.__doc__",
    "hashes": "import hashlib\nreturn hashlib.new('sha256', b'a').hexdigest(), hashlib.new('MD5').hexdigest(), hashlib.new('sha1', data=b'x', usedforsecurity=False).name",
    "calendars": "import calendar\nreturn calendar.month(2026, 2), calendar.calendar(2026, m=4)",
}  # fmt: skip


@pytest.mark.parametrize("code", SAME.values(), ids=SAME)
def test_it_does_what_it_does_in_python(code: str) -> None:
    assert run_restricted(code) == ran_plainly(code)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"{_ANY}@f.register\ndef _(x: int): pass", r"name the class: @f.register\(int\)"),
        ("import hashlib\nhashlib.new('sha')", "unsupported hash type sha; there are: md5, sha1"),
        ("from collections import UserDict", "derive from dict"),
        ("import collections\ncollections.UserList", "derive from list"),
        ("from typing import get_type_hints", "annotations are not kept"),
        ("from contextlib import redirect_stderr", "contextlib.redirect_stdout"),
        ("import asyncio\nasyncio.Queue()", "everything runs in order here"),
        ("from dataclasses import make_dataclass", "write the class out"),
        ("import calendar\ncalendar.prmonth(2026, 1)", r"print\(calendar.month"),
        ("import collections\ncollections.orderedDict", "did you mean 'OrderedDict'"),
    ],
)
def test_what_it_does_not_is_told_with_what_to_write(code: str, expected: str) -> None:
    with pytest.raises((TypeError, ValueError, ImportError, AttributeError), match=expected):
        run_restricted(code)


@pytest.mark.parametrize(
    "code",
    [
        "got = []\nclass C:\n    def __enter__(self): pass\n    def __exit__(self, *error): got.extend(error); return True\nfrom contextlib import ExitStack\nwith ExitStack() as s:\n    s.enter_context(C())\n    1 / 0\nreturn got[2] and '<module '",
        "from contextlib import ExitStack\nclass L(list):\n    def pop(self): return open\ns = ExitStack()\ns._callbacks = L([1])\ns.close()\nreturn '<module '",
        "from contextlib import ExitStack\nclass A:\n    def __getattr__(self, name): return '<module '\nreturn ExitStack().enter_context(A())",
        "from contextlib import ExitStack\nExitStack.close(int)\nreturn '<module '",
        "from contextlib import ExitStack\nclass E(ExitStack): pass\nreturn '<module '",
        "got = []\nclass C:\n    def __enter__(self): pass\n    def __exit__(self, kind, *_): got.append(kind)\nfrom contextlib import ExitStack\ntry:\n    with ExitStack() as s:\n        s.enter_context(C())\n        b'\\xff'.decode()\nexcept UnicodeError: pass\nreturn '' if got == [UnicodeError] else '<module '",
        f"{_ANY}class A:\n    def __getattr__(self, name): return [object]\nreturn f.dispatch(A()) and '<module '",
        f"{_ANY}return f.registry[object].__globals__",
        f"{_ANY}f.register(int, 3)\nreturn f.register.__closure__",
        "import hashlib\nclass S(str):\n    def lower(self): return 'scrypt'\nreturn hashlib.new(S('md5')) and '<module '",
        "import hashlib\nreturn hashlib.new('__builtins__') and '<module '",
        "print.redirected(1)\nreturn '<module '",
        "return print._write and '<module '",
        "print._targets.append(sdk.files)\nreturn '<module '",
    ],
)  # fmt: skip
def test_it_hands_out_and_calls_nothing_that_the_script_could_not(code: str) -> None:
    assert loot(code) == ""
