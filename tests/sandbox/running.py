"""Scripts in the tests: run by the language layer alone, or by plain Python; and what must never be reached."""

import builtins
import ctypes
import functools
import gc
import importlib
import io
import marshal
import os
import subprocess
import sys
import textwrap
import time
import types
from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

import pytest

from panorama.sandbox.language import restricted
from panorama.sandbox.rules.class_marks import ScriptMeta
from panorama.sandbox.rules.facades import Facade
from panorama.sandbox.stdlib import sdk_module

CANARY = "canary-4b1d"
"""Stands in the globals of this module and of plain scripts; a text that holds it came out of globals."""

SDK = sdk_module.build_sdk({})


@functools.cache
def modules() -> Mapping[str, Facade]:
    return restricted.build_modules(SDK)


def run_restricted(source: str, *, printed: Any = None, sdk: object = SDK, **inputs: object) -> Any:
    """Run a script in the language layer and return its result."""
    names = restricted.build_namespace(modules(), output=printed or (lambda *_, **__: None), sdk=sdk)
    restricted.add_inputs(names, inputs)
    exec(restricted.compile_script(source, inputs), names)
    return names[restricted.ENTRY]()  # type: ignore[operator] (a name of no known type)


def ran_plainly(source: str, **inputs: object) -> Any:
    """Run a script in plain Python, as the body of a function, and return what it returns."""
    body = "\n".join(f"    {line}" for line in source.strip().splitlines())
    names: dict[str, Any] = {"__name__": "__main__", "CANARY": CANARY, **inputs}
    exec(compile(f"def script():\n{body}\n", "<plain>", "exec", dont_inherit=True), names)
    return names["script"]()


_REFUSED_BUILTINS = (
    "open", "eval", "exec", "compile", "__import__", "globals", "locals", "vars", "dir", "input", "breakpoint",
    "getattr", "setattr", "delattr", "type", "memoryview", "help", "exit",
)  # fmt: skip

_CLOSED_MODULES = (os, sys, subprocess, ctypes, gc, marshal, importlib)

_INSIDE = (types.ModuleType, types.FrameType, types.TracebackType, types.CodeType, io.IOBase)

_RAW = ("format", "format_map")

_UNCHECKED = (
    "__new__", "__reduce__", "__reduce_ex__", "__getattribute__", "__setattr__", "__delattr__", "__subclasses__",
    "__init_subclass__", "__getstate__", "__dir__", "__sizeof__", "__get__", "__set__", "__prepare__",
)  # fmt: skip
"""Python's own ways to make, read and change objects; a script gets them as versions of ours, if at all."""

_NATIVE = (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType)

_MARKS = (CANARY, "<module '", "<frame at", "<code object", "<built-in function open>", "__builtins__")


def _functions() -> dict[int, str]:
    found = {id(getattr(builtins, name)): name for name in _REFUSED_BUILTINS if hasattr(builtins, name)}
    for module in _CLOSED_MODULES:
        for name, value in vars(module).items():
            if isinstance(value, types.FunctionType | types.BuiltinFunctionType) and value is not time.monotonic:
                found.setdefault(id(value), f"{module.__name__}.{name}")
    kinds = (*_INSIDE[:-1], types.FunctionType, types.GeneratorType, ScriptMeta, Enum, Facade, object.__subclasses__)
    return found | {id(kind): repr(kind) for kind in kinds}


_DANGEROUS = _functions()


def dangerous(value: Any, depth: int = 3) -> str:
    """Return what is dangerous about a value, "" if nothing is."""
    if isinstance(value, str):
        return next((mark for mark in _MARKS if mark in value), "")
    if isinstance(value, _INSIDE) and not isinstance(value, io.StringIO | io.BytesIO):
        return type(value).__name__
    if id(value) in _DANGEROUS:
        return _DANGEROUS[id(value)]
    if isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, str) and value.__name__ in _RAW:
        return "raw str.format"
    if isinstance(value, _NATIVE) and value.__name__ in _UNCHECKED:
        return f"raw {value.__name__}"
    if isinstance(value, dict) and ("__builtins__" in value or "__import__" in value):
        return "globals"
    if isinstance(value, dict | list | tuple | set) and depth and len(value) < 50_000:
        parts = [*value, *value.values()] if isinstance(value, dict) else list(value)
        return next(filter(None, (dangerous(part, depth - 1) for part in parts)), "")
    return ""


class Attack(NamedTuple):
    """One idea: `code` returns what it got hold of. `known` tells that the same code gets it in plain Python."""

    name: str
    code: str
    known: bool = True


def loot(code: str) -> str:
    """Return what is dangerous about the result of an attack, "" if it was refused or got nothing."""
    try:
        return dangerous(run_restricted(textwrap.dedent(code)))
    except Exception:
        return ""


def table(*attacks: Attack) -> Any:
    """Return a test's parameters, one attack each, under its name."""
    return pytest.mark.parametrize("attack", [pytest.param(attack, id=attack.name) for attack in attacks])
