"""When a journal entry happened: a moment, or a day without a time."""

import re
from collections.abc import Callable

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError

Call = Callable[..., Answer]


@pytest.mark.parametrize(
    ("day", "noon"),
    [
        ("gestern", "2026-05-19T12:00+02:00"), ("yesterday", "2026-05-19T12:00+02:00"),
        ("last friday", "2026-05-15T12:00+02:00"), ("2026-01-31", "2026-01-31T12:00+01:00"),
    ],
)  # fmt: skip
def test_a_day_without_a_time_is_its_noon_and_the_answer_says_so(call: Call, day: str, noon: str) -> None:
    added = call("journal.create", text="Tiles arrived", at=day)

    assert added.data["at"] == noon
    assert added.metadata["hint"] == f"No time was given: it was set to noon, {noon}."
    moved = call("journal.update", entry=call("journal.create", text="Rain").data["id"], at=day)
    assert (moved.data["at"], moved.metadata["hint"]) == (noon, added.metadata["hint"])


def test_today_without_a_time_is_now_and_a_time_is_kept(call: Call) -> None:
    now = call("journal.create", text="Rain")
    today = call("journal.create", text="Rain", at="heute")
    timed = call("journal.create", text="Rain", at="gestern 15:00")

    assert (today.data["at"], timed.data["at"]) == (now.data["at"], "2026-05-19T15:00+02:00")
    assert "hint" not in today.metadata
    assert "hint" not in timed.metadata
    with pytest.raises(InvalidInputError, match="at is not a date"):
        call("journal.create", text="Rain", at="someday")


@pytest.mark.parametrize("day", ["monday", "Montag", "on friday 15:00", "tomorrow"])
def test_a_day_in_words_that_is_to_come_is_refused_with_the_dates_to_choose_from(call: Call, day: str) -> None:
    entry = call("journal.create", text="Rain").data["id"]

    with pytest.raises(InvalidInputError, match="is in the future") as created:
        call("journal.create", text="Rain", at=day)
    with pytest.raises(InvalidInputError, match="is in the future"):
        call("journal.update", entry=entry, at=day)

    dates = re.findall(r"\d{4}-\d\d-\d\d", created.value.hint)
    past, future = (call("journal.create", text="Rain", at=date).data["at"][:10] for date in dates)
    assert past < "2026-05-20" < future
    assert [past, future] == dates


@pytest.mark.parametrize(
    ("day", "past", "future"),
    [("wednesday", "2026-05-20", "2026-05-27"), ("3 March", "such as 2026-05-31", "2027-03-03")],
)
def test_the_refusal_of_a_day_to_come_says_how_to_give_a_date(call: Call, day: str, past: str, future: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        call("journal.create", text="Rain", at=day)

    assert error.value.hint == f"Give the date: {past}, or {future} if it is to come."
