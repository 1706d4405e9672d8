"""`contextlib.ExitStack` for scripts.

What it enters and leaves is asked what a `with` statement asks: the two methods of its class, each read once. An error
is handed on without its traceback, as `own` does.
"""

from collections.abc import Callable
from typing import Any, Self

from panorama.sandbox.kinds import kind_of
from panorama.sandbox.metas import class_of

Leave = Callable[[BaseException | None], Any]
"""Leaves one context, with the error that is on its way, and returns whether that ends here."""


class ExitStack:
    """`contextlib.ExitStack`, and its asynchronous twin, whose `async` was erased."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left: list[Leave] = []

    def enter_context(self, manager: Any, /) -> Any:
        """Enter a context, to be left when this one is, and return what it gives."""
        kind = class_of(manager)
        enter, leave = (getattr(kind, name, None) for name in ("__enter__", "__exit__"))
        if enter is None or leave is None:
            raise TypeError(f"'{kind.__name__}' object does not support the context manager protocol")
        value = enter(manager)
        self._left.append(_leaving(leave, manager))
        return value

    def push(self, leave: Any, /) -> Any:
        """Call a function, or `__exit__` of a context that was entered already, when this one is left."""
        method = getattr(class_of(leave), "__exit__", None)
        self._left.append(_leaving(leave) if method is None else _leaving(method, leave))
        return leave

    def callback(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Call a function when this context is left."""

        def called(_: object) -> bool:
            function(*args, **kwargs)
            return False

        self._left.append(called)
        return function

    def pop_all(self) -> "ExitStack":
        """Return another that has to leave what this one had."""
        made = ExitStack()
        made._left, self._left = self._left, made._left
        return made

    def close(self) -> None:
        """Leave all contexts now."""
        self.__exit__(None, None, None)

    enter_async_context, push_async_exit, push_async_callback, aclose = enter_context, push, callback, close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> bool:
        on_its_way = error
        try:
            while self._left:
                on_its_way = _after(self._left.pop(), on_its_way)
            if on_its_way is not error and on_its_way is not None:
                raise on_its_way
            return error is not None and on_its_way is None
        finally:
            on_its_way = None  # it holds this frame


ExitStack.__module__ = "contextlib"  # what a script prints of it names no place of ours


def _leaving(method: Callable[..., Any], *manager: Any) -> Leave:
    def leave(error: BaseException | None) -> Any:
        return method(*manager, None if error is None else kind_of(error), error, None)

    return leave


def _after(leave: Leave, error: BaseException | None) -> BaseException | None:
    """Return the error that is on its way once a context was left."""
    try:
        return None if leave(error) else error
    except BaseException as raised:
        return raised
