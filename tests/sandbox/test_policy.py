"""What scripts may not say: each refusal says what, where, and what to write instead."""

import ast
import builtins
import sys
import traceback

import pytest
from RestrictedPython.transformer import RestrictingNodeTransformer

from panorama.domain.scripts.scripts import SOURCE_CHARS
from panorama.sandbox.language import restricted
from panorama.sandbox.language.policy import Policy
from panorama.sandbox.rules import allowlist
from tests.sandbox.running import run_restricted

REFUSED = [
    ("open('x')", 1, "open() is not available", "sdk.files.write"),
    ("x = 1\n\nprint(eval('1'))", 3, "eval() is not available", "json.loads"),
    ("exec('1')", 1, "exec() is not available", "dict of functions"),
    ("f = [compile]", 1, "compile() is not available", "re.compile"),
    ("globals()", 1, "globals() is not available", "a dict of your own"),
    ("input('?')", 1, "input() is not available", "`inputs`"),
    ("exit()", 1, "exit() is not available", "`return`"),
    ("help(sdk)", 1, "help() is not available", "search_sdk"),
    ("import os", 1, 'the module "os" is not available', "sdk.files"),
    ("import os", 1, 'the module "os" is not available', "modules: abc, asyncio, base64"),
    ("import requests", 1, 'the module "requests"', "no network"),
    ("from pathlib import Path", 1, 'the module "pathlib"', "sdk.files"),
    ("import pandas as pd", 1, 'the module "pandas"', "comprehensions"),
    ("from concurrent.futures import ThreadPoolExecutor", 1, 'the module "concurrent.futures"', "sdk.parallel"),
    ("import json, sys", 1, 'the module "sys"', "`return` ends the script"),
    ("import traceback", 1, 'the module "traceback"', "str(error)"),
    ("import logging", 1, 'the module "logging"', "print()"),
    ("from json import *", 1, "`from json import *`", "import the names that you use"),
    ("from . import x", 1, "relative imports", "in full"),
    ("try:\n    x()\nexcept* ValueError:\n    pass", 1, "`except*`", "isinstance()"),
    ("class A(metaclass=M): pass", 1, "metaclass= is not available", "decorator"),
    ("class A(B, tag=1): pass", 1, "keywords in a class statement", "class attributes"),
    ("class A(*bases): pass", 1, "`*` in the bases", "write the bases out"),
    ("class A:\n    def __new__(cls): pass", 2, '"__new__" is not available', "__init__"),
    ("class A:\n    def __del__(self): pass", 2, '"__del__" is not available', "with"),
    ("class A:\n    def __init_subclass__(cls): pass", 2, '"__init_subclass__"', "decorator"),
    ("class A:\n    def __get__(self, i, o): pass", 2, '"__get__"', "@property"),
    ("class A:\n    __slots__ = names", 2, "__slots__ takes plain names", '("first", "second")'),
    ("class A:\n    __match_args__ = ('_x',)", 2, "__match_args__ takes plain names", '("first", "second")'),
    ("def __init__(self): pass", 1, '"__init__" is not available', ""),
    ("object.__subclasses__()", 1, 'attribute "__subclasses__"', "keep a list of the classes"),
    ("(1)\nx.__globals__", 2, 'attribute "__globals__"', "public name"),
    ("try:\n    x()\nexcept E as e:\n    e.__traceback__", 4, '"__traceback__"', "names the line"),
    ("g.gi_frame", 1, '"gi_frame" is not available', "closed to scripts"),
    ("x.__class__ = Y", 1, '"__class__" is not available', ""),
    ("del x.__dict__", 1, '"__dict__" is not available', ""),
    ("__builtins__", 1, 'the name "__builtins__"', "public name"),
    ("__import__('os')", 1, 'the name "__import__"', ""),
    ("yield 1", 1, "`yield` is outside a function", "put it in a function"),
    ("match x:\n    case A(__class__=y): pass", 2, '"__class__" cannot be matched', "guard"),
    ("match x:\n    case A.__b__: pass", 2, 'the attribute "__b__" cannot be used in a pattern', "guard"),
    ("match x:\n    case [*__y__]: pass", 2, 'the name "__y__"', ""),
    ("match x:\n    case {**__y__}: pass", 2, 'the name "__y__"', ""),
    ("f(__x__=1)", 1, 'the name "__x__"', ""),
    ("lambda __x__: 1", 1, 'the name "__x__"', ""),
    ("global __x__", 1, 'the name "__x__"', ""),
    ("def f():\n    nonlocal __x__", 2, 'the name "__x__"', ""),
    ("import json as __json__", 1, 'the name "__json__"', ""),
    ("for __x__ in y: pass", 1, 'the name "__x__"', ""),
    ("[__x__ for __x__ in y]", 1, 'the name "__x__"', ""),
    ("(__x__ := 1)", 1, 'the name "__x__"', ""),
    ("with a as __x__: pass", 1, 'the name "__x__"', ""),
    ("try: pass\nexcept E as __x__: pass", 2, 'the name "__x__"', ""),
    ("class __x__: pass", 1, 'the name "__x__"', ""),
    ("def w(): pass\nw.__name__ = 'f'", 2, 'the attribute "__name__"', "functools.wraps(f)"),
    ("error.__notes__", 1, 'the attribute "__notes__"', "str(error) and error.args"),
]


@pytest.mark.parametrize(("code", "line", "message", "hint"), REFUSED)
def test_a_refusal_says_what_and_where_and_what_instead(code: str, line: int, message: str, hint: str) -> None:
    with pytest.raises(restricted.PolicyError) as refused:
        restricted.compile_script(code)

    assert message in str(refused.value.msg)
    assert (refused.value.lineno, refused.value.filename) == (line, restricted.FILENAME)
    assert hint in refused.value.hint


def test_a_refusal_shows_its_column_and_the_text_of_its_line() -> None:
    with pytest.raises(restricted.PolicyError) as refused:
        restricted.compile_script("x = 1\nprint(1 +\n      len.__self__)\n")

    assert (refused.value.lineno, refused.value.offset, refused.value.text) == (3, 7, "      len.__self__)")


def test_several_refusals_are_counted_and_the_first_by_line_is_told() -> None:
    with pytest.raises(restricted.PolicyError) as refused:
        restricted.compile_script("def f():\n    eval('1')\nopen('x')\nimport os\nopen('y')")

    assert refused.value.lineno == 2
    assert str(refused.value.msg) == "eval() is not available (3 more on lines 3, 4, 5)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = (1", "was never closed"),
        ("return = 3", "invalid syntax"),
        ("class A:\n    return 1", "'return' outside function"),
        ("break", "'break' outside loop"),
        ("x = '\ud800'", "cannot be read"),
        ("x = 1\0", "null byte"),
        ("x = 1" + " " * SOURCE_CHARS, "at most 200,000"),
        ("x = " + "(" * 300 + ")" * 300, "nested"),
        ("x = " + "-" * 100_000 + "1", "nested too deeply"),
    ],
)
def test_text_that_is_no_python_is_a_plain_syntax_error(text: str, message: str) -> None:
    with pytest.raises(SyntaxError) as error:
        restricted.compile_script(text)

    assert not isinstance(error.value, restricted.PolicyError)
    assert message in str(error.value.msg)


@pytest.mark.parametrize("name", ["open", "input", "eval", "help", "exit", "memoryview"])
def test_a_refused_function_that_is_only_bound_elsewhere_says_the_way_out_when_called(name: str) -> None:
    code = f"def f():\n    {name} = 1\n    return {name}\nf()\n{name}('x')"

    with pytest.raises(NameError, match=rf"{name}\(\) is not available in scripts: ") as error:
        run_restricted(code)

    assert error.value.__class__ is NameError


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = 1\ny = [\n  1,\n  2,\n]\n1 / 0", 6),
        ("class A:\n    pass\na = A()\n\nf(\n  a\n   ._x\n)", 5),
        ("class A:\n    def __init__(self):\n        self.n = 1\n\na = A()\nx = (a\n  .n\n  ._missing\n)", 8),
        ("d = {}\nd['a'] = 1\nd[\n 'b'\n] += 1", 3),
        ("import json\njson\\\n  .nothing", 3),
        ("def f(a,\n      b):\n    return (a +\n            b)\n\nf(1,\n  'x')", 3),
        ("async def f():\n    pass\n\nawait f()\nx: int = (\n  1\n)\n[][3]", 8),
        ("match 3:\n    case 3:\n        pass\nraise ValueError(\n  'x'\n)", 4),
        ("text = f'''{1}\n{1 / 0}\n'''", 2),
        ("@lambda f: 1 / 0\ndef g():\n    pass", 1),
        ("class A:\n    x = 1\n    y = x / 0", 3),
        ("\n\n\nx = 5\nx._nope", 5),
        ("import json\n\njson.x = 1", 3),
        (
            "type T = int\ndef f[X](x: X) -> X:\n    return x\nf(1 / 0)"
            if sys.version_info >= (3, 12)
            else "\n\n\n1/0",
            4,
        ),
    ],
)
def test_the_line_of_an_error_is_the_scripts_own(code: str, line: int) -> None:
    with pytest.raises(Exception) as error:
        run_restricted(code)

    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.tb)]
    assert [number for name, number in places if name == restricted.FILENAME][-1] == line


def test_the_column_of_an_error_is_the_scripts_own() -> None:
    code = restricted.compile_script("x = 1\nreturn x + len.missing")

    body = next(part for part in code.co_consts if hasattr(part, "co_positions"))
    places = [place for place in body.co_positions() if place[0] == 2 and place[2] is not None]

    assert (2, 2, 11, 22) in places


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs the syntax of Python 3.12")
def test_generic_syntax_runs_as_if_it_were_not_there() -> None:
    code = """
type Rows = list[dict[str, int]]
class Stack[T]:
    def __init__(self) -> None:
        self.items: list[T] = []
    def push(self, item: T) -> "Stack[T]":
        self.items.append(item)
        return self
class Wide[T](Stack[T]):
    pass
def first[T: (int, str)](items: list[T]) -> T:
    return items[0]
Stack[int]().push(1).items, first([3]), Wide[str]().push("x").items
"""

    assert run_restricted(code) == ([1], 3, ["x"])


def test_every_node_of_this_python_is_decided_upon() -> None:
    decided = {name.removeprefix("visit_") for name in dir(Policy) if name.startswith("visit_")}
    nodes = {
        kind.__name__
        for kind in vars(ast).values()
        if isinstance(kind, type) and issubclass(kind, ast.AST) and not kind.__subclasses__()
    }
    unused = {"FunctionType", "Interactive", "Expression", "TypeIgnore", "Suite", "Param", "AugLoad", "AugStore"}
    old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice"}
    taken_off = {"TypeVar", "ParamSpec", "TypeVarTuple"}

    assert nodes - decided - unused - old - taken_off == set()


def test_new_syntax_is_closed_until_somebody_opens_it() -> None:
    policy = Policy(frozenset(), frozenset())
    unknown = type("Wormhole", (ast.stmt,), {"_fields": (), "lineno": 3, "col_offset": 4})()

    policy.visit(unknown)

    assert [(refusal.line, refusal.column) for refusal in policy.refusals] == [(3, 5)]
    assert "Wormhole is not part of the language" in policy.refusals[0].message


def test_nothing_of_restricted_python_emits_a_name_that_a_script_could_take() -> None:
    """What is inherited must not put `_getattr_`, `_write_` … into a script: these names are free here."""
    emitting = {
        "visit_Name", "visit_Call", "visit_Attribute", "visit_Subscript", "visit_Assign", "visit_AugAssign",
        "visit_For", "visit_comprehension", "visit_With", "visit_ClassDef", "visit_FunctionDef",
        "visit_AsyncFunctionDef",
    }  # fmt: skip

    assert [name for name in emitting if getattr(Policy, name) is getattr(RestrictingNodeTransformer, name)] == []


def test_all_that_exceptions_show_is_either_harmless_or_guarded() -> None:
    kinds = [kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, BaseException)]
    shown = {name for kind in kinds for name in dir(kind) if not name.startswith("_")}

    assert shown - allowlist.HARMLESS_ON_EXCEPTIONS - allowlist.GUARDED - allowlist.REFUSED_ATTRIBUTES == set()
