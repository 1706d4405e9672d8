"""Finds the SDK functions that a script can reach, from its text. Pure.

The SDK enters a script under few names: `sdk`, and what it imports. Each use of these names is either a chain of
attributes that ends at a known function, or it counts as a use of anything: the SDK could go anywhere from there.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast, get_args

from panorama.domain.text.lenient_json import strip_client_prefix
from panorama.kinds import Collection
from panorama.sdk.core.namespace import SURFACE

ANYTHING = "anything"
"""Marks that a script may read and write anything."""

STATE = "state"
_TOOL = "tool"
_PACKAGE, _SDK = "panorama", "sdk"
_COLLECTIONS = frozenset(get_args(Collection))
_READ_FUNCTIONS = frozenset(
    (
        "get", "list", "text", "export", "analyze", "search", "query", "similar", "history", "status", "project",
        "projects", "week", "waiting", "trash", "read", "markdown_table", "parallel", "parallel_map", "progress",
        "related", "walk", "context", "paths", "stats", "components", "dashboard", "find_source",
    )
)  # fmt: skip
"""The names of functions that change nothing; all others count as writing."""

_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_.]*")
_MAX_PASSES = 4
"""The number of passes that resolve names: `a = b` above `b = c` above `c = sdk.tasks`, and one to confirm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkUsage:
    """The SDK functions that a script can reach.

    `functions` are names such as `tasks.update`. If the text shows the target of a call, it is added: `query(tasks)`,
    `batch(update_task)`, `scripts(plan_day)`; without one, any target is possible. If `unclear`, the script can reach
    everything.
    """

    functions: tuple[str, ...] = ()
    unclear: bool = False

    @property
    def calls(self) -> tuple[str, ...]:
        """All possible calls, "anything" if the text is unclear."""
        return (*self._anything, *self.functions)

    @property
    def reads(self) -> tuple[str, ...]:
        """The functions that change nothing."""
        return (*self._anything, *(function for function in self.functions if not is_writing(function)))

    @property
    def writes(self) -> tuple[str, ...]:
        """The functions that may change data, without those that other scripts call."""
        known = (
            function for function in self.functions if is_writing(function) and split_entry(function)[0] != "scripts"
        )
        return (*self._anything, *known)

    @property
    def scripts(self) -> tuple[str, ...]:
        """The scripts that it runs, "anything" if it could run any."""
        entries = (split_entry(function) for function in self.functions)
        return (*self._anything, *(detail or ANYTHING for name, detail in entries if name == "scripts"))

    @property
    def _anything(self) -> tuple[str, ...]:
        return (ANYTHING,) if self.unclear else ()


def split_entry(entry: str) -> tuple[str, str]:
    """Split an entry such as `query(tasks)` into the function and its target, "" if unknown."""
    name, _, detail = entry.partition("(")
    return name.partition(" ")[0], detail.partition(")")[0]


def is_writing(entry: str) -> bool:
    """Return whether a function of the SDK may change data, by its name such as `tasks.update`."""
    return split_entry(entry)[0].rpartition(".")[2] not in _READ_FUNCTIONS


def analyze_usage(tree: ast.AST) -> SdkUsage:
    """Analyze which SDK functions a script can reach."""
    try:
        return _analyze(tree)
    except RecursionError:
        return SdkUsage(unclear=True)


def _analyze(tree: ast.AST) -> SdkUsage:
    names, count = _NameCollector(), 0
    for _ in range(_MAX_PASSES):  # a later line may define a name, or the name that it refers to
        count = len(names.known)
        names.visit(tree)
    uses = _UsageCollector(names.known)
    uses.visit(tree)
    if "batch" in uses.found:
        uses.found.remove("batch")
        uses.record_batch(tree)
    unclear = uses.unclear or names.unclear or len(names.known) > count
    return SdkUsage(functions=tuple(sorted(uses.found)), unclear=unclear)


def _resolve_attribute(path: str, name: str) -> str:
    """Return the path of an attribute of the SDK, "" if it does not exist or could be anything."""
    if path == _PACKAGE:
        return _SDK if name == _SDK else ""
    if path == _SDK:
        return name if name in SURFACE or name == STATE or _PLAIN_NAME.fullmatch(name) else ""
    if _is_source(path):
        return "" if name.startswith("_") else f"{path}.{name}"
    part = SURFACE.get(path)
    if not isinstance(part, Mapping):
        return path  # an attribute of a function or a class
    if path == "scripts" and not name.startswith("_"):
        return "scripts.call" if name == "call" else f"scripts({name})"
    return f"{path}.{name}" if name in part else ""


def _is_source(path: str) -> bool:
    """Return whether a path may be a source: a name of `sdk` that is not the SDK's own."""
    return bool(path) and "." not in path and "(" not in path and path not in (_PACKAGE, _SDK, STATE, *SURFACE)


def _is_part(path: str) -> bool:
    """Return whether a path is an object whose attributes are functions: the package, the SDK or a noun of it."""
    return path in (_PACKAGE, _SDK) or _is_source(path) or (path != "errors" and isinstance(SURFACE.get(path), Mapping))


class _SdkVisitor(ast.NodeVisitor):
    """Resolves names that refer to a part of the SDK; class attributes count as unclear."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known
        self.unclear = False
        self._is_class = False

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_scope(node, is_class=True)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_scope(node, is_class=False)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_scope(node, is_class=False)

    def _visit_scope(self, node: ast.AST, *, is_class: bool) -> None:
        before, self._is_class = self._is_class, is_class
        self.generic_visit(node)
        self._is_class = before

    def _resolve_path(self, node: ast.AST) -> str | None:
        """Return the path of an expression, None if it is not part of the SDK, "" if it is unclear."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.known:
            return None
        path = self.known[node.id]
        while parts and path:
            path = _resolve_attribute(path, parts.pop())
        return path

    def _assigned_part(self, node: ast.Assign) -> str:
        """Return the names bound by an assignment such as `tasks = sdk.tasks`, "" for anything else."""
        path = self._resolve_path(node.value) or ""
        is_plain = not self._is_class and all(isinstance(entry, ast.Name) for entry in node.targets)
        return path if is_plain and _is_part(path) else ""


class _NameCollector(_SdkVisitor):
    """Collects the names that refer to a part of the SDK."""

    def __init__(self) -> None:
        super().__init__({_SDK: _SDK})

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            first = alias.name.partition(".")[0]
            if first in (_SDK, _PACKAGE):
                whole = _SDK if alias.name in (_SDK, "panorama.sdk") else _PACKAGE
                self._bind(alias.asname or first, whole if alias.asname else first)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if module.partition(".")[0] not in (_SDK, _PACKAGE):
            return
        owner = _PACKAGE if module == _PACKAGE else _SDK
        for alias in node.names:
            path = _resolve_attribute(owner, alias.name)
            self.unclear |= not path or module not in (_SDK, _PACKAGE, "panorama.sdk")
            self._bind(alias.asname or alias.name, path)

    def visit_Assign(self, node: ast.Assign) -> None:
        if part := self._assigned_part(node):
            for entry in node.targets:
                self._bind(cast("ast.Name", entry).id, part)

    def _bind(self, name: str, path: str) -> None:
        self.unclear |= self._is_class or self.known.get(name, path) != path
        self.known[name] = path


class _UsageCollector(_SdkVisitor):
    """Collects the longest chains of attributes that begin at the SDK."""

    def __init__(self, known: dict[str, str]) -> None:
        super().__init__(known)
        self.found: set[str] = set()

    def visit_Assign(self, node: ast.Assign) -> None:
        if not self._assigned_part(node):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        path = self._resolve_path(node.func)
        if path not in ("query", "scripts.call"):
            self.generic_visit(node)
            return
        name, parameter = ("query", "collection") if path == "query" else ("scripts", "script")
        named = node.args[:1] or [entry.value for entry in node.keywords if entry.arg == parameter]
        detail = _get_plain_name(named[0]) if named else None
        is_known = detail in _COLLECTIONS if path == "query" else detail
        self._record_use(f"{name}({detail})" if is_known else path)
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._resolve_path(node)
        if path is None:
            self.generic_visit(node)
        else:
            self._record_use(path)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self.known:
            self._record_use(self.known[node.id])

    def _record_use(self, path: str) -> None:
        if not path or _is_part(path):
            self.unclear = True
        elif path == "scripts.call":
            self.found.add("scripts")
        elif not path.startswith("errors") and not isinstance(SURFACE.get(path), type):
            self.found.add(path)

    def record_batch(self, tree: ast.AST) -> None:
        """Record the tools named in the steps of a batch.

        A step whose tool is computed makes the usage unclear; such a call is rejected at run time.
        """
        tools = list(_iter_step_tools(tree))
        self.unclear |= not tools or None in tools
        self.found.update(f"batch({strip_client_prefix(tool)})" for tool in tools if tool)


def _get_plain_name(node: ast.expr) -> str | None:
    """Return the value of a string literal, None for any other expression."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and _PLAIN_NAME.fullmatch(value) else None


def _iter_step_tools(tree: ast.AST) -> Iterator[str | None]:
    """Yield the tools of a batch's steps, None for one that is not a literal."""
    keys: set[ast.AST] = set()
    for node in ast.walk(tree):
        pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
        values = [(key, value) for key, value in pairs if isinstance(key, ast.Constant) and key.value == _TOOL]
        keys.update(key for key, _ in values)
        named = [node.value] if isinstance(node, ast.keyword) and node.arg == _TOOL else []
        yield from map(_get_plain_name, (*(value for _, value in values), *named))
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == _TOOL)
    yield from (None for text in texts if text not in keys)
