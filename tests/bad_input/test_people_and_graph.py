"""Bad input for people, meetings, events and links: refused in plain words, or taken without harm."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import PanoramaError
from tests.bad_input.fates import fate, other_than

Call = Callable[..., Answer]

NAMES = [
    "👩‍👩‍👧 Vogel",
    "نگار می‌خواهد",
    "שָׁלוֹם כהן",
    "Zoë",
    "O'Brien-Łuk",
    "A" * 200,
    "[[Ana]]",
    "`Ana`",
    "%_\\",
    '"Ana"',
    "Ana (2)",
]
NOBODY = [
    "",
    " ",
    "Nobody",
    "h_0000000000",
    "t_0000000000",
    "[[",
    "\u202e",
    "a" * 5_000,
    "\ud800",
    "'; DROP TABLE people",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_any_script_have_a_dashboard_and_are_mentioned_at_most(call: Call, name: str) -> None:
    person = call("people.create", name=name).data["id"]
    call("notes.create", title="Talk", content=f"Yesterday {name} came.\n\n```\n{name}\n```")
    call("sessions.log", title="Minutes", attendees=[name], lines=[f"{name}: hello", f"ask {name}"])

    board = call("people.dashboard", person=person)

    assert board.data["person"]["full_name"] == name
    assert [row["title"] for row in board.data["sessions"]] == ["Minutes"]
    assert {row["title"] for row in board.data["mentions"]} <= {"Talk", "Minutes"}
    assert call("graph.related", item=person).data["id"] == person


def test_a_dashboard_of_nobody_is_refused(call: Call) -> None:
    call("tasks.create", title="Tea")
    call("people.create", name="Twin", role="One")
    call("people.create", name="Twin", role="Two")

    fates = {name: fate(call, "people.dashboard", person=name) for name in [*NOBODY, "Tea", "Twin"]}

    assert other_than("not_found", "invalid_input", "conflict", fates=fates) == {}
    assert fates["Twin"] == "conflict"


def test_managers_in_a_circle_are_refused_and_nothing_changes(call: Call) -> None:
    ids = [call("people.create", name=name).data["id"] for name in ("One", "Two", "Three")]
    call("people.update", person=ids[0], manager=ids[1])
    call("people.update", person=ids[1], manager=ids[2])

    fates = {end: fate(call, "people.update", person=ids[2], manager=end) for end in ids}

    assert set(fates.values()) == {"invalid_input"}
    assert fate(call, "people.merge", person=ids[0], into=ids[0]) == "invalid_input"
    assert "manager" not in call("items.get", item=ids[2]).data["item"]


def test_a_merge_moves_all_references_and_one_undo_takes_it_back(call: Call) -> None:
    old, new = (call("people.create", name=name).data["id"] for name in ("A. Kovač", "Ana Kovač"))
    call("tasks.create", title="Measure", assignee=old)
    call("sessions.log", title="Planning", attendees=["A. Kovač"], lines=["Tiles"])
    call("events.create", title="Visit", starts_at="tomorrow 9:00", attendees=["A. Kovač"])

    call("people.merge", person=old, into=new)
    merged = call("people.dashboard", person=new).data
    call("history.undo", confirm=True)
    before = call("people.dashboard", person=old).data

    for board in (merged, before):
        assert [len(board[name]) for name in ("assigned", "sessions", "events")] == [1, 1, 1]


def test_attendees_that_are_addresses_are_known_or_stay_text(call: Call) -> None:
    call("people.create", name="Ana", last_name="Kovač", email="ana@example.org")
    attendees = ["ANA@example.org", "mailto:bo@example.org", "Cy <cy@example.org>", "not an address"]

    made = call("events.create", title="Visit", starts_at="tomorrow 9:00", attendees=attendees)

    assert made.data["attendees"] == ["Ana Kovač", "bo@example.org", "Cy <cy@example.org>", "not an address"]
    assert len(call("people.dashboard", person="Ana").data["events"]) == 1
    assert len(call("events.list", attendee="bo@example.org", day="tomorrow").data) == 1


@pytest.mark.slow
def test_a_session_of_50_000_lines_is_searched_mentioned_and_exported(call: Call) -> None:
    person = call("people.create", name="Ana", last_name="Kovač").data["id"]
    session = call("sessions.log", title="Long", lines=["line"] * 5_000).data["id"]
    for _ in range(9):
        call("sessions.log", session=session, lines=["line"] * 5_000)
    call("sessions.log", session=session, lines=["At last Ana Kovač agrees"])

    assert [row["why"] for row in call("people.dashboard", person=person).data["mentions"]] == [
        "At last Ana Kovač agrees"
    ]
    assert call("sessions.analyze", session=session).data["lines"] == 50_001
    assert fate(call, "sessions.log", session=session, lines=["x"] * 5_001) == "invalid_input"


def test_bombs_of_brackets_and_names_are_read_in_time(call: Call) -> None:
    person = call("people.create", name="Ana", last_name="Kovač").data["id"]
    for title, text in (("Open", "[[" * 200_000), ("Names", "Ana Kovač " * 50_000), ("Ticks", "`Ana" * 100_000)):
        call("notes.create", title=title, content=text)

    related = {title: call("graph.related", item=title).data for title in ("Open", "Names", "Ticks")}

    assert [len(related[title]["neighbours"]) for title in ("Open", "Names", "Ticks")] == [0, 1, 0]
    assert [row["title"] for row in call("people.dashboard", person=person).data["mentions"]] == ["Names"]


def test_an_event_ends_after_it_begins_and_keeps_its_hour_over_a_clock_change(call: Call) -> None:
    spans = [("friday 9:00", "friday 8:00"), ("2026-05-22", "2026-05-21"), ("friday", "friday 25:00"), ("", "friday")]
    fates = {span: fate(call, "events.create", title="Bad", starts_at=span[0], ends_at=span[1]) for span in spans}
    call("events.create", title="Weekly", starts_at="2026-10-21T10:00", recurrence="every wednesday")

    listed = call("events.list", since="2026-10-20", until="2026-11-05").data

    assert other_than("invalid_input", fates=fates) == {}
    assert [datetime.fromisoformat(row["starts_at"]).hour for row in listed] == [10, 10, 10]
    assert len({row["starts_at"][16:] for row in listed}) == 2


def test_hostile_titles_are_read_as_one_line_or_refused(call: Call) -> None:
    lines = ["#" * 400, "! " * 200, "@" * 400, "every " * 80, "1 " * 200, "fri " * 100, "\x00", "", "#a", "@@@ !!! ###",
             "tomorrow " * 50, "every!!! day", "99.99.9999", "\u202egnirts", "🔺 ⏫", "a" * 600]  # fmt: skip

    fates = {line: fate(call, "tasks.create", title=line, parse=True) for line in lines}

    assert other_than("done", "invalid_input", fates=fates) == {}


def test_hostile_memory_files_are_refused_or_their_lines_named(call: Call, tmp_path: Path) -> None:
    entity: dict[str, Any] = {"type": "entity", "name": "A", "entityType": "person", "observations": ["x"]}
    lines = [
        {**entity, "name": "n" * 5_000}, {**entity, "name": None}, {**entity, "observations": [None, {}, "\x00", 1]},
        {**entity, "observations": "text"}, {**entity, "entityType": 7}, {**entity, "entityType": "t" * 500},
        {**entity, "name": "\u202e"}, {"type": "relation", "from": "A", "to": "A", "relationType": "!!!"},
        {"type": "relation", "from": 1, "to": 2, "relationType": 3}, [], "text", 1, None,
    ]  # fmt: skip
    fates: dict[str, str] = {}
    for number, line in enumerate(lines):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(json.dumps(line), "utf-8")
        fates[str(line)[:80]] = fate(call, "import.memory", file=str(file))
    (tmp_path / "deep.jsonl").write_text("[" * 100_000, "utf-8")

    fates["deep"] = fate(call, "import.memory", file=str(tmp_path / "deep.jsonl"))
    fates["folder"] = fate(call, "import.memory", file=str(tmp_path))
    fates["missing"] = fate(call, "import.memory", file=str(tmp_path / "none.jsonl"))

    assert other_than("done", "invalid_input", fates=fates) == {}
    with pytest.raises(PanoramaError):
        call("import.memory", file="")
