"""Which names a script binds, and which of them must be globals; looked up before the text is changed. Pure."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_OPENS_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names of one script.

    `bound` are all that are given a value anywhere. `shared` have to be globals to mean what they mean in a module.
    `parameters` are those of generic functions, classes and type aliases (`def first[T](…)`).
    """

    bound: frozenset[str]
    shared: frozenset[str]
    parameters: frozenset[str]


def surveyed(tree: ast.Module) -> Names:
    """Return the names of a script."""
    nodes = list(ast.walk(tree))
    declared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    classes = any(isinstance(node, ast.ClassDef) for node in nodes)
    return Names(
        bound=frozenset(name for node in nodes for name in _bound_by(node)),
        shared=frozenset(declared | (_class_names(tree) if classes else set())),
        parameters=frozenset(name for node in nodes for name in _parameters(node)),
    )


def _bound_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case _:
            return


def _parameters(node: ast.AST) -> list[str]:
    return [parameter.name for parameter in getattr(node, "type_params", ())]


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
