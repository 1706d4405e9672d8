"""What a Markdown file becomes, and how it joins with what was changed in Panorama."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.items.tasks import Task
from panorama.domain.markdown.import_fields import (
    merge_fields,
    note_fields,
    parse_timestamp,
    task_fields,
    task_keys,
    to_snapshot,
)
from panorama.domain.markdown.parser import parse_markdown

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)

fields = st.fixed_dictionaries(
    {
        "title": st.sampled_from(["Tea", "Pot"]),
        "notes": st.sampled_from(["", "x" * 500, "y" * 500]),
        "deadline": st.sampled_from([None, date(2026, 6, 1), date(2026, 6, 2)]),
        "tags": st.sampled_from([(), ("a",), ("a", "b")]),
        "urgent": st.booleans(),
    }
)


def item(values: dict[str, Any]) -> Task:
    return Task(id="t_0000000001", created_at=NOW, updated_at=NOW, **values)


# Joining


@given(fields, fields)
def test_what_was_not_changed_here_becomes_what_the_file_says(before: dict[str, Any], after: dict[str, Any]):
    found = merge_fields(to_snapshot(before), after, item(before))

    assert replace(item(before), **found.changes) == item(after)
    assert found.conflicts == ()


@given(fields, fields)
def test_what_was_not_changed_in_the_file_stays(before: dict[str, Any], here: dict[str, Any]):
    found = merge_fields(to_snapshot(before), before, item(here))

    assert (found.changes, found.conflicts) == ({}, ())


@given(fields, fields, fields)
def test_each_field_follows_stays_or_is_a_conflict(before: dict[str, Any], after: dict[str, Any], here: dict[str, Any]):
    found = merge_fields(to_snapshot(before), after, item(here))

    differing = {name for name in before if before[name] != after[name] != here[name]}
    assert {*found.changes, *found.conflicts} == differing
    assert all(here[name] == before[name] for name in found.changes)


@given(fields)
def test_what_is_remembered_is_short_json(values: dict[str, Any]):
    kept = to_snapshot(values)

    assert json.loads(json.dumps(kept)) == kept
    assert len(json.dumps(kept)) < 300


# Fields


def test_a_note_takes_at_most_fifty_tags():
    document = parse_markdown(" ".join(f"#tag{number}" for number in range(60)), name="note")

    assert len(note_fields(document, "a")["tags"]) == 50


def test_a_planned_day_is_when_a_task_is_scheduled_and_no_deadline():
    (line,) = parse_markdown("- [ ] Pay ⏳ 2026-05-30 🏁 keep", name="note").tasks

    fields = task_fields(line, ZoneInfo("Europe/Berlin"))

    assert (fields["deadline"], fields["scheduled_at"]) == (None, datetime(2026, 5, 30, 10, tzinfo=UTC))
    assert fields["notes"] == "On completion: keep"


def test_tasks_are_known_by_title_and_place_among_equals():
    tasks = parse_markdown("- [ ] Pay\n- [ ] Call\n- [x]  pay #a", name="note").tasks

    assert task_keys(tasks) == ["task:pay:1", "task:call:1", "task:pay:2"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-05-19", datetime(2026, 5, 19, 10, tzinfo=UTC)),
        ("2026-01-19", datetime(2026, 1, 19, 11, tzinfo=UTC)),
        ("2026-05-20", NOW),
        ("2026-05-21", None),
        ("2026-05-19T23:30:00", datetime(2026, 5, 19, 21, 30, tzinfo=UTC)),
        ("2026-05-19T23:30:00+00:00", datetime(2026, 5, 19, 23, 30, tzinfo=UTC)),
        ("", None),
    ],
)
def test_a_day_stands_for_its_noon_and_never_for_a_moment_to_come(written: str, expected: datetime | None):
    assert parse_timestamp(written, now=NOW, zone=BERLIN) == expected
