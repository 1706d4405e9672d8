"""`print`: where it prints to, and what it is told apart by."""

# ruff: noqa: E501 - one script, one line

import re

import pytest

from tests.sandbox.running import ran_plainly, run_restricted

INTO_OWN = """
class Lines:
    def __init__(self): self.parts = []
    def write(self, text): self.parts.append(text)
    def flush(self): self.parts.append("flushed")
lines = Lines()
"""

PRINTED = {
    "a text in memory": 'import io\nb = io.StringIO()\nprint("x", 1, file=b, sep="-", end="!")\nprint(file=b)\nreturn b.getvalue()',
    "an object with write": f'{INTO_OWN}print("a", [2], file=lines)\nreturn lines.parts',
    "flushed": f'{INTO_OWN}print("a", file=lines, flush=True, sep=None, end=None)\nreturn lines.parts',
    "a class with write": 'got = []\nclass W:\n    @staticmethod\n    def write(text): got.append(text)\nprint("a", file=W)\nreturn got',
    "a namespace with write": 'from types import SimpleNamespace\ngot = []\nprint(1, file=SimpleNamespace(write=got.append))\nreturn got',
    "pretty": "import io, pprint\nb = io.StringIO()\npprint.pprint({2: 1, 1: 2}, stream=b)\npprint.pp([1], b)\nreturn b.getvalue()",
    "an unknown argument": "try:\n    print(1, zzz=2)\nexcept TypeError:\n    return 'refused'",
    "its name": "return repr(print), print.__name__, type(print).__name__, callable(print)",
    "as a value": "import copy\nfrom functools import partial\nreturn copy.copy(print) is print, repr(partial(print)), {print: 1}[print]",
    "without write": "class A: pass\ntry:\n    print(1, file=A())\nexcept AttributeError as e:\n    return str(e)",
    "closed": "import io\nb = io.StringIO()\nb.close()\ntry:\n    print(1, file=b)\nexcept ValueError as e:\n    return str(e)",
}  # fmt: skip


@pytest.mark.parametrize("code", PRINTED.values(), ids=PRINTED)
def test_print_prints_where_it_does_in_python(code: str) -> None:
    assert run_restricted(code) == ran_plainly(code)


def test_what_is_printed_into_a_text_is_not_printed() -> None:
    received: list[object] = []

    run_restricted(
        "import io\nprint(1, file=io.StringIO())\nprint(2, file=None)", printed=lambda *parts: received.append(parts)
    )

    assert received == [(2,)]


@pytest.mark.parametrize("file", ["sdk.files", "[]", "io.BytesIO()", "'x'", "print", "io"])
def test_print_writes_to_nothing_but_texts_and_a_script_s_own(file: str) -> None:
    with pytest.raises(TypeError, match=r"writes to an io\.StringIO or to an object of your own with a method `write`"):
        run_restricted(f"import io\nprint(1, file={file})")


@pytest.mark.parametrize("option", ["sep=1", "end=b''", "sep=Sep('-')"])
def test_what_stands_between_and_behind_is_a_text(option: str) -> None:
    with pytest.raises(TypeError, match="must be None or a text"):
        run_restricted(f"class Sep(str): pass\nprint(1, {option})")


NAMED = {
    "import copy\ncopy.deepcopy": "function deepcopy",
    "import asyncio\nasyncio.run": "function run",
    "import dataclasses\ndataclasses.asdict": "function asdict",
    "from functools import total_ordering\ntotal_ordering": "function total_ordering",
}


@pytest.mark.parametrize(("code", "text"), NAMED.items(), ids=NAMED)
def test_what_stands_for_python_s_says_python_s_name(code: str, text: str) -> None:
    shown = repr(run_restricted(code))

    assert re.fullmatch(rf"<{text} at 0x[0-9a-f]+>", shown)


def test_what_is_no_function_is_called_a_module_as_in_python() -> None:
    with pytest.raises(TypeError, match="'module' object is not iterable"):
        run_restricted("for each in sdk.tasks: pass")
