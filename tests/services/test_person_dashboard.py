"""A person's dashboard: tasks, meetings, appointments, mentions and the birthday in one call."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from panorama.calls import Answer
from tests.conftest import StandingClock

Call = Callable[..., Answer]


@pytest.fixture
def ana(call: Call) -> Any:
    """A person with an alias."""
    return call("people.create", name="Ana", last_name="Kovač", aliases=["Anka"], birthday="1992-02-29").data


def titles(board: Answer, name: str) -> list[str]:
    """Return the titles of a list of a dashboard."""
    return [row["title"] for row in board.data[name]]


def test_a_dashboard_shows_what_a_person_has_to_do_and_what_waits_for_them(call: Call, ana: Any) -> None:
    call("people.create", name="Benedikt")
    call("tasks.create", title="Lay the tiles", assignee="Anka", waiting_for="Benedikt")
    call("tasks.create", title="Measure", assignee="Ana")
    call("tasks.create", title="Done already", assignee="Ana", status="done")
    call("tasks.create", title="Get the offer", waiting_for="Ana Kovač")

    board = call("people.dashboard", person="Anka")

    assert set(titles(board, "assigned")) == {"Lay the tiles", "Measure"}
    assert titles(board, "waited_for") == ["Get the offer"]
    assert board.data["waiting"] == 1
    assert "2 open tasks assigned (1 waiting for somebody)" in board.summary
    assert "waiting_for" in board.text
    assert "Benedikt" in board.text


def test_a_dashboard_shows_the_last_sessions_and_the_next_events(call: Call, clock: StandingClock, ana: Any) -> None:
    today = clock().date()
    call("sessions.create", title="Planning", attendees=["Ana"], started_at="2026-05-19T09:00")
    call("events.create", title="Site visit", starts_at=f"{today.year + 1}-01-02 10:00", attendees=["Anka"])
    call("events.create", title="Long past", starts_at="2020-01-02 10:00", attendees=["Anka"])

    board = call("people.dashboard", person="Ana")

    assert titles(board, "sessions") == ["Planning"]
    assert titles(board, "events") == ["Site visit"]


def test_what_was_stored_before_the_person_is_theirs_too(call: Call) -> None:
    call("sessions.log", title="First talk", attendees=["Benedikt Huber"], lines=["Hello"])
    call("people.create", name="Benedikt", last_name="Huber")

    board = call("people.dashboard", person="Benedikt")

    assert (titles(board, "sessions"), titles(board, "mentions")) == (["First talk"], [])
    assert [row["title"] for row in call("sessions.list", attendee="Benedikt Huber").data] == ["First talk"]


def test_sessions_of_a_namesake_are_not_theirs(call: Call) -> None:
    call("people.create", name="Ana Kovač", email="one@example.org")
    call("people.create", name="Ana Kovač", email="two@example.org")
    call("sessions.log", title="With the first", attendees=["one@example.org"], lines=["Hello"])

    assert titles(call("people.dashboard", person="one@example.org"), "sessions") == ["With the first"]
    assert titles(call("people.dashboard", person="two@example.org"), "sessions") == []


@pytest.mark.parametrize(
    ("today", "birthday", "turns"), [("2027-02-10", "2027-02-28", 35), ("2027-03-01", "2028-02-29", 36)]
)
def test_a_birthday_on_29_february_is_the_day_before_in_other_years(
    call: Call, clock: StandingClock, ana: Any, today: str, birthday: str, turns: int
) -> None:
    clock.moment = datetime.fromisoformat(f"{today}T12:00").replace(tzinfo=UTC)

    board = call("people.dashboard", person="Ana").data

    assert (board["next_birthday"], board["turns"]) == (birthday, turns)


def test_a_birthday_without_a_year_has_no_age(call: Call) -> None:
    call("people.create", name="Beni", birthday="12 May")

    board = call("people.dashboard", person="Beni").data

    assert board["next_birthday"].endswith("-05-12")
    assert "turns" not in board


def test_mentions_are_links_and_names_and_are_counted(call: Call, ana: Any) -> None:
    call("notes.create", title="Linked", content="See [[Ana Kovač]].")
    for number in range(12):
        call("notes.create", title=f"Named {number}", content="Anka knows.")

    board = call("people.dashboard", person="Ana")

    assert board.data["mentions"][0]["title"] == "Linked"
    assert len(board.data["mentions"]) == 10
    assert board.data["more"]["mentions"] >= 1
    assert "not shown" in board.summary
