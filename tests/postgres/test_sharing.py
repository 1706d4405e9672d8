"""Two daemons in one space, each with a data directory of its own: everything is done once, and where it belongs."""

import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.domain.items.reminders import ReminderEvent
from panorama.domain.jobs import Job, JobKind, Requester
from panorama.domain.paging import PageRequest
from panorama.services.base import ServiceContext
from panorama.services.jobs.job_types import JobType
from panorama.services.jobs.queue import QUEUE
from panorama.store.backend.membership import RECOVERY
from panorama.store.log import runs
from panorama.store.log.runs import Run
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.maintenance import PostgresMaintenance
from tests.working import until

pytestmark = pytest.mark.postgres

JOBS = 500
PERSON = Conversation(id="v_1", actor="tool", client="tests")
WAIT = timedelta(hours=1)


@dataclass
class Clock:
    """A clock that may be wrong."""

    off: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.off


@dataclass
class Machine:
    """The product on one machine."""

    app: App
    clock: Clock

    def call(self, operation: str, **arguments: object) -> object:
        """Call an operation as an assistant on this machine does."""
        return self.app.calls.call(operation, arguments, PERSON).data

    def tell(self) -> list[str]:
        """Do what is due, and return of which reminders somebody here is told."""
        events: list[ReminderEvent] = []
        self.app.timing.run_due(events.append)
        return [event.reminder.title for event in events]


Open = Callable[[str], Machine]


@pytest.fixture
def open_machine(
    postgres_space: PostgresDatabase, empty_space: Callable[[], None], postgres_url: str, tmp_path: Path
) -> Iterator[Open]:
    """Opens the space on one more machine."""
    empty_space()
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(machine(postgres_url, tmp_path / name))


@contextmanager
def machine(url: str, home: Path) -> Generator[Machine]:
    """The product on a machine with an empty data directory."""
    settings = read_settings(home=home, database_url=url, space="tests", embedder="none")
    clock = Clock()
    database = PostgresDatabase(parse_url(url), "tests")
    with open_app(settings, ServiceContext(database, settings.zone, home, clock)) as app:
        app.jobs.offers.add(JobType(JobKind(name="count", resumable=True, pool="undo"), ""))
        app.jobs.offers.add(JobType(JobKind(name="read_file", resumable=True, local=True), ""))
        with app.jobs.attach_worker(lambda: None):
            yield Machine(app, clock)


@pytest.fixture
def both(open_machine: Open) -> tuple[Machine, Machine]:
    """Two machines with one host name."""
    return open_machine("first"), open_machine("second")


def take(machine: Machine) -> Job | None:
    """Let a machine take the next job."""
    running = machine.app.jobs.finish_and_claim_next()
    return running.job if running else None


def test_five_hundred_jobs_run_once_whichever_machine_takes_them(both: tuple[Machine, Machine]) -> None:
    for number in range(JOBS):
        both[number % 2].app.jobs.submit("count", {})
    ran: list[tuple[str, str]] = []

    def work(machine: Machine) -> None:
        running = machine.app.jobs.finish_and_claim_next()
        while running:
            ran.append((running.job.id, machine.app.jobs.worker.name))
            done = running.job.finish("succeeded", machine.clock())
            running = machine.app.jobs.finish_and_claim_next((running, done))

    threads = [threading.Thread(target=work, args=(machine,)) for machine in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(ran), len({job for job, _ in ran})) == (JOBS, JOBS)
    assert len(Counter(worker for _, worker in ran)) == 2


@pytest.mark.parametrize("off", [WAIT, -WAIT])
def test_a_clock_that_is_an_hour_off_neither_loses_nor_steals_a_job(
    both: tuple[Machine, Machine], off: timedelta
) -> None:
    right, wrong = both
    wrong.clock.off = off
    mine, theirs = (machine.app.jobs.submit("count", {}) for machine in both)
    assert [job.id for machine in both if (job := take(machine))] == [mine, theirs]

    for machine in both:
        machine.app.jobs.heartbeat()
        machine.app.recover_orphans()

    assert [right.app.jobs.get_job(id_).state for id_ in (mine, theirs)] == ["running", "running"]
    assert wrong.app.jobs.get_job(mine).worker == right.app.jobs.worker.name


def test_a_job_without_a_heartbeat_is_taken_over_even_if_its_daemon_is_connected(
    both: tuple[Machine, Machine],
) -> None:
    hanging, other = both
    job = hanging.app.jobs.submit("count", {})
    take(hanging)
    with other.app.context.database.membership._connect() as driver:
        driver.execute("UPDATE jobs SET heartbeat = heartbeat - interval '31 seconds'")

    other.app.recover_orphans()

    assert other.app.jobs.get_job(job).state == "queued"


def test_a_run_is_ended_by_another_daemon_once_its_own_is_gone(both: tuple[Machine, Machine]) -> None:
    running, other = both
    at = datetime.now(UTC) - timedelta(days=1)  # however long it takes, and whatever the clocks say
    run = Run(
        id="x_0000000001", at=at, client="tests", conversation="v_1", status="running", source="1", inputs={},
        options={}, worker=running.app.jobs.worker.name,
    )  # fmt: skip
    with running.app.context.database.transaction(QUEUE) as session:
        runs.save(session, [run])

    for machine in both:
        machine.app.recover_orphans()
    assert other.app.calls.call("runs.get", {"run": run.id}, PERSON).data["status"] == "running"

    running.app.context.database.membership.leave()
    until(lambda: other.app.context.database.membership.holds(RECOVERY))
    other.app.recover_orphans()

    assert other.app.calls.call("runs.get", {"run": run.id}, PERSON).data["status"] == "failed"


def test_a_job_that_needs_files_runs_on_the_machine_that_asked_for_it(both: tuple[Machine, Machine]) -> None:
    here, elsewhere = both
    job = here.app.jobs.submit("read_file", {})

    assert not elsewhere.app.jobs.has_waiting()
    assert take(elsewhere) is None
    assert not elsewhere.app.jobs.has_unfinished()
    taken = take(here)

    assert taken
    assert (taken.id, taken.machine) == (job, here.app.jobs.worker.machine)
    assert here.app.jobs.worker.machine != elsewhere.app.jobs.worker.machine
    assert here.app.jobs.worker.machine.rsplit("-", 1)[0] == elsewhere.app.jobs.worker.machine.rsplit("-", 1)[0]


def test_the_job_of_a_schedule_runs_on_the_machine_where_the_schedule_was_added(both: tuple[Machine, Machine]) -> None:
    holder, other = both
    holder.tell()
    other.call("add_schedule", kind="export", every="1h")
    for machine in both:
        machine.clock.off = WAIT
        machine.tell()
        machine.tell()

    (job,) = holder.app.jobs.list(PageRequest(10)).items

    assert job.kind == "export"
    assert job.message == f"waits for {other.app.jobs.worker.machine}"
    assert take(holder) is None
    assert take(other)


def test_an_alert_is_told_on_each_machine_and_nowhere_twice(both: tuple[Machine, Machine]) -> None:
    holder, other = both
    with holder.app.timing.ringing.mark_running(), other.app.timing.ringing.mark_running():
        assert [machine.tell() for machine in both] == [[], []]
        holder.call("create_reminder", title="Call Ida", at=(datetime.now(UTC) + timedelta(minutes=5)).isoformat())
        holder.clock.off = other.clock.off = timedelta(minutes=6)

        assert other.tell() == [], "firing is the duty of one"
        assert [holder.tell(), other.tell()] == [["Call Ida"], ["Call Ida"]]
        assert [holder.tell(), other.tell()] == [[], []]

        holder.app.context.database.membership.leave()
        until(lambda: other.app.context.database.membership.holds("due work"))
        assert other.tell() == [], "it was told here before"


def test_an_alert_that_its_daemon_did_not_tell_is_told_by_the_next(open_machine: Open) -> None:
    holder, other = open_machine("first"), open_machine("second")
    with holder.app.timing.ringing.mark_running(), other.app.timing.ringing.mark_running():
        holder.tell()
        holder.call("create_reminder", title="Call Ida", at=(datetime.now(UTC) + timedelta(minutes=5)).isoformat())
        holder.clock.off = other.clock.off = timedelta(minutes=6)
        holder.app.timing.ringing.update_alarms()
        holder.app.timing.ringing.fire_due()
        holder.app.context.database.membership.leave()  # as if it died before it told anybody
        until(lambda: other.app.context.database.membership.holds("due work"))

        assert other.tell() == ["Call Ida"]
        assert other.tell() == []


def test_who_asked_for_a_job_is_told_of_its_end_wherever_it_ran(both: tuple[Machine, Machine]) -> None:
    asking, running = both
    asking.app.context.database.subscribe(lambda _: None)  # from then on it hears of jobs too
    asker = Requester(actor="tool", client="tests", conversation="v_asking")
    job = asking.app.jobs.submit("count", {}, asker)
    taken = running.app.jobs.finish_and_claim_next()
    assert taken
    running.app.jobs.finish_and_claim_next((taken, taken.job.finish("succeeded", running.clock(), summary="All done")))

    until(lambda: job in asking.app.jobs.remarks.pop("v_asking", "tests", ()))
    assert running.app.jobs.remarks.pop("v_asking", "tests", ()) == "", "it is told once"


def test_daemons_are_listed_for_everybody(both: tuple[Machine, Machine], postgres_url: str) -> None:
    found = both[0].call("daemons.list")
    check = PostgresMaintenance(parse_url(postgres_url), "tests").checks()["daemons"]()

    assert check.found.startswith(f"{both[0].app.jobs.worker.machine} (")

    assert [daemon["machine"] for daemon in found["daemons"]] == [item.app.jobs.worker.machine for item in both]
