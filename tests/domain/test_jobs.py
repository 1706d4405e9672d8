"""Jobs as values: which state may follow which; none is begun without end, or changed after its end."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from panorama.domain.jobs import (
    FINAL_STATES,
    LEASE,
    MAX_FUTILE_ATTEMPTS,
    TRANSITIONS,
    Job,
    JobKind,
    JobRate,
    Requester,
    State,
    describe_progress,
)
from panorama.errors import ConflictError

NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)
RESUMABLE, ONCE, STANDING = (
    JobKind(name="reindex", resumable=True),
    JobKind(name="run_script"),
    JobKind(name="catch_up", standing=True),
)


def job(**fields: object) -> Job:
    return Job(id="w_1", kind="reindex", arguments={}, asker=Requester(), created_at=NOW, unit="w_1", **fields)


def test_what_has_ended_cannot_be_moved_cancelled_or_ended_again() -> None:
    ended = job().start("a", NOW).finish("succeeded", NOW)

    moves: list[Callable[[], Job]] = [
        lambda: ended.start("b", NOW),
        ended.requeue,
        lambda: ended.cancel(NOW),
        lambda: ended.finish("failed", NOW),
        lambda: ended.recover(RESUMABLE, NOW),
    ]
    for move in moves:
        with pytest.raises(ConflictError):
            move()


def test_one_that_waits_is_cancelled_at_once_and_one_that_runs_at_its_next_step() -> None:
    waits, runs = job(), job().start("a", NOW)

    assert waits.cancel(NOW).state == "cancelled"
    assert (runs.cancel(NOW).state, runs.cancel(NOW).is_stopping) == ("running", True)


def test_a_job_whose_worker_died_goes_on_if_it_can_and_else_says_what_is_known() -> None:
    died = job().start("a", NOW).with_progress(3, 10, "notes", NOW)

    goes_on, ended = died.recover(RESUMABLE, NOW), died.recover(ONCE, NOW, wrote=7)

    assert (goes_on.state, goes_on.worker, goes_on.current) == ("queued", "", 3)
    assert ended.state == "interrupted"
    assert "3 of 10 (notes)" in ended.error["message"]
    assert "It had made 7 changes, which remain." in ended.error["message"]
    assert "undo w_1" in ended.error["hint"]
    assert "undo" not in died.recover(ONCE, NOW).error["hint"]


def test_a_job_that_was_cancelled_when_its_worker_died_is_cancelled() -> None:
    died = job().start("a", NOW).cancel(NOW)

    assert died.recover(RESUMABLE, NOW).state == "cancelled"


def test_a_job_that_comes_no_further_is_given_up_and_one_that_does_is_not() -> None:
    stuck = moving = job()
    for step in range(1, 20):
        moving = moving.start("a", NOW).with_progress(step, 20, "", NOW).recover(RESUMABLE, NOW)
        if stuck.state == "queued":
            stuck = stuck.start("a", NOW).recover(RESUMABLE, NOW)

    assert (moving.state, moving.attempts) == ("queued", 19)
    assert (stuck.state, stuck.attempts) == ("interrupted", MAX_FUTILE_ATTEMPTS)
    assert f"started {MAX_FUTILE_ATTEMPTS} times" in stuck.error["message"]


def test_leaving_in_peace_is_no_reason_to_give_a_job_up() -> None:
    found = job()
    for _ in range(50):
        found = found.start("a", NOW).requeue()

    assert (found.state, found.futile) == ("queued", 0)


def test_work_that_stands_is_never_given_up() -> None:
    found = job()
    for _ in range(50):
        found = found.start("a", NOW).recover(STANDING, NOW)

    assert found.state == "queued"


@pytest.mark.parametrize(("seconds", "is_stale"), [(0, False), (5, False), (7, True), (-5, False), (-600, True)])
def test_who_was_not_heard_of_for_a_lease_has_lost_the_job_also_when_the_clock_was_set_back(
    seconds: int, is_stale: bool
) -> None:
    assert job().start("a", NOW).is_stale(NOW + timedelta(seconds=seconds), LEASE) == is_stale


def test_the_pace_counts_from_where_it_was_begun_the_last_time() -> None:
    again = job(current=100).start("a", NOW).with_progress(150, 250, "", NOW)

    pace = JobRate.of(again, NOW + timedelta(seconds=5))

    assert (pace.rate, pace.left) == (10.0, 10.0)


class Life(RuleBasedStateMachine):
    """A job, and whatever may happen to it: workers that come, die and come back, people who cancel, clocks that go."""

    def __init__(self) -> None:
        super().__init__()
        self.job = job()
        self.now = NOW
        self.seen: list[State] = ["queued"]
        self.last = self.job
        self.kind = RESUMABLE

    def become(self, new: Job) -> None:
        """Take the job's next value, and check the move."""
        old, self.job = self.job, new
        if new.state != old.state:
            assert new.state in TRANSITIONS[old.state]
            self.seen.append(new.state)

    @rule(seconds=st.integers(0, 20))
    def time_goes_by(self, seconds: int) -> None:
        """Let the clock go on."""
        self.now += timedelta(seconds=seconds)

    @rule(kind=st.sampled_from([RESUMABLE, ONCE]))
    def another_kind(self, kind: JobKind) -> None:
        """Say what kind it is, which matters only when its worker dies."""
        self.kind = kind

    @precondition(lambda self: self.job.state == "queued")
    @rule()
    def begin(self) -> None:
        """Begin it."""
        self.become(self.job.start("worker", self.now))

    @precondition(lambda self: self.job.state == "running")
    @rule(steps=st.integers(0, 3))
    def advance(self, steps: int) -> None:
        """Come further, or not."""
        self.become(self.job.with_progress(self.job.current + steps, 100, "step", self.now))

    @precondition(lambda self: self.job.state == "running")
    @rule()
    def die(self) -> None:
        """End the process that runs it."""
        self.become(self.job.recover(self.kind, self.now))

    @precondition(lambda self: self.job.state == "running")
    @rule()
    def restart(self) -> None:
        """Let the process that runs it leave in peace."""
        self.become(self.job.requeue())

    @precondition(lambda self: self.job.state == "running")
    @rule(state=st.sampled_from(sorted(FINAL_STATES)))
    def end(self, state: State) -> None:
        """End it."""
        self.become(self.job.finish(state, self.now))

    @rule()
    def cancel(self) -> None:
        """Cancel it."""
        if self.job.has_ended:
            with pytest.raises(ConflictError):
                self.job.cancel(self.now)
        else:
            self.become(self.job.cancel(self.now))

    @invariant()
    def what_runs_has_a_worker_and_nothing_else_has(self) -> None:
        """Look who runs it."""
        assert (self.job.state == "running") == bool(self.job.worker) == (self.job.heartbeat is not None)

    @invariant()
    def what_has_ended_says_when_and_how_and_stays_so(self) -> None:
        """Look at its end."""
        assert self.job.has_ended == (self.job.ended_at is not None) == (self.job.state in FINAL_STATES)
        assert sum(state in FINAL_STATES for state in self.seen) <= 1
        if self.last.has_ended:
            assert self.job == self.last
        self.last = self.job

    @invariant()
    def it_is_not_begun_without_end(self) -> None:
        """Look how often it was begun in vain."""
        assert self.job.attempts >= self.job.futile
        assert describe_progress(self.job)


TestLife = Life.TestCase
