"""What may be stored: values of every noun, with any text that the rules let in."""

from datetime import UTC, date, datetime
from typing import get_args

from hypothesis import strategies as st

from panorama.domain.items.choices import ProjectStatus, TaskStatus
from panorama.domain.items.files import StoredFile, validate_file_name
from panorama.domain.items.item import Item, normalize_tags
from panorama.domain.items.journal import JournalEntry
from panorama.domain.items.links import Link
from panorama.domain.items.notes import Note
from panorama.domain.items.projects import Project
from panorama.domain.items.reminders import Reminder
from panorama.domain.items.tasks import Task
from panorama.errors import InvalidInputError

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=300)
lines = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=40)
tags = st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), max_size=12), max_size=4).map(normalize_tags)
days = st.dates(date(1900, 1, 1), date(2199, 12, 31))
moments = st.datetimes(datetime(1900, 1, 2), datetime(2199, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001 (the strategy puts the zone)
seconds = moments.map(lambda moment: moment.replace(microsecond=0))
maybe_moments = st.none() | moments
deadlines = st.none() | days | seconds
ranks = st.integers(-(2**63), 2**63 - 1)


def ids(letter: str) -> st.SearchStrategy[str]:
    """Return ids of a kind."""
    return st.text("0123456789abcdefghjkmnpqrstvwxyz", min_size=10, max_size=10).map(lambda end: f"{letter}_{end}")


def _item(letter: str) -> dict[str, st.SearchStrategy[object]]:
    return {
        "id": ids(letter), "version": st.integers(1, 9), "created_at": moments, "updated_at": moments,
        "deleted_at": st.none(),
    }  # fmt: skip


projects = st.builds(
    Project, **_item("p"), name=lines, description=texts, status=st.sampled_from(get_args(ProjectStatus)),
    target_date=st.none() | days, favorite=st.booleans(), color=texts, tags=tags, rank=ranks,
)  # fmt: skip
tasks = st.builds(
    Task, **_item("t"), title=lines, notes=texts, status=st.sampled_from(get_args(TaskStatus)), project=st.none(),
    deadline=deadlines, urgent=st.booleans(), important=st.booleans(), tags=tags, rank=ranks,
    scheduled_at=maybe_moments, scheduled_minutes=st.none() | st.integers(1, 10_080),
    recurrence=st.sampled_from(["", "FREQ=DAILY"]), parent=st.none(), completed_at=maybe_moments,
    status_changed_at=maybe_moments, provenance=texts,
)  # fmt: skip
notes = st.builds(Note, **_item("n"), title=lines, content=texts, project=st.none(), tags=tags, pinned=st.booleans())
links = st.builds(Link, **_item("l"), title=lines, url=lines, project=st.none(), tags=tags, description=texts)
reminders = st.builds(
    Reminder, **_item("r"), title=lines, at=moments, recurrence=st.sampled_from(["", "FREQ=DAILY"]),
    zone=st.sampled_from(["UTC", "Asia/Tokyo"]), snoozed_until=maybe_moments, enabled=st.booleans(), item=st.none(),
)  # fmt: skip
journal = st.builds(JournalEntry, **_item("j"), text=lines, at=moments)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)


def _is_file_name(text: str) -> bool:
    """Return whether a file can have this name as it stands."""
    try:
        return validate_file_name(text) == text
    except InvalidInputError:
        return False


files = st.builds(
    StoredFile, **_item("f"), name=lines.filter(_is_file_name), media_type=st.sampled_from(["text/csv", "image/png"]),
    size=st.integers(0, 10_000_000), sha256=digests, project=st.none(), tags=tags, body=texts,
)  # fmt: skip

OF_KIND: dict[str, st.SearchStrategy[Item]] = {
    "project": projects, "task": tasks, "note": notes, "link": links, "reminder": reminders, "journal": journal,
    "file": files,
}  # fmt: skip
anything: st.SearchStrategy[Item] = st.one_of(*OF_KIND.values())
