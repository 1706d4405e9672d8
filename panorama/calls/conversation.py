"""A conversation: one client's connection, what it has read lately, and whether it runs in circles."""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from panorama.errors import LoopError

SCRIPT_ACTOR = "script"
REMEMBERED = timedelta(minutes=10)
SAME_ANSWERS = 8
WITHIN = timedelta(seconds=30)
QUESTIONS = 256
"""How many different calls are watched at a time."""


@dataclass(slots=True)
class Memory:
    """The project and the note that were read last, for ten minutes."""

    _read: dict[str, tuple[str, datetime]] = field(default_factory=dict[str, tuple[str, datetime]])

    def remember(self, kind: str, id_: str, now: datetime) -> None:
        """Remember an item that was read."""
        self._read[kind] = (id_, now)

    def recall(self, kind: str, now: datetime) -> str | None:
        """Return the id of the item of a kind that was read last, if that is not too long ago."""
        found = self._read.get(kind)
        return found[0] if found and now - found[1] <= REMEMBERED else None


class LoopGuard:
    """Stops a call that came back with the same answer eight times in thirty seconds."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, deque[tuple[datetime, str]]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, name: str, question: str, now: datetime) -> None:
        """Let a call pass.

        Raises:
            LoopError: It would be the ninth with the same answer.
        """
        with self._lock:
            known = self._answers.get(question, ())
            lately = [answer for at, answer in known if now - at <= WITHIN]
        if len(lately) == SAME_ANSWERS and len(set(lately)) == 1:
            times = f"{SAME_ANSWERS} times in {WITHIN.seconds} seconds"
            same = f"{name} was called {times} with the same arguments and gave the same answer each time."
            raise LoopError(same, hint="Use the answer you have, change the arguments, or go on with something else.")

    def forget(self, *, but: str) -> None:
        """Forget the answers to all questions but one: what was written may have changed them."""
        with self._lock:
            kept = self._answers.get(but)
            self._answers.clear()
            if kept is not None:
                self._answers[but] = kept

    def note(self, question: str, answer: str, now: datetime) -> None:
        """Remember what a call was answered."""
        with self._lock:
            self._answers.setdefault(question, deque(maxlen=SAME_ANSWERS)).append((now, answer))
            self._answers.move_to_end(question)
            if len(self._answers) > QUESTIONS:
                self._answers.popitem(last=False)


@dataclass(slots=True)
class Conversation:
    """One client process: `actor` is the door (tool, cli, demo), `client` the program's name."""

    id: str
    actor: str
    client: str | Callable[[], str] = "unknown"
    memory: Memory = field(default_factory=Memory)
    guard: LoopGuard = field(default_factory=LoopGuard)

    @property
    def client_name(self) -> str:
        """The program's name as far as it is known by now."""
        return self.client() if callable(self.client) else self.client
