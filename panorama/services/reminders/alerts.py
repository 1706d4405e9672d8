"""Ringing: which reminders are due, once per occurrence, whatever happened in between; and what is told of them.

An occurrence becomes a row before anybody is told, and the row is marked afterwards. So a process that dies in between
loses nothing; the next one tells it again, and says so.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime, timedelta

from panorama.domain.items.reminders import ReminderEvent
from panorama.domain.paging import Page, PageRequest
from panorama.domain.schedules import CLOCK_STEP_LIMIT
from panorama.services.base import Service, ServiceContext
from panorama.services.items.results import FiredReminder
from panorama.store.backend import Session
from panorama.store.items import alerts
from panorama.store.items.alerts import TICKER

ALERT_LETTER = "a"
BATCH_SIZE = 200
"""Reminders that are looked at in one transaction: others write in between."""

NOTIFY_BATCH_SIZE = 20
ALERT_RETENTION = timedelta(days=90)
"""How long an alert is kept that the person has taken note of."""

SERVICE_HINT = "`panorama service install` changes that."

Notify = Callable[[ReminderEvent], None]


class ReminderAlerts(Service):
    """Reminders, as the clock sees them."""

    def __init__(self, context: ServiceContext) -> None:
        super().__init__(context)
        self._seen = -1
        self._runners: list[bool] = []

    @contextmanager
    def mark_running(self, *, stays: bool = True) -> Generator[None]:
        """Say that reminders ring as long as this is open; `stays` is False if it ends with the last client."""
        self._runners.append(stays)
        try:
            yield
        finally:
            self._runners.remove(stays)

    def uptime_hint(self, event: str) -> str:
        """Return what keeps an event such as `It rings` from happening at any time; "" if nothing does."""
        if not self._runners:
            return f"{event} only while the daemon runs, and here is none: use Panorama without PANORAMA_NO_DAEMON."
        return "" if any(self._runners) else f"{event} only while a client is open; {SERVICE_HINT}"

    def list_waiting(self, page: PageRequest) -> Page[FiredReminder]:
        """List reminders that rang and wait to be acknowledged, the last that rang first."""
        with self._reading() as session:
            pending = alerts.list_pending(session, page)
        items = tuple(FiredReminder.of(alert, reminder, self._now()) for alert, reminder in pending.items)
        hint = (
            f"list_reminders shows those to come. {self.uptime_hint('Reminders ring')}" if self.find_next_due() else ""
        )
        return Page(items, pending.keys, pending.total, pending.more, hint=hint.strip())

    def list_pending(self, limit: int) -> list[ReminderEvent]:
        """Return what waits as it is told to a client that has just come, the last that rang first.

        Of each reminder that is its last alert; what is put off is quiet until then.
        """
        now = self._now()
        with self._reading() as session:
            pending = alerts.list_pending(session, PageRequest(BATCH_SIZE)).items
        last = {reminder.id: (alert, reminder) for alert, reminder in reversed(pending) if not reminder.is_snoozed(now)}
        rung = sorted(last.values(), key=lambda both: both[0].rung_at, reverse=True)[:limit]
        return [
            ReminderEvent(alert=alert, reminder=reminder, late=now - alert.at, repeated=True)
            for alert, reminder in rung
        ]

    def update_alarms(self, *, was_set: bool = False) -> None:
        """Set the alarms of reminders that were written since; if the clock was set, of those that rang ahead of it."""
        with self._reading() as session:
            last, now = alerts.last_change_id(session), self._now()
            ids = alerts.list_alarms_ahead(session, now, now + CLOCK_STEP_LIMIT) if was_set else []
        while ids or last != self._seen:
            if not ids:
                with self._reading() as session:
                    ids = alerts.list_stale_alarms(session, limit=BATCH_SIZE)
            if not ids:
                self._seen = last
                return
            batch, ids = ids[:BATCH_SIZE], ids[BATCH_SIZE:]
            with self._context.database.transaction(TICKER) as session:
                for id_ in batch:
                    self._set_alarm(session, id_, self._now())

    def fire_due(self) -> None:
        """Let ring what is due: each occurrence becomes an alert, and its reminder's alarm is set anew."""
        while True:
            now = self._now()
            with self._reading() as session:
                ids = alerts.list_due(session, now, limit=BATCH_SIZE)
            if not ids:
                return
            with self._context.database.transaction(TICKER) as session:
                for id_ in ids:
                    watch = alerts.find_alarm_state(session, id_, now + CLOCK_STEP_LIMIT)
                    alert = watch and watch.find_due_alert(self._context.new_id(ALERT_LETTER), now)
                    if alert:
                        alerts.upsert(session, alert)
                        alerts.delete_acknowledged(session, id_, now - ALERT_RETENTION)
                    self._set_alarm(session, id_, now)
            if len(ids) < BATCH_SIZE:
                return

    def _set_alarm(self, session: Session, id_: str, now: datetime) -> None:
        if watch := alerts.find_alarm_state(session, id_, now + CLOCK_STEP_LIMIT):
            alerts.set_alarm(session, watch, watch.next_alarm(now))
        else:
            alerts.clear_alarm(session, id_)

    def notify(self, tell: Notify) -> None:
        """Tell what rang and was not told yet."""
        while True:
            with self._reading() as session:
                undelivered = alerts.list_undelivered(session, limit=NOTIFY_BATCH_SIZE)
            if not undelivered:
                return
            ids = [alert.id for alert, _ in undelivered]
            with self._context.database.transaction(TICKER) as session:
                alerts.record_attempt(session, ids)
            now = self._now()
            for alert, reminder in undelivered:
                tell(ReminderEvent(alert=alert, reminder=reminder, late=now - alert.at, repeated=alert.tries > 0))
            with self._context.database.transaction(TICKER) as session:
                alerts.mark_delivered(session, ids, now)

    def find_next_due(self) -> datetime | None:
        """Return when the next reminder rings."""
        with self._reading() as session:
            return alerts.next_due_time(session)
