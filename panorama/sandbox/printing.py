"""`print` for scripts: to the run's output, or into what the script made itself."""

import io
from collections.abc import Callable
from typing import Any

from panorama.sandbox.kinds import SimpleNamespace
from panorama.sandbox.metas import is_script_class, script_object


class _Redirected:
    """What prints into something else while it is entered."""

    __slots__ = ("_all", "_target")

    def __init__(self, every: list[Any], target: Any) -> None:
        self._all = every
        self._target = target

    def __enter__(self) -> Any:
        self._all.append(self._target)
        return self._target

    def __exit__(self, *_: object) -> None:
        self._all.pop()


class Print:
    """`print`, by what prints to the run's output; it looks as Python's does."""

    __slots__ = ("_printed", "_redirected")
    __name__ = "print"

    def __init__(self, printed: Callable[..., None]) -> None:
        self._printed = printed
        self._redirected: list[Any] = []

    def __call__(self, *values: object, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False) -> None:
        between, last = _text("sep", sep, " "), _text("end", end, "\n")
        if file is None and self._redirected:
            file = self._redirected[-1]
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


def redirect_stdout(printed: Print) -> Callable[[Any], _Redirected]:
    """Return `contextlib.redirect_stdout`, for one run."""

    def redirect_stdout(new_target: Any, /) -> _Redirected:
        _check_file(new_target)
        return _Redirected(vars(Print)["_redirected"].__get__(printed), new_target)

    redirect_stdout.__qualname__ = redirect_stdout.__name__
    return redirect_stdout


def _text(name: str, given: Any, default: str) -> str:
    if given is not None and type(given) is not str:
        raise TypeError(f"{name} must be None or a text, not {type(given).__name__}")
    return default if given is None else given


def _check_file(file: Any) -> None:
    """Refuse what a script could not call `write` of anyway, and what it would not mean."""
    if not (type(file) is io.StringIO or type(file) is SimpleNamespace or script_object(file) or is_script_class(file)):
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
