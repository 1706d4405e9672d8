"""Advice: what a script's common mistakes are told, beside Python's own words."""

import pytest

from panorama.sandbox.advice import advice
from panorama.sdk import Row

from .running import ran

TASK = Row(
    id="t_0000000001", title="Tea", status="todo", deadline="2026-05-31T15:00+02:00", scheduled_minutes=None, tags=[]
)
WEEK = Row(completed=Row(count=1, items=[TASK]))

MISTAKES = [
    ("for each in week.completed.items: pass", 'row["items"]'),
    ("len(week.completed.items)", 'row["items"]'),
    ("week.completed.items[0]", 'row["items"]'),
]
"""Scripts that fail, and what they are told to write."""


@pytest.mark.parametrize(("code", "told"), MISTAKES, ids=[code for code, _ in MISTAKES])
def test_a_common_mistake_is_told_what_to_write(code: str, told: str) -> None:
    with pytest.raises(Exception) as caught:
        ran(code, task=TASK, week=WEEK)

    error = caught.value
    assert told in advice(error, f"{type(error).__name__}: {error}")
