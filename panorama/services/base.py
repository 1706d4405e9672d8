"""The context of every service: the store, the clock, the id factory and the user's time zone."""

import secrets
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.changes import Origin
from panorama.domain.items.item import BASE32, PREFIXES
from panorama.domain.time.times import parse_deadline, today
from panorama.errors import PanoramaError
from panorama.store.backend import Database, Session
from panorama.store.items.tasks import Clock

CALL_LETTER = "c"
RUN_LETTER = "x"


_PAIRS = [first + second for first in BASE32 for second in BASE32]


def random_id(letter: str) -> str:
    """Return a new id such as `t_7k3q9xv2mh`: 50 random bits."""
    number = secrets.randbits(50)
    return f"{letter}_" + "".join([_PAIRS[number >> shift & 1023] for shift in (40, 30, 20, 10, 0)])


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class LargeCall:
    """A call that is too large for one transaction: its arguments, and whether it takes long.

    One that `fits_others` is only better outside: as a step of a larger transaction it is made inside.
    """

    arguments: Mapping[str, Any]
    is_long: bool
    fits_others: bool = False


class LargeCallError(Exception):
    """A call turned out to be too large for its transaction, before it wrote anything."""

    def __init__(self, large: LargeCall) -> None:
        super().__init__("too large for one transaction")
        self.large = large


@dataclass(frozen=True, slots=True)
class Plan:
    """The effects of a call, computed before it starts; building a plan raises the errors of calls that cannot start.

    `question` is what the user is asked first, "" if they need not be. With `approval` only they can answer, not a
    model that confirms; it is the hint for clients that cannot ask. An agreement holds for the same `facts` alone.
    `schedule_refusal` is why no schedule may make the call, None if one may.
    """

    question: str = ""
    schedule_refusal: PanoramaError | None = None
    approval: str = ""
    facts: str = ""


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """The dependencies of all services; tests use a fixed clock and counted ids."""

    database: Database
    zone: ZoneInfo
    home: Path
    now: Callable[[], datetime] = utc_now
    new_id: Callable[[str], str] = random_id


class Service:
    """The operations of one noun."""

    def __init__(self, context: ServiceContext) -> None:
        self._context = context

    def _reading(self) -> AbstractContextManager[Session]:
        return self._context.database.reading()

    def _writing(self) -> AbstractContextManager[Session]:
        """Join the transaction of the call; open a session when used without a call."""
        call = self._context.new_id(CALL_LETTER)
        origin = Origin(actor="python", client="python", conversation="", operation="", call=call, unit=call)
        return self._context.database.transaction(origin)

    def _now(self) -> datetime:
        return self._context.now()

    def _today(self) -> date:
        return today(self._context.now(), self._context.zone)

    def _clock(self) -> Clock:
        return Clock(now=self._context.now(), zone=self._context.zone)

    def _new_item_fields(self, kind: str, now: datetime) -> dict[str, Any]:
        """Return the fields that every new item has."""
        return {"id": self._context.new_id(PREFIXES[kind]), "created_at": now, "updated_at": now}

    def _parse_deadline(self, text: str, name: str) -> date | datetime:
        return parse_deadline(text, name, now=self._context.now(), zone=self._context.zone)


def drop_none(**fields: Any) -> dict[str, Any]:
    """Return the fields that were given: absent and null ones are left out."""
    return {name: value for name, value in fields.items() if value is not None}
