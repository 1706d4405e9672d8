"""Series: the times that a rule names are those of dateutil, and looking for them ends soon."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, product
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr

from panorama.domain.items.tasks import Task, next_occurrence
from panorama.domain.time import recurrence, rrule
from panorama.errors import InvalidInputError

START = datetime(2026, 5, 20, 9)  # noqa: DTZ001 (wall-clock time)
LAST = date(2034, 1, 1)
UTC_ZONE, BERLIN = ZoneInfo("UTC"), ZoneInfo("Europe/Berlin")
MINUTES = ",".join(map(str, range(60)))

PARTS = {
    "INTERVAL": ("", "2", "7"),
    "BYMONTH": ("", "5,11"),
    "BYMONTHDAY": ("", "31", "-1,13"),
    "BYDAY": ("", "TU,FR", "2MO,-1FR"),
}
OTHERS = (
    "FREQ=YEARLY;BYYEARDAY=1,100,-1", "FREQ=YEARLY;BYYEARDAY=366", "FREQ=YEARLY;BYWEEKNO=1,20,53;BYDAY=MO",
    "FREQ=YEARLY;BYWEEKNO=20", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=YEARLY;BYDAY=SU;BYSETPOS=1,-2",
    "FREQ=MONTHLY;BYDAY=MO;BYHOUR=8,20;BYSETPOS=1,2,-1", "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,MO",
    "FREQ=DAILY;BYHOUR=8,20;INTERVAL=2", "FREQ=YEARLY;BYEASTER=-2", "FREQ=YEARLY;INTERVAL=4",
    "FREQ=MONTHLY;INTERVAL=18;BYMONTHDAY=-3", "FREQ=YEARLY;BYDAY=20MO", "FREQ=YEARLY;BYWEEKNO=1;WKST=SU;BYDAY=WE",
    "FREQ=DAILY;BYYEARDAY=-1", "FREQ=WEEKLY;BYMONTHDAY=13;BYDAY=FR",
)  # fmt: skip


def rules() -> list[str]:
    """Return rules of all frequencies with the usual parts, and others."""
    made = [
        ";".join(
            [f"FREQ={frequency}", *(f"{name}={value}" for name, value in zip(PARTS, chosen, strict=True) if value)]
        )
        for frequency in ("YEARLY", "MONTHLY", "WEEKLY", "DAILY")
        for chosen in product(*PARTS.values())
    ]
    return [*made, *OTHERS]


def by_dateutil(rule: str, start: datetime) -> list[datetime]:
    """Return the times that dateutil finds, which would look until the year 9999 for one that never comes again."""
    return rrulestr(rule, dtstart=start).between(start, datetime.combine(LAST, time.max), inc=True)


@pytest.mark.parametrize("start", [START, START.replace(year=2024, month=2, day=29)])
def test_a_series_has_the_times_that_dateutil_finds(start: datetime) -> None:
    found = {rule: list(rrule.parse_rule(rule).iter_times(start, LAST)) for rule in rules()}

    compared = {rule: times for rule, times in found.items() if times}

    assert len(compared) > 0.8 * len(found)
    assert [rule for rule, times in compared.items() if times != by_dateutil(rule, start)] == []


@pytest.mark.parametrize("days", [1, 800])
def test_a_series_that_is_looked_at_from_later_on_has_the_same_times(days: int) -> None:
    begin = START + timedelta(days=days)

    other = [
        rule
        for rule in rules()
        if list(rrule.parse_rule(rule).iter_times(START, LAST, begin))
        != [moment for moment in rrule.parse_rule(rule).iter_times(START, LAST) if moment >= begin]
    ]

    assert other == []


IMPOSSIBLE = [
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=WEEKLY;BYMONTH=4;BYMONTHDAY=31",
    "FREQ=MONTHLY;BYMONTHDAY=32", "FREQ=YEARLY;BYYEARDAY=366;BYMONTH=1", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6",
    "FREQ=DAILY;BYSETPOS=2", "FREQ=MONTHLY;BYDAY=6MO", "FREQ=YEARLY;BYWEEKNO=54", "FREQ=DAILY;BYWEEKNO=1;BYMONTH=6",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=3", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;UNTIL=99991231",
    "FREQ=DAILY;INTERVAL=99999;BYMONTH=13", "FREQ=DAILY;UNTIL=20010101",
]  # fmt: skip


@pytest.mark.parametrize("text", IMPOSSIBLE)
def test_a_rule_that_never_occurs_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="never occurs"):
        recurrence.normalize_rule(text)


@pytest.mark.parametrize(
    "text",
    ["FREQ=SECONDLY", "FREQ=HOURLY", "FREQ=DAILY;FREQ=SECONDLY", "FREQ=DAILY;UNTIL=garbage",
     "FREQ=DAILY;BYHOUR=25", "FREQ=DAILY;BYSETPOS=0", "FREQ=DAILY;WKST=XX", "FREQ=DAILY;BYDAY=1", "FREQ=DAILY;X=1",
     "FREQ=DAILY;UNTIL=20269999", "FREQ=DAILY;COUNT=x", f"FREQ=DAILY;BYHOUR=1,2,3,4,5;BYMINUTE={MINUTES}"],
)  # fmt: skip
def test_a_rule_that_is_none_or_too_fast_is_refused(text: str) -> None:
    with pytest.raises(
        InvalidInputError,
        match="recurrence is neither in known words nor an RFC 5545 rule that repeats daily or less often",
    ):
        recurrence.normalize_rule(text)


@pytest.mark.parametrize(
    "text",
    ["FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "FREQ=YEARLY;BYYEARDAY=366",
     "FREQ=YEARLY;BYWEEKNO=53", "FREQ=YEARLY;INTERVAL=99999999999", "FREQ=DAILY;BYHOUR=8,20"],
)  # fmt: skip
def test_a_rule_that_occurs_rarely_is_one(text: str) -> None:
    assert recurrence.normalize_rule(text) == text


def test_the_next_29_february_is_found() -> None:
    found = recurrence.next_occurrence(
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", date(2024, 2, 29), not_before=date(2026, 1, 1), zone=UTC_ZONE
    )

    assert found == date(2028, 2, 29)


STORED = [
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=WEEKLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=300", "FREQ=YEARLY;INTERVAL=2;BYMONTH=2;BYMONTHDAY=29", "FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=99999999999", "FREQ=DAILY;COUNT=99999999999999999999999", "FREQ=DAILY;UNTIL=99991231",
    f"FREQ=DAILY;COUNT=999999999;BYHOUR=1,2,3;BYMINUTE={MINUTES}",
    "FREQ=DAILY;COUNT=9999;BYMONTH=2;BYMONTHDAY=30",
]  # fmt: skip


@pytest.mark.parametrize("text", STORED)
@pytest.mark.parametrize("year", [1, 1025, 2025, 9998])
def test_following_a_stored_rule_looks_at_so_many_days_at_most(
    text: str, year: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0

    def fits(filled: object, day: date) -> bool:
        nonlocal looked
        looked += 1
        return real(filled, day)

    real = rrule._is_match  # type: ignore[attr-defined] (the test counts calls of a private function)
    monkeypatch.setattr(rrule, "_is_match", fits)
    anchor, now = datetime(year, 6, 1, 9, tzinfo=UTC), datetime(2026, 5, 20, tzinfo=UTC)

    recurrence.next_occurrence(text, anchor, not_before=now.date(), zone=UTC_ZONE)
    next(islice(recurrence.iter_occurrences(text, anchor, after=now, zone=UTC_ZONE), 1, None), None)

    assert looked <= 2 * rrule.MAX_STEPS


WORDS = {
    "every friday": "FREQ=WEEKLY;BYDAY=FR",
    "Every other week on Tuesday and Thursday": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH",
    "monthly on the 15th": "FREQ=MONTHLY;BYMONTHDAY=15",
    "every last friday of the month": "FREQ=MONTHLY;BYDAY=-1FR",
    "every weekday": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "jeden Freitag": "FREQ=WEEKLY;BYDAY=FR",
    "alle 2 Wochen am Dienstag": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU",
    "jeden letzten Freitag im Monat": "FREQ=MONTHLY;BYDAY=-1FR",
    "jeden Januar am 3.": "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=3",
    "täglich": "FREQ=DAILY",
    "every second tuesday": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU",
    "every other tuesday and friday": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,FR",
    "jeden zweiten Dienstag": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU",
    "alle 2 Wochen freitags": "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR",
    "every second month": "FREQ=MONTHLY;INTERVAL=2",
    "every 15th of the month": "FREQ=MONTHLY;BYMONTHDAY=15",
    "jeden letzten Tag des Monats": "FREQ=MONTHLY;BYMONTHDAY=-1",
    "every first monday": "FREQ=MONTHLY;BYDAY=1MO",
    "montags und donnerstags": "FREQ=WEEKLY;BYDAY=MO,TH",
    "on mondays": "FREQ=WEEKLY;BYDAY=MO",
    "jede Woche Montag": "FREQ=WEEKLY;BYDAY=MO",
    "quarterly": "FREQ=MONTHLY;INTERVAL=3",
    "jedes halbe Jahr": "FREQ=MONTHLY;INTERVAL=6",
    "every 24 december": "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24",
    "every december 24": "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24",
    "every year on may 5": "FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=5",
    "on dec 24 every year": "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24",
    "jährlich am 29.2.": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
    "the last friday of every month": "FREQ=MONTHLY;BYDAY=-1FR",
    "on the 15th of each month": "FREQ=MONTHLY;BYMONTHDAY=15",
    "zum 1. jeden Monats": "FREQ=MONTHLY;BYMONTHDAY=1",
    "last workday of every month": "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "jeden ersten Werktag im Monat": "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1",
    "every monday to thursday": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH",
    "every sat-mon": "FREQ=WEEKLY;BYDAY=SA,SU,MO",
    "jeden Montag bis Freitag": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "every weekend": "FREQ=WEEKLY;BYDAY=SA,SU",
    "on weekends": "FREQ=WEEKLY;BYDAY=SA,SU",
    "once a month": "FREQ=MONTHLY",
    "every 2nd and 4th tuesday": "FREQ=MONTHLY;BYDAY=2TU,4TU",
    "every 1st and 15th": "FREQ=MONTHLY;BYMONTHDAY=1,15",
    "every tue & thu": "FREQ=WEEKLY;BYDAY=TU,TH",
    "each tue/thu": "FREQ=WEEKLY;BYDAY=TU,TH",
    "jedes Jahr im März": "FREQ=YEARLY;BYMONTH=3",
    "FREQ=DAILY": "FREQ=DAILY",
}


@pytest.mark.parametrize(
    "text", ["alle zwei, drei Tage", "20 every month", "monthly 20", "every first and last friday"]
)
def test_a_bare_number_or_an_unclear_list_is_no_day_of_the_month(text: str) -> None:
    with pytest.raises(InvalidInputError, match="neither in known words"):
        recurrence.parse_recurrence(text)


def test_words_that_are_no_repetition_are_quoted_as_they_were_given() -> None:
    with pytest.raises(InvalidInputError, match="'every blue moon'"):
        recurrence.parse_recurrence("every blue moon")


@pytest.mark.parametrize("text", WORDS)
def test_a_recurrence_may_be_given_in_words(text: str) -> None:
    assert recurrence.parse_recurrence(text) == WORDS[text]


@pytest.mark.parametrize(
    "text",
    [
        "every",
        "every third tuesday",
        "every 15th month of the month",
        "monday and friday",
        "biweekly",
        "every 30 february",
        "every hour",
        "sometimes",
        "every day when done",
        "every 31st february",
    ],
)
def test_a_recurrence_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="recurrence"):
        recurrence.parse_recurrence(text)


def task_due(deadline: datetime | date, **fields: Any) -> Task:
    """Return a recurring task."""
    now = datetime(2027, 3, 20, tzinfo=UTC)
    return Task(id="t_0000000000", version=1, created_at=now, updated_at=now, title="x", deadline=deadline, **fields)


def follow(task: Task, times: int) -> list[Task]:
    """Complete a task at its deadline, or a day at noon, and the tasks that follow it; return these."""
    found: list[Task] = []
    for _ in range(times):
        now = task.deadline if isinstance(task.deadline, datetime) else datetime(2027, 3, 27, 12, tzinfo=BERLIN)
        following = next_occurrence(task, id_=task.id, now=now, zone=BERLIN)
        assert following
        task = following
        found.append(task)
    return found


def local_time(task: Task) -> str:
    """Return the day of a deadline, and its local time if it has one."""
    deadline = task.deadline
    return f"{deadline.astimezone(BERLIN):%d %H:%M}" if isinstance(deadline, datetime) else f"{deadline:%d}"


def test_a_series_goes_on_at_its_hour_after_a_day_on_which_clocks_skip_it() -> None:
    start = datetime(2027, 3, 27, 2, 30, tzinfo=BERLIN).astimezone(UTC)

    found = follow(task_due(start, recurrence="FREQ=DAILY"), 3)

    assert [local_time(task) for task in found] == ["28 03:30", "29 02:30", "30 02:30"]
    assert found[-1].recurrence == "FREQ=DAILY"


def test_a_series_that_counts_from_completion_goes_on_at_its_hour_after_clocks_skip_it() -> None:
    task = task_due(
        datetime(2027, 3, 27, 2, 30, tzinfo=BERLIN).astimezone(UTC), recurrence="FREQ=DAILY", repeat_from="done"
    )

    done = next_occurrence(task, id_=task.id, now=datetime(2027, 3, 28, 12, tzinfo=BERLIN), zone=BERLIN)

    assert done
    assert done.deadline == datetime(2027, 3, 29, 2, 30, tzinfo=BERLIN)
    assert done.recurrence == "FREQ=DAILY"


def test_a_rule_with_hours_of_its_own_keeps_them() -> None:
    start = datetime(2027, 3, 20, 8, 0, tzinfo=BERLIN).astimezone(UTC)
    task = task_due(start, recurrence="FREQ=DAILY;BYHOUR=9;BYMINUTE=0")

    following = next_occurrence(task, id_=task.id, now=start, zone=BERLIN)

    assert following
    assert following.recurrence == "FREQ=DAILY;BYHOUR=9;BYMINUTE=0"


def test_a_day_follows_a_day_whatever_hours_the_rule_has() -> None:
    found = follow(task_due(date(2027, 3, 27), recurrence="FREQ=DAILY;BYHOUR=2;BYMINUTE=30"), 3)

    assert [local_time(task) for task in found] == ["28", "29", "30"]
