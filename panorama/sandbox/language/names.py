"""Collects the names that a script binds and those it needs as globals. Pure."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from panorama.sandbox.rules import allowlist

_FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTable:
    """Names of one script.

    `bound` are all that are given a value anywhere. `shared` have to be globals to mean what they mean in a module.
    `parameters` are those of generic functions, classes and type aliases (`def first[T](…)`). Neither holds a dunder.
    """

    bound: frozenset[str]
    shared: frozenset[str]
    parameters: frozenset[str]


def collect_names(tree: ast.Module) -> NameTable:
    """Return the names of a script."""
    bound, shared, parameters = set[str](), set[str](), set[str]()
    has_classes = False
    for node in ast.walk(tree):
        kind = type(node)
        if binds := _BINDERS.get(kind):
            bound.update(binds(node))
        if kind is ast.Global:
            shared.update(cast("ast.Global", node).names)
        elif kind in _GENERIC_NODES:
            parameters.update(parameter.name for parameter in getattr(node, "type_params", ()))
            has_classes = has_classes or kind is ast.ClassDef
    if has_classes:
        shared |= _find_class_names(tree)
    return NameTable(bound=frozenset(bound), shared=_drop_dunders(shared), parameters=_drop_dunders(parameters))


def _drop_dunders(names: set[str]) -> frozenset[str]:
    """Drop special names: the policy does not check annotations and type parameters."""
    return frozenset(name for name in names if not allowlist.is_dunder(name))


def _list_variable_names(node: ast.Name) -> tuple[str, ...]:
    return () if isinstance(node.ctx, ast.Load) else (node.id,)


def _list_definition_names(node: Any) -> tuple[str, ...]:
    return () if node.name is None else (node.name,)


def _list_argument_names(node: ast.arg) -> tuple[str]:
    return (node.arg,)


def _list_import_names(node: ast.alias) -> tuple[str]:
    return (node.asname or node.name.partition(".")[0],)


def _list_rest_names(node: ast.MatchMapping) -> tuple[str, ...]:
    return () if node.rest is None else (node.rest,)


_BINDERS: dict[type, Callable[[Any], tuple[str, ...]]] = {
    ast.Name: _list_variable_names,
    ast.FunctionDef: _list_definition_names,
    ast.AsyncFunctionDef: _list_definition_names,
    ast.ClassDef: _list_definition_names,
    ast.arg: _list_argument_names,
    ast.alias: _list_import_names,
    ast.ExceptHandler: _list_definition_names,
    ast.MatchAs: _list_definition_names,
    ast.MatchStar: _list_definition_names,
    ast.MatchMapping: _list_rest_names,
}
"""The nodes that bind names, and which."""

_GENERIC_NODES = {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, getattr(ast, "TypeAlias", None)}


def _find_class_names(tree: ast.Module) -> set[str]:
    """Return names that a class at the top both reads and binds.

    `limit = limit` in the body of a class reads the global of this name, never the variable of a function around it.
    """
    class_names: set[str] = set()
    for node in (node for node in _iter_level(tree) if isinstance(node, ast.ClassDef)):
        names = [inner for inner in _iter_level(node) if isinstance(inner, ast.Name)]
        stored = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
        class_names |= stored & {name.id for name in names if isinstance(name.ctx, ast.Load)}
    return class_names


def _iter_level(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes inside a node, but not those inside functions."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _FUNCTION_NODES):
            yield from _iter_level(child)
