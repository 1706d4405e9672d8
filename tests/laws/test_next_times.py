"""Laws of next times: they are those that one finds by looking at the clock on the wall minute by minute."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.schedules import Schedule
from panorama.domain.time import wall_clock
from panorama.domain.time.cron import parse_cron
from panorama.domain.time.recurrence import iter_occurrences

MINUTE = timedelta(minutes=1)
CHANGES = {
    "Europe/Berlin": ((2026, 3, 29, 1), (2026, 10, 25, 1)),
    "America/New_York": ((2026, 3, 8, 7), (2026, 11, 1, 6)),
    "America/Sao_Paulo": ((2018, 11, 4, 3), (2019, 2, 17, 2)),  # at midnight
    "Australia/Lord_Howe": ((2026, 4, 4, 15), (2026, 10, 3, 15)),  # by half an hour
    "Pacific/Apia": ((2011, 12, 30, 10), (2011, 4, 2, 14)),  # a whole day was left out
    "Africa/Casablanca": ((2026, 2, 15, 2), (2026, 3, 22, 2)),  # back for Ramadan
    "Asia/Kathmandu": ((1985, 12, 31, 18),),
    "America/St_Johns": ((2006, 4, 2, 3), (2006, 10, 29, 2)),  # a minute past midnight
    "UTC": ((2028, 2, 29, 0),),
}
"""Zones, and hours in UTC around which their clocks were set."""

moments = st.sampled_from(sorted(CHANGES)).flatmap(
    lambda name: st.tuples(
        st.just(ZoneInfo(name)),
        st.sampled_from(CHANGES[name]).map(lambda hour: datetime(*hour, tzinfo=UTC)),
        st.integers(-30 * 60, 6 * 60),
    )
)
some = st.lists(st.integers(0, 59), min_size=1, max_size=3, unique=True)
hours = st.none() | st.lists(st.integers(0, 23), min_size=1, max_size=4, unique=True) | st.just([0, 1, 2, 3])
weekdays = st.none() | st.lists(st.integers(0, 6), min_size=1, max_size=5, unique=True)


def passing(zone: ZoneInfo, begin: datetime, end: datetime) -> Iterator[tuple[datetime, datetime, bool]]:
    """Look at the clock each minute: the moment, what it shows, and whether it shows that for the second time.

    What it leaves out when it is set forward is given with the moment at which it would have shown it.
    """
    at = begin
    while at <= end:
        local = at.astimezone(zone)
        shown = local.replace(tzinfo=None, fold=0)
        before = (at - MINUTE).astimezone(zone).replace(tzinfo=None)
        for number in range(1, int((shown - before) / MINUTE)):
            yield at - MINUTE + number * MINUTE, before + number * MINUTE, False
        yield at, shown, bool(local.fold)
        at += MINUTE


def looked_up(
    zone: ZoneInfo, after: datetime, end: datetime, minutes: list[int], named: list[int] | None, days: list[int] | None
) -> list[datetime]:
    """Return the occurrences of a cron line that somebody finds who looks at the clock."""
    found = {
        at
        for at, shown, again in passing(zone, after - timedelta(hours=25), end)
        if shown.minute in minutes
        and (named is None or (shown.hour in named and not again))
        and (days is None or shown.isoweekday() % 7 in days)
    }
    return sorted(at for at in found if after < at <= end)


def joined(numbers: list[int] | None) -> str:
    """Write a field of a cron line."""
    return "*" if numbers is None else ",".join(map(str, numbers))


@given(place=moments, minutes=some, named=hours, days=weekdays)
def test_a_cron_line_means_what_the_clock_on_the_wall_shows(
    place: tuple[ZoneInfo, datetime, int], minutes: list[int], named: list[int] | None, days: list[int] | None
) -> None:
    zone, change, offset = place
    after = change + offset * MINUTE
    end = after + timedelta(hours=40)
    line = parse_cron(f"{joined(minutes)} {joined(named)} * * {joined(days)}")

    times = wall_clock.to_instants(
        line.local_times(wall_clock.first_local(after, zone)), zone, after, twice=line.is_every_hour
    )

    assert list(takewhile(lambda at: at <= end, times)) == looked_up(zone, after, end, minutes, named, days)


@given(place=moments, minute=st.integers(0, 24 * 60 - 1), begun=st.integers(1, 9))
def test_a_daily_reminder_comes_once_a_day_at_its_time_on_the_wall(
    place: tuple[ZoneInfo, datetime, int], minute: int, begun: int
) -> None:
    zone, change, offset = place
    after = change + offset * MINUTE
    day = (change - timedelta(days=begun)).astimezone(zone).replace(tzinfo=None, hour=0, minute=0)
    anchor = (day + minute * MINUTE).replace(tzinfo=zone).astimezone(UTC)
    shown = wall_clock.to_local(anchor, zone)
    end = after + timedelta(hours=60)

    found = takewhile(lambda at: at <= end, iter_occurrences("FREQ=DAILY", anchor, after=after, zone=zone))

    expected = looked_up(zone, max(after, anchor - MINUTE), end, [shown.minute], [shown.hour], None)
    assert list(found) == expected


@given(place=moments, minutes=st.integers(1, 400), back=st.integers(0, 5000))
def test_a_span_is_time_that_passes_whatever_the_clock_shows(
    place: tuple[ZoneInfo, datetime, int], minutes: int, back: int
) -> None:
    zone, change, offset = place
    begin = change - back * MINUTE
    schedule = make_schedule("every", f"{minutes}m", zone.key, begin)

    found = [at for at, _ in zip(schedule.iter_occurrences(change + offset * MINUTE), range(4), strict=False)]

    assert found[0] - (change + offset * MINUTE) <= minutes * MINUTE or found[0] == begin
    assert all((at - begin) % (minutes * MINUTE) == timedelta() for at in found)
    assert all(later - earlier == minutes * MINUTE for earlier, later in pairwise(found))


@given(place=moments, minutes=some, named=hours, passed=st.integers(0, 3000))
def test_what_was_missed_is_one_run_and_counts_the_others(
    place: tuple[ZoneInfo, datetime, int], minutes: list[int], named: list[int] | None, passed: int
) -> None:
    zone, change, offset = place
    after = change + offset * MINUTE
    now = after + passed * MINUTE
    schedule = make_schedule("cron", f"{joined(minutes)} {joined(named)} * * *", zone.key, after).resume(after)

    due = schedule.find_due(now)

    known = looked_up(zone, after, now, minutes, named, None)
    assert (due and (due.at, due.missed)) == ((known[-1], len(known) - 1) if known else None)
    if due:
        following = schedule.with_run(due, now).next_at
        assert following is not None
        assert following > now


def make_schedule(trigger: str, rule: str, zone: str, begin: datetime) -> Schedule:
    """Return a schedule."""
    return Schedule(
        id="e_0000000001", name="x", kind="x", trigger=trigger, rule=rule, zone=zone, begin=begin, created_at=begin,
        updated_at=begin,
    )  # fmt: skip
