"""What every service stands on: the store, the clock, the maker of ids and the person's time zone."""

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.changes import Origin
from panorama.domain.items import BASE32, PREFIXES
from panorama.domain.times import day_or_moment, today
from panorama.store.engine import Database, Session
from panorama.store.tasks import Clock

CALL_LETTER = "c"
RUN_LETTER = "x"


_PAIRS = [first + second for first in BASE32 for second in BASE32]


def random_id(letter: str) -> str:
    """Return a new id such as `t_7k3q9xv2mh`: 50 random bits."""
    number = secrets.randbits(50)
    return f"{letter}_" + "".join([_PAIRS[number >> shift & 1023] for shift in (40, 30, 20, 10, 0)])


def utc_now() -> datetime:
    """Return this moment."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Desk:
    """What services work with; tests put a clock that stands still and ids that count up here."""

    database: Database
    zone: ZoneInfo
    now: Callable[[], datetime] = utc_now
    new_id: Callable[[str], str] = random_id


class Service:
    """One noun's operations."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def _reading(self) -> AbstractContextManager[Session]:
        return self._desk.database.reading()

    def _writing(self) -> AbstractContextManager[Session]:
        """Join the transaction of the call; open one of its own when used without a call."""
        call = self._desk.new_id(CALL_LETTER)
        origin = Origin(actor="python", client="python", conversation="", operation="", call=call, unit=call)
        return self._desk.database.transaction(origin)

    def _now(self) -> datetime:
        return self._desk.now()

    def _today(self) -> date:
        return today(self._desk.now(), self._desk.zone)

    def _clock(self) -> Clock:
        return Clock(now=self._desk.now(), zone=self._desk.zone)

    def _new(self, kind: str, now: datetime) -> dict[str, Any]:
        """Return the fields that every new item has."""
        return {"id": self._desk.new_id(PREFIXES[kind]), "created_at": now, "updated_at": now}

    def _when(self, text: str, name: str) -> date | datetime:
        return day_or_moment(text, name, now=self._desk.now(), zone=self._desk.zone)


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that were given: absent and null ones are left out."""
    return {name: value for name, value in fields.items() if value is not None}
