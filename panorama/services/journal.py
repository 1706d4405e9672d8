"""What one can do with the journal."""

from panorama.domain import times
from panorama.domain.items import line
from panorama.domain.journal import ENTRY_CHARS, JournalEntry
from panorama.domain.references import JournalRef
from panorama.domain.results import Noted, Page, Slice
from panorama.services.base import Service, given
from panorama.store import rows, small


class Journal(Service):
    """The journal: a log of days, line by line."""

    def list(self, page: Slice, first_day: str | None = None, last_day: str | None = None) -> Page[JournalEntry]:
        """List journal entries, the newest first.

        With first_day and last_day, those of a period.
        """
        zone, now = self._desk.zone, self._now()
        first = times.day(first_day, "first_day", now=now, zone=zone) if first_day else None
        last = times.day(last_day, "last_day", now=now, zone=zone) if last_day else None
        times.check_order(first, last, "first_day", "last_day")
        since = times.start_of(first, zone) if first else None
        until = times.start_of(times.next_day(last), zone) if last else None
        with self._reading() as session:
            return small.listed_entries(session, page, since=since, until=until)

    def create(self, text: str, at: str = "") -> JournalEntry:
        """Add one line to the journal: what happened.

        For longer texts use create_note.

        Args:
            at: Moment it happened; now if left out.
        """
        now = self._now()
        with self._writing() as session:
            moment = times.moment(at, "at", now=now, zone=self._desk.zone) if at.strip() else now
            entry = JournalEntry(**self._new("journal", now), text=line(text, "text", limit=ENTRY_CHARS), at=moment)
            rows.add(session, entry)
            return entry

    def update(self, entry: JournalRef, text: str | None = None, at: str | None = None) -> Noted[JournalEntry]:
        """Change the text or the moment of a journal entry.

        To remove it use delete_item.
        """
        with self._writing() as session:
            old: JournalEntry = rows.load(session, "journal", entry)
            wanted = given(text=line(text, "text", limit=ENTRY_CHARS) if text is not None else None)
            if at is not None:
                wanted["at"] = times.moment(at, "at", now=self._now(), zone=self._desk.zone)
            new = old.changed(self._now(), **wanted)
            rows.save(session, old, new)
            return Noted(new, wrote=new is not old)
