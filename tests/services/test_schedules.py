"""Schedules: what runs when, what becomes of runs that were missed, and what is refused."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.errors import (
    ConfirmationError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    UnavailableError,
)
from tests.conftest import StandingClock
from tests.queues import StandInQueue

Call = Callable[..., Answer]


@pytest.fixture
def tick(app: App) -> Callable[[], None]:
    """Does what is due."""
    return lambda: app.timing.schedules.run_due()


def next_of(call: Call, name: str) -> str | None:
    """Return when a schedule runs next."""
    return next(row.get("next_at") for row in call("list_schedules").data if row["name"] == name)


def test_a_schedule_submits_its_job_when_it_is_due_and_not_before(
    call: Call, tick: Callable[[], None], clock: StandingClock, queue: StandInQueue
) -> None:
    call("add_schedule", kind="backup", name="Nightly", cron="30 10 * * *", arguments={"keep": 3})

    clock.advance(minutes=29)
    tick()
    assert queue.submitted == []
    clock.advance(minutes=1)
    tick()
    tick()

    assert queue.submitted == [("backup", {"keep": 3}, "schedule Nightly")]
    assert next_of(call, "Nightly") == "2026-05-21T10:30+02:00"


@pytest.mark.parametrize(
    ("trigger", "at"),
    [
        ({"cron": "0 9 * * mon-fri"}, "2026-05-21T09:00+02:00"),
        ({"cron": "0 9 * * *", "zone": "America/New_York"}, "2026-05-20T15:00+02:00"),
        ({"cron": "0 2 29 2 *"}, "2028-02-29T02:00+01:00"),
        ({"every": "90 min"}, "2026-05-20T11:30+02:00"),
        ({"every": "1d", "at": "2026-05-25T07:00"}, "2026-05-25T07:00+02:00"),
        ({"at": "2026-05-20T18:00", "zone": "UTC"}, "2026-05-20T20:00+02:00"),
    ],
)
def test_a_schedule_says_when_it_runs_next(call: Call, trigger: dict[str, str], at: str) -> None:
    assert call("add_schedule", kind="backup", **trigger).data["next_at"] == at


def test_a_schedule_is_kept_over_a_restart(call: Call, app: App, clock: StandingClock, queue: StandInQueue) -> None:
    from panorama.services.schedules.due import DueWork

    call("add_schedule", kind="backup", every="2h")
    clock.advance(hours=2)

    DueWork(app.context, queue).run_due(lambda _: None)

    assert len(queue.submitted) == 1


def test_runs_that_were_missed_are_made_up_for_by_one(
    call: Call, tick: Callable[[], None], clock: StandingClock, queue: StandInQueue
) -> None:
    call("add_schedule", kind="backup", every="1h")
    clock.advance(hours=50, minutes=20)

    tick()
    tick()

    assert len(queue.submitted) == 1
    assert next_of(call, "backup") == "2026-05-22T13:00+02:00"


def test_runs_that_were_missed_are_skipped_if_that_is_wanted(
    call: Call, tick: Callable[[], None], clock: StandingClock, queue: StandInQueue
) -> None:
    call("add_schedule", kind="backup", every="1h", missed="skip")
    clock.advance(hours=3, minutes=20)
    tick()
    skipped = call("list_schedules").data[0]
    clock.advance(minutes=40)
    tick()

    assert "Skipped: 3 missed" in skipped["problem"]
    assert len(queue.submitted) == 1
    assert "problem" not in call("list_schedules").data[0]


def test_what_runs_once_has_ended_then(
    call: Call, tick: Callable[[], None], clock: StandingClock, queue: StandInQueue
) -> None:
    call("add_schedule", kind="backup", at="2026-05-20T18:00")
    clock.advance(days=2)

    tick()
    tick()

    assert len(queue.submitted) == 1
    assert next_of(call, "backup") is None


def test_a_paused_schedule_rests_and_makes_up_for_nothing(
    call: Call, tick: Callable[[], None], clock: StandingClock, queue: StandInQueue
) -> None:
    call("add_schedule", kind="backup", every="1h")
    call("pause_schedule", schedule="backup")
    clock.advance(hours=5, minutes=30)
    tick()
    resumed = call("resume_schedule", schedule="Backup")
    tick()

    assert queue.submitted == []
    assert resumed.data["next_at"] == "2026-05-20T16:00+02:00"


def test_a_job_that_is_refused_is_told_and_the_schedule_goes_on(
    call: Call, tick: Callable[[], None], clock: StandingClock, queue: StandInQueue
) -> None:
    call("add_schedule", kind="backup", every="1h")
    queue.fails = InvalidInputError("There is no folder.", hint="Make it.")
    clock.advance(hours=1)
    tick()
    problem = call("list_schedules").data[0]["problem"]
    queue.fails = None
    clock.advance(hours=1)
    tick()

    assert problem == "There is no folder."
    assert len(queue.submitted) == 1


def test_what_cannot_be_submitted_now_is_submitted_later_and_holds_up_no_other(
    call: Call, tick: Callable[[], None], clock: StandingClock, queue: StandInQueue, app: App
) -> None:
    call("add_schedule", kind="backup", every="1h")
    call("add_schedule", kind="reindex", every="1h")
    clock.advance(hours=1)
    queue.fails = UnavailableError("The disk is full.", hint="Free some.")
    with pytest.raises(UnavailableError):
        tick()

    queue.fails = None
    tick()

    assert sorted(kind for kind, _, _ in queue.submitted) == ["backup", "reindex"]


def test_a_submission_that_is_not_kept_is_made_again(call: Call, app: App, clock: StandingClock) -> None:
    call("add_schedule", kind="backup", every="1h")
    clock.advance(hours=1)
    schedules = app.timing.schedules

    class Dying(StandInQueue):
        def submit(self, *_: Any, **__: Any) -> str:
            raise KeyboardInterrupt  # as if the process died before the transaction was kept

    kept, schedules._queue = schedules._queue, Dying()
    with pytest.raises(KeyboardInterrupt):
        schedules.run_due()
    schedules._queue = kept
    schedules.run_due()

    assert len(kept.submitted) == 1


def test_a_schedule_of_a_zone_that_is_gone_rests_and_says_why(
    call: Call, app: App, tick: Callable[[], None], clock: StandingClock
) -> None:
    from dataclasses import replace

    from panorama.store.items.alerts import TICKER
    from panorama.store.log import schedules

    call("add_schedule", kind="backup", cron="0 12 * * *")
    with app.context.database.transaction(TICKER) as session:
        old = schedules.find(session, "backup")
        assert old
        schedules.save(session, replace(old, zone="Atlantis/Centre"))
    clock.advance(hours=5)

    tick()

    row = call("list_schedules").data[0]
    assert row["paused"]
    assert "Atlantis/Centre" in row["problem"]


def test_a_clock_that_was_a_year_ahead_does_not_stop_a_schedule_for_a_year(
    call: Call, app: App, tick: Callable[[], None], clock: StandingClock, queue: StandInQueue
) -> None:
    call("add_schedule", kind="backup", every="1h")
    clock.advance(days=365)
    tick()
    clock.advance(days=-365)

    app.timing.run_due(lambda _: None, was_set=True)
    clock.advance(hours=1)
    tick()

    assert len(queue.submitted) == 2


def test_a_clock_that_is_set_back_a_little_runs_nothing_twice(
    call: Call, app: App, tick: Callable[[], None], clock: StandingClock, queue: StandInQueue
) -> None:
    call("add_schedule", kind="backup", every="1h")
    clock.advance(hours=1)
    tick()
    clock.advance(minutes=-10)
    app.timing.run_due(lambda _: None, was_set=True)
    clock.advance(minutes=15)
    tick()

    assert len(queue.submitted) == 1


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"kind": "backups", "every": "1h"}, "backup"),
        ({"kind": "backup", "cron": "0 0 30 2 *"}, "never fires"),
        ({"kind": "backup", "cron": "0 0 31 4,6,9,11 *"}, "never fires"),
        ({"kind": "backup", "cron": "* * * * * *"}, "five fields"),
        ({"kind": "backup", "cron": "0 25 * * *"}, "hour"),
        ({"kind": "backup", "every": "10s"}, "minute and a year"),
        ({"kind": "backup", "every": "2 years"}, "minute and a year"),
        ({"kind": "backup", "every": "1h", "zone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"kind": "backup", "every": "1h", "zone": "../etc/passwd"}, "no time zone"),
        ({"kind": "backup", "at": "2026-05-20T09:00"}, "passed"),
        ({"kind": "backup", "at": "tomorrow"}, "time of day"),
        ({"kind": "backup"}, "one of cron, every and at"),
        ({"kind": "backup", "cron": "@daily", "at": "2026-06-01T09:00"}, "one of cron, every and at"),
        ({"kind": "backup", "every": "1h", "arguments": {"x": "y" * 30_000}}, "20,000"),
    ],
)
def test_what_cannot_be_is_refused_with_the_next_step_and_changes_nothing(
    call: Call, wrong: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        call("add_schedule", **wrong)

    assert expected in f"{refused.value.message} {refused.value.hint}"
    assert refused.value.hint
    assert call("list_schedules").data == []


def test_two_schedules_do_not_have_one_name(call: Call) -> None:
    first = call("add_schedule", kind="backup", name="Nightly", every="1d").data["id"]

    with pytest.raises(ConflictError) as refused:
        call("add_schedule", kind="reindex", name=" NIGHTLY ", every="1d")

    assert refused.value.to_dict()["candidates"][0]["id"] == first


def test_an_unknown_schedule_is_refused_with_those_there_are(call: Call) -> None:
    call("add_schedule", kind="backup", name="Nightly", every="1d")

    with pytest.raises(NotFoundError) as refused:
        call("pause_schedule", schedule="Nitely")

    assert [candidate["name"] for candidate in refused.value.to_dict()["candidates"]] == ["Nightly"]


def test_the_person_is_asked_before_a_schedule_is_forgotten(call: Call) -> None:
    call("add_schedule", kind="backup", name="Nightly", every="1d")

    with pytest.raises(ConfirmationError):
        call("remove_schedule", schedule="Nightly")
    assert len(call("list_schedules").data) == 1
    call("remove_schedule", schedule="nightly", confirm=True)

    assert call("list_schedules").data == []


def test_scripts_cannot_add_what_an_undo_of_them_could_not_take_back(call: Call) -> None:
    ran = call("run_code", code='sdk.schedules.add("backup", every="1h")').data

    assert ran["error"]
    assert call("list_schedules").data == []


def test_an_idempotency_key_adds_a_schedule_once(call: Call) -> None:
    for _ in range(2):
        call("add_schedule", kind="backup", every="1h", idempotency_key="k")

    assert len(call("list_schedules").data) == 1


def test_a_clock_that_stands_between_two_runs_knows_the_nearest_moment(call: Call, app: App) -> None:
    call("add_schedule", kind="backup", every="2h")
    call("create_reminder", title="Tea", at="2026-05-20T11:00")

    coming = app.timing.run_due(lambda _: None)

    assert coming == datetime(2026, 5, 20, 9, 0, tzinfo=UTC)
    assert coming - app.context.now() == timedelta(hours=1)
