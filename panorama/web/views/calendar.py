"""The calendar by week and month: events, meetings, and tasks by deadline and time; and one event in a form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

from panorama.web.view import Context, ViewRequest
from panorama.web.views.search import address_of

PERIODS = (("week", "Week"), ("month", "Month"))
EVENT_STATUSES = (("confirmed", "Confirmed"), ("tentative", "Tentative"), ("cancelled", "Cancelled"))
MAX_ROWS = 2000
DAY_ENTRIES = {"week": 30, "month": 4}
"""The entries that a day shows."""

EntryKind = Literal["event", "session", "scheduled", "deadline"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing on one day; `time` is "" if it takes the whole day or is due on it."""

    kind: EntryKind
    id: str
    title: str
    address: str
    time: str
    until: str = ""
    about: str = ""
    project: str = ""
    status: str = ""
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class Day:
    """One day with its entries, those without a time first; `more` are not shown."""

    day: date
    entries: Sequence[Entry]
    more: int
    is_today: bool
    is_outside: bool


def show_calendar(request: ViewRequest) -> Context:
    """Show a week or a month."""
    period = "month" if request.query.get("view") == "month" else "week"
    day = _parse_day(request.query.get("day", "")) or request.calls.today
    first, last = _find_month(day) if period == "month" else _find_week(day)
    entries, is_cut = _list_entries(request, first, last)
    limit = DAY_ENTRIES[period]
    days = [
        _make_day(request, at, entries.get(at, []), limit, is_outside=period == "month" and at.month != day.month)
        for at in (first + timedelta(days=number) for number in range((last - first).days + 1))
    ]
    before, after = _list_neighbours(period, day)
    return {
        "period": period,
        "periods": PERIODS,
        "day": day,
        "first": first,
        "last": last,
        "weeks": [days[start : start + 7] for start in range(0, len(days), 7)],
        "is_cut": is_cut,
        "before": before,
        "after": after,
        "today": request.calls.today,
    }


def create_event(request: ViewRequest) -> Context:
    """Show an empty form for an event, on a day that was chosen."""
    day = _parse_day(request.query.get("day", ""))
    return {"event": None, "start": f"{day} " if day else "", "end": "", "statuses": EVENT_STATUSES, "day": day}


def edit_event(request: ViewRequest) -> Context:
    """Show an event in a form; its changes count for all its occurrences."""
    event = request.calls.get("items.get", item=request.path["id"])["item"]
    start = event["starts_at"]
    return {
        "title": event["title"],
        "event": event,
        "start": start[:16].replace("T", " "),
        "end": event["ends_at"][:16].replace("T", " "),
        "statuses": EVENT_STATUSES,
        "day": date.fromisoformat(start[:10]),
    }


def _list_entries(request: ViewRequest, first: date, last: date) -> tuple[dict[date, list[Entry]], bool]:
    """Return the entries of each day of a period, and whether there are too many to be read."""
    entries: dict[date, list[Entry]] = {}
    events = request.calls.get("events.list", since=first.isoformat(), until=last.isoformat(), limit=MAX_ROWS)
    for row in events:
        for day in _list_days(row, first, last):
            entries.setdefault(day, []).append(_to_event(row, day))
    period = {"gte": first.isoformat(), "lt": (last + timedelta(days=1)).isoformat()}
    planned = request.calls.get(
        "query", collection="tasks", where={"status": "open", "scheduled_at": period}, limit=MAX_ROWS
    )
    for row in planned:
        entries.setdefault(_day_of(row["scheduled_at"]), []).append(_to_scheduled(row))
    due = request.calls.get("tasks.list", due_from=first.isoformat(), due_until=last.isoformat(), limit=MAX_ROWS)
    for row in due:
        entries.setdefault(_day_of(row["deadline"]), []).append(_to_deadline(row, request.calls.today))
    return entries, MAX_ROWS in (len(events), len(planned), len(due))


def _make_day(request: ViewRequest, day: date, entries: list[Entry], limit: int, *, is_outside: bool) -> Day:
    ordered = sorted(entries, key=lambda entry: (entry.time, entry.kind == "deadline", entry.title))
    shown = ordered if len(ordered) <= limit else ordered[: limit - 1]
    return Day(day, shown, len(ordered) - len(shown), day == request.calls.today, is_outside)


def _to_event(row: Mapping[str, Any], day: date) -> Entry:
    start, end = str(row["starts_at"]), str(row.get("ends_at") or "")
    begins_here = start[:10] == day.isoformat()
    about = ", ".join(filter(None, (row.get("location", ""), *row.get("attendees", ()))))
    return Entry(
        row["kind"], row["id"], row["title"], address_of(row["kind"], row["id"]),
        start[11:16] if begins_here else "", end[11:16] if begins_here and end[:10] == start[:10] else "", about,
        status=row.get("status", ""),
    )  # fmt: skip


def _to_scheduled(row: Mapping[str, Any]) -> Entry:
    start = str(row["scheduled_at"])
    until = ""
    if start[11:16] and row.get("scheduled_minutes"):
        until = f"{datetime.fromisoformat(start) + timedelta(minutes=row['scheduled_minutes']):%H:%M}"
    address = address_of("task", row["id"])
    return Entry("scheduled", row["id"], row["title"], address, start[11:16], until, project=row.get("project") or "")


def _to_deadline(row: Mapping[str, Any], today: date) -> Entry:
    deadline = str(row["deadline"])
    return Entry(
        "deadline", row["id"], row["title"], address_of("task", row["id"]), deadline[11:16],
        project=row.get("project") or "", is_late=_day_of(deadline) < today,
    )  # fmt: skip


def _list_days(row: Mapping[str, Any], first: date, last: date) -> list[date]:
    """Return the days of a period on which an event takes place; one that ends at midnight ends on the day before."""
    start, end = str(row["starts_at"]), str(row.get("ends_at") or row["starts_at"])
    begin, over = _day_of(start), _day_of(end)
    if end[11:16] == "00:00" and over > begin:
        over -= timedelta(days=1)
    begin, over = max(begin, first), min(over, last)
    return [begin + timedelta(days=number) for number in range((over - begin).days + 1)]


def _day_of(moment: str) -> date:
    return date.fromisoformat(moment[:10])


def _parse_day(text: str) -> date | None:
    """Return the day of a text, None if it is none that a calendar around it can show."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 1900 <= day.year <= 2200 else None


def _find_week(day: date) -> tuple[date, date]:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def _find_month(day: date) -> tuple[date, date]:
    """Return the first and the last day of the weeks of a month."""
    first = day.replace(day=1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return _find_week(first)[0], _find_week(last)[1]


def _list_neighbours(period: str, day: date) -> tuple[date, date]:
    """Return a day of the week or month before, and of the one after."""
    if period == "week":
        return day - timedelta(days=7), day + timedelta(days=7)
    first = day.replace(day=1)
    return first - timedelta(days=1), (first + timedelta(days=31)).replace(day=1)
