"""The public functions of the language layer: compile a script, build its names."""

import ast
import warnings
from collections.abc import Callable, Collection, Mapping
from operator import is_
from types import CodeType
from typing import Any

from panorama.domain.scripts.scripts import SOURCE_CHARS
from panorama.sandbox.language.hooks import HOOKS
from panorama.sandbox.language.names import NameTable, collect_names
from panorama.sandbox.language.policy import Policy
from panorama.sandbox.rules import allowlist
from panorama.sandbox.rules.facades import Facade
from panorama.sandbox.rules.hints import BUILTIN_HINTS
from panorama.sandbox.rules.printing import Print
from panorama.sandbox.rules.violations import FILENAME, PolicyError, make_policy_error
from panorama.sandbox.stdlib.builtin_names import build_builtins, make_importer
from panorama.sandbox.stdlib.modules import MODULES, SDK_MODULES, build_facades

__all__ = [
    "ENTRY",
    "FILENAME",
    "PolicyError",
    "add_inputs",
    "build_modules",
    "build_namespace",
    "compile_script",
    "find_violations",
]

ENTRY: str = allowlist.ENTRY
"""The function that the code defines; it runs the script and returns its result."""

_PREFIX = f"{ENTRY}.<locals>."

_FIRST_POSITION: Any = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
"""The position of generated statements."""

_TOO_DEEP = "the script is nested too deeply; put parts of it into functions or variables"


def compile_script(source: str, input_names: Collection[str] = ()) -> CodeType:
    """Return the code of a script: execute it in a namespace, then call `ENTRY`.

    Lines and columns are the text's own. A `return` at the top level ends the script; without one the value of its
    last expression is the result.

    Args:
        input_names: Names of the inputs, which the script may give a new value.

    Raises:
        PolicyError: The script breaks the policy; `hint` says what to write instead.
        SyntaxError: The text is not Python, is longer than `SOURCE_CHARS`, or is nested too deeply.
    """
    if len(source) > SOURCE_CHARS:
        raise SyntaxError(f"the script has {len(source):,} characters; at most {SOURCE_CHARS:,} can be run")
    try:
        return _rename_code(_compile(source, frozenset(input_names)))
    except (RecursionError, MemoryError):
        raise SyntaxError(_TOO_DEEP) from None
    except ValueError as error:  # null bytes before 3.12, lone surrogates
        raise SyntaxError(f"the text cannot be read: {error}") from None


def _compile(source: str, input_names: frozenset[str]) -> CodeType:
    tree = ast.parse(source, FILENAME)
    names = collect_names(tree)
    policy = Policy(names.bound | input_names, MODULES | SDK_MODULES)
    tree = policy.visit(tree)
    if policy.refusals:
        raise make_policy_error(policy.refusals, source)
    return compile(_wrap_in_function(tree, names, input_names), FILENAME, "exec", dont_inherit=True, optimize=0)


def _wrap_in_function(tree: ast.Module, names: NameTable, input_names: frozenset[str]) -> ast.Module:
    """Make the module's body the body of a function, so that it may return.

    Its variables are that function's, as fast as variables get. Those that a module would share stay globals: names
    that a function declares `global`, and inputs and built-ins that the script gives a new value.
    """
    shared = names.shared | (
        names.bound & (input_names | allowlist.BUILTINS | allowlist.REPLACED_BUILTINS | {"sdk", *BUILTIN_HINTS})
    )
    head: list[ast.stmt] = [ast.Global(sorted(shared), **_FIRST_POSITION)] if shared else []
    head += [_assign_anything(name) for name in sorted(names.parameters)]
    _return_last(tree.body)
    body = head + tree.body or [ast.Pass(**_FIRST_POSITION)]
    tree.body = [ast.FunctionDef(ENTRY, _make_empty_arguments(), body, [], **_FIRST_POSITION)]
    return tree


def _return_last(body: list[ast.stmt]) -> None:
    """Return the last expression, also that of `if __name__ == "__main__":`."""
    match body[-1:]:
        case [ast.Expr(value=value) as last]:
            body[-1] = ast.copy_location(ast.Return(value), last)
        case [ast.If(test=ast.Compare(left=ast.Constant("__main__")), body=inner, orelse=[])]:
            _return_last(inner)
        case _:
            pass


def _assign_anything(name: str) -> ast.stmt:
    anything = ast.Name(allowlist.ANYTHING, ast.Load(), **_FIRST_POSITION)
    return ast.Assign([ast.Name(name, ast.Store(), **_FIRST_POSITION)], anything, **_FIRST_POSITION)


def _make_empty_arguments() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[])


def _rename_code(code: CodeType) -> CodeType:
    """Return code with module-level names: `main`, not `<module>.<locals>.main`."""
    name = code.co_qualname.removeprefix(_PREFIX)
    constants = tuple(_rename_code(part) if isinstance(part, CodeType) else part for part in code.co_consts)
    if name != code.co_qualname:  # the body of a class holds its name as a constant too
        constants = tuple(name if part == code.co_qualname else part for part in constants)
    elif all(map(is_, constants, code.co_consts)):
        return code
    return code.replace(co_consts=constants, co_qualname=name)


def find_violations(source: str, input_names: Collection[str] = ()) -> list[str]:
    """Return all violations of a script with their lines; nothing is executed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, FILENAME)
            policy = Policy(collect_names(tree).bound | frozenset(input_names), MODULES | SDK_MODULES)
            policy.visit(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [str(error) or _TOO_DEEP]
    violations = sorted(policy.refusals, key=lambda refusal: (refusal.line, refusal.column))
    return [
        f"line {violation.line}: {violation.message}" + (f" ({violation.hint})" if violation.hint else "")
        for violation in violations
    ]


def build_modules(sdk: object | None = None) -> Mapping[str, Facade]:
    """Build all modules that scripts can import. Takes tens of milliseconds.

    Args:
        sdk: What `import sdk`, `from panorama import sdk` and `import panorama.sdk` give; `namespace` adds its own.
    """
    return build_facades(sdk)


def build_namespace(modules: Mapping[str, Facade], *, output: Callable[..., None], sdk: object) -> dict[str, object]:
    """Return the globals for one run of a compiled script that is given nothing."""
    printing = Print(output)
    names = build_builtins(printing)
    names["__import__"] = make_importer(modules, sdk, printing)
    return {"__builtins__": names, "__name__": allowlist.MODULE, **HOOKS, allowlist.INPUT_NAMES: (), "sdk": sdk}


def add_inputs(names: dict[str, object], inputs: Mapping[str, object]) -> None:
    """Add the inputs of a script to its globals.

    Raises:
        ValueError: The name of an input is not a valid name in scripts.
    """
    for name in inputs:
        if not name.isidentifier() or name.startswith("__") or name == "sdk":
            raise ValueError(f"{name!r} cannot be the name of an input")
    names[allowlist.INPUT_NAMES] = (*inputs,)
    names.update(inputs)
