"""Shipped scripts on the first day: nothing is there yet, and they say so without an error and without a trace."""

from collections.abc import Callable
from pathlib import Path

import pytest

from panorama.app import open_app
from panorama.config import read_settings
from tests.scripts.conftest import SCRIPTS, Run, signature

SAID = {
    "claap_meetings": "There is no source claap. Add it with `panorama sources add claap --kind claap`.",
    "duplicate_notes": "There are no notes.",
    "meeting_campaign_report": "There is no source claap. Add it with `panorama sources add claap --kind claap`.",
    "notion_pages": "There is no source notion. Add it with `panorama sources add notion --kind notion`.",
    "plan_day": "Nothing has a time, is due or begun: the day is free.",
    "project_report": "There is no task to report, so no file was written.",
    "stale_projects": "There is no project that is active.",
    "tasks_from_meeting": "'made': []",
    "tidy_tags": "There are no tags.",
    "triage_overdue": "Nothing is overdue.",
    "weekly_review": "Nothing was done, made or written in this period",
}


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty database, made once."""
    with open_app(read_settings(home=tmp_path_factory.mktemp("empty"), timezone="Europe/Berlin")) as made:
        return made.settings.home / "panorama.db"


def test_an_empty_store_is_told_of_in_words_and_stays_empty(run: Run, rows: Callable[[], dict[str, int]]) -> None:
    before = rows()

    results = {
        name: run(name, **({"apply": True} if "apply" in signature(name).parameters else {})) for name in SCRIPTS
    }

    assert [name for name in SCRIPTS if "error" in results[name]] == []
    assert [name for name in SCRIPTS if SAID[name] not in str(results[name]["result"])] == []
    assert rows() == before
