"""What rang and waits is told wherever somebody looks how things are."""

from collections.abc import Callable

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.errors import InvalidInputError
from tests.conftest import StandingClock

Call = Callable[..., Answer]


def ring_reminder(call: Call, app: App, clock: StandingClock) -> str:
    """Let a reminder ring, and return its id."""
    reminder = call("create_reminder", title="Call Petra", at="2026-05-20T11:00").data["id"]
    app.timing.run_due(lambda _: None)
    clock.advance(hours=2)
    app.timing.run_due(lambda _: None)
    return str(reminder)


def test_the_status_counts_reminders_that_wait(call: Call, app: App, clock: StandingClock) -> None:
    before = call("status")

    reminder = ring_reminder(call, app, clock)

    assert (before.data["reminders_waiting"], "rang" in before.summary) == (0, False)
    assert call("status").data["reminders_waiting"] == 1
    assert "1 reminder rang and wait" in call("status").summary
    call("acknowledge_reminder", reminder=reminder)
    assert call("status").data["reminders_waiting"] == 0


def test_a_list_of_waiting_reminders_points_to_those_to_come(call: Call, app: App) -> None:
    before = call("list_waiting_reminders")
    call("create_reminder", title="Call Petra", at="2026-05-20T11:00")
    app.timing.run_due(lambda _: None)

    after = call("list_waiting_reminders")

    assert "hint" not in before.metadata
    assert after.metadata["hint"].startswith("list_reminders shows upcoming ones. Reminders ring only while")


def test_todays_page_names_reminders_that_wait(call: Call, app: App, clock: StandingClock) -> None:
    assert "Reminders" not in call("pages.today").data["markdown"]

    reminder = ring_reminder(call, app, clock)

    assert f"Call Petra (due 2026-05-20T11:00+02:00, 60 min late) `{reminder}`" in call("pages.today").data["markdown"]


def test_whoever_comes_is_told_of_each_reminder_once_and_not_of_one_that_was_put_off(
    call: Call, app: App, clock: StandingClock
) -> None:
    daily = call("create_reminder", title="Feed", at="2026-05-20T11:00", recurrence="FREQ=DAILY").data["id"]
    reminder = ring_reminder(call, app, clock)
    clock.advance(days=1)
    app.timing.run_due(lambda _: None)
    heard = [item.reminder.id for item in app.timing.ringing.list_pending(20)]

    call("snooze_reminder", reminder=reminder, until="2h")

    assert sorted(heard) == sorted([daily, reminder])
    assert [item.reminder.id for item in app.timing.ringing.list_pending(20)] == [daily]
    waiting = {row["title"]: row for row in call("list_waiting_reminders").data}
    assert waiting["Call Petra"]["snoozed_until"] == "2026-05-21T14:00+02:00"
    assert "snoozed_until" not in waiting["Feed"]


def test_who_sets_or_puts_off_a_reminder_where_nothing_rings_is_told(call: Call, app: App) -> None:
    alone = call("create_reminder", title="Tea", at="2026-05-20T15:00")
    snoozed = call("snooze_reminder", reminder=alone.data["id"], until="2h")
    with app.timing.ringing.mark_running():
        heard = call("create_reminder", title="Jam", at="2026-05-20T15:00")

    assert "only while the daemon runs" in alone.metadata["hint"]
    assert "without PANORAMA_NO_DAEMON" in alone.metadata["hint"]
    assert "only while the daemon runs" in snoozed.metadata["hint"]
    assert "hint" not in heard.metadata


def test_a_changed_title_is_no_reason_to_speak_of_ringing(call: Call) -> None:
    reminder = call("create_reminder", title="Tea", at="2026-05-20T15:00").data["id"]

    renamed = call("update_reminder", reminder=reminder, title="Green tea")
    off = call("update_reminder", reminder=reminder, enabled=False)
    on = call("update_reminder", reminder=reminder, enabled=True)

    assert ["hint" in item.metadata for item in (renamed, off, on)] == [False, False, True]


def test_that_a_reminder_or_schedule_needs_an_open_client_is_said_only_while_it_is_true(call: Call, app: App) -> None:
    hint = "only while a client is open; `panorama service install` changes that."
    with app.timing.ringing.mark_running(stays=False):
        empty = call("status")
        lingering = [
            call("create_reminder", title="Tea", at="2026-05-20T15:00"),
            call("add_schedule", kind="reindex", every="12h"),
            call("list_reminders"), call("list_schedules"), call("status"),
        ]  # fmt: skip
    with app.timing.ringing.mark_running():
        app.timing.ringing.update_alarms()
        staying = [call("create_reminder", title="Jam", at="2026-05-20T16:00"), call("list_reminders"), call("status")]

    assert [item.metadata["hint"].count(hint) for item in lingering] == [1] * 5
    assert not any("hint" in item.metadata for item in (empty, *staying))


def test_a_repeating_reminder_tells_its_next_three_occurrences(call: Call, app: App) -> None:
    with app.timing.ringing.mark_running():
        weekly = call("create_reminder", title="Bins", at="2026-05-25T07:00", recurrence="FREQ=WEEKLY;BYDAY=MO")
        odd = call("create_reminder", title="Odd", at="2026-05-26T07:00", recurrence="FREQ=WEEKLY;BYDAY=MO")
        once = call("create_reminder", title="Once", at="2026-05-26T07:00", recurrence="FREQ=DAILY;UNTIL=20260525")

    assert weekly.metadata["hint"] == "It rings Mon 2026-05-25 07:00, Mon 2026-06-01 07:00, Mon 2026-06-08 07:00 …"
    assert "Tue 2026-05-26 07:00, Mon 2026-06-01 07:00" in odd.metadata["hint"]
    assert odd.metadata["hint"].endswith("The first one does not match its rule.")
    assert once.metadata["hint"] == "It rings once, Tue 2026-05-26 07:00: its rule has no later time."


def test_snoozing_a_reminder_that_has_not_rung_moves_it_and_says_so(call: Call, app: App) -> None:
    with app.timing.ringing.mark_running():
        call("create_reminder", title="Tea", at="2026-05-20T15:00")
        call("create_reminder", title="Bins", at="2026-05-25T07:00", recurrence="FREQ=WEEKLY;BYDAY=MO")

        moved = call("snooze_reminder", reminder="Tea", until="2h")
        later = call("snooze_reminder", reminder="Bins", until="1d")

    assert (moved.data["at"], "snoozed_until" in moved.data) == ("2026-05-20T17:00+02:00", False)
    assert moved.metadata["hint"] == "It had not rung: moved from Wed 2026-05-20 15:00 to Wed 2026-05-20 17:00."
    assert later.data["snoozed_until"] == "2026-05-26T07:00+02:00"
    with pytest.raises(InvalidInputError, match="rings only after"):
        call("snooze_reminder", reminder="Bins", until="2026-05-21T09:00")
