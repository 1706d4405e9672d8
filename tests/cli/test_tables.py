"""Tables: what a person reads in a terminal."""

import io
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from rich.console import Console

from panorama.cli.console import console, status_tables, tables

NOW = datetime(2026, 5, 20, 10, 0, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("deadline", "status", "text", "style"),
    [
        (None, "todo", "", ""),
        ("2026-05-15", "todo", "5 d late", "red"),
        ("2026-05-15", "done", "2026-05-15", "dim"),
        ("2026-05-20", "todo", "today", "yellow"),
        ("2026-05-20T18:00+02:00", "in_progress", "today 18:00", "yellow"),
        ("2026-05-20T09:00+02:00", "todo", "today 09:00", "red"),
        ("2026-05-20T23:30+00:00", "todo", "in 1 d", ""),
        ("2026-05-23", "todo", "in 3 d", ""),
        ("2026-12-24", "todo", "2026-12-24", ""),
    ],
)
def test_a_deadline_is_said_as_a_person_would(deadline: str | None, status: str, text: str, style: str) -> None:
    due = tables.format_deadline(deadline, status, NOW)

    assert (due.plain, str(due.style)) == (text, style)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (timedelta(seconds=-5), "now"),
        (timedelta(seconds=59), "now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=3), "3 d ago"),
        (timedelta(days=100), "2026-02-09"),
    ],
)
def test_the_past_is_said_as_a_person_would(before: timedelta, text: str) -> None:
    assert tables.format_ago((NOW - before).isoformat(), NOW) == text


def _drawn(sheet: tables.TextTable, width: int) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width).print(console.build_grid(sheet, width))
    return file.getvalue().splitlines()


def test_eighty_columns_hold_a_task_and_cut_no_title() -> None:
    title = "Pay the invoice of the municipal water company before they cut us off"
    row = {"id": "t_0000000001", "title": title, "status": "in_progress", "project": "p_1", "deadline": "2026-05-15"}

    drawn = _drawn(tables.tasks([row], {"p_1": "A very long name of a project"}, NOW), 80)

    assert max(map(len, drawn)) <= 80
    assert all(word in "".join(drawn) for word in title.split())
    assert all(word in drawn[1] for word in ("t_0000000001", "in_progress", "5 d late", "A very long"))


def test_eighty_columns_hold_a_call_and_wider_ones_its_arguments() -> None:
    row = {
        "at": NOW.isoformat(), "client": "claude-code", "name": "overview.projects", "ms": 1234.5,
        "code": "unavailable", "tokens": 1500, "changes": 100, "arguments": {"project": "Garden"},
    }  # fmt: skip
    sheet = status_tables.calls([row], NOW)

    assert "unavailable" in _drawn(sheet, 80)[1]
    assert "Garden" not in _drawn(sheet, 80)[1]
    assert "Garden" in _drawn(sheet, 140)[1]


@pytest.mark.parametrize(("pending", "text"), [(0, "0 changes wait"), (1, "1 change waits"), (2, "2 changes wait")])
def test_the_status_counts_what_waits_as_a_person_would(pending: int, text: str) -> None:
    search = {"model": "minilm", "model_state": "ready", "engine": "edge", "index_state": "ready", "pending": pending}
    sheet = status_tables.status(
        {"counts": {}, "now": NOW.isoformat(), "weekday": "Wednesday", "timezone": "Europe/Berlin", "data": "/home",
         "revision": "0001", "version": "0.1.0", "search": search}
    )  # fmt: skip

    assert text in " ".join(_drawn(sheet, 120))


def test_matches_are_marked_without_their_stars() -> None:
    found = tables.highlight_matches("some **green** tea")

    assert found.plain == "some green tea"
    assert [found.plain[span.start : span.end] for span in found.spans] == ["green"]


def test_columns_of_wide_characters_stay_aligned_in_a_pipe() -> None:
    rows = [{"id": "a", "kind": "note", "label": label, "deleted_at": NOW.isoformat()} for label in ("茶", "tea")]

    _, first, second = console.align_rows(tables.trash(rows, NOW))

    assert first == "a   note  茶     now"
    assert second == "a   note  tea    now"


def test_values_are_told_as_prose() -> None:
    values = {"project": "Garden", "urgent": True, "tags": ["a", "b"], "where": {"rank": 1}, "notes": ""}

    text = tables.format_pairs(values)

    assert text == "project=Garden, urgent=yes, tags=a, b, where=rank=1, notes=nothing"
    assert tables.format_report({"items_read": 3}).split() == ["items", "read", "3"]
