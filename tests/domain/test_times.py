"""Times: the words that stand for days and moments, and what is said of those that do not."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from panorama.domain.time import times
from panorama.errors import InvalidInputError

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 5, 20, 10, 0, 7, 250, tzinfo=BERLIN)

MOMENTS = {
    "+2h": datetime(2026, 5, 20, 10, 0, 7, tzinfo=UTC),
    "+90min": datetime(2026, 5, 20, 9, 30, 7, tzinfo=UTC),
    "+2 h": datetime(2026, 5, 20, 10, 0, 7, tzinfo=UTC),
    "tomorrow 9:00": datetime(2026, 5, 21, 7, 0, tzinfo=UTC),
    "2026-05-31 9:00": datetime(2026, 5, 31, 7, 0, tzinfo=UTC),
    "2026-05-31T9:05:30+02:00": datetime(2026, 5, 31, 7, 5, 30, tzinfo=UTC),
    "Tomorrow at 09:00": datetime(2026, 5, 21, 7, 0, tzinfo=UTC),
    "today 23:59": datetime(2026, 5, 20, 21, 59, tzinfo=UTC),
    "+3d 00:00": datetime(2026, 5, 22, 22, 0, tzinfo=UTC),
    "+1w 9:30": datetime(2026, 5, 27, 7, 30, tzinfo=UTC),
    "2026-05-31T15:00": datetime(2026, 5, 31, 13, 0, tzinfo=UTC),
    "2026-05-31 15:00": datetime(2026, 5, 31, 13, 0, tzinfo=UTC),
    "2026-05-31T15:00Z": datetime(2026, 5, 31, 15, 0, tzinfo=UTC),
}
DAYS = {
    "today": date(2026, 5, 20),
    "tomorrow": date(2026, 5, 21),
    "+1d": date(2026, 5, 21),
    "2026-05-31": date(2026, 5, 31),
}


@pytest.mark.parametrize("word", MOMENTS)
def test_a_moment_is_meant_by_a_deadline_and_by_a_moment_alike(word: str) -> None:
    assert times.parse_datetime(word, "at", now=NOW, zone=BERLIN) == MOMENTS[word]
    assert times.parse_deadline(word, "deadline", now=NOW, zone=BERLIN) == MOMENTS[word]


@pytest.mark.parametrize("word", DAYS)
def test_a_day_is_no_moment_and_what_is_offered_instead_is_one(word: str) -> None:
    assert times.parse_deadline(word, "deadline", now=NOW, zone=BERLIN) == DAYS[word]
    with pytest.raises(InvalidInputError, match="at needs a time of day") as refused:
        times.parse_datetime(word, "at", now=NOW, zone=BERLIN)

    offered = [part.strip(" .") for part in refused.value.hint.removeprefix("Use ").replace(" or ", " ").split(",")]
    assert len(offered) == 6
    for phrase in offered:
        times.parse_datetime(phrase.partition(" (")[0], "at", now=NOW, zone=BERLIN)


@pytest.mark.parametrize(
    "word",
    ["soon", "tomorrow 25:00", "today 9", "someday 9:00", "+2", "-2h", "2026-02-30", "2026-05-31T25:00", ""],
)
def test_what_is_no_time_is_told_what_is(word: str) -> None:
    with pytest.raises(InvalidInputError, match="at is not a moment "):
        times.parse_datetime(word, "at", now=NOW, zone=BERLIN)
    with pytest.raises(InvalidInputError, match="deadline is not a date "):
        times.parse_deadline(word, "deadline", now=NOW, zone=BERLIN)


@pytest.mark.parametrize("word", ["+9999w", "+9999w 9:00", "2300-01-01", "1899-12-31T23:00"])
def test_what_is_too_far_away_is_refused(word: str) -> None:
    with pytest.raises(InvalidInputError, match="outside the years 1900 to 2199"):
        times.parse_deadline(word, "deadline", now=NOW, zone=BERLIN)
