"""Pieces of changed syntax: how a hook is called, and where errors in it are reported. Pure."""

import ast
from collections.abc import Iterable

from RestrictedPython.transformer import copy_locations

from panorama.sandbox import tables


def call(hook: str, place: ast.expr | ast.stmt, *arguments: ast.expr) -> ast.Call:
    """Return the call of a hook, with the place of what it stands for."""
    made = ast.Call(ast.Name(hook, ast.Load()), list(arguments), [])
    copy_locations(made, place)
    return made


def guarded(hook: str, node: ast.Attribute, *, holds: bool) -> ast.expr:
    """Return what stands before the dot, let through by a hook.

    Args:
        holds: Whether an expression may set a variable where it stands.
    """
    exposed = not tables.plain(node.attr) and not private(node.attr)  # read too, where the class does not matter
    if holds and isinstance(node.value, ast.Name) and not (exposed and hook == tables.AUGMENTED):
        return _if_own(node.value, _held(), call(hook, node.value, _held(), ast.Constant(node.attr)))
    return call(hook, node.value, node.value, ast.Constant(node.attr))


def read(node: ast.Attribute, *, holds: bool) -> ast.expr:
    """Return an attribute as its hook reads it; `holds` as in `guarded`."""
    owner, name, place = node.value, ast.Constant(node.attr), at_attribute(node)
    if holds and isinstance(owner, ast.Name) and private(node.attr):
        node.value = ast.copy_location(_held(), owner)
        return _if_own(owner, node, call(tables.READ, place, _held(), name))
    return call(tables.READ, place, owner, name)


def _if_own(owner: ast.Name, native: ast.expr, guarded: ast.expr) -> ast.expr:
    """Return `native if type(type(held := o)) is OWN else guarded`, for an object that is a name, as `self` is.

    Nothing is hidden in objects of such classes (`metas.ScriptMeta`), so that the guard could only agree. The name is
    read once: between two reads the clean-up of a generator may run, and give it another value.
    """
    kind = call(tables.TYPE, owner, ast.NamedExpr(ast.Name(tables.HELD, ast.Store()), owner))
    test = ast.Compare(call(tables.TYPE, owner, kind), [ast.Is()], [ast.Name(tables.OWN, ast.Load())])
    made = ast.IfExp(test, native, guarded)
    copy_locations(made, guarded)
    return made


def part(value: ast.expr, *, holds: bool) -> ast.expr:
    """Return `held if type(held := x) is int else PART(held)` for a part of a slice; `holds` as in `guarded`."""
    if not holds:
        return call(tables.PART, value, value)
    kind = call(tables.TYPE, value, ast.NamedExpr(ast.Name(tables.HELD, ast.Store()), value))
    test = ast.Compare(kind, [ast.Is()], [ast.Name(tables.WHOLE, ast.Load())])
    made = ast.IfExp(test, _held(), call(tables.PART, value, _held()))
    copy_locations(made, value)
    return made


def part_of(value: ast.expr, names: Iterable[str]) -> ast.expr:
    """Return `x if type(i) is int else PART(x)` for a part that is a number if these names are."""
    tests: list[ast.expr] = [
        ast.Compare(
            call(tables.TYPE, value, ast.Name(name, ast.Load())), [ast.Is()], [ast.Name(tables.WHOLE, ast.Load())]
        )
        for name in sorted(names)
    ]
    made = ast.IfExp(
        tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests), value, call(tables.PART, value, value)
    )
    copy_locations(made, value)
    return made


def of_numbers(value: ast.expr, known: frozenset[str], *, lengths: bool) -> frozenset[str] | None:
    """Return the names of which an expression is made, beside written-out values; None if there is more to it.

    Args:
        known: Names that may be there.
        lengths: Whether `len` is Python's, so that `len(...)` is a number.
    """
    match value:
        case ast.Constant() | ast.Call(func=ast.Name("len")) if lengths or isinstance(value, ast.Constant):
            return frozenset()
        case ast.Name(name) if name in known:
            return frozenset((name,))
        case ast.UnaryOp(operand=inner):
            return of_numbers(inner, known, lengths=lengths)
        case ast.BinOp(left=left, right=right):
            sides = [of_numbers(side, known, lengths=lengths) for side in (left, right)]
            return None if None in sides else frozenset[str]().union(*filter(None, sides))
        case _:
            return None


def variables(generators: Iterable[ast.comprehension]) -> frozenset[str]:
    """Return the names that comprehensions give a value, in `for` alone."""
    targets = (node for each in generators for node in ast.walk(each.target))
    return frozenset(node.id for node in targets if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _held() -> ast.Name:
    return ast.Name(tables.HELD, ast.Load())


def private(name: str) -> bool:
    """Return whether a name has one underscore, or two only in front."""
    return name.startswith("_") and not tables.dunder(name)


def at_attribute(node: ast.Attribute) -> ast.expr:
    """Return a place for errors of this attribute: in a chain over several lines, the line where its name stands."""
    if node.end_lineno == node.lineno or node.end_col_offset is None:
        return node
    place = ast.copy_location(ast.Name("_"), node)
    place.lineno, place.col_offset = node.end_lineno or node.lineno, node.end_col_offset - len(node.attr)
    return place


def field_kind(annotation: ast.expr) -> str:
    """Return the hook for `ClassVar`, `InitVar` or `KW_ONLY`, also with a module before and brackets behind it."""
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    word = str(text).partition("[")[0].rpartition(".")[2].strip()
    return tables.FIELD_KINDS.get(word, tables.FIELD)


def without_parameters(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Take `[T]` from a definition; return whether there was one."""
    had = bool(getattr(node, "type_params", ()))
    if had:
        node.type_params = []  # pyright: ignore[reportAttributeAccessIssue] (a field since 3.12)
    return had
