"""One line of words as a task."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from panorama.web.quick_add import parse_task

NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)
PROJECTS = {"p_1": "Kitchen", "p_2": "Garden", "p_3": "Garden shed", "p_4": "Kiosk"}


def parse(line: str) -> dict[str, Any]:
    """Parse a line on a Wednesday."""
    return parse_task(line, PROJECTS, now=NOW, zone=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("Tea", {"title": "Tea"}),
        ("  Call   Ida  ", {"title": "Call Ida"}),
        ("Call Ida #family #phone/work", {"title": "Call Ida", "tags": ["family", "phone/work"]}),
        ("Sow @garden", {"title": "Sow", "project": "p_2"}),
        ('Paint @"Garden shed"', {"title": "Paint", "project": "p_3"}),
        ("Sow @ki", {"title": "Sow @ki"}),
        ("Pay !", {"title": "Pay", "urgent": True}),
        ("Pay !!", {"title": "Pay", "urgent": True, "important": True}),
        ("Pay tomorrow", {"title": "Pay", "deadline": "tomorrow"}),
        ("Pay friday 15:00 rent", {"title": "Pay rent", "deadline": "friday 15:00"}),
        ("Zahlen morgen", {"title": "Zahlen", "deadline": "morgen"}),
        ("Pay 2026-06-01", {"title": "Pay", "deadline": "2026-06-01"}),
        ("tomorrow", {"title": "tomorrow"}),
        ("Write C# notes", {"title": "Write C# notes"}),
        ("Mail a@b.example now", {"title": "Mail a@b.example now"}),
        ("Pay 2026-13-99", {"title": "Pay 2026-13-99"}),
    ],
)
def test_what_is_understood_leaves_the_title(line: str, fields: dict[str, Any]) -> None:
    assert parse(line) == fields
