"""Pieces of changed syntax: how a hook is called, and where errors in it are reported. Pure."""

import ast

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
