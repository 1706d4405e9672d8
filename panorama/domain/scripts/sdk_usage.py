"""Finds the SDK functions that a script uses, from its text. Pure."""

import ast
from dataclasses import dataclass
from typing import cast

_MODULES = ("sdk", "panorama.sdk")
_READ_FUNCTIONS = frozenset(
    (
        "get", "list", "text", "search", "query", "similar", "history", "status", "project", "projects", "week",
        "waiting", "trash", "read", "markdown_table", "parallel", "parallel_map", "progress",
    )
)  # fmt: skip
"""The names of functions that change nothing; all others count as writing."""

_MAX_PASSES = 4
"""How often names are looked for: `a = b` above `b = c` above `c = sdk.tasks`, and once to see that these are all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkUsage:
    """Functions of the SDK by name, as `tasks.update`, and scripts that are called; `unclear` if there may be more."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    unclear: bool = False

    def describe(self) -> str:
        """Return what it reads and writes, in one line each."""
        said = [
            f"reads: {', '.join(self.reads) or 'nothing'}",
            f"writes: {', '.join(self.writes) or 'nothing'}",
            *([f"runs other scripts: {', '.join(self.scripts)}"] if self.scripts else []),
        ]
        return "; ".join(said) + ("; and what its text alone does not tell" if self.unclear else "")


def is_writing(name: str) -> bool:
    """Tell whether a function of the SDK may change data, by its name such as `tasks.update`."""
    return name.rpartition(".")[2] not in _READ_FUNCTIONS


def analyze_usage(tree: ast.AST) -> SdkUsage:
    """Return what a script does with the SDK."""
    names, count = _NameCollector(), 0
    for _ in range(
        _MAX_PASSES
    ):  # what a name means may be told by a line below, as may be the name that this one is of
        count = len(names.known)
        names.visit(tree)
    looked = _UsageCollector(names.known)
    looked.visit(tree)
    found = sorted(looked.found)
    return SdkUsage(
        reads=tuple(entry for entry in found if not is_writing(entry)),
        writes=tuple(entry for entry in found if is_writing(entry)),
        scripts=tuple(sorted(looked.scripts)),
        unclear=looked.unclear or names.unclear or len(names.known) > count,
    )


class _SdkVisitor(ast.NodeVisitor):
    """Knows names that mean a part of the SDK; those of a class are reached by other ways, and count as unclear."""

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
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.known:
            return None
        return ".".join(filter(None, [self.known[node.id], *parts]))

    def _assigned_noun(self, node: ast.Assign) -> str:
        """Return what names are made of by `tasks = sdk.tasks`, "" if it is anything else."""
        path = self._resolve_path(node.value) or ""
        is_noun = "." not in path and path not in _TOP_LEVEL_FUNCTIONS and not self._is_class
        return path if is_noun and all(isinstance(entry, ast.Name) for entry in node.targets) else ""


class _NameCollector(_SdkVisitor):
    """Collects the names that mean a part of the SDK, wherever the text says so."""

    def __init__(self) -> None:
        super().__init__({"sdk": ""})

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name in _MODULES:
                self._bind(alias.asname or alias.name, "")
            self.unclear |= alias.name.partition(".")[0] == "panorama" and not alias.asname

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            name = alias.asname or alias.name
            if module in _MODULES:
                self._bind(name, alias.name)
            elif module == "panorama" and alias.name == "sdk":
                self._bind(name, "")
            elif module.startswith("panorama.sdk."):
                self._bind(name, f"{module.removeprefix('panorama.sdk.')}.{alias.name}")

    def visit_Assign(self, node: ast.Assign) -> None:
        if noun := self._assigned_noun(node):
            for entry in node.targets:
                self._bind(cast("ast.Name", entry).id, noun)

    def _bind(self, name: str, path: str) -> None:
        self.unclear |= self._is_class or name == "*" or self.known.get(name, path) != path
        self.known[name] = path


class _UsageCollector(_SdkVisitor):
    """Collects the longest chains of attributes that begin at the SDK."""

    def __init__(self, known: dict[str, str]) -> None:
        super().__init__(known)
        self.found: set[str] = set()
        self.scripts: set[str] = set()

    def visit_Assign(self, node: ast.Assign) -> None:
        if not self._assigned_noun(node):
            self.generic_visit(node)

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
        parts = path.split(".")
        if parts[0] == "state" or parts[0].endswith("Error") or parts[0] == "errors":
            return
        if parts[0] == "scripts" and len(parts) > 1:
            self.scripts.add(parts[1])
        elif parts[0] in _TOP_LEVEL_FUNCTIONS:
            self.found.add(parts[0])
        elif len(parts) > 1:
            self.found.add(f"{parts[0]}.{parts[1]}")
        else:
            self.unclear = True


_TOP_LEVEL_FUNCTIONS = frozenset(
    (
        "search", "similar", "query", "batch", "history", "undo", "status", "parallel", "parallel_map", "progress",
        "markdown_table",
    )
)  # fmt: skip
"""What stands in the SDK by itself, without a noun."""
