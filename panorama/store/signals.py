"""Calls listeners when something happens; their errors are only logged."""

import logging
from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")
_log = logging.getLogger(__name__)


class Signal(Generic[P]):
    """Listeners, called in the thread that raises the event; they must return quickly."""

    def __init__(self) -> None:
        self._ears: dict[object, Callable[P, None]] = {}

    def __len__(self) -> int:
        return len(self._ears)

    def subscribe(self, ear: Callable[P, None]) -> Callable[[], None]:
        """Add a listener; return a function that removes it."""
        key = object()
        self._ears[key] = ear

        def unsubscribe() -> None:
            self._ears.pop(key, None)

        return unsubscribe

    def notify(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call all listeners."""
        for ear in tuple(self._ears.values()):
            notify(ear, *args, **kwargs)


def notify(ear: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Call one listener; its error is only logged, because the write is stored and must not appear to have failed."""
    try:
        ear(*args, **kwargs)
    except Exception:  # a bug in a listener must not stop the other listeners
        _log.exception("a listener failed; the change is stored")
