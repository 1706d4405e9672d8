"""The search for garbage: the only place that says when it happens in a worker.

It runs code of the script, the `finally` of a generator that nobody holds any more. Python itself searches whenever it
likes, also in the middle of a guard, between the look at a value and its use. So Python's own search is off in a
worker, and the clock of its processor time asks for one: it is made where the script's own code was interrupted, as if
the script had called it there, and nowhere else.
"""

import gc
import time
from types import FrameType

from panorama.sandbox.refusals import FILENAME

EVERY_SECONDS = 0.02
"""Of processor time. What a script can drop in so long fits into its memory: 20 ms fill some 100 MB."""

ASK_SECONDS = EVERY_SECONDS / 4
"""How often the clock asks: if it was something else that it interrupted, it asks again soon."""

WIDER = 10
"""After how many searches among the youngest objects those that outlived one are searched too, and so on."""


class Garbage:
    """Searches for garbage in this process."""

    def __init__(self) -> None:
        self.is_searching = False
        self._searches = 0
        self._searched_at = 0.0

    def search(self, interrupted: FrameType | None) -> None:
        """Search, if it was the script's own code that was interrupted, and the last time is long enough ago."""
        if self.is_searching or interrupted is None or interrupted.f_code.co_filename != FILENAME:
            return
        now = time.process_time()
        if now - self._searched_at < EVERY_SECONDS - ASK_SECONDS / 2:
            return
        self._searched_at = now
        self._searches += 1
        self.is_searching = True
        try:
            gc.collect(sum(self._searches % span == 0 for span in (WIDER, WIDER * WIDER)))
        finally:
            self.is_searching = False


GARBAGE = Garbage()
