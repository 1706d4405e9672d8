"""Builds calls of hooks, and the positions of errors in them. Pure."""

import ast

from RestrictedPython.transformer import copy_locations

from panorama.sandbox.rules import allowlist


def build_call(hook: str, place: ast.expr | ast.stmt, *arguments: ast.expr) -> ast.Call:
    """Return the call of a hook at the position of the code that it replaces."""
    call = ast.Call(ast.Name(hook, ast.Load()), list(arguments), [])
    copy_locations(call, place)
    return call


def guard_owner(hook: str, node: ast.Attribute) -> ast.expr:
    """Return the expression before the dot, passed through a hook."""
    guarded = build_call(hook, node.value, node.value, ast.Constant(node.attr))
    is_always_guarded = hook == allowlist.AUGMENT and not is_private(node.attr)
    if isinstance(node.value, ast.Name) and not is_always_guarded:
        return _branch_on_script_class(node.value, node.value, guarded)
    return guarded


def build_read(node: ast.Attribute) -> ast.expr:
    """Return an attribute as its hook reads it."""
    owner = node.value
    guarded = build_call(allowlist.READ, locate_attribute(node), owner, ast.Constant(node.attr))
    if isinstance(owner, ast.Name) and is_private(node.attr):
        return _branch_on_script_class(owner, node, guarded)
    return guarded


def _branch_on_script_class(owner: ast.Name, native: ast.expr, guarded: ast.expr) -> ast.expr:
    """Return `native if type(type(owner)) is SCRIPT_META else guarded`.

    Objects of such classes hide nothing, so the guard would always agree (see `class_marks.ScriptMeta`).
    """
    kind = build_call(allowlist.TYPE, owner, build_call(allowlist.TYPE, owner, owner))
    test = ast.Compare(kind, [ast.Is()], [ast.Name(allowlist.SCRIPT_META, ast.Load())])
    branch = ast.IfExp(test, native, guarded)
    copy_locations(branch, guarded)
    return branch


def is_private(name: str) -> bool:
    """Return whether a name has one underscore, or two only in front."""
    return name.startswith("_") and not allowlist.is_dunder(name)


def locate_attribute(node: ast.Attribute) -> ast.expr:
    """Return the position of an attribute's name, for errors in multi-line chains."""
    if node.end_lineno == node.lineno or node.end_col_offset is None:
        return node
    place = ast.copy_location(ast.Name("_"), node)
    place.lineno, place.col_offset = node.end_lineno or node.lineno, node.end_col_offset - len(node.attr)
    return place


def find_field_hook(annotation: ast.expr) -> str:
    """Return the hook for an annotation: `ClassVar`, `InitVar`, `KW_ONLY` or a field."""
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    word = str(text).partition("[")[0].rpartition(".")[2].strip()
    return allowlist.FIELD_KINDS.get(word, allowlist.FIELD)


def drop_type_parameters(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Take `[T]` from a definition; return whether there was one."""
    has_parameters = bool(getattr(node, "type_params", ()))
    if has_parameters:
        node.type_params = []  # pyright: ignore[reportAttributeAccessIssue] (a field since 3.12)
    return has_parameters
