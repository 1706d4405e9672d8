"""A conversation: one client's connection, its recently read items, and its loop guard."""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from panorama.domain.items.item import kind_of
from panorama.domain.jobs import Requester
from panorama.errors import LoopError

JOB_ACTOR = "job"
ANY_KIND = "item"
MEMORY_SPAN = timedelta(minutes=10)
MAX_SAME_ANSWERS = 8
LOOP_WINDOW = timedelta(seconds=30)
MAX_TRACKED_CALLS = 256
"""The maximum number of distinct calls tracked at a time."""


@dataclass(slots=True)
class Memory:
    """The last read item of each kind, and of any kind, for ten minutes."""

    _read: dict[str, tuple[str, datetime]] = field(default_factory=dict[str, tuple[str, datetime]])

    def remember(self, id_: str, now: datetime) -> None:
        """Record a read item."""
        for kind in (kind_of(id_) or ANY_KIND, ANY_KIND):
            self._read[kind] = (id_, now)

    def recall(self, kind: str, now: datetime) -> str | None:
        """Return the id of the last read item of a kind (or any), if it is recent."""
        id_, at = self._read.get(kind, ("", now))
        return id_ if id_ and now - at <= MEMORY_SPAN else None


class LoopGuard:
    """Stops a call after eight identical answers in thirty seconds."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, deque[tuple[datetime, str]]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, name: str, question: str, now: datetime) -> None:
        """Check a call.

        Raises:
            LoopError: It already returned the same answer eight times.
        """
        with self._lock:
            known = self._answers.get(question, ())
            lately = [answer for at, answer in known if now - at <= LOOP_WINDOW]
        if len(lately) == MAX_SAME_ANSWERS and len(set(lately)) == 1:
            times = f"{MAX_SAME_ANSWERS} times in {LOOP_WINDOW.seconds} seconds"
            same = f"{name} was called {times} with the same arguments and gave the same answer each time."
            raise LoopError(
                same, hint="Use the answer you have, change the arguments, or continue with something else."
            )

    def forget_answers(self, *, but: str) -> None:
        """Delete the recorded answers except one, because a write may have changed them."""
        with self._lock:
            answer = self._answers.get(but)
            self._answers.clear()
            if answer is not None:
                self._answers[but] = answer

    def record_answer(self, question: str, answer: str, now: datetime) -> None:
        """Record the answer to a call."""
        with self._lock:
            self._answers.setdefault(question, deque(maxlen=MAX_SAME_ANSWERS)).append((now, answer))
            self._answers.move_to_end(question)
            if len(self._answers) > MAX_TRACKED_CALLS:
                self._answers.popitem(last=False)


@dataclass(slots=True)
class Conversation:
    """One client process: `actor` is the interface (tool, cli, demo), `client` the program's name."""

    id: str
    actor: str
    client: str | Callable[[], str] = "unknown"
    memory: Memory = field(default_factory=Memory)
    guard: LoopGuard = field(default_factory=LoopGuard)

    @property
    def client_name(self) -> str:
        """The program's name, as far as known."""
        return self.client() if callable(self.client) else self.client

    @property
    def requester(self) -> Requester:
        """The requester of jobs in this conversation."""
        return Requester(actor=self.actor, client=self.client_name, conversation=self.id)
