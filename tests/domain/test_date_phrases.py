"""Dates in words: read as a person means them, or refused; never read as another day in silence."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.time import times
from panorama.domain.time.date_phrases import MAX_PHRASE_CHARS, parse_date_phrase
from panorama.errors import InvalidInputError

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 24, 10, 30, tzinfo=BERLIN)


def load(name: str) -> list[tuple[str, str | None]]:
    """Return phrases and what they mean, None for nothing."""
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    return [tuple(json.loads(line)) for line in lines]


PHRASES = load("date_phrases.jsonl")
"""Phrases said on Tuesday, 2026-11-24 10:30 and their meaning, null for none; written without sight of the parser."""


def read(text: str, now: datetime = NOW) -> str | None:
    """Return what a text means as ISO text in local time, None if it is refused."""
    try:
        found = times.parse_deadline(text, "deadline", now=now, zone=BERLIN)
    except InvalidInputError:
        return None
    return f"{found.astimezone(BERLIN):%Y-%m-%dT%H:%M}" if isinstance(found, datetime) else found.isoformat()


@pytest.mark.parametrize(("text", "meant"), PHRASES, ids=[repr(text) for text, _ in PHRASES])
def test_a_phrase_means_what_a_person_means_by_it(text: str, meant: str | None) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("more_date_phrases.jsonl", datetime(2027, 2, 28, 21, 15, tzinfo=BERLIN)),
        ("spring_date_phrases.jsonl", datetime(2026, 3, 25, 14, 20, tzinfo=BERLIN)),
    ],
)
def test_phrases_that_the_parser_was_not_made_for_are_read_as_meant_or_refused(name: str, now: datetime) -> None:
    phrases = load(name)

    answers = [(text, meant, read(text, now)) for text, meant in phrases]

    assert [answer for answer in answers if answer[2] not in (answer[1], None)] == []
    assert sum(meant == answer for _, meant, answer in answers) >= 0.95 * len(phrases)


@pytest.mark.parametrize(
    "text",
    [
        "04/05/2026", "12/12", "friday or saturday", "next weekend", "friday 26 november 2026", "31 february", "5", "",
        "friday midnight", "first", "the", "the of friday week week", "3 days", "in 99999 days", "morning", "25:00",
        "10am 11am", "friday 3pm tomorrow", "fri fri", "13 am", "0 pm", "halb", "in 3", "x" * 1000, "\x00",
    ],
)  # fmt: skip
def test_what_could_be_two_days_or_none_is_refused(text: str) -> None:
    assert read(text) is None


def test_a_moment_that_clocks_skip_is_refused() -> None:
    before_spring = datetime(2027, 3, 27, 12, tzinfo=BERLIN)

    assert read("tomorrow 3:30", before_spring) == "2027-03-28T03:30"
    assert parse_date_phrase("tomorrow at 2:30", before_spring) is None


def test_hours_are_counted_over_a_change_of_clocks() -> None:
    evening = datetime(2027, 3, 27, 23, tzinfo=BERLIN)

    assert parse_date_phrase("in 4 hours", evening) == evening.astimezone(UTC) + timedelta(hours=4)


@given(st.text(max_size=MAX_PHRASE_CHARS + 5))
def test_any_text_is_read_or_refused(text: str) -> None:
    read(text)


WORDS = "friday fri next last this in 2 weeks the of first 1st month march at 3pm evening from kw 5. 5/6 am ago morgen"


@given(st.lists(st.sampled_from(WORDS.split()), max_size=7).map(" ".join))
def test_any_order_of_words_is_read_or_refused(text: str) -> None:
    read(text)


FORMS = ["%d %B %Y", "%B %d, %Y", "%d. %b %Y", "%d.%m.%Y", "%A, %d %B %Y", "the %d of %B %Y", "%a %d.%m.%Y", "%Y/%m/%d"]


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.sampled_from(FORMS))
def test_a_day_with_its_year_is_that_day_in_every_form(day: date, form: str) -> None:
    assert read(day.strftime(form)) == day.isoformat()


@given(st.dates(date(2020, 1, 1), date(2050, 1, 1)), st.integers(0, 6))
def test_a_weekday_is_the_coming_one(today: date, weekday: int) -> None:
    now = datetime.combine(today, datetime.min.time(), BERLIN)
    coming = [today + timedelta(ahead) for ahead in range(1, 8)]
    day = next(day for day in coming if day.weekday() == weekday)

    for form in ("%A", "on %A", "next %a", "bis %A"):
        assert read(day.strftime(form), now) == day.isoformat()


@pytest.mark.parametrize(
    ("year", "day"),
    [(2000, "04-23"), (2008, "03-23"), (2019, "04-21"), (2025, "04-20"), (2026, "04-05"), (2038, "04-25")],
)
def test_easter_is_the_sunday_that_the_church_has(year: int, day: str) -> None:
    assert read("Ostern", datetime(year, 1, 2, tzinfo=BERLIN)) == f"{year}-{day}"
