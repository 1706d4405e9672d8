"""Wraps code without a `main` into a script that has one. Pure."""

import ast
import keyword
import re
from collections.abc import Mapping
from typing import Any

from panorama.domain.scripts.library import TEXT_BYTES, find_main, parse_source
from panorama.domain.text.visible_text import escape_controls
from panorama.errors import InvalidInputError

INDENT = "    "
MAX_CODE_CHARS = TEXT_BYTES
"""The longest code that is accepted."""

_KINDS: Mapping[type, str] = {str: "str", bool: "bool", int: "int", float: "float", list: "list", dict: "dict"}


def wrap_code(code: str, inputs: Mapping[str, Any], summary: str) -> str:
    """Return code as a script: with a docstring, and a `main` whose parameters are its inputs.

    Code that has both is returned as it is.

    Raises:
        InvalidInputError: It is not valid Python, has neither docstring nor summary, or cannot be put into a function.
    """
    tree = parse_source(code)
    text = " ".join(summary.split())
    if text and not text.endswith((".", "!", "?")):
        text += "."
    main = find_main(tree)
    is_described = any(ast.get_docstring(part) is not None for part in (tree, main) if part)
    if not is_described and not text:
        raise InvalidInputError(
            "The script has no description.",
            hint="Begin it, or its main, with a docstring of one sentence, or give summary.",
        )
    doc = f"{_quote_docstring(text)}\n\n" if text and ast.get_docstring(tree) is None else ""
    if main is not None:
        return doc + code.rstrip() + "\n"
    return doc + _wrap_in_main(tree, code, inputs)


def _quote_docstring(text: str) -> str:
    plain = escape_controls(text).replace("\\", "/").replace('"', "'")
    return f'"""{plain}"""'


def _wrap_in_main(tree: ast.Module, code: str, inputs: Mapping[str, Any]) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Global | ast.Yield | ast.YieldFrom):
            raise InvalidInputError(
                f"Line {node.lineno} cannot be put into a function.", hint="Write `def main(…):` yourself."
            )
    body = list(tree.body)
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head: list[str] = []
    if ast.get_docstring(tree) is not None:
        last = body.pop(0).end_lineno or 1
        if body and body[0].lineno == last:
            raise InvalidInputError(f"Line {last} has code after the docstring.", hint="Put it on a line of its own.")
        head, lines = [*lines[:last], ""], [*[""] * last, *lines[last:]]
    if not body:
        raise InvalidInputError("The script does nothing.", hint="Give its code.")
    _return_last(body[-1], lines)
    still = _lines_inside_strings(tree)
    moved = [line if at in still or not line.strip() else INDENT + line for at, line in enumerate(lines, 1)]
    text = "\n".join(moved).strip("\n").rstrip()
    preset = [f"{INDENT}inputs = {{{', '.join(f'{name!r}: {name}' for name in inputs)}}}"] if _uses_inputs(tree) else []
    parameters = ", ".join(
        sorted((_render_parameter(*entry) for entry in inputs.items()), key=lambda text: " = " in text)
    )
    return "\n".join([*head, f"def main({parameters}):", *preset, text]) + "\n"


def _return_last(last: ast.stmt, lines: list[str]) -> None:
    """Return the value of the last expression, which was the result outside a function."""
    if isinstance(last, ast.Expr):
        line = lines[last.lineno - 1]
        at = len(line.encode()[: last.col_offset].decode())
        lines[last.lineno - 1] = f"{line[:at]}return {line[at:]}"


def _lines_inside_strings(tree: ast.Module) -> set[int]:
    """Return the lines inside multi-line strings, which must not be indented."""
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.JoinedStr))
    spans = ((node.lineno, node.end_lineno or node.lineno) for node in texts)
    return {line for begin, end in spans for line in range(begin + 1, end + 1)}


def _uses_inputs(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "inputs" for node in ast.walk(tree))


def _render_parameter(name: str, value: Any) -> str:
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise InvalidInputError(f"The input {name[:60]!r} cannot be a parameter.", hint="Give it another name.")
    if value is None:
        return f"{name}: str | None = None"
    kind = next((name for entry, name in _KINDS.items() if type(value) is entry), "")
    if not kind or not re.fullmatch(r"[^\n]{0,200}", repr(value)):
        return f"{name}: {kind or 'object'}"
    return f"{name}: {kind} = {value!r}"


def suggest_name(words: str) -> str:
    """Return a script name built from words, "" if they contain none."""
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:33].strip("_")
