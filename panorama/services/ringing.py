"""Ringing: which reminders are due, once per occurrence, whatever happened in between; and what is told of them.

An occurrence becomes a row before anybody is told, and the row is marked afterwards. So a process that dies in between
loses nothing; the next one tells it again, and says so.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime, timedelta

from panorama.domain.reminders import Ring
from panorama.domain.results import Page, Slice
from panorama.domain.schedules import STEPPED_BACK
from panorama.services.base import Desk, Service
from panorama.services.views import Rung
from panorama.store import alerts
from panorama.store.alerts import TICKER
from panorama.store.engine import Session

ALERT_LETTER = "a"
AT_ONCE = 200
"""Reminders that are looked at in one transaction: others write in between."""

TOLD_AT_ONCE = 20
KEPT = timedelta(days=90)
"""How long an alert is kept that the person has taken note of."""

Tell = Callable[[Ring], None]


class Ringing(Service):
    """Reminders, as the clock sees them."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._seen = -1
        self._bells = 0

    @property
    def is_attended(self) -> bool:
        """Whether anybody lets reminders ring in this process."""
        return self._bells > 0

    @contextmanager
    def attended(self) -> Generator[None]:
        """Say that reminders ring as long as this is open."""
        self._bells += 1
        try:
            yield
        finally:
            self._bells -= 1

    def waiting(self, page: Slice) -> Page[Rung]:
        """List reminders that rang and wait to be acknowledged, the last that rang first."""
        with self._reading() as session:
            found = alerts.waiting(session, page)
        items = tuple(Rung.of(alert, reminder, self._now()) for alert, reminder in found.items)
        return Page(items, found.keys, found.total, found.more)

    def rings(self, limit: int) -> list[Ring]:
        """Return what waits as it is told to a client that has just come, the last that rang first.

        Of each reminder that is its last alert; what is put off is quiet until then.
        """
        now = self._now()
        with self._reading() as session:
            found = alerts.waiting(session, Slice(AT_ONCE)).items
        last = {each.id: (alert, each) for alert, each in reversed(found) if not each.is_quiet(now)}
        rung = sorted(last.values(), key=lambda both: both[0].rung_at, reverse=True)[:limit]
        return [Ring(alert=alert, reminder=each, late=now - alert.at, repeated=True) for alert, each in rung]

    def wind(self, *, was_set: bool = False) -> None:
        """Set the alarms of reminders that were written since; if the clock was set, of those that rang ahead of it."""
        with self._reading() as session:
            last, now = alerts.last_change(session), self._now()
            ids = alerts.ahead(session, now, now + STEPPED_BACK) if was_set else []
        while ids or last != self._seen:
            if not ids:
                with self._reading() as session:
                    ids = alerts.unwound(session, limit=AT_ONCE)
            if not ids:
                self._seen = last
                return
            some, ids = ids[:AT_ONCE], ids[AT_ONCE:]
            with self._desk.database.transaction(TICKER) as session:
                for id_ in some:
                    self._wind(session, id_, self._now())

    def ring(self) -> None:
        """Let ring what is due: each occurrence becomes an alert, and its reminder's alarm is set anew."""
        while True:
            now = self._now()
            with self._reading() as session:
                ids = alerts.due(session, now, limit=AT_ONCE)
            if not ids:
                return
            with self._desk.database.transaction(TICKER) as session:
                for id_ in ids:
                    watch = alerts.watch(session, id_, now + STEPPED_BACK)
                    alert = watch and watch.rings(self._desk.new_id(ALERT_LETTER), now)
                    if alert:
                        alerts.put(session, alert)
                        alerts.forget(session, id_, now - KEPT)
                    self._wind(session, id_, now)
            if len(ids) < AT_ONCE:
                return

    def _wind(self, session: Session, id_: str, now: datetime) -> None:
        if watch := alerts.watch(session, id_, now + STEPPED_BACK):
            alerts.wind(session, watch, watch.next_ring(now))
        else:
            alerts.stop(session, id_)

    def tell(self, tell: Tell) -> None:
        """Tell what rang and was not told yet."""
        while True:
            with self._reading() as session:
                found = alerts.untold(session, limit=TOLD_AT_ONCE)
            if not found:
                return
            ids = [alert.id for alert, _ in found]
            with self._desk.database.transaction(TICKER) as session:
                alerts.begin_telling(session, ids)
            now = self._now()
            for alert, reminder in found:
                tell(Ring(alert=alert, reminder=reminder, late=now - alert.at, repeated=alert.tries > 0))
            with self._desk.database.transaction(TICKER) as session:
                alerts.told(session, ids, now)

    def next_moment(self) -> datetime | None:
        """Return when the next reminder rings."""
        with self._reading() as session:
            return alerts.next_moment(session)
