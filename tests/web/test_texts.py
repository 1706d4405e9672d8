"""All texts of the page are in one catalogue, and the catalogue has nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path

from panorama import web
from panorama.config import Settings
from panorama.domain.items.relations import INVERSES
from panorama.mcp.apps import apps
from panorama.mcp.apps.apps import list_texts
from panorama.translations import GERMAN, explanations
from panorama.web import forms, texts, views
from panorama.web.views import calendar, imports, projects, review, search, settings, sources, tasks
from tests.web.page_client import PageClient

FOLDER = Path(web.__file__).parent
_CALL = re.compile(r'(?:\b(?:t|texts|self)|\)\))\(\s*"((?:[^"\\]|\\.)+)"')
_COUNT = re.compile(r'\b(?:t|texts)\.count\(\s*"([^"]+)",\s*"([^"]+)"')
VALUES = (
    "Draft", "Reviewed", "Promoted", "Retired", "Saved", "Approved", "Rejected", "Queued", "Running", "Succeeded",
    "Failed", "Cancelled", "Interrupted", "Task", "Note", "Project", "Link", "Reminder", "Journal", "File", "create",
    "update", "delete", "restore", "created", "updated", "deleted", "restored", "keyword", "semantic", "Tasks", "Notes",
    "Projects", "Person", "Team", "Event", "Session", "Relation", "Decision", "Action", "Next step", "Question",
    "Summary", "Thought", "name", "day", "Item", "Job",
)  # fmt: skip
"""Values of the product that pages show in the user's language."""


def iter_used() -> Iterator[str]:
    """Yield every text that a template or a module asks for."""
    for path in [*FOLDER.rglob("*.html"), *FOLDER.rglob("*.py")]:
        source = path.read_text()
        yield from _CALL.findall(source)
        for pair in _COUNT.findall(source):
            yield from pair
    yield from (view.title for view in views.VIEWS)
    yield from (settings.describe_setting(field) for field in Settings.model_fields.values())
    yield from filter(None, views.SECTIONS)
    yield from (*texts.WEEKDAYS, *texts.MONTHS, *VALUES, *forms._DONE.values(), *forms._STATUS.values())
    yield from forms._CONFLICT_HINTS.values()
    yield from (words for rule in explanations.RULES for words in (rule.message, rule.hint) if words)
    yield from (*explanations.FIELDS.values(), *explanations.KINDS.values(), "Did you mean {names}?")
    for pairs in (
        tasks.GROUPS,
        tasks.SAVED_VIEWS,
        tasks.STATUSES,
        projects.STATUSES,
        review.PERIODS,
        calendar.PERIODS,
        calendar.EVENT_STATUSES,
        sources.DECISIONS,
        tuple(sources.REACHES.items()),
        search.KIND_NAMES,
        tuple(sources.STATES.items()),
    ):
        yield from (words for _, words in pairs)
    yield from (heading for heading, *_ in (*review.FIGURES, *imports.MARKDOWN.counts, *imports.MEMORY.counts))
    yield from (kind.replace("_", " ") for kind in INVERSES)
    yield from ("Slipped", "Completed", "Due next")
    yield from list_texts((Path(apps.__file__).parent / "view.js").read_text())


def test_every_text_is_translated() -> None:
    assert sorted(set(iter_used()) - GERMAN.keys()) == []


def test_no_translation_is_left_over() -> None:
    assert sorted(GERMAN.keys() - set(iter_used())) == []


def test_a_translation_has_the_places_of_its_text() -> None:
    def places(text: str) -> list[str]:
        return sorted(re.findall(r"\{(\w+)\}", text))

    assert [text for text, german in GERMAN.items() if places(text) != places(german)] == []


def test_a_german_browser_gets_german_pages(page: PageClient) -> None:
    html = page.page("/today", accept_language="de-DE")

    assert '<html lang="de"' in html
    assert "Nichts zu tun" in html or "Willkommen" in html
    assert "Mittwoch, 20. Mai" in html
