"""When a journal entry happened: a moment, or a day without a time."""

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
