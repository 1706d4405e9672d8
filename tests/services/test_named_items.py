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

    def create(self, operation: str, **arguments: object) -> None:
        self._app.calls.call(operation, arguments, SPOKEN)

    def search(self, query: str, **arguments: object) -> list[tuple[str, tuple[str, ...]]]:
        rows = self._app.calls.call("search", {"query": query, **arguments}, SPOKEN).data
        return [(row["title"], tuple(row["why"])) for row in rows]

    def read_hint(self, query: str) -> str:
        return str(self._app.calls.call("search", {"query": query}, SPOKEN).metadata.get("hint", ""))


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


@pytest.mark.parametrize("query", ["who is coming on Friday?", "wer kommt am Freitag", "meetings on 22 May"])
def test_the_events_of_a_day_that_is_asked_about_come_first(titles: Titles, query: str) -> None:
    titles.create("create_event", title="Tile samples", starts_at="2026-05-22T15:00", attendees=["Priya Nair"])
    titles.create("create_note", title="Who is coming on Friday")

    found = titles.search(query, kinds=["event", "session"])

    assert (found[0][0], found[0][1][0]) == ("Tile samples", "day")


def test_what_happened_on_a_day_names_no_event_to_come(titles: Titles) -> None:
    titles.create("create_event", title="Tile samples", starts_at="2026-05-22T15:00")

    assert all("day" not in why for _, why in titles.search("what happened on friday"))


@pytest.mark.parametrize(
    "query", ["what is Priya waiting for?", "everything with Priya", "worauf wartet Priya Nair", "Priya Nair"]
)
def test_the_answer_about_a_person_names_the_tool_that_lists_everything_with_them(titles: Titles, query: str) -> None:
    assert titles.search(query)[0][0] == "Priya Nair"
    assert "lists the tasks, meetings, events and notes with this person" in titles.read_hint(query)


def test_other_kinds_that_are_asked_for_have_no_named_item(titles: Titles) -> None:
    assert titles.search("what is the status of Kestrel?", kinds=["note"])[0][0] == "Kestrel: what is going on"


def test_a_name_within_a_longer_question_is_searched_as_words(titles: Titles) -> None:
    assert all("name" not in why for _, why in titles.search("which beans does Priya Nair plant"))
