"""Each shipped script reads as the library promises: described, annotated, allowed, short, and listed."""

import ast
import inspect
import re
import types
from datetime import date, datetime
from typing import Any, Literal, Union, get_args, get_origin

import pytest

from panorama.sandbox.language import restricted
from tests.scripts.conftest import SCRIPTS, Call, signature

SIMPLE = (int, float, str, bool, date, datetime)
README = (next(iter(SCRIPTS.values())).parent / "README.md").read_text(encoding="utf-8")

for_each_script = pytest.mark.parametrize("name", SCRIPTS)


def tree(name: str) -> ast.Module:
    return ast.parse(SCRIPTS[name].read_text(encoding="utf-8"))


def main(name: str) -> ast.FunctionDef:
    return next(node for node in tree(name).body if isinstance(node, ast.FunctionDef) and node.name == "main")


def is_simple(kind: Any) -> bool:
    """Tell whether a kind of argument can be asked for in a form: a plain value, a choice, or a list of them."""
    if get_origin(kind) in (types.UnionType, Union):
        return all(argument is types.NoneType or is_simple(argument) for argument in get_args(kind))
    if get_origin(kind) is list:
        return all(map(is_simple, get_args(kind)))
    return kind in SIMPLE or get_origin(kind) is Literal


def test_there_are_at_least_eight() -> None:
    assert len(SCRIPTS) >= 8


@for_each_script
def test_the_first_sentence_says_what_it_does(name: str) -> None:
    first = (ast.get_docstring(tree(name)) or "").partition("\n\n")[0]

    assert re.fullmatch(r"[A-Z][a-z]+ [^.\n]{10,110}\.", first), first


@for_each_script
def test_every_parameter_has_a_kind_a_default_and_a_description(name: str) -> None:
    described = re.findall(
        r"^ {4}(\w+): .+[^.]\.$", (ast.get_docstring(main(name)) or "").partition("Args:\n")[2], re.M
    )

    parameters = signature(name).parameters
    assert described == list(parameters)
    for parameter in parameters.values():
        assert is_simple(parameter.annotation), parameter
        assert parameter.default is not inspect.Parameter.empty, parameter


@for_each_script
def test_its_language_is_that_of_the_sandbox(name: str) -> None:
    assert restricted.compile_script(SCRIPTS[name].read_text(encoding="utf-8"))


@for_each_script
def test_it_is_short_and_says_of_each_function_what_it_returns_or_does(name: str) -> None:
    functions = [node for node in tree(name).body if isinstance(node, ast.FunctionDef)]

    assert len(SCRIPTS[name].read_text(encoding="utf-8").splitlines()) <= 150
    assert all(ast.get_docstring(function) for function in functions)
    assert all((function.end_lineno or 0) - function.lineno < 40 for function in functions)


@for_each_script
def test_it_defines_and_does_nothing_at_the_top(name: str) -> None:
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Assign, ast.Expr)

    assert all(isinstance(node, kinds) for node in tree(name).body)
    assert "sdk" not in {node.id for node in top_names(tree(name))}


def top_names(module: ast.Module) -> list[ast.Name]:
    """Return the names that are used outside of functions."""
    outside = [node for node in module.body if not isinstance(node, ast.FunctionDef)]
    return [node for part in outside for node in ast.walk(part) if isinstance(node, ast.Name)]


@for_each_script
def test_its_call_without_arguments_is_one_a_person_may_make_unasked(name: str) -> None:
    parameters = signature(name).parameters

    for switch in ("apply", "keep"):
        assert switch not in parameters or parameters[switch].default is False


def test_the_readme_lists_all_of_them_with_what_they_do() -> None:
    listed = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", README, re.MULTILINE))

    assert list(listed) == list(SCRIPTS)
    assert all(listed.values())


def test_all_of_them_are_in_the_library_reviewed_by_panorama(call: Call) -> None:
    listed = {row["name"]: row for row in call("list_scripts", limit=50).data}

    assert set(listed) == set(SCRIPTS)
    assert {row["state"] for row in listed.values()} == {"reviewed"}
    assert not [row for row in listed.values() if "problem" in row]
