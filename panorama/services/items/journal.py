"""Operations on journal entries."""

from datetime import date, datetime, timedelta

from panorama.domain.items.item import single_line
from panorama.domain.items.journal import ENTRY_CHARS, JournalEntry
from panorama.domain.items.references import JournalRef
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.time import times
from panorama.errors import InvalidInputError
from panorama.services.base import Service, drop_none
from panorama.store.items import listing, rows


class Journal(Service):
    """The journal: a log of days, line by line."""

    def list(self, page: PageRequest, first_day: str | None = None, last_day: str | None = None) -> Page[JournalEntry]:
        """List journal entries, the newest first.

        With first_day and last_day, those of a period.
        """
        zone, now = self._context.zone, self._now()
        first = times.parse_date(first_day, "first_day", now=now, zone=zone) if first_day else None
        last = times.parse_date(last_day, "last_day", now=now, zone=zone) if last_day else None
        times.check_order(first, last, "first_day", "last_day")
        since = times.start_of_day(first, zone) if first else None
        until = times.start_of_day(times.next_day(last), zone) if last else None
        with self._reading() as session:
            return listing.list_items(session, "journal", page, order=("-at",), since=since, until=until)

    def create(self, text: str, at: str = "") -> Result[JournalEntry]:
        """Add one line to the journal: what happened.

        A diary or log. For longer texts use create_note.

        Args:
            at: When it happened; by default now.

        Raises:
            InvalidInputError: `at` is no date, or a day in words that is to come.
        """
        now = self._now()
        with self._writing() as session:
            moment, hint = self._read_moment(at) if at.strip() else (now, "")
            entry = JournalEntry(
                **self._new_item_fields("journal", now), text=single_line(text, "text", limit=ENTRY_CHARS), at=moment
            )
            rows.add(session, entry)
            return Result(entry, hint=hint)

    def update(self, entry: JournalRef, text: str | None = None, at: str | None = None) -> Result[JournalEntry]:
        """Change the text or the time of a journal entry.

        To remove it use delete_item.
        """
        with self._writing() as session:
            old: JournalEntry = rows.load(session, "journal", entry)
            hint = ""
            values = drop_none(text=single_line(text, "text", limit=ENTRY_CHARS) if text is not None else None)
            if at is not None:
                values["at"], hint = self._read_moment(at)
            new = old.with_changes(self._now(), **values)
            rows.save(session, old, new)
            return Result(new, hint=hint, wrote=new is not old)

    def _read_moment(self, text: str) -> tuple[datetime, str]:
        """Return when something happened, and a hint if a time of day was assumed.

        A day without a time is now if it is today, else its noon. A day in words is refused if it is to come: a weekday
        means the next one, but in a journal more likely the last one.

        Raises:
            InvalidInputError: It is no date, or a day in words that is to come.
        """
        now, zone = self._now(), self._context.zone
        day = times.parse_deadline(text, "at", now=now, zone=zone)
        if not times.is_iso(text):
            _refuse_future(text, times.to_local_day(day, zone), times.today(now, zone))
        if isinstance(day, datetime):
            return day, ""
        if day == times.today(now, zone):
            return now, ""
        noon = times.at_noon(day, zone)
        return noon, f"No time was given: it was set to noon, {times.format_time(noon, zone)}."


def _refuse_future(text: str, day: date, today: date) -> None:
    if day <= today:
        return
    same_weekday = today - timedelta(days=(today - day).days % 7)
    last = same_weekday if day - today <= timedelta(days=7) else "such as 2026-05-31"
    raise InvalidInputError(
        f"at is in the future: {text.strip()[:40]!r} means {day}.",
        hint=f"Give the date: {last}, or {day} if it is to come.",
    )
