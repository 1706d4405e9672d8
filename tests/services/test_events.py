"""Events: what takes place at a time, once or again and again."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError

Call = Callable[..., Answer]


def times(call: Call, **period: Any) -> list[tuple[str, str]]:
    """Return title and start of what is in the calendar."""
    return [(row["title"], row["starts_at"]) for row in call("events.list", **period).data]


def test_an_event_lasts_an_hour_unless_its_end_is_given(call: Call) -> None:
    short = call("events.create", title="Call", starts_at="friday 9:00").data
    long = call("events.create", title="Tiler", starts_at="friday 9:00", ends_at="12:00").data

    assert (short["starts_at"], short["ends_at"]) == ("2026-05-22T09:00+02:00", "2026-05-22T10:00+02:00")
    assert long["ends_at"] == "2026-05-22T12:00+02:00"


def test_minutes_after_a_time_are_written_with_m_or_min(call: Call) -> None:
    for end in ("+30m", "+30 m", "+30min"):
        event = call("events.create", title="Call", starts_at="friday 9:00", ends_at=end).data
        assert event["ends_at"] == "2026-05-22T09:30+02:00"

    with pytest.raises(InvalidInputError, match="ends_at is not a date"):
        call("events.create", title="Days", starts_at="2026-05-22", ends_at="+1m")
    with pytest.raises(InvalidInputError, match="deadline is not a date"):
        call("tasks.create", title="Tiles", deadline="+1m")


def test_a_day_makes_an_all_day_event_and_two_a_span(call: Call) -> None:
    call("events.create", title="Holiday", starts_at="2026-05-21", ends_at="2026-05-23")
    call("events.create", title="Birthday", starts_at="2026-05-22")

    assert times(call, day="2026-05-22") == [("Birthday", "2026-05-22"), ("Holiday", "2026-05-21")][::-1]
    assert times(call, day="2026-05-24") == []
    assert call("items.get", item="Birthday").data["item"]["all_day"] is True


def test_recurrences_keep_the_time_of_day_across_a_clock_change(call: Call) -> None:
    call("events.create", title="Weekly", starts_at="2026-10-19T10:00", recurrence="every monday")

    assert [start for _, start in times(call, since="2026-10-19", until="2026-11-02")] == [
        "2026-10-19T10:00+02:00", "2026-10-26T10:00+01:00", "2026-11-02T10:00+01:00",
    ]  # fmt: skip


def test_a_recurring_day_is_a_day_each_time(call: Call) -> None:
    call("events.create", title="Bins", starts_at="2026-10-24", ends_at="2026-10-25", recurrence="every saturday")

    assert times(call, since="2026-10-25", until="2026-10-31") == [("Bins", "2026-10-24"), ("Bins", "2026-10-31")]


def test_who_comes_on_a_day_is_told_by_events_and_meetings(call: Call) -> None:
    ana = call("people.create", name="Ana", last_name="Kovač", aliases=["Anka"]).data["id"]
    call("events.create", title="Tiler", starts_at="friday 9:00", attendees=["Anka", "ben@example.org"])
    call("sessions.create", title="Kick-off", started_at="friday 14:00", attendees=["Cleo"])

    rows = call("events.list", day="friday", detail="full").data

    assert [(row["title"], row["kind"], row["attendees"]) for row in rows] == [
        ("Tiler", "event", ["Ana Kovač", "ben@example.org"]), ("Kick-off", "session", ["Cleo"]),
    ]  # fmt: skip
    assert rows[0]["people"] == [ana]
    assert times(call, attendee="Anka") == [("Tiler", "2026-05-22T09:00+02:00")]
    assert len(call("people.list").data) == 1


def test_moving_an_event_keeps_its_length_and_is_undone_whole(call: Call) -> None:
    event = call("events.create", title="Tiler", starts_at="friday 9:00", ends_at="12:00").data["id"]

    call("events.update", event=event, starts_at="2026-06-01T10:00")
    moved = call("items.get", item=event).data["item"]
    call("history.undo")

    assert (moved["starts_at"], moved["ends_at"]) == ("2026-06-01T10:00+02:00", "2026-06-01T13:00+02:00")
    assert call("items.get", item=event).data["item"]["starts_at"] == "2026-05-22T09:00+02:00"


def test_an_event_over_midnight_is_on_both_days(call: Call) -> None:
    call("events.create", title="Party", starts_at="2026-05-22T22:00", ends_at="2026-05-23T02:00")

    assert [len(times(call, day=day)) for day in ("2026-05-21", "2026-05-22", "2026-05-23", "2026-05-24")] == [
        0,
        1,
        1,
        0,
    ]


def test_it_is_found_trashed_and_restored(call: Call) -> None:
    call("events.create", title="Tiler", starts_at="friday 9:00", location="Harbour street", calendar="home")

    assert [hit["title"] for hit in call("search", query="harbour", mode="keyword").data] == ["Tiler"]
    assert call("query", collection="events", where={"calendar": "home"}, count=True).data == [{"count": 1}]
    call("items.delete", item="Tiler")
    assert times(call) == []
    call("items.restore", item="Tiler")
    assert len(times(call, calendar="home")) == 1


def test_pages_of_the_calendar_neither_repeat_nor_skip(call: Call) -> None:
    call("events.create", title="Daily", starts_at="today 18:00", recurrence="FREQ=DAILY")

    first = call("events.list", limit=4)
    second = call("events.list", limit=4, cursor=first.metadata["next_cursor"])

    starts = [row["starts_at"][:10] for row in (*first.data, *second.data)]
    assert starts == [f"2026-05-{day}" for day in range(20, 27)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"starts_at": "friday 9:00", "ends_at": "2026-05-22T08:00"}, "before it begins"),
        ({"starts_at": "friday 9:00", "ends_at": "friday 8:00"}, "before it begins"),
        ({"starts_at": "friday 9:00", "ends_at": "8:00"}, "before it begins"),
        ({"starts_at": "2026-05-22", "ends_at": "2026-05-21"}, "before it begins"),
        ({"starts_at": "2026-05-22", "ends_at": "2026-05-22T08:00"}, "a day and a moment"),
        ({"starts_at": "2026-05-22", "ends_at": "2028-05-22"}, "more than 366 days"),
        ({"starts_at": "2026-05-22", "ends_at": "2027-05-23"}, "more than 366 days"),
        ({"starts_at": "2026-05-22T09:00", "ends_at": "2027-05-23T09:01"}, "more than 366 days"),
        ({"starts_at": "someday"}, "starts_at is not a date"),
        ({"starts_at": "friday 9:00", "recurrence": "every minute"}, "recurrence"),
    ],
)
def test_what_is_wrong_is_refused(call: Call, arguments: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call("events.create", title="A", **arguments)

    assert call("query", collection="events", count=True).data == [{"count": 0}]


def test_an_event_and_a_period_may_have_366_days(call: Call) -> None:
    days = call("events.create", title="Year", starts_at="2026-05-22", ends_at="2027-05-22")
    hours = call("events.create", title="Hours", starts_at="2026-05-22T09:00", ends_at="2027-05-23T09:00")

    assert (days.data["ends_at"], hours.data["ends_at"]) == ("2027-05-22", "2027-05-23T09:00+02:00")
    assert len(times(call, since="2026-05-22", until="2027-05-22")) == 2
    with pytest.raises(InvalidInputError, match="longer than 366 days"):
        call("events.list", since="2026-05-22", until="2027-05-23")


def test_events_are_in_the_view_of_today_and_in_the_weekly_review(call: Call) -> None:
    event = call("events.create", title="Tiler", starts_at="today 9:00", ends_at="11:00", attendees=["Ben"]).data["id"]
    call("events.create", title="Holiday", starts_at="2026-05-23")

    today = call("pages.today").data["markdown"]
    week = call("overview.week", end="today").data["events_next_week"]

    assert f"## Events\n\n- 09:00 to 11:00 Tiler (Ben) `{event}`" in today
    assert (week["count"], week["items"][0]["title"]) == (1, "Holiday")


@pytest.mark.parametrize(
    ("starts_at", "ends_at", "end"),
    [
        ("friday 22:00", "2:00", "2026-05-23T02:00+02:00"),
        ("friday 9:00", "+90min", "2026-05-22T10:30+02:00"),
        ("friday 9:00", "5pm", "2026-05-22T17:00+02:00"),
        ("friday 9:00", "saturday 9:00", "2026-05-23T09:00+02:00"),
        ("friday", "+2d", "2026-05-24"),
    ],
)
def test_an_end_may_be_an_hour_a_distance_or_a_day_of_its_own(
    call: Call, starts_at: str, ends_at: str, end: str
) -> None:
    assert call("events.create", title="A", starts_at=starts_at, ends_at=ends_at).data["ends_at"] == end


def test_a_series_that_is_moved_off_its_rule_is_told(call: Call) -> None:
    event = call("events.create", title="Weekly", starts_at="2026-05-25T10:00", recurrence="every monday").data["id"]

    hint = call("events.update", event=event, starts_at="2026-05-26T11:00").metadata["hint"]
    moved = call("events.update", event=event, recurrence="every tuesday")

    assert "not on its recurrence (FREQ=WEEKLY;BYDAY=MO)" in hint
    assert "hint" not in moved.metadata
