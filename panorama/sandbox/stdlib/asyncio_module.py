"""`asyncio` for scripts, whose `async` is erased: awaited values exist already."""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any, Self

from panorama.sandbox.stdlib.wrappers import sleep


class CancelledError(BaseException):
    """`asyncio.CancelledError`, never raised; importing asyncio would cost 3 MB."""


class Task:
    """A task that has already run."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def result(self) -> Any:
        """Return the value."""
        return self._value

    def done(self) -> bool:
        """Return True: it ran when it was created."""
        return True

    def cancel(self) -> bool:
        """Return False: there is nothing to cancel."""
        return False


def await_value(value: Any) -> Any:
    """Return the value of `await value`."""
    return value.result() if type(value) is Task else value


def gather(*values: Any, **_: object) -> list[Any]:
    """Return the values in order; each was computed, or raised, where it was written.

    So there is none that `return_exceptions` could return.
    """
    return [await_value(value) for value in values]


class Semaphore:
    """A semaphore that never blocks, since nothing runs at the same time; it counts."""

    __slots__ = ("_free",)

    def __init__(self, value: int = 1) -> None:
        if type(value) is not int or value < 0:
            raise ValueError("Semaphore initial value must be >= 0")
        self._free = value

    def __enter__(self) -> None:
        self._free -= 1

    def __exit__(self, *error: object) -> None:
        self.release()

    def acquire(self) -> bool:
        """Return True."""
        self._free -= 1
        return True

    def release(self) -> None:
        """Give back what was acquired."""
        self._free += 1

    def locked(self) -> bool:
        """Return whether all that there is was acquired."""
        return self._free <= 0


class BoundedSemaphore(Semaphore):
    """A semaphore that takes back no more than was acquired."""

    __slots__ = ("_limit",)

    def __init__(self, value: int = 1) -> None:
        super().__init__(value)
        self._limit = value

    def release(self) -> None:
        """Give back what was acquired."""
        if self._free >= self._limit:
            raise ValueError("BoundedSemaphore released too many times")
        super().release()


class Lock(Semaphore):
    """A lock: a semaphore that one may have."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()

    def release(self) -> None:
        """Give back what was acquired."""
        if self._free > 0:
            raise RuntimeError("Lock is not acquired.")
        super().release()


class TaskGroup:
    """A group of tasks, each of which ran when it was created."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def create_task(self, value: Any, **_: object) -> Task:
        """Return the task of a value."""
        return Task(await_value(value))


def _run(value: Any, **_: object) -> Any:
    return await_value(value)


def _create_task(value: Any, **_: object) -> Task:
    return Task(await_value(value))


def _wait_for(value: Any, *_: object, **__: object) -> Any:
    return await_value(value)


def _to_thread(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def _as_completed(values: Iterable[Any], **_: object) -> list[Any]:
    return [await_value(value) for value in values]


def _timeout(*_: object) -> contextlib.nullcontext[None]:
    return contextlib.nullcontext()


for _class in (CancelledError, Task, Semaphore, BoundedSemaphore, Lock, TaskGroup):
    _class.__module__ = "asyncio"  # shown instead of our own module

NAMES: dict[str, object] = {
    "run": _run, "gather": gather, "sleep": sleep, "create_task": _create_task, "ensure_future": _create_task,
    "wait_for": _wait_for, "to_thread": _to_thread, "as_completed": _as_completed, "timeout": _timeout,
    "Lock": Lock, "Semaphore": Semaphore, "BoundedSemaphore": BoundedSemaphore, "TaskGroup": TaskGroup, "Task": Task,
    "TimeoutError": TimeoutError, "CancelledError": CancelledError,
}  # fmt: skip
"""What `import asyncio` gives."""
