"""What rang and waits is told wherever somebody looks how things are."""

from collections.abc import Callable

from panorama.app import App
from panorama.calls import Answer
from tests.conftest import StandingClock

Call = Callable[..., Answer]


def rung(call: Call, app: App, clock: StandingClock) -> str:
    """Let a reminder ring, and return its id."""
    reminder = call("create_reminder", title="Call Petra", at="2026-05-20T11:00").data["id"]
    app.timing.round(lambda _: None)
    clock.advance(hours=2)
    app.timing.round(lambda _: None)
    return str(reminder)


def test_the_status_counts_reminders_that_wait(call: Call, app: App, clock: StandingClock) -> None:
    before = call("status")

    reminder = rung(call, app, clock)

    assert (before.data["reminders_waiting"], "rang" in before.summary) == (0, False)
    assert call("status").data["reminders_waiting"] == 1
    assert "1 reminder rang and wait" in call("status").summary
    call("acknowledge_reminder", reminder=reminder)
    assert call("status").data["reminders_waiting"] == 0


def test_todays_page_names_reminders_that_wait(call: Call, app: App, clock: StandingClock) -> None:
    assert "Reminders" not in call("pages.today").data["markdown"]

    reminder = rung(call, app, clock)

    assert f"Call Petra (due 2026-05-20T11:00+02:00, 60 min late) `{reminder}`" in call("pages.today").data["markdown"]
