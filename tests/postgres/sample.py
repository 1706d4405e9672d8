"""The same rows for both databases: every kind of item, its history, and the tables beside them."""

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from panorama.domain.changes import Origin
from panorama.domain.items.events import Event
from panorama.domain.items.files import StoredFile
from panorama.domain.items.item import Item
from panorama.domain.items.journal import JournalEntry
from panorama.domain.items.links import Link
from panorama.domain.items.notes import Note
from panorama.domain.items.people import Person
from panorama.domain.items.projects import Project
from panorama.domain.items.relations import Relation
from panorama.domain.items.reminders import AlarmState, Alert, Reminder
from panorama.domain.items.session_lines import SessionLine, name_range
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.items.tasks import Task
from panorama.domain.items.teams import Team
from panorama.domain.markdown.task_lines import LinePlace
from panorama.store import sessions
from panorama.store.backend import Session
from panorama.store.graph import task_lines
from panorama.store.items import alerts, passages, rows
from panorama.store.items.passages import Passage
from panorama.store.log import calls, idempotency, imports, marks, runs
from panorama.store.log.calls import CallLogEntry
from panorama.store.log.imports import ImportedPart
from panorama.store.log.runs import Run

NOW = datetime(2026, 5, 20, 8, 0, 0, 123456, UTC)
ORIGIN = Origin(actor="tool", client="tests", conversation="v_tests", operation="tests", call="c_tests", unit="c_tests")
LARGE = 1 << 61
"""A number that needs 64 bits, as that of a store."""

_SIGNS = [
    chr(code) for first, last in ((0x4E00, 0x9FFF), (0x61, 0x7A), (0xAC00, 0xD7A3)) for code in range(first, last)
]


def make_text(chars: int, seed: int) -> str:
    """Return a text that no compression makes short."""
    return "".join(random.Random(seed).choices(_SIGNS, k=chars))


FOLDER, PATH = "/" + make_text(1300, 1), make_text(1300, 2)
TAGS = tuple(make_text(60, number) for number in range(50))


def _base(letter: str, number: int, **more: Any) -> dict[str, Any]:
    at = NOW + timedelta(minutes=number)
    return {"id": f"{letter}_{number:010}", "created_at": at, "updated_at": at, **more}


def list_items() -> list[Item]:
    """Return new items, referenced ones first."""
    return [
        Project(**_base("p", 1), name="Zebra", tags=("Home", "größe"), target_date=date(2026, 6, 1), favorite=True),
        Project(**_base("p", 2), name="éclair", status="archived"),
        Team(**_base("g", 3), name="Kitchen"),
        Person(**_base("u", 4), name="Ana", last_name="Kovač", aliases=("Nick",), team="g_0000000003"),
        Person(**_base("u", 5), name="Ana", last_name="Berg", manager="u_0000000004", left_at=date(2026, 1, 2)),
        Task(**_base("t", 6), title="Buy TEA", project="p_0000000001", deadline=date(2026, 5, 19), tags=("Home",)),
        Task(**_base("t", 7), title="ärmel", status="in_progress", deadline=NOW.replace(microsecond=0), rank=3,
             parent="t_0000000006", assignee="u_0000000004", priority=2),
        Task(**_base("t", 8), title="Zoo", status="done", completed_at=NOW + timedelta(hours=1), urgent=True,
             status_changed_at=NOW + timedelta(hours=1), scheduled_minutes=90),
        Task(**_base("t", 9), title="zoo", waiting_for="u_0000000005", notes="[[Plan]]", source_ref="crm:1"),
        Note(**_base("n", 10), title="Plan", content="See [[Buy TEA]], [[Nowhere]] and [[" + make_text(1200, 3) + "]].",
             project="p_0000000001", properties={"stage": 3, "b": "ü"}, aliases=("Roadmap",), pinned=True),
        Note(**_base("n", 11), title="tags", tags=TAGS, content="- supports [[Plan]]\n" + "long " * 2000, type="idea"),
        Note(**_base("n", 12), title="Log 50%_\\", content="[[Roadmap|the plan]] [[plan]]"),
        Link(**_base("l", 13), title="Shop", url="https://example.org", description="[[tags]]", project="p_0000000001"),
        Reminder(**_base("r", 14), title="Water", at=NOW + timedelta(days=1), item="t_0000000006"),
        JournalEntry(**_base("j", 15), text="A day with [[Ana Kovač]].", at=NOW),
        StoredFile(**_base("f", 16), name="a.TXT", media_type="text/plain", size=LARGE, sha256="0" * 64, body="words"),
        Event(**_base("e", 17), title="Party", starts_at=date(2026, 5, 21), ends_at=date(2026, 5, 21), all_day=True,
              attendees=("Ana Kovač",), people=("u_0000000004",), recurrence="FREQ=WEEKLY"),
        Relation(**_base("x", 18), from_item="n_0000000010", kind="supports", to_item="t_0000000006", note="because"),
    ]  # fmt: skip


def fill(session: Session) -> None:
    """Write the same rows by the functions of the store."""
    for item in list_items():
        rows.add(session, item)
    _write_session(session)
    _change(session)
    _write_beside(session)


def _write_session(session: Session) -> None:
    meeting = LoggedSession(**_base("s", 19), title="Weekly", started_at=NOW, attendees=("Ana Kovač",))
    lines = [SessionLine(position=at, at=NOW, text=f"Line {at} of ANA", confidence=at / 7) for at in range(1, 90)]
    sessions.add(session, meeting, lines)
    sessions.set_ranges(session, meeting, {name_range(3, 4): False}, NOW)


def _change(session: Session) -> None:
    later = NOW + timedelta(hours=2)
    for id_, fields in (
        ("n_0000000010", {"title": "Plan B", "content": "Only [[Zoo]] " + "x" * 9000}),
        ("t_0000000006", {"deadline": None, "rank": -5}),
        ("n_0000000012", {"deleted_at": later}),
        ("f_0000000016", {"sha256": "1" * 64}),
    ):
        old = rows.find(session, {"n": "note", "t": "task", "f": "file"}[id_[0]], id_)
        rows.save(session, old, old.with_changes(later, **fields))
    old = rows.find(session, "note", "n_0000000012")
    rows.save(session, old, replace(old, deleted_at=None, version=old.version + 1, updated_at=later))
    old = rows.find(session, "link", "l_0000000013")
    rows.save(session, old, old.with_changes(later, deleted_at=later))


def _write_beside(session: Session) -> None:
    calls.add(session, [
        CallLogEntry(id=f"c_{n:010}", unit=f"c_{n % 2:010}", at=NOW + timedelta(hours=n), actor="tool", client="x",
                     conversation="v", name=("crm.add" if n % 3 else "search"), arguments={"query": "tea"}, ms=n / 3,
                     success=n != 4, code="" if n != 4 else "not_found", tokens=n, changes=n, position=n % 2)
        for n in range(9)
    ])  # fmt: skip
    idempotency.save_answer(session, "key", "0" * 32, {"data": [1, "ü"]}, NOW)
    marks.set_mark(session, "store", LARGE)
    marks.set_marks(session, ["index a", "links n_0000000011", "words n_0000000011"], 3)
    part = ImportedPart(path=PATH, part="", digest="0" * 32, item="n_0000000010", fields={"title": "Plan"})
    imports.save(session, FOLDER, [part, replace(part, path="b.md", item="t_0000000006")])
    imports.save(session, FOLDER, [replace(part, digest="1" * 32)])
    runs.save(session, [
        Run(id=f"c_{n:010}", at=NOW, client="x", conversation="v", status=("succeeded" if n else "failed"), source="1",
            inputs={}, options={}, calls=1, peak_bytes=LARGE, script="tidy" if n > 1 else "", isolation="namespaces")
        for n in range(4)
    ])  # fmt: skip
    runs.save_state(session, "tidy", {"a": 1, "b": [None]}, ["c"], NOW)
    new = [Passage("n_0000000010", "note", at, f"{at:032}", at, at + 9) for at in range(3)]
    passages.replace(session, {"n_0000000010": new})
    passages.replace(session, {"n_0000000010": new[:2]})
    passages.save_vectors(session, "model 1", {f"{at:032}": bytes([at] * 8) for at in range(4)})
    passages.save_vectors(session, "model 1", {f"{1:032}": b"kept"})
    task_lines.link_lines(session, "n_0000000010", {"t_0000000006": LinePlace(1, "Buy TEA", "")})
    reminder = rows.find(session, "reminder", "r_0000000014")
    alerts.set_alarm(session, AlarmState(reminder=reminder, since=NOW, last=None), reminder.at)
    alert = Alert(id="a_0000000001", reminder=reminder.id, at=reminder.at, rung_at=reminder.at)
    for _ in range(2):
        alerts.upsert(session, alert)
