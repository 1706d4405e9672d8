"""Schedules: which job is to run when, what is due, and what becomes of runs that were missed."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, Self, get_args

from panorama.domain import walls
from panorama.domain.cron import cron
from panorama.errors import InvalidInputError

Trigger = Literal["cron", "every", "at"]
Missed = Literal["run", "skip"]
TRIGGERS: tuple[Trigger, ...] = get_args(Trigger)

LATE = timedelta(minutes=1)
"""A run that begins later than this was missed: nothing ran, or the machine slept."""

SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=366)
STEPPED_BACK = timedelta(hours=1)
"""A clock that was set back by more had been wrong before; what it made run then does not count."""

ARGUMENTS_CHARS = 20_000
_SPAN = re.compile(r"(?:\d{1,6} ?(?:w|d|h|m|weeks?|days?|hours?|min|minutes?) ?)+")
_PIECE = re.compile(r"(\d+) ?([wdhm])")
_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What is due: the last occurrence until now, how late it is, and how many before it were missed too."""

    at: datetime
    late: timedelta
    missed: int
    runs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A job that runs by itself: at the times of a cron line, every so often, or once.

    `rule` is the cron line, the span or the moment; `begin` is what spans are counted from. `zone` is the IANA name of
    the zone whose clock is meant. `next_at` is None when it is paused or has no more to come. `last_at` is the
    occurrence that was dealt with last, `last_job` the job that it became, `problem` why it became none.
    """

    BRIEF: ClassVar[tuple[str, ...]] = ("id", "name", "kind", "trigger", "rule", "next_at", "paused", "problem")

    id: str
    name: str
    kind: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    trigger: Trigger
    rule: str
    zone: str
    begin: datetime
    missed: Missed = "run"
    paused: bool = False
    next_at: datetime | None = None
    last_at: datetime | None = None
    last_job: str = ""
    problem: str = ""
    created_at: datetime
    updated_at: datetime

    def following(self, after: datetime) -> Iterator[datetime]:
        """Return the occurrences after a moment, in order."""
        if self.trigger == "at":
            return iter([self.begin] if self.begin > after else [])
        if self.trigger == "every":
            return _spans(self.begin, span(self.rule), after)
        line, zone = cron(self.rule), walls.known_zone(self.zone)
        times = line.walls(walls.first_wall(after, zone))
        return walls.moments(times, zone, after, twice=line.is_every_hour)

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first occurrence after a moment, None if there is none."""
        return next(self.following(moment), None)

    def due(self, now: datetime) -> Due | None:
        """Return what is due now: all that was missed together, as one."""
        if self.paused or self.next_at is None or self.next_at > now:
            return None
        before = self.next_at - timedelta(microseconds=1)
        at = walls.latest(self.following, before, now) or self.next_at
        late = now - at
        count = walls.counted(self.following, before, at - timedelta(microseconds=1))
        return Due(at=at, late=late, missed=count, runs=self.missed == "run" or late <= LATE)

    def done(self, due: Due, now: datetime, *, job: str = "", problem: str = "") -> Self:
        """Return it after what was due was dealt with."""
        return replace(
            self, last_at=due.at, last_job=job or self.last_job, problem=problem, next_at=self.next_after(now)
        )

    def paused_at(self, now: datetime) -> Self:
        """Return it at rest."""
        return replace(self, paused=True, next_at=None, updated_at=now)

    def resumed_at(self, now: datetime) -> Self:
        """Return it under way again; what would have come meanwhile is no run that was missed."""
        return replace(self, paused=False, next_at=self.next_after(now), updated_at=now)

    def mended(self, now: datetime) -> Self:
        """Return it as it is after the clock was set: what a clock that was wrong made it wait for is given up."""
        if self.paused or self.last_at is None or self.last_at <= now + STEPPED_BACK:
            return self
        return replace(self, last_at=None, next_at=self.next_after(now))


def _spans(begin: datetime, step: timedelta, after: datetime) -> Iterator[datetime]:
    at = begin if after < begin else begin + ((after - begin) // step + 1) * step
    while True:
        yield at
        at += step


def is_span(text: str) -> bool:
    """Tell whether a text is a span, and no moment."""
    return _SPAN.fullmatch(text.strip().lower()) is not None


def span(text: str, name: str = "every") -> timedelta:
    """Return a span such as 15m, 2h, 1d or 1h 30m.

    Raises:
        InvalidInputError: It is none, shorter than a minute or longer than a year.
    """
    plain = text.strip().lower()
    found = timedelta()
    if _SPAN.fullmatch(plain):
        for number, unit in _PIECE.findall(plain):
            found += timedelta(**{_UNITS[unit]: int(number)})
    if not SHORTEST <= found <= LONGEST:
        raise InvalidInputError(
            f"{name} is no span of a minute to a year: {text[:40]!r}.", hint="Use 15m, 2h, 1d, 1w or 1h 30m."
        )
    return found


def plain_span(step: timedelta) -> str:
    """Return a span in its plain form: 1h 30m."""
    minutes = int(step.total_seconds() // 60)
    parts: list[str] = []
    for unit, size in (("d", 24 * 60), ("h", 60), ("m", 1)):
        count, minutes = divmod(minutes, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts)


def waited(late: timedelta) -> str:
    """Return a delay as a person says it: 5 min, 3 h, 2 d; "" for less than a minute."""
    minutes = int(late.total_seconds() // 60)
    if minutes < 1:
        return ""
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // (24 * 60)} d"
