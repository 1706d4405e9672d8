"""`print` for scripts: to the run's output or to an object of the script."""

import io
from collections.abc import Callable
from typing import Any

from panorama.sandbox.rules.class_marks import is_script_class, is_script_object
from panorama.sandbox.rules.type_views import SimpleNamespace


class _StdoutRedirect:
    """What prints into something else while it is entered."""

    __slots__ = ("_target", "_targets")

    def __init__(self, targets: list[Any], target: Any) -> None:
        self._targets = targets
        self._target = target

    def __enter__(self) -> Any:
        self._targets.append(self._target)
        return self._target

    def __exit__(self, *_: object) -> None:
        self._targets.pop()


class Print:
    """`print`, by what prints to the run's output; it looks as Python's does."""

    __slots__ = ("_targets", "_write")
    __name__ = "print"

    def __init__(self, output: Callable[..., None]) -> None:
        self._write = output
        self._targets: list[Any] = []

    def __call__(self, *values: object, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False) -> None:
        separator, ending = _check_text("sep", sep, " "), _check_text("end", end, "\n")
        if file is None and self._targets:
            file = self._targets[-1]
        if file is not None:
            _print_into(file, values, separator, ending, flush=bool(flush))
        elif (separator, ending) == (" ", "\n"):
            self._write(*values)
        else:
            self._write(*values, sep=separator, end=ending)

    def __repr__(self) -> str:
        return "<built-in function print>"


Print.__name__ = Print.__qualname__ = "builtin_function_or_method"
Print.__call__.__qualname__ = "print"  # what errors of calls name


def redirect_stdout(output: Print) -> Callable[[Any], _StdoutRedirect]:
    """Return `contextlib.redirect_stdout`, for one run."""

    def redirect_stdout(new_target: Any, /) -> _StdoutRedirect:
        _check_file(new_target)
        return _StdoutRedirect(vars(Print)["_targets"].__get__(output), new_target)

    redirect_stdout.__qualname__ = redirect_stdout.__name__
    return redirect_stdout


def _check_text(name: str, text: Any, default: str) -> str:
    if text is not None and type(text) is not str:
        raise TypeError(f"{name} must be None or a text, not {type(text).__name__}")
    return default if text is None else text


def _check_file(file: Any) -> None:
    """Refuse targets that are neither an io.StringIO nor an object of the script."""
    if not (
        type(file) is io.StringIO or type(file) is SimpleNamespace or is_script_object(file) or is_script_class(file)
    ):
        raise TypeError(
            f"print() writes to an io.StringIO or to an object of your own with a method `write`, not to a "
            f"'{type(file).__name__}'"
        )


def _print_into(file: Any, values: tuple[object, ...], sep: str, end: str, *, flush: bool) -> None:
    """Print as Python does, in pieces."""
    _check_file(file)
    write = file.write
    for at, value in enumerate(values):
        if at:
            write(sep)
        write(str(value))
    write(end)
    if flush:
        file.flush()
