"""A query that asks about a project, a person or a day has that item first."""

import pytest

from panorama.app import App
from panorama.calls import Conversation

SPOKEN = Conversation(id="v_0000000000", actor="tool", client="test")


@pytest.fixture
def titles(app: App) -> "Titles":
    """Searches a store with items that share words."""
    titles = Titles(app)
    titles.create("create_project", name="Kestrel")
    titles.create(
        "create_note", title="Kestrel: what is going on", content="What is the status of Kestrel and its news?"
    )
    titles.create("create_person", name="Priya Nair")
    titles.create("create_note", title="Who is who", content="Who is Priya Nair, and who is her partner?")
    for at, text in (("2026-03-03T09:00", "Planted beans."), ("2026-03-04T09:00", "On 3 March we planted.")):
        titles.create("add_journal_entry", text=text, at=at)
    return titles


class Titles:
    """The titles that a search returns."""

    def __init__(self, app: App) -> None:
        self._app = app

    def create(self, operation: str, **arguments: str) -> None:
        self._app.calls.call(operation, arguments, SPOKEN)

    def search(self, query: str, **arguments: object) -> list[tuple[str, tuple[str, ...]]]:
        rows = self._app.calls.call("search", {"query": query, **arguments}, SPOKEN).data
        return [(row["title"], tuple(row["why"])) for row in rows]


@pytest.mark.parametrize(
    "query", ["what is the status of Kestrel?", "Kestrel project", "tell me about the project kestrel"]
)
def test_a_project_that_is_asked_about_comes_first(titles: Titles, query: str) -> None:
    title, why = titles.search(query)[0]

    assert (title, why[0]) == ("Kestrel", "name")


@pytest.mark.parametrize("query", ["who is Priya Nair?", "was ist mit Priya Nair"])
def test_a_person_who_is_asked_about_comes_first(titles: Titles, query: str) -> None:
    title, why = titles.search(query)[0]

    assert (title, why[0]) == ("Priya Nair", "name")


@pytest.mark.parametrize("query", ["what happened on 2026-03-03?", "journal of 3 March 2026"])
def test_the_entries_of_a_day_that_is_asked_about_come_first(titles: Titles, query: str) -> None:
    title, why = titles.search(query)[0]

    assert (title, why[0]) == ("Planted beans.", "day")


def test_other_kinds_that_are_asked_for_have_no_named_item(titles: Titles) -> None:
    assert titles.search("what is the status of Kestrel?", kinds=["note"])[0][0] == "Kestrel: what is going on"


def test_a_name_within_a_longer_question_is_searched_as_words(titles: Titles) -> None:
    assert all("name" not in why for _, why in titles.search("which beans does Priya Nair plant"))
