"""The language of scripts: what runs gives what plain Python gives."""

# ruff: noqa: E501 - scripts, not code of ours

import textwrap

import pytest

from panorama.sandbox.language import restricted
from panorama.sandbox.rules.facades import Facade
from tests.sandbox import class_idioms, collection_idioms, idioms, library_idioms, value_idioms
from tests.sandbox.running import SDK, modules, ran_plainly, run_restricted

IDIOMS = {
    **idioms.IDIOMS,
    **class_idioms.IDIOMS,
    **collection_idioms.IDIOMS,
    **library_idioms.IDIOMS,
    **value_idioms.IDIOMS,
}


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in IDIOMS.items()])
def test_a_script_gives_what_plain_python_gives(code: str) -> None:
    text = textwrap.dedent(code)

    assert run_restricted(text) == ran_plainly(text)


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("1 + 1", 2),
        ("x = 3\nx * 2", 6),
        ("x = 3", None),
        ("", None),
        ("# nothing", None),
        ("def main():\n    return 4\n\nif __name__ == '__main__':\n    main()", 4),
        ("if True:\n    5", None),
        ("for x in [1]:\n    pass\nx", 1),
        ("return 7\n8", 7),
        ("if 1 > 0:\n    return 'early'\nreturn 'late'", "early"),
        ("from __future__ import annotations\nx: 'Nope' = 1\nx", 1),
        ("import asyncio\nasync def f():\n    return 5\nawait f()", 5),
        ("async def f():\n    yield 1\n[x async for x in f()]", [1]),
        (
            "import asyncio\nlock = asyncio.Lock()\nasync with lock:\n    held = lock.locked()\n(held, lock.locked())",
            (True, False),
        ),
        (
            "import asyncio\ns = asyncio.Semaphore(2)\nawait s.acquire()\none = s.locked()\nawait s.acquire()\n(one, s.locked(), s.release())",
            (False, True, None),
        ),
        (
            "import asyncio\ns = asyncio.BoundedSemaphore(2)\nasync with s:\n    await s.acquire()\n    held = s.locked()\ns.release()\n(held, s.locked())",
            (True, False),
        ),
    ],
)
def test_the_result_is_what_is_returned_or_the_last_expression(code: str, result: object) -> None:
    assert run_restricted(code) == result


@pytest.mark.parametrize("name", ["Lock", "BoundedSemaphore"])
def test_what_was_not_acquired_is_not_given_back(name: str) -> None:
    with pytest.raises((RuntimeError, ValueError), match=r"is not acquired|released too many times"):
        run_restricted(f"import asyncio\nlock = asyncio.{name}()\nasync with lock:\n    pass\nlock.release()")


@pytest.mark.parametrize("made", ["asyncio.Lock()", "asyncio.TaskGroup()", "contextlib.ExitStack()"])
def test_what_is_printed_of_an_object_of_ours_names_pythons_library(made: str) -> None:
    library, _, name = made.removesuffix("()").partition(".")

    assert run_restricted(f"import asyncio, contextlib\nreturn repr({made})").startswith(f"<{library}.{name} object")


def test_inputs_are_names_that_the_script_may_change() -> None:
    code = (
        "limit = limit or 10\nif tags:\n    tags = tags[:1]\ndef f():\n    return limit\nreturn limit, tags, f(), sum"
    )

    assert run_restricted(code, limit=0, tags=["a", "b"], sum=3) == (10, ["a"], 10, 3)


def test_globals_of_functions_are_the_scripts_variables() -> None:
    code = "n = 1\ndef up():\n    global n, m\n    n += 1\n    m = n\nup()\nup()\nreturn n, m"

    assert run_restricted(code) == (3, 3)


def test_a_built_in_can_be_taken_over_and_called_before() -> None:
    assert run_restricted("x = max(1, 2)\nmax = min(3, 4)\nreturn x, max") == (2, 3)


def test_functions_and_classes_are_called_what_a_module_calls_them() -> None:
    code = "class A:\n    def f(self): pass\ndef g(a): pass\ntry:\n    g()\nexcept TypeError as e:\n    said = str(e)\nreturn A.__qualname__, A.f.__qualname__, g.__qualname__, said, repr(A)"

    assert run_restricted(code) == (
        "A",
        "A.f",
        "g",
        "g() missing 1 required positional argument: 'a'",
        "<class 'script.A'>",
    )


def test_print_is_the_one_that_was_given() -> None:
    received: list[tuple[object, ...]] = []

    run_restricted("print('a', 1)\nfor x in map(print, [2]): pass", printed=lambda *parts: received.append(parts))

    assert received == [("a", 1), (2,)]


@pytest.mark.parametrize("line", ["import sdk", "from panorama import sdk", "import panorama.sdk as sdk", "import panorama.sdk\nsdk = panorama.sdk"])  # fmt: skip
def test_the_sdk_is_there_and_can_be_imported_too(line: str) -> None:
    assert run_restricted(f"before = sdk\ndef f():\n    {line.splitlines()[0]}\n    return 1\nf()\nbefore") is SDK
    assert run_restricted(f"{line}\nreturn sdk is given", given=SDK) is True


def test_a_noun_of_the_sdk_can_be_imported() -> None:
    found = Facade("sdk", {"tasks": Facade("sdk.tasks", {"list": lambda: [1]})})

    assert run_restricted("from panorama.sdk import tasks\nfrom sdk import tasks as again\ntasks.list(), again is tasks", sdk=found) == ([1], True)  # fmt: skip


def test_rows_of_the_sdk_take_fields_by_both_names() -> None:
    code = "row = sdk.Row(id='t_1', title='Tea', n=1)\nrow.mark = True\nrow['x'] = 1\nrow['n'] += 2\nreturn row.title, row['mark'], row.x, row.n, dict(row), '{0.title}'.format(row)"

    assert run_restricted(code) == (
        "Tea",
        True,
        1,
        3,
        {"id": "t_1", "title": "Tea", "n": 3, "mark": True, "x": 1},
        "Tea",
    )


def test_a_name_that_is_missing_in_a_module_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        AttributeError, match=r"'json' has no 'dumsp' in scripts; did you mean 'dump' or 'dumps'[?] It has: JSON"
    ):
        run_restricted("import json\njson.dumsp([])")
    with pytest.raises(ImportError, match=r"'math' has no 'squareroot' in scripts"):
        run_restricted("from math import squareroot")


def test_types_that_a_script_may_not_have_are_stood_in_for() -> None:
    code = "f = type(lambda: 0)\nreturn f.__name__, isinstance(print, f) in (True, False), type(len) is type(max), repr(f), isinstance((lambda: 1), f)"

    assert run_restricted(code) == ("function", True, True, "<class 'function'>", True)


def test_a_script_changes_nothing_for_the_next_one() -> None:
    run_restricted("import json\nclass A: pass\nA.x = json\nglobal leak\nleak = 1")

    with pytest.raises(NameError):
        run_restricted("return leak")


def test_namespaces_do_not_share_what_they_hold() -> None:
    one = restricted.build_namespace(modules(), output=print, sdk=SDK)
    two = restricted.build_namespace(modules(), output=print, sdk=SDK)

    assert one["__builtins__"] is not two["__builtins__"]
