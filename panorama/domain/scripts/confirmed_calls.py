"""Finds the calls of a script that pass `confirm` for the user."""

import ast
from collections.abc import Iterator

MAX_CALL_CHARS = 100


def list_confirmed_calls(source: str) -> list[str]:
    """Return the calls in which a script passes `confirm`, with their lines; none if it cannot be parsed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    expressions = (node for node in ast.walk(tree) if isinstance(node, ast.expr))
    calls = sorted({(node.lineno, _shorten(ast.unparse(node))) for node in expressions if _confirms(node)})
    return [f"line {line}: {call}" for line, call in calls]


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CALL_CHARS else f"{line[: MAX_CALL_CHARS - 1]}…"


def _confirms(node: ast.AST) -> bool:
    return any(not (isinstance(value, ast.Constant) and not value.value) for value in _iter_confirm_values(node))


def _iter_confirm_values(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        yield from (entry.value for entry in node.keywords if entry.arg == "confirm")
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        yield from (value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "confirm")
