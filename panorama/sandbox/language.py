"""The face of the language layer: a script's text becomes code, and the names that this code may use."""

import ast
import warnings
from collections.abc import Callable, Collection, Mapping
from operator import is_
from types import CodeType
from typing import Any

from panorama.domain.scripts import SOURCE_CHARS
from panorama.sandbox import tables
from panorama.sandbox.builtin_names import builtins, importer
from panorama.sandbox.facades import Facade
from panorama.sandbox.hints import WAY_OUT
from panorama.sandbox.hooks import HOOKS
from panorama.sandbox.modules import MODULES, SDK_MODULES, built
from panorama.sandbox.policy import Policy
from panorama.sandbox.printing import Print
from panorama.sandbox.refusals import FILENAME, RefusedSyntax, refused
from panorama.sandbox.survey import Names, surveyed

__all__ = ["ENTRY", "FILENAME", "RefusedSyntax", "compiled", "findings", "give", "modules", "namespace"]

ENTRY: str = tables.ENTRY
"""The function that the code defines; calling it runs the script and returns its result."""

_PREFIX = f"{ENTRY}.<locals>."

_FIRST: Any = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
"""Where the statements stand that no script wrote."""

_TOO_DEEP = "the script is nested too deeply; put parts of it into functions or variables"


def compiled(source: str, given: Collection[str] = ()) -> CodeType:
    """Return the code of a script: run it in a `namespace`, then call what it has put under `ENTRY`.

    Lines and columns are the text's own. A `return` at the top level ends the script; without one the value of its
    last expression is the result.

    Args:
        given: Names of the inputs, which the script may give a new value.

    Raises:
        RefusedSyntax: The text holds what scripts may not say; `hint` says what to write instead.
        SyntaxError: The text is no Python, is longer than `SOURCE_CHARS`, or is nested too deeply.
    """
    if len(source) > SOURCE_CHARS:
        raise SyntaxError(f"the script has {len(source):,} characters; at most {SOURCE_CHARS:,} can be run")
    try:
        return _named(_compiled(source, frozenset(given)))
    except (RecursionError, MemoryError):
        raise SyntaxError(_TOO_DEEP) from None
    except ValueError as error:  # null bytes before 3.12, lone surrogates
        raise SyntaxError(f"the text cannot be read: {error}") from None


def _compiled(source: str, given: frozenset[str]) -> CodeType:
    tree = ast.parse(source, FILENAME)
    names = surveyed(tree)
    policy = Policy(names.bound | given, MODULES | SDK_MODULES)
    tree = policy.visit(tree)
    if policy.refusals:
        raise refused(policy.refusals, source)
    return compile(_wrapped(tree, names, given), FILENAME, "exec", dont_inherit=True, optimize=0)


def _wrapped(tree: ast.Module, names: Names, given: frozenset[str]) -> ast.Module:
    """Make the module's body the body of a function, so that it may return.

    Its variables are that function's, as fast as variables get. Those that a module would share stay globals: names
    that a function declares `global`, and inputs and built-ins that the script gives a new value.
    """
    shared = names.shared | (names.bound & (given | tables.BUILTINS | tables.MEDIATED | {"sdk", *WAY_OUT}))
    head: list[ast.stmt] = [ast.Global(sorted(shared), **_FIRST)] if shared else []
    head += [_anything(name) for name in sorted(names.parameters)]
    _return_last(tree.body)
    body = head + tree.body or [ast.Pass(**_FIRST)]
    tree.body = [ast.FunctionDef(ENTRY, _no_arguments(), body, [], **_FIRST)]
    return tree


def _return_last(body: list[ast.stmt]) -> None:
    """Make the last expression the result, also at the end of `if __name__ == "__main__":`."""
    match body[-1:]:
        case [ast.Expr(value=value) as last]:
            body[-1] = ast.copy_location(ast.Return(value), last)
        case [ast.If(test=ast.Compare(left=ast.Constant("__main__")), body=inner, orelse=[])]:
            _return_last(inner)
        case _:
            pass


def _anything(name: str) -> ast.stmt:
    anything = ast.Name(tables.ANYTHING, ast.Load(), **_FIRST)
    return ast.Assign([ast.Name(name, ast.Store(), **_FIRST)], anything, **_FIRST)


def _no_arguments() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[])


def _named(code: CodeType) -> CodeType:
    """Return code whose functions are called as in a module: `main`, not `<module>.<locals>.main`."""
    name = code.co_qualname.removeprefix(_PREFIX)
    constants = tuple(_named(part) if isinstance(part, CodeType) else part for part in code.co_consts)
    if name != code.co_qualname:  # the body of a class holds its name as a constant too
        constants = tuple(name if part == code.co_qualname else part for part in constants)
    elif all(map(is_, constants, code.co_consts)):
        return code
    return code.replace(co_consts=constants, co_qualname=name)


def findings(source: str, given: Collection[str] = ()) -> list[str]:
    """Return all that scripts may not say in a text, in its order, each with its line; nothing is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, FILENAME)
            policy = Policy(surveyed(tree).bound | frozenset(given), MODULES | SDK_MODULES)
            policy.visit(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [str(error) or _TOO_DEEP]
    found = sorted(policy.refusals, key=lambda refusal: (refusal.line, refusal.column))
    return [f"line {each.line}: {each.message}" + (f" ({each.hint})" if each.hint else "") for each in found]


def modules(sdk: object | None = None) -> Mapping[str, Facade]:
    """Build all modules that scripts may import. Slow (tens of milliseconds): once, in the template.

    Args:
        sdk: What `import sdk`, `from panorama import sdk` and `import panorama.sdk` give; `namespace` adds its own.
    """
    return built(sdk)


def namespace(modules: Mapping[str, Facade], *, printed: Callable[..., None], sdk: object) -> dict[str, object]:
    """Return the globals for one run of a compiled script that is given nothing."""
    printing = Print(printed)
    names = builtins(printing)
    names["__import__"] = importer(modules, sdk, printing)
    return {"__builtins__": names, "__name__": tables.MODULE, **HOOKS, tables.GIVEN: (), "sdk": sdk}


def give(names: dict[str, object], inputs: Mapping[str, object]) -> None:
    """Add the inputs of a script to its globals.

    Raises:
        ValueError: An input's name is no name that a script could use.
    """
    for name in inputs:
        if not name.isidentifier() or name.startswith("__") or name == "sdk":
            raise ValueError(f"{name!r} cannot be the name of an input")
    names[tables.GIVEN] = (*inputs,)
    names.update(inputs)
