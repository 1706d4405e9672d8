"""Finds the items that a query names: by id, by title, as the subject of a question, or by day."""

from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from panorama.domain.items.item import Kind, extract_ids, kind_of, normalize_name
from panorama.domain.text.ranking import RankedItem
from panorama.domain.text.tokens import STOP_WORDS
from panorama.domain.time import times
from panorama.domain.time.calendar_words import WEEKDAYS, read_words
from panorama.errors import InvalidInputError
from panorama.services.search.query_parser import MAX_QUERY_CHARS
from panorama.store.backend import Session
from panorama.store.events import list_occurrences
from panorama.store.items import lookup, search
from panorama.store.items.lookup import AskedNames, NamedItem
from panorama.store.items.search import Filters

SUBJECT_KINDS: tuple[Kind, ...] = ("project", "person")
"""The kinds whose items are subjects of questions."""

_SCORE = 2.0
_MAX_SUBJECT_WORDS = 8
_FRAME_WORDS: Final = STOP_WORDS | {
    "project", "projekt", "person", "tell", "show", "find", "know", "news", "status", "everything", "happened",
    "happen", "wrote", "written", "diary", "journal", "day", "tag", "new", "neues", "alles", "passiert", "geschrieben",
    "tagebuch", "coming", "comes", "come", "kommt", "meeting", "meetings", "event", "events", "appointment",
    "appointments", "termin", "termine", "waiting", "wait", "worauf", "wartet",
}  # fmt: skip
"""Words around the subject of a question: “what is the status of the project Kestrel?”."""

_DAY_WORDS = frozenset(["today", "yesterday", "heute", "gestern", "vorgestern"])
_COMING_DAY_WORDS = frozenset([*WEEKDAYS, "tomorrow", "morgen", "uebermorgen"])
_PAST_WORDS = frozenset(
    ["happened", "happen", "passiert", "wrote", "written", "geschrieben", "diary", "journal", "tagebuch"]
)
"""Words of questions about days that are over."""

_MAX_OF_DAY = 10
_WEEK = timedelta(days=7)


def find_by_id(session: Session, query: str, filters: Filters) -> tuple[RankedItem, ...]:
    """Return the items whose id is in the query."""
    ids = extract_ids(query[:MAX_QUERY_CHARS])
    alive = search.filter_living(session, ids, filters)
    return tuple(RankedItem(item, _SCORE, ("id",)) for item in ids if item in alive)


def ask_titles(session: Session, query: str, filters: Filters) -> AskedNames:
    """Ask for the items whose whole title is the query."""
    return lookup.ask_exact(session, tuple(filters.kinds), normalize_name(query))


def find_by_name(
    session: Session, query: str, filters: Filters, now: datetime, zone: ZoneInfo, titles: AskedNames
) -> tuple[RankedItem, ...]:
    """Return the items whose whole title is the query; else the project, person or day that it asks about.

    Args:
        titles: What `ask_titles` returned.
    """
    if titled := _sort_living(session, titles(), filters):
        return _rank(titled, "title")
    subject = _extract_subject(query)
    kinds = [kind for kind in SUBJECT_KINDS if kind in filters.kinds]
    if not subject:
        return ()
    name = " ".join(subject)
    if normalize_name(name) != normalize_name(query) and (named := _find_titles(session, name, filters, kinds)):
        return _rank(named, "name")
    return _rank(_find_day(session, query, subject, filters, now, zone), "day")


def describe_person(named: Sequence[RankedItem]) -> str:
    """Return the hint for a query about one person, "" for any other."""
    people = [entry.item for entry in named if kind_of(entry.item) == "person"]
    if len(people) != 1:
        return ""
    return f"related with item={people[0]} lists the tasks, meetings, events and notes with this person."


def _rank(items: Sequence[str], why: str) -> tuple[RankedItem, ...]:
    return tuple(RankedItem(item, _SCORE, (why,)) for item in items)


def _find_titles(session: Session, name: str, filters: Filters, kinds: Collection[str]) -> list[str]:
    """Return the items with a name, the last changed first."""
    named = lookup.list_exact(session, tuple(kinds), normalize_name(name)) if kinds else []
    return _sort_living(session, named, filters)


def _sort_living(session: Session, named: Sequence[NamedItem], filters: Filters) -> list[str]:
    """Return those of some items that pass the filters, the last changed first."""
    alive = search.filter_living(session, [id_ for _, id_, _ in named], filters)
    return sorted(alive, key=lambda item: (alive[item], item))[::-1]


def _extract_subject(query: str) -> list[str]:
    """Return the words of a query without those of a question around them; [] if there is nothing around them."""
    words = [word.strip(",;:!?.\"'“”„«»") for word in query[:MAX_QUERY_CHARS].split()]
    words = [word for word in words if word]
    first, last = 0, len(words)
    while first < last and words[first].casefold() in _FRAME_WORDS:
        first += 1
    while last > first and words[last - 1].casefold() in _FRAME_WORDS:
        last -= 1
    return words[first:last] if last - first <= _MAX_SUBJECT_WORDS else []


def _find_day(
    session: Session, query: str, subject: Sequence[str], filters: Filters, now: datetime, zone: ZoneInfo
) -> Sequence[str]:
    """Return the events of the day that a query asks about, in order, or the journal entries, the last first."""
    text = " ".join(subject)
    is_to_come = " ".join(read_words(text)) in _COMING_DAY_WORDS
    if not (is_to_come or any(map(str.isdigit, text)) or text.casefold() in _DAY_WORDS):
        return ()
    try:
        day = times.parse_date(text, "day", now=now, zone=zone)
    except InvalidInputError:
        return ()
    is_over = not _PAST_WORDS.isdisjoint(query.casefold().split())
    events = () if is_over else _list_events(session, day, filters, zone)
    if events or (is_to_come and not is_over) or "journal" not in filters.kinds:
        return events
    entries = lookup.list_journal(session, *_bounds(_to_past(day, times.today(now, zone)), zone))
    alive = search.filter_living(session, entries, filters)
    return [entry for entry in entries if entry in alive]


def _list_events(session: Session, day: date, filters: Filters, zone: ZoneInfo) -> Sequence[str]:
    if "event" not in filters.kinds and "session" not in filters.kinds:
        return ()
    found = dict.fromkeys(entry.id for entry in list_occurrences(session, *_bounds(day, zone), zone))
    alive = search.filter_living(session, list(found), filters)
    return [id_ for id_ in found if id_ in alive][:_MAX_OF_DAY]


def _bounds(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the moments at which a day begins and is over."""
    return times.start_of_day(day, zone), times.start_of_day(times.next_day(day), zone)


def _to_past(day: date, today: date) -> date:
    """Return a day, or if it is to come the one a week or a year before, because journals are about the past."""
    if day <= today:
        return day
    if day - today <= _WEEK:
        return day - _WEEK
    return day.replace(year=day.year - 1, day=min(day.day, 28) if day.month == 2 else day.day)
