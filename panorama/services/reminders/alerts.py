"""Fires due reminders, once per occurrence, and delivers their alerts.

An occurrence is stored before it is delivered, and marked afterwards. So a crash in between loses nothing; the alert
is
delivered again and marked as repeated.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta

from panorama.domain.items.reminders import ReminderEvent
from panorama.domain.paging import Page, PageRequest
from panorama.domain.schedules import CLOCK_STEP_LIMIT
from panorama.errors import PanoramaError
from panorama.services.base import Service, ServiceContext
from panorama.services.reminders.results import FiredReminder
from panorama.store.backend import Session
from panorama.store.items import alerts
from panorama.store.items.alerts import TICKER, Occurrence, PendingAlert

ALERT_LETTER = "a"
BATCH_SIZE = 200
"""Reminders handled in one transaction; others can write in between."""

NOTIFY_BATCH_SIZE = 20
ALERT_RETENTION = timedelta(days=90)
"""How long an acknowledged alert is kept."""

SERVICE_HINT = "`panorama service install` changes that."

Notify = Callable[[ReminderEvent], None]


class ReminderAlerts(Service):
    """Fires reminders when they are due."""

    def __init__(self, context: ServiceContext) -> None:
        super().__init__(context)
        self._seen = -1
        self._runners: list[bool] = []
        self._is_shared = context.database.membership.is_shared
        self._notified: set[Occurrence] = set()

    @contextmanager
    def mark_running(self, *, stays: bool = True) -> Generator[None]:
        """Declare that reminders fire inside the block; `stays` is False if that ends with the last client."""
        self._runners.append(stays)
        if self._is_shared:  # clients that connect from now on are notified of these by `list_pending`
            with suppress(PanoramaError), self._reading() as session:
                self._notified = set(alerts.list_occurrences(session))
        try:
            yield
        finally:
            self._runners.remove(stays)

    def uptime_hint(self, event: str) -> str:
        """Return the limitation on an event such as `It rings`; "" if there is none."""
        if not self._runners:
            return f"{event} only while the daemon runs, and none is running: use Panorama without PANORAMA_NO_DAEMON."
        return "" if any(self._runners) else f"{event} only while a client is open; {SERVICE_HINT}"

    def list_waiting(self, page: PageRequest) -> Page[FiredReminder]:
        """List unacknowledged reminders, the last fired first."""
        with self._reading() as session:
            pending = alerts.list_pending(session, page)
        items = tuple(FiredReminder.of(alert, reminder, self._now()) for alert, reminder in pending.items)
        hint = (
            f"list_reminders shows upcoming ones. {self.uptime_hint('Reminders ring')}" if self.find_next_due() else ""
        )
        return Page(items, pending.keys, pending.total, pending.more, hint=hint.strip())

    def list_pending(self, limit: int) -> list[ReminderEvent]:
        """Return the pending events for a newly connected client, the last fired first.

        Contains the last alert of each reminder; snoozed reminders are left out.
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
        """Update the alarms of changed reminders; after a clock change, also of those that fired in the future."""
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
        """Fire what is due: store an alert for each occurrence, and set the reminder's next alarm."""
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
                self._context.database.announce("alerts")
            if len(ids) < BATCH_SIZE:
                return

    def _set_alarm(self, session: Session, id_: str, now: datetime) -> None:
        if watch := alerts.find_alarm_state(session, id_, now + CLOCK_STEP_LIMIT):
            alerts.set_alarm(session, watch, watch.next_alarm(now))
        else:
            alerts.clear_alarm(session, id_)

    def notify(self, tell: Notify) -> None:
        """Deliver the undelivered alerts."""
        while True:
            with self._reading() as session:
                undelivered = alerts.list_undelivered(session, limit=NOTIFY_BATCH_SIZE)
            if not undelivered:
                return
            ids = [alert.id for alert, _ in undelivered]
            with self._context.database.transaction(TICKER) as session:
                alerts.record_attempt(session, ids)
            now = self._now()
            self._show_new(undelivered, tell)
            with self._context.database.transaction(TICKER) as session:
                alerts.mark_delivered(session, ids, now)

    def notify_of_others(self, tell: Notify) -> None:
        """Show this daemon's clients the alerts that another one fires and marks as delivered."""
        if not self._is_shared:
            return
        with self._reading() as session:
            last = alerts.list_occurrences(session, limit=BATCH_SIZE)
            ids = [occurrence.alert for occurrence in last if occurrence not in self._notified]
            new = alerts.list_by_id(session, ids) if ids else []
        self._show_new([(replace(alert, tries=0), reminder) for alert, reminder in new], tell)

    def _show_new(self, found: Sequence[PendingAlert], tell: Notify) -> None:
        """Show the alerts that this process has not shown yet, and remember them if others may mark them."""
        now = self._now()
        for alert, reminder in found:
            occurrence = Occurrence(alert.id, alert.rings)
            if occurrence not in self._notified:
                tell(ReminderEvent(alert=alert, reminder=reminder, late=now - alert.at, repeated=alert.tries > 0))
            if self._is_shared:
                self._notified.add(occurrence)

    def find_next_due(self) -> datetime | None:
        """Return when the next reminder fires."""
        with self._reading() as session:
            return alerts.next_due_time(session)
