"""Schedules: when a job runs, and what happens to missed runs."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, Self

from panorama.domain.time import wall_clock
from panorama.domain.time.cron import parse_cron
from panorama.errors import InvalidInputError

Trigger = Literal["cron", "every", "at"]
Missed = Literal["run", "skip"]

LATE_AFTER = timedelta(minutes=1)
"""A run that starts later than this counts as missed: no daemon ran, or the machine slept."""

MIN_INTERVAL, MAX_INTERVAL = timedelta(minutes=1), timedelta(days=366)
CLOCK_STEP_LIMIT = timedelta(hours=1)
"""If the clock is set back by more than this, it was wrong before, and runs recorded then are ignored."""

ARGUMENTS_CHARS = 20_000
_DURATION = re.compile(r"(?:\d{1,6} ?(?:w|d|h|m|weeks?|days?|hours?|min|minutes?) ?)+")
_DURATION_PART = re.compile(r"(\d+) ?([wdhm])")
_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRun:
    """A due run: the last occurrence until now, how late it is, and how many before it were missed."""

    at: datetime
    late: timedelta
    missed: int
    runs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A job that runs at the times of a cron line, at an interval, or once.

    `rule` is the cron line, the interval or the time; intervals count from `begin`. `zone` is an IANA name. `next_at`
    is None if the schedule is paused or finished. `last_at` is the last occurrence that was handled, `last_job` its
    job, `problem` why it has none.
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

    def summarize(self) -> str:
        """Return a one-line summary with the next occurrence."""
        when = "paused" if self.paused else "has ended"
        if self.next_at:
            when = f"next {self.next_at.astimezone(wall_clock.get_zone(self.zone)):%Y-%m-%d %H:%M} ({self.zone})"
        return f"Schedule “{self.name}” ({self.id}), {self.kind}, {self.trigger} {self.rule}: {when}"

    def iter_occurrences(self, after: datetime) -> Iterator[datetime]:
        """Return the occurrences after an instant, in order."""
        if self.trigger == "at":
            return iter([self.begin] if self.begin > after else [])
        if self.trigger == "every":
            return _iter_interval(self.begin, parse_duration(self.rule), after)
        line, zone = parse_cron(self.rule), wall_clock.get_zone(self.zone)
        times = line.local_times(wall_clock.first_local(after, zone))
        return wall_clock.to_instants(times, zone, after, twice=line.is_every_hour)

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first occurrence after an instant, None if there is none."""
        return next(self.iter_occurrences(moment), None)

    def find_due(self, now: datetime) -> DueRun | None:
        """Return the run that is due now; all missed occurrences count as one run."""
        if self.paused or self.next_at is None or self.next_at > now:
            return None
        before = self.next_at - timedelta(microseconds=1)
        at = wall_clock.last_before(self.iter_occurrences, before, now) or self.next_at
        late = now - at
        count = wall_clock.count_between(self.iter_occurrences, before, at - timedelta(microseconds=1))
        return DueRun(at=at, late=late, missed=count, runs=self.missed == "run" or late <= LATE_AFTER)

    def with_run(self, due: DueRun, now: datetime, *, job: str = "", problem: str = "") -> Self:
        """Return it after the due run was handled."""
        return replace(
            self, last_at=due.at, last_job=job or self.last_job, problem=problem, next_at=self.next_after(now)
        )

    def pause(self, now: datetime) -> Self:
        """Return it paused."""
        return replace(self, paused=True, next_at=None, updated_at=now)

    def resume(self, now: datetime) -> Self:
        """Return it resumed; occurrences during the pause do not count as missed."""
        return replace(self, paused=False, next_at=self.next_after(now), updated_at=now)

    def repair_after_clock_change(self, now: datetime) -> Self:
        """Return it corrected after a clock change: the next run is computed again from now."""
        if self.paused or self.last_at is None or self.last_at <= now + CLOCK_STEP_LIMIT:
            return self
        return replace(self, last_at=None, next_at=self.next_after(now))


def _iter_interval(begin: datetime, step: timedelta, after: datetime) -> Iterator[datetime]:
    at = begin if after < begin else begin + ((after - begin) // step + 1) * step
    while True:
        yield at
        at += step


def is_duration(text: str) -> bool:
    """Return whether a text is a duration, not a point in time."""
    return _DURATION.fullmatch(text.strip().lower()) is not None


def parse_duration(text: str, name: str = "every") -> timedelta:
    """Parse a duration such as 15m, 2h, 1d or 1h 30m.

    Raises:
        InvalidInputError: It is not a duration, shorter than a minute or longer than a year.
    """
    plain = text.strip().lower()
    total = timedelta()
    if _DURATION.fullmatch(plain):
        for number, unit in _DURATION_PART.findall(plain):
            total += timedelta(**{_UNITS[unit]: int(number)})
    if not MIN_INTERVAL <= total <= MAX_INTERVAL:
        raise InvalidInputError(
            f"{name} is not a duration between a minute and a year: {text[:40]!r}.",
            hint="Use 15m, 2h, 1d, 1w or 1h 30m.",
        )
    return total


def format_duration(step: timedelta) -> str:
    """Return a duration in normal form: 1h 30m."""
    minutes = int(step.total_seconds() // 60)
    parts: list[str] = []
    for unit, size in (("d", 24 * 60), ("h", 60), ("m", 1)):
        count, minutes = divmod(minutes, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts)


def format_delay(late: timedelta) -> str:
    """Return a delay as text: 5 min, 3 h, 2 d; "" for less than a minute."""
    minutes = int(late.total_seconds() // 60)
    if minutes < 1:
        return ""
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // (24 * 60)} d"
