"""Laws of recurrence: the next occurrence lies ahead, and a series that counts comes to its end."""

from datetime import date, datetime, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from panorama.domain.time.recurrence import decrement_count, next_occurrence, normalize_rule
from panorama.domain.time.times import Deadline, to_local_day
from panorama.errors import InvalidInputError

from .world import ZONE

frequencies = st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
weekdays = st.sampled_from(["MO", "TU", "WE", "TH", "FR", "SA", "SU"])
parts = st.fixed_dictionaries(
    {},
    optional={
        "INTERVAL": st.integers(1, 5),
        "BYDAY": st.lists(weekdays, min_size=1, max_size=3, unique=True).map(",".join),
        "BYMONTHDAY": st.integers(1, 31),
        "BYMONTH": st.integers(1, 12),
        "COUNT": st.integers(1, 9),
        "UNTIL": st.dates(date(2026, 1, 1), date(2030, 1, 1)).map(lambda day: f"{day:%Y%m%d}"),
    },
)
days = st.dates(date(2025, 1, 1), date(2029, 12, 31))
anchors = days | st.datetimes(datetime(2025, 1, 1), datetime(2029, 12, 31), timezones=st.just(ZONE))  # noqa: DTZ001 (the strategy puts the zone)


def make_rule(frequency: str, chosen: dict[str, object]) -> str:
    """Return a rule that is accepted."""
    assume(not {"COUNT", "UNTIL"} <= chosen.keys())
    text = ";".join([f"FREQ={frequency}", *(f"{name}={value}" for name, value in chosen.items())])
    try:
        return normalize_rule(text)
    except InvalidInputError:
        assume(False)
        raise


@given(frequency=frequencies, chosen=parts, anchor=anchors, today=days)
def test_the_next_occurrence_is_after_the_last_and_not_past(
    frequency: str, chosen: dict[str, object], anchor: Deadline, today: date
) -> None:
    found = next_occurrence(make_rule(frequency, chosen), anchor, not_before=today, zone=ZONE)

    assume(found is not None)
    assert type(found) is type(anchor)
    assert found > anchor
    assert to_local_day(found, ZONE) >= today


@given(anchor=st.datetimes(datetime(2025, 1, 1), datetime(2029, 12, 31), timezones=st.just(ZONE)))  # noqa: DTZ001 (the strategy puts the zone)
def test_a_daily_moment_keeps_its_time_on_the_clock_over_summer_time(anchor: datetime) -> None:
    assume(anchor.hour not in (1, 2, 3))

    found = next_occurrence("FREQ=DAILY", anchor, not_before=anchor.date(), zone=ZONE)

    assert isinstance(found, datetime)
    wall = found.astimezone(ZONE).replace(tzinfo=None)
    assert wall - anchor.replace(tzinfo=None, fold=0) == timedelta(days=1) or wall.microsecond == 0


@given(count=st.integers(1, 30))
def test_a_series_that_counts_ends_after_as_many(count: int) -> None:
    text, seen = f"FREQ=DAILY;COUNT={count}", 0
    while text:
        text, seen = decrement_count(text), seen + 1

    assert seen == count


@given(frequency=frequencies, chosen=parts, anchor=days)
def test_occurrences_follow_each_other_without_end_or_repetition(
    frequency: str, chosen: dict[str, object], anchor: date
) -> None:
    text, seen = make_rule(frequency, chosen), [anchor]
    for _ in range(5):
        found = next_occurrence(text, seen[-1], not_before=anchor, zone=ZONE)
        if found is None:
            break
        seen.append(found)

    assert seen == sorted(set(seen))
