"""What a script does with the SDK, as far as its text tells. Pure: nothing is run."""

import ast
from dataclasses import dataclass

_MODULES = ("sdk", "panorama.sdk")
_READING = frozenset(
    (
        "get", "list", "text", "search", "query", "similar", "history", "status", "project", "projects", "week",
        "waiting", "trash", "read", "markdown_table", "parallel", "parallel_map", "progress",
    )
)  # fmt: skip
"""The names of functions that change nothing; all others count as writing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """Functions of the SDK by name, as `tasks.update`, and scripts that are called; `unclear` if there may be more."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    unclear: bool = False

    def words(self) -> str:
        """Return what it reads and writes, in one line each."""
        said = [
            f"reads: {', '.join(self.reads) or 'nothing'}",
            f"writes: {', '.join(self.writes) or 'nothing'}",
            *([f"runs other scripts: {', '.join(self.scripts)}"] if self.scripts else []),
        ]
        return "; ".join(said) + ("; and what its text alone does not tell" if self.unclear else "")


def is_writing(name: str) -> bool:
    """Tell whether a function of the SDK may change data, by its name such as `tasks.update`."""
    return name.rpartition(".")[2] not in _READING


def uses(tree: ast.AST) -> Uses:
    """Return what a script does with the SDK."""
    looked = _Looking()
    looked.visit(tree)
    names = sorted(looked.found)
    return Uses(
        reads=tuple(each for each in names if not is_writing(each)),
        writes=tuple(each for each in names if is_writing(each)),
        scripts=tuple(sorted(looked.scripts)),
        unclear=looked.unclear,
    )


class _Looking(ast.NodeVisitor):
    """Collects the longest chains of attributes that begin at the SDK."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.scripts: set[str] = set()
        self.unclear = False
        self._known: dict[str, str] = {"sdk": ""}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name in _MODULES:
                self._known[alias.asname or alias.name] = ""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if node.module in _MODULES:
                self._known[alias.asname or alias.name] = alias.name
            elif node.module == "panorama" and alias.name == "sdk":
                self._known[alias.asname or "sdk"] = ""
            elif node.module and node.module.startswith("panorama.sdk."):
                noun = node.module.removeprefix("panorama.sdk.")
                self._known[alias.asname or alias.name] = f"{noun}.{alias.name}"

    def visit_Assign(self, node: ast.Assign) -> None:
        """Follow `tasks = sdk.tasks`."""
        path = self._path(node.value)
        if path and len(path.split(".")) == 1 and path not in _FUNCTIONS and isinstance(node.targets[0], ast.Name):
            self._known[node.targets[0].id] = path
            return
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._path(node)
        if path is None:
            self.generic_visit(node)
        else:
            self._use(path)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self._known:
            self._use(self._known[node.id])

    def _path(self, node: ast.AST) -> str | None:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._known:
            return None
        return ".".join(filter(None, [self._known[node.id], *parts]))

    def _use(self, path: str) -> None:
        parts = path.split(".")
        if parts[0] == "state" or parts[0].endswith("Error") or parts[0] == "errors":
            return
        if parts[0] == "scripts" and len(parts) > 1:
            self.scripts.add(parts[1])
        elif parts[0] in _FUNCTIONS:
            self.found.add(parts[0])
        elif len(parts) > 1:
            self.found.add(f"{parts[0]}.{parts[1]}")
        else:
            self.unclear = True


_FUNCTIONS = frozenset(
    (
        "search", "similar", "query", "batch", "history", "undo", "status", "parallel", "parallel_map", "progress",
        "markdown_table",
    )
)  # fmt: skip
"""What stands in the SDK by itself, without a noun."""
