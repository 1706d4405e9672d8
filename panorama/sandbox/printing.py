"""`print` for scripts: to the run's output, or into what the script made itself."""

import io
from collections.abc import Callable
from typing import Any

from panorama.sandbox.kinds import SimpleNamespace
from panorama.sandbox.metas import is_script_class, script_object


class Print:
    """`print`, by what prints to the run's output; told apart from no built-in function by its looks."""

    __slots__ = ("_printed",)
    __name__ = "print"

    def __init__(self, printed: Callable[..., None]) -> None:
        self._printed = printed

    def __call__(self, *values: object, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False) -> None:
        between, last = _text("sep", sep, " "), _text("end", end, "\n")
        if file is not None:
            _print_into(file, values, between, last, flush=bool(flush))
        elif (between, last) == (" ", "\n"):
            self._printed(*values)
        else:
            self._printed(*values, sep=between, end=last)

    def __repr__(self) -> str:
        return "<built-in function print>"


Print.__name__ = Print.__qualname__ = "builtin_function_or_method"
Print.__call__.__qualname__ = "print"  # what errors of calls name


def _text(name: str, given: Any, default: str) -> str:
    if given is not None and type(given) is not str:
        raise TypeError(f"{name} must be None or a text, not {type(given).__name__}")
    return default if given is None else given


def _print_into(file: Any, values: tuple[object, ...], sep: str, end: str, *, flush: bool) -> None:
    """Print as Python does, in pieces; what may be written to is what a script can call `write` of anyway."""
    if not (type(file) is io.StringIO or type(file) is SimpleNamespace or script_object(file) or is_script_class(file)):
        raise TypeError(
            f"print() writes to an io.StringIO or to an object of your own with a method `write`, not to a "
            f"'{type(file).__name__}'"
        )
    write = file.write
    for at, value in enumerate(values):
        if at:
            write(sep)
        write(str(value))
    write(end)
    if flush:
        file.flush()
