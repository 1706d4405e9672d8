"""The calls of sources in the text of a script. Pure."""

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from panorama.domain.scripts.sdk_usage import SdkUsage, analyze_usage, split_entry

MAX_CALL_CHARS = 160
MAX_SHOWN_CALLS = 3
_NO_PRIVATE_DATA = (
    "status", "progress", "parallel", "parallel_map", "attempt", "markdown_table", "state", "scripts.call",
)  # fmt: skip
"""What returns nothing that the user stored; the calls of a nested script count by themselves."""


@dataclass(frozen=True, slots=True)
class ScriptCalls:
    """The result of reading a text: the source functions that it calls, and whether it reads the user's items."""

    functions: tuple[str, ...]
    reads_items: bool
    tree: ast.AST

    def show_calls(self, function: str) -> Sequence[str]:
        """Return the first calls of a function in the text, with their lines."""
        name = function.rpartition(".")[2]
        calls = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name
        ]
        return [f"line {call.lineno}: {_shorten(ast.unparse(call))}" for call in calls[:MAX_SHOWN_CALLS]]


def find_source_calls(source: str, sources: Collection[str]) -> ScriptCalls | None:
    """Return the calls of configured sources in a text; None if it cannot be parsed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    usage = analyze_usage(tree)
    names = [split_entry(entry)[0] for entry in usage.functions]
    functions = tuple(name for name in names if name.partition(".")[0] in sources)
    return ScriptCalls(functions, _reads_items(usage, names, sources), tree)


def reads_private_data(operation: str) -> bool:
    """Return whether an operation may return what the user stored."""
    return operation not in _NO_PRIVATE_DATA and not operation.endswith(".create")


def _reads_items(usage: SdkUsage, names: Sequence[str], sources: Collection[str]) -> bool:
    return usage.unclear or any(name.partition(".")[0] not in sources and reads_private_data(name) for name in names)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CALL_CHARS else f"{line[: MAX_CALL_CHARS - 1]}…"
