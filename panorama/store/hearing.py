"""Hearing: tells those who want to hear of something that it happened, which no failure of theirs undoes."""

import logging
from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")
_log = logging.getLogger(__name__)


class Ears(Generic[P]):
    """Those who want to hear of something, each in the thread in which it happened; so they must be quick."""

    def __init__(self) -> None:
        self._ears: dict[object, Callable[P, None]] = {}

    def __len__(self) -> int:
        return len(self._ears)

    def add(self, ear: Callable[P, None]) -> Callable[[], None]:
        """Let somebody hear of it from now on; return how to stop that."""
        key = object()
        self._ears[key] = ear

        def stop() -> None:
            self._ears.pop(key, None)

        return stop

    def tell(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Tell all of them."""
        for ear in tuple(self._ears.values()):
            tell(ear, *args, **kwargs)


def tell(ear: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Tell one; its error is only logged, for what it heard of is kept and must not look as if it failed."""
    try:
        ear(*args, **kwargs)
    except Exception:
        _log.exception("a listener failed; what it heard of is kept")
