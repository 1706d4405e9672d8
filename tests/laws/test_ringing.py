"""A machine that sets, puts off and takes note of reminders while the clock moves and the process dies now and then:
each occurrence rings once, and nobody is told twice without hearing that it is told again."""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import Settings
from panorama.domain.items.reminders import Alert, ReminderEvent
from panorama.services.base import ServiceContext
from panorama.services.schedules.due import DueWork
from panorama.store.items import alerts
from panorama.store.sqlite.engine import SqliteDatabase
from tests.conftest import CountedIds, StandingClock
from tests.queues import StandInQueue

from .world import ZONE

BEGIN = datetime(2026, 10, 23, 8, 0, tzinfo=UTC)
"""Two days before the clocks go back."""

RULES = {"": None, "FREQ=DAILY": range(7), "FREQ=WEEKLY;BYDAY=SA,SU,MO": (5, 6, 0)}
which = st.integers(0, 50)


class DeathError(BaseException):
    """The process dies here."""


@dataclass
class Expected:
    """A reminder as the user means it."""

    anchor: datetime
    rule: str
    created: datetime
    quiet_until: datetime | None = None
    owes: bool = False
    quiet_since: datetime | None = None

    def occurrences(self, until: datetime) -> list[datetime]:
        """Return what has come, day by day on the wall's clock."""
        found = {self.anchor}
        local = self.anchor.astimezone(ZONE)
        days = RULES[self.rule]
        for number in range(1, (until - self.anchor).days + 3 if days else 0):
            day = local.replace(tzinfo=None, fold=0) + timedelta(days=number)
            if day.weekday() in days:
                found.add(day.replace(tzinfo=ZONE).astimezone(UTC))
        return sorted(at for at in found if at <= until)


@dataclass
class SentAlert:
    """What was told of one alert: (which ring, whether it was said to be a repetition)."""

    rings: list[tuple[int, bool]] = field(default_factory=list[Any])


class Machine(RuleBasedStateMachine):
    """Reminders of one person."""

    template: Path

    @initialize()
    def begin(self) -> None:
        """Open a store of its own."""
        self.open = ExitStack()
        self.clock = StandingClock(BEGIN)
        self.app = self.open.enter_context(open_machine(self.template, self.clock))
        self.timing = self.app.timing
        self.expected: dict[str, Expected] = {}
        self.told: dict[str, SentAlert] = {}

    def teardown(self) -> None:
        """Close it."""
        if hasattr(self, "open"):
            self.open.close()

    @rule(minutes=st.integers(1, 3000), series=st.sampled_from(sorted(RULES)))
    def create(self, minutes: int, series: str) -> None:
        """Set a reminder."""
        at = self.clock() + timedelta(minutes=minutes)
        id_ = self.do("create_reminder", title="x", at=at.isoformat(), recurrence=series)["id"]
        self.expected[id_] = Expected(at, series, self.clock())

    @rule(minutes=st.sampled_from([1, 30, 59, 60, 61, 600, 1440, 4000]))
    def wait(self, minutes: int) -> None:
        """Let time pass, awake or asleep."""
        self.clock.advance(minutes=minutes)

    @precondition(lambda self: self.expected)
    @rule(at=which)
    def rename(self, at: int) -> None:
        """Change what does not matter for the time."""
        self.do("update_reminder", reminder=self.pick(at), title=f"named at {self.clock():%d %H:%M}")

    @precondition(lambda self: self.expected)
    @rule(at=which, minutes=st.integers(1, 2000))
    def snooze(self, at: int, minutes: int) -> None:
        """Put one off that rang; one that has not rung is moved, which other tests hold."""
        id_ = self.pick(at)
        if not self.waits(id_):
            return
        self.do("snooze_reminder", reminder=id_, until=(self.clock() + timedelta(minutes=minutes)).isoformat())
        mine = self.expected[id_]
        mine.quiet_since, mine.quiet_until = self.clock(), self.clock() + timedelta(minutes=minutes)
        mine.owes = self.waits(id_)

    @precondition(lambda self: self.expected)
    @rule(at=which)
    def acknowledge(self, at: int) -> None:
        """Take note of one."""
        id_ = self.pick(at)
        if self.waits(id_):
            self.do("acknowledge_reminder", reminder=id_)
            self.expected[id_].quiet_until, self.expected[id_].owes = None, False
            assert not self.waits(id_)

    @rule(count=st.integers(0, 3), arrives=st.booleans())
    def die(self, count: int, arrives: bool) -> None:
        """Make a round that ends in the middle of telling, before or after the last one arrived; begin anew."""
        left = count

        def tell(ring: ReminderEvent) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                if arrives:
                    self.hear(ring)
                raise DeathError
            self.hear(ring)

        try:
            self.timing.run_due(tell)
        except DeathError:
            self.timing = DueWork(self.app.context, StandInQueue())

    @rule(restarts=st.booleans())
    def round(self, restarts: bool) -> None:
        """Do what is due, in the same process or the next, and look whether all is right."""
        if restarts:
            self.timing = DueWork(self.app.context, StandInQueue())
        coming = self.timing.run_due(self.hear, was_set=restarts)
        assert coming is None or coming > self.clock()
        for id_, mine in self.expected.items():
            self.check(id_, mine)
        known = {item.id: item for id_ in self.expected for item in self.alerts(id_)}
        assert self.told.keys() <= known.keys()
        for id_, alert in known.items():
            self.check_told(alert, self.told.get(id_, SentAlert()))
        for row in self.do("list_waiting_reminders", limit=500):
            assert known[row["id"]].rings in [ring for ring, _ in self.told[row["id"]].rings]

    def check(self, id_: str, mine: Expected) -> None:
        """Each occurrence that came has rung, or is counted by the one that rang after it."""
        now, rung = self.clock(), self.alerts(id_)
        if mine.quiet_until and mine.quiet_until > now:
            assert not [alert for alert in rung if mine.quiet_since < alert.rung_at < mine.quiet_until]
            return
        come = mine.occurrences(now)
        assert sum(1 + alert.missed for alert in rung) == len(come), (come, rung)
        assert [alert.at for alert in rung][-1:] == come[-1:]
        assert {alert.at for alert in rung} <= set(come)
        if mine.owes:
            assert max(alert.rung_at for alert in rung) >= (mine.quiet_until or now)
            mine.owes = False

    def check_told(self, alert: Alert, message: SentAlert) -> None:
        """Each ring is told, and told again only with the word that it is."""
        for number in range(1, alert.rings + 1):
            mine = [repeated for ring, repeated in message.rings if ring == number]
            assert mine.count(False) <= 1
            assert False not in mine[1:]

    def hear(self, ring: ReminderEvent) -> None:
        """Hear of a reminder."""
        self.told.setdefault(ring.alert.id, SentAlert()).rings.append((ring.alert.rings, ring.repeated))

    def pick(self, at: int) -> str:
        """Return the id of one of the reminders."""
        return list(self.expected)[at % len(self.expected)]

    def alerts(self, id_: str) -> list[Alert]:
        """Return what rang for a reminder, by occurrence."""
        with self.app.context.database.reading() as session:
            rows = session.connection.execute(alerts.select(*alerts._COLUMNS).where(alerts.alerts.c.reminder == id_))
            return sorted((alerts._to_alert(row) for row in rows), key=lambda item: item.at)

    def waits(self, id_: str) -> bool:
        """Tell whether a reminder stands in the list of those that wait."""
        return id_ in [row["reminder"] for row in self.do("list_waiting_reminders", limit=500)]

    def do(self, operation: str, **arguments: Any) -> Any:
        """Call an operation."""
        client = Conversation(id="v_laws", actor="tool", client="laws")
        return self.app.calls.call(operation, arguments, client).data


@contextmanager
def open_machine(template: Path, clock: StandingClock) -> Generator[App]:
    """Open a store of its own, with a clock that stands still."""
    with tempfile.TemporaryDirectory(prefix="laws-") as folder:
        shutil.copyfile(template, Path(folder) / "panorama.db")
        chosen = Settings(home=Path(folder), timezone=ZONE.key, embedder="none")
        with open_app(
            chosen, ServiceContext(SqliteDatabase(chosen.home / "panorama.db"), ZONE, chosen.home, clock, CountedIds())
        ) as app:
            yield app


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_each_occurrence_rings_once_whatever_happens(template: Path, house: Path) -> None:
    Machine.template = template
    run_state_machine_as_test(Machine)


def test_what_rang_and_was_told_is_told_no_more(template: Path) -> None:
    with open_machine(template, clock := StandingClock(BEGIN)) as app:
        client = Conversation(id="v_laws", actor="tool", client="laws")
        app.calls.call("create_reminder", {"title": "Tea", "at": "2026-10-23T11:00"}, client)
        clock.advance(hours=2)
        heard: list[ReminderEvent] = []

        for _ in range(3):
            app.timing.run_due(heard.append)

    assert [(message.reminder.title, message.late, message.repeated) for message in heard] == [
        ("Tea", timedelta(hours=1), False)
    ]
