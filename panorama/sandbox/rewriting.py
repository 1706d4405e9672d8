"""Pieces of changed syntax: how a hook is called, and where errors in it are reported. Pure."""

import ast

from RestrictedPython.transformer import copy_locations

from panorama.sandbox import tables


def call(hook: str, place: ast.expr | ast.stmt, *arguments: ast.expr) -> ast.Call:
    """Return the call of a hook, with the place of what it stands for."""
    made = ast.Call(ast.Name(hook, ast.Load()), list(arguments), [])
    copy_locations(made, place)
    return made


def guarded(hook: str, node: ast.Attribute) -> ast.expr:
    """Return what stands before the dot, let through by a hook."""
    asked = call(hook, node.value, node.value, ast.Constant(node.attr))
    exposed = not tables.plain(node.attr) and not private(node.attr)  # read too, where the class does not matter
    return asked if exposed and hook == tables.AUGMENTED else if_own(node, node.value, asked)


def if_own(node: ast.Attribute, native: ast.expr, guarded: ast.expr) -> ast.expr:
    """Return `native if type(type(o)) is OWN else guarded`, for an object that is a name, as `self` is.

    Nothing is hidden in objects of such classes (`metas.ScriptMeta`), so that the guard could only agree.
    """
    if not isinstance(node.value, ast.Name):
        return guarded
    inner = call(tables.TYPE, node, node.value)
    test = ast.Compare(call(tables.TYPE, node, inner), [ast.Is()], [ast.Name(tables.OWN, ast.Load())])
    made = ast.IfExp(test, native, guarded)
    copy_locations(made, guarded)
    return made


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
