"""Which names a script binds, and which of them must be globals; looked up before the text is changed. Pure."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from panorama.sandbox import tables

_OPENS_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names of one script.

    `bound` are all that are given a value anywhere. `shared` have to be globals to mean what they mean in a module.
    `parameters` are those of generic functions, classes and type aliases (`def first[T](…)`). Neither holds a dunder.
    """

    bound: frozenset[str]
    shared: frozenset[str]
    parameters: frozenset[str]


def surveyed(tree: ast.Module) -> Names:
    """Return the names of a script."""
    bound, shared, parameters = set[str](), set[str](), set[str]()
    has_classes = False
    for node in ast.walk(tree):
        kind = type(node)
        if binds := _BOUND_BY.get(kind):
            bound.update(binds(node))
        if kind is ast.Global:
            shared.update(cast("ast.Global", node).names)
        elif kind in _GENERIC:
            parameters.update(each.name for each in getattr(node, "type_params", ()))
            has_classes = has_classes or kind is ast.ClassDef
    if has_classes:
        shared |= _class_names(tree)
    return Names(bound=frozenset(bound), shared=_without_dunders(shared), parameters=_without_dunders(parameters))


def _without_dunders(names: set[str]) -> frozenset[str]:
    """Leave out what means something to Python: the policy has not looked at annotations and at parameters."""
    return frozenset(name for name in names if not tables.dunder(name))


def _variable(node: ast.Name) -> tuple[str, ...]:
    return () if isinstance(node.ctx, ast.Load) else (node.id,)


def _named(node: Any) -> tuple[str, ...]:
    return () if node.name is None else (node.name,)


def _argument(node: ast.arg) -> tuple[str]:
    return (node.arg,)


def _imported(node: ast.alias) -> tuple[str]:
    return (node.asname or node.name.partition(".")[0],)


def _rest(node: ast.MatchMapping) -> tuple[str, ...]:
    return () if node.rest is None else (node.rest,)


_BOUND_BY: dict[type, Callable[[Any], tuple[str, ...]]] = {
    ast.Name: _variable,
    ast.FunctionDef: _named,
    ast.AsyncFunctionDef: _named,
    ast.ClassDef: _named,
    ast.arg: _argument,
    ast.alias: _imported,
    ast.ExceptHandler: _named,
    ast.MatchAs: _named,
    ast.MatchStar: _named,
    ast.MatchMapping: _rest,
}
"""The nodes that bind names, and which."""

_GENERIC = {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, getattr(ast, "TypeAlias", None)}


def _class_names(tree: ast.Module) -> set[str]:
    """Return names that a class at the top both reads and binds.

    `limit = limit` in the body of a class reads the global of this name, never the variable of a function around it.
    """
    found: set[str] = set()
    for node in (node for node in _level(tree) if isinstance(node, ast.ClassDef)):
        names = [inner for inner in _level(node) if isinstance(inner, ast.Name)]
        stored = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
        found |= stored & {name.id for name in names if isinstance(name.ctx, ast.Load)}
    return found


def _level(node: ast.AST) -> Iterator[ast.AST]:
    """Give what stands inside a node, but not what stands inside functions."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _OPENS_SCOPE):
            yield from _level(child)
