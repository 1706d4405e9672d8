"""`contextlib.ExitStack` for scripts.

It uses the two methods of a context's class, as a `with` statement does, and passes errors without their traceback.
"""

from collections.abc import Callable
from typing import Any, Self

from panorama.sandbox.rules.class_marks import get_class
from panorama.sandbox.rules.type_views import get_visible_class

ExitCallback = Callable[[BaseException | None], Any]
"""Leaves one context with the pending error, and returns whether the error ends here."""


class ExitStack:
    """`contextlib.ExitStack`, and its asynchronous twin, whose `async` was erased."""

    __slots__ = ("_callbacks",)

    def __init__(self) -> None:
        self._callbacks: list[ExitCallback] = []

    def enter_context(self, manager: Any, /) -> Any:
        """Enter a context, leave it together with this one, and return its value."""
        kind = get_class(manager)
        enter, exit_method = (getattr(kind, name, None) for name in ("__enter__", "__exit__"))
        if enter is None or exit_method is None:
            raise TypeError(f"'{kind.__name__}' object does not support the context manager protocol")
        value = enter(manager)
        self._callbacks.append(_make_exit_callback(exit_method, manager))
        return value

    def push(self, exit_method: Any, /) -> Any:
        """Call a function, or `__exit__` of an entered context, when this one is left."""
        method = getattr(get_class(exit_method), "__exit__", None)
        self._callbacks.append(
            _make_exit_callback(exit_method) if method is None else _make_exit_callback(method, exit_method)
        )
        return exit_method

    def callback(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Call a function when this context is left."""

        def call_function(_: object) -> bool:
            function(*args, **kwargs)
            return False

        self._callbacks.append(call_function)
        return function

    def pop_all(self) -> "ExitStack":
        """Move all callbacks to a new stack and return it."""
        stack = ExitStack()
        stack._callbacks, self._callbacks = self._callbacks, stack._callbacks
        return stack

    def close(self) -> None:
        """Leave all contexts now."""
        self.__exit__(None, None, None)

    enter_async_context, push_async_exit, push_async_callback, aclose = enter_context, push, callback, close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> bool:
        pending = error
        try:
            while self._callbacks:
                pending = _run_exit_callback(self._callbacks.pop(), pending)
            if pending is not error and pending is not None:
                raise pending
            return error is not None and pending is None
        finally:
            pending = None  # it holds this frame


ExitStack.__module__ = "contextlib"  # shown instead of our own module


def _make_exit_callback(method: Callable[..., Any], *manager: Any) -> ExitCallback:
    def exit_context(error: BaseException | None) -> Any:
        return method(*manager, None if error is None else get_visible_class(error), error, None)

    return exit_context


def _run_exit_callback(exit_method: ExitCallback, error: BaseException | None) -> BaseException | None:
    """Return the error that is pending after a context was left."""
    try:
        return None if exit_method(error) else error
    except BaseException as raised:  # the caller raises it after the remaining callbacks
        return raised
