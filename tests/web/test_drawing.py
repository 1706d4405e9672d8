"""Charts, differences, and dates in words."""

from datetime import UTC, date, datetime, timedelta

import pytest

from panorama.domain.charts.geometry import draw_bars, draw_lines, list_ticks
from panorama.web.diffs import DiffLine, compare_texts
from panorama.web.texts import Texts, choose_language

TODAY = date(2026, 5, 20)


@pytest.mark.parametrize("largest", [0, 1, 3, 9, 10, 11, 99, 100, 12_345])
def test_a_scale_is_round_and_covers_the_largest_value(largest: int) -> None:
    ticks = list_ticks(largest)

    assert ticks[0] == 0
    assert ticks[-1] >= largest
    assert all(tick.is_integer() for tick in ticks)
    assert 2 <= len(ticks) <= 10


def test_a_day_without_anything_has_no_bars() -> None:
    chart = draw_bars([(TODAY, (0, 2)), (TODAY + timedelta(days=1), (0, 0))])

    assert [[bar.series for bar in day.bars] for day in chart.days] == [[1], []]


def test_a_curve_of_one_value_is_drawn() -> None:
    assert [curve.path[:5] for curve in draw_lines([(TODAY, (3, 1))]).curves] == ["M0.0 ", "M0.0 "]


def test_equal_lines_are_left_out_and_changed_words_marked() -> None:
    old = "\n".join([*map(str, range(20)), "the green tea"])
    new = old.replace("green", "black")

    rows = compare_texts(old, new)

    assert rows[0] == 17
    changed = [row for row in rows if isinstance(row, DiffLine) and row.sign != " "]
    assert [[text for text, is_changed in row.parts if is_changed] for row in changed] == [["green"], ["black"]]


@pytest.mark.parametrize(
    ("old", "new", "marked"),
    [
        (["Buy green tea"], ["Buy black tea", "Buy a cup"], ["green", "black"]),
        (["Buy green tea"], ["First of all", "Buy black tea"], ["green", "black"]),
        (["Buy green tea", "Sweep the floor"], ["Sweep the whole floor"], ["whole "]),
        (["Buy green tea"], ["Nothing alike", "Nor here"], []),
        (["one two three", "four five six"], ["zero", "one two 3", "four 5 six"], ["three", "five", "3", "5"]),
    ],
)  # fmt: skip
def test_changed_words_are_marked_also_where_lines_were_added_or_removed(
    old: list[str], new: list[str], marked: list[str]
) -> None:
    rows = compare_texts("\n".join(old), "\n".join(new))

    found = [text for row in rows if isinstance(row, DiffLine) for text, is_changed in row.parts if is_changed]
    assert sorted(found) == sorted(marked)


def test_a_block_of_many_lines_is_shown_without_marks_of_words() -> None:
    rows = compare_texts("\n".join(["a b c d"] * 60), "\n".join(["a b c e"] * 61))

    assert not any(is_changed for row in rows if isinstance(row, DiffLine) for _, is_changed in row.parts)


@pytest.mark.parametrize(
    ("iso", "words", "tone"),
    [
        ("2026-05-20", "Today", "today"),
        ("2026-05-21", "Tomorrow", "soon"),
        ("2026-05-19", "Yesterday", "late"),
        ("2026-05-12", "8 days ago", "late"),
        ("2026-05-25", "Monday", "plain"),
        ("2026-06-30", "30 June", "plain"),
        ("2027-01-05", "5 Jan 2027", "plain"),
        ("2026-05-21T15:00:00+02:00", "Tomorrow 15:00", "soon"),
    ],
)
def test_a_deadline_is_said_in_words(iso: str, words: str, tone: str) -> None:
    due = Texts("en").due(iso, TODAY)

    assert due
    assert (due.words, due.tone) == (words, tone)


def test_a_moment_is_said_in_words() -> None:
    now = datetime(2026, 5, 20, 12, 0, tzinfo=UTC)

    words = [Texts("de").moment((now - timedelta(minutes=gap)).isoformat(), now) for gap in (0, 5, 120, 1440, 14_400)]

    assert words == ["gerade eben", "vor 5 Min.", "10:00", "Gestern 12:00", "10. Mai 12:00"]


@pytest.mark.parametrize(
    ("header", "language"),
    [("", "en"), ("de-DE,de;q=0.9,en;q=0.8", "de"), ("fr,de;q=0.5", "de"), ("en-GB,de", "en"), ("xx", "en")],
)
def test_the_language_is_the_first_that_is_known(header: str, language: str) -> None:
    assert choose_language(header) == language
