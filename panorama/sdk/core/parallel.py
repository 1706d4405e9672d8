"""Runs functions concurrently, and reports the progress of a script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from panorama.sdk.core import wire
from panorama.sdk.core.signatures import explain_misuse

T = TypeVar("T")
R = TypeVar("R")
AT_MOST = 8


@explain_misuse
def parallel(*functions: Callable[[], Any] | Sequence[Callable[[], Any]], at_most: int = AT_MOST) -> list[Any]:
    """Run functions, results in order; calls of sources run concurrently, others one at a time.

    Use it for sources, which take long to answer. For items fewer calls save more: sdk.batch, sdk.query, the filters of
    lists. In your own Python, after connect(), functions run in threads.

    Args:
        functions: Functions without arguments, such as lambda: sdk.tasks.list(view="today"); or one list of them.
        at_most: How many run at a time, 1 or more; in a script at most 8.

    Returns:
        What each function returned, in their order.

    Raises:
        SdkError: The first error in order, raised when all functions have ended.
        TypeError: One of them is not a function.
        ValueError: `at_most` is below 1.

    Example:
        late, review = sdk.parallel(lambda: sdk.tasks.list(view="overdue"), lambda: sdk.overview.week())
        print(len(late), review.completed.count)
    """
    first = functions[0] if len(functions) == 1 else None
    calls: list[Any] = [*first] if isinstance(first, Sequence) else [*functions]
    for function in calls:
        if not callable(function):
            raise TypeError(
                f"sdk.parallel takes functions, not {type(function).__name__}: "
                'write lambda: sdk.tasks.list(view="today"), or use sdk.parallel_map(function, items).'
            )
    return wire.get_transport().parallel(calls, _check_at_most(at_most))


@explain_misuse
def parallel_map(function: Callable[[T], R], items: Iterable[T], at_most: int = AT_MOST) -> list[R]:
    """Call a function with each item; calls of sources run concurrently, others one at a time.

    Use it for sources, which take long to answer. For items fewer calls save more: sdk.batch, sdk.query, the filters of
    lists. In your own Python, after connect(), the function runs in threads.

    Args:
        function: Takes one item.
        items: The arguments, one for each call.
        at_most: How many run at a time, 1 or more; in a script at most 8.

    Returns:
        What the function returned for each item, in their order.

    Raises:
        SdkError: The first error in order, raised when all calls have ended.
        ValueError: `at_most` is below 1.

    Example:
        notes = sdk.notes.list(project="Kitchen renovation")
        texts = sdk.parallel_map(sdk.notes.text, notes)
        print({note.title: len(text) for note, text in zip(notes, texts)})
    """
    return wire.get_transport().parallel([partial(function, item) for item in items], _check_at_most(at_most))


@explain_misuse
def progress(current: float, total: float = 0, message: str = "") -> None:
    """Report the progress of the script.

    Args:
        current: How much is done, in any unit.
        total: How much there is, in the same unit; 0 if unknown.
        message: The current step, in a few words.

    Returns:
        Nothing.

    Raises:
        TypeError: `current` or `total` is not a number.

    Example:
        notes = sdk.notes.list()
        for count, note in enumerate(notes, start=1):
            sdk.progress(count, len(notes), note.title)
    """
    for value in (current, total):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(
                f"sdk.progress takes how much is done, as numbers, not {type(value).__name__}: in a loop such as "
                "for count, task in enumerate(tasks, start=1) write sdk.progress(count, len(tasks), task.title)."
            ) from None
    wire.get_transport().progress(current, total, message)


def _check_at_most(at_most: int) -> int:
    if not at_most >= 1:  # NaN is neither
        raise ValueError(f"at_most is {at_most}: give 1 or more.")
    return at_most
