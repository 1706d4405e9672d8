"""People, the calendar and the graph: what their pages show, and what their forms do."""

import re
from datetime import UTC, datetime

import pytest

from panorama.web.graph_drawing import HEIGHT, WIDTH, draw_graph
from panorama.web.views.people import make_initials
from tests.conftest import StandingClock
from tests.web.page_client import PageClient


@pytest.fixture
def ida(page: PageClient) -> str:
    """A person with a task, an appointment that repeats, a meeting, and a note that names her."""
    team = page.call("teams.create", name="Museum")["id"]
    ida = page.call("people.create", name="Ida", last_name="Berg", team=team, birthday="1990-05-12")["id"]
    page.call("tasks.create", title="Contract", waiting_for=ida, deadline="friday")
    page.call("tasks.create", title="Unrelated")
    page.call("events.create", title="Stand-up", starts_at="today 9:00", attendees=["Ida Berg"], recurrence="every day")
    page.call("sessions.create", title="Kick-off", started_at="yesterday 10:00", attendees=["Ida Berg"], lines=["Go"])
    page.call("notes.create", title="Rights", content="[[Ida Berg]] decides.")
    return str(ida)


def test_a_person_is_shown_with_all_that_concerns_them(page: PageClient, ida: str) -> None:
    html = page.page(f"/people/{ida}")

    for words in ("Museum", "12 May 1990 (36)", "Contract", "Waiting for Ida", "Kick-off", "[[Ida Berg]] decides."):
        assert words in html
    assert "Unrelated" not in html
    assert html.count(">Stand-up</a>") == 1  # the next one of sixty


def test_a_birthday_on_29_february_is_reached_on_28_february_of_other_years(
    page: PageClient, clock: StandingClock
) -> None:
    clock.moment = datetime(2027, 2, 28, 12, tzinfo=UTC)
    id_ = page.call("people.create", name="Ada", birthday="1992-02-29")["id"]

    assert "29 Feb 1992 (35)" in page.page(f"/people/{id_}")


def test_people_of_one_name_are_told_apart_by_their_ids(page: PageClient, ida: str) -> None:
    other = page.call("people.create", name="Ida", last_name="Berg")["id"]

    assert "Stand-up" not in page.page(f"/people/{other}")
    assert "Stand-up" in page.page(f"/people/{ida}")


def test_a_person_is_added_and_changed_by_forms(page: PageClient) -> None:
    added = page.send("people.create", name="Noor", aliases="N, Noa", email="noor@x.example", then="/people/{id}")
    id_ = added["then"].removeprefix("/people/")
    changed = page.send("people.update", person=id_, name="Noor", role="Curator", aliases="")

    person = page.call("items.get", item=id_)["item"]

    assert (added["message"], changed["message"]) == ("Added: Noor", "Saved: Noor")
    assert (person["role"], person["aliases"]) == ("Curator", [])


def test_the_list_of_people_is_cut_by_team(page: PageClient, ida: str) -> None:
    alone = page.call("people.create", name="Jonas")["id"]
    team = page.call("teams.list")[0]["id"]

    assert page.rows("/people") == [ida, alone]
    assert page.rows(f"/people?team={team}") == [ida]


def test_the_form_of_a_person_offers_every_team(page: PageClient) -> None:
    names = [f"Team {number:03}" for number in range(101)]
    for name in names:
        page.call("teams.create", name=name)

    html = page.page("/people/new")

    assert [name for name in names if f">{name}</option>" not in html] == []


@pytest.mark.parametrize(("name", "initials"), [("Ida", "I"), ("Ida de Berg", "IB"), ("élodie x", "ÉX")])
def test_initials_are_those_of_the_first_and_the_last_name(name: str, initials: str) -> None:
    assert make_initials(name) == initials


def test_a_meeting_is_shown_with_its_lines(page: PageClient, ida: str) -> None:
    session = page.call("sessions.list")[0]["id"]

    html = page.page(f"/sessions/{session}")

    assert f'<a href="/people/{ida}">Ida Berg</a>' in html
    assert "Go" in html


def test_a_week_shows_events_meetings_plans_and_deadlines_on_their_days(page: PageClient, ida: str) -> None:
    page.call("events.create", title="Fair", starts_at="2026-05-21", ends_at="2026-05-22")
    page.call("tasks.create", title="Offer", scheduled_at="2026-05-22 16:00", scheduled_minutes=90)

    days = re.findall(r'<td id="d-([\d-]+)".*?</td>', page.page("/calendar"), re.DOTALL)
    cells = dict(re.findall(r'<td id="d-([\d-]+)"(.*?)</td>', page.page("/calendar"), re.DOTALL))

    assert days == [f"2026-05-{day}" for day in range(18, 25)]
    assert [day for day, cell in cells.items() if "Fair" in cell] == ["2026-05-21", "2026-05-22"]
    assert [day for day, cell in cells.items() if "Contract" in cell] == ["2026-05-22"]
    assert "16:00 – 17:30" in cells["2026-05-22"]
    assert "Kick-off" in cells["2026-05-19"]


def test_a_day_of_a_month_says_how_much_more_there_is(page: PageClient) -> None:
    for number in range(6):
        page.call("events.create", title=f"Event {number}", starts_at="2026-05-20")

    html = page.page("/calendar?view=month&day=2026-05-31")
    cells = dict(re.findall(r'<td id="d-([\d-]+)"(.*?)</td>', html, re.DOTALL))

    assert (min(cells), max(cells), len(cells)) == ("2026-04-27", "2026-05-31", 35)
    assert cells["2026-05-20"].count("Event ") == 3 * 2  # the title, and what a pointer shows
    assert "3 more" in cells["2026-05-20"]


@pytest.mark.parametrize("day", ["", "x", "0001-01-01", "9999-12-31", "2026-02-30"])
def test_a_calendar_of_no_day_is_that_of_today(page: PageClient, day: str) -> None:
    assert 'id="d-2026-05-20"' in page.page(f"/calendar?view=month&day={day}")


def test_an_event_is_added_and_moved_by_forms(page: PageClient) -> None:
    page.send("events.create", title="Lunch", starts_at="2026-05-21 12:00", ends_at="13:30", attendees="Ida, Noor")
    event = page.call("events.list")[0]["id"]
    form = page.page(f"/events/{event}")
    start, end = "2026-05-21 12:00", "2026-05-21 13:30"

    page.send(
        "events.update", event=event, title="Lunch", starts_at="2026-05-22 12:00", was_starts_at=start, ends_at=end,
        was_ends_at=end, attendees="Ida", recurrence="", location="", calendar="", status="tentative",
    )  # fmt: skip
    moved = page.call("items.get", item=event)["item"]

    assert f'name="was_ends_at" value="{end}"' in form
    assert (moved["starts_at"][:16], moved["ends_at"][:16]) == ("2026-05-22T12:00", "2026-05-22T13:30")
    assert (moved["attendees"], moved["status"]) == (["Ida"], "tentative")


def test_the_graph_shows_what_is_linked_and_the_projects_of_notes(page: PageClient, ida: str) -> None:
    project = page.call("projects.create", name="Garden")["id"]
    page.call("notes.create", title="Beds", content="See [[Rights]]", project=project)
    page.call("notes.create", title="Alone")

    html = page.page("/graph")

    assert html.count('class="point ') == 8  # Ida, her team, task, event, meeting and note; beds and their project
    assert "8 items and what links them" in html
    assert html.count("<line") == 7
    assert "Alone" not in html
    assert "Unrelated" not in html


def test_the_graph_around_an_item_has_what_is_within_some_steps(page: PageClient, ida: str) -> None:
    page.call("notes.create", title="Beds", content="See [[Rights]]")

    near, far = page.page(f"/graph?item={ida}&depth=1"), page.page("/graph?item=Ida+Berg&depth=2")

    assert "Beds" not in near
    assert "Beds" in far
    assert "<h1>Ida Berg</h1>" in far


def test_the_kinds_of_relations_in_the_graph_are_in_german_on_a_german_page(page: PageClient, ida: str) -> None:
    tasks = [page.call("tasks.create", title=title)["id"] for title in ("Dig", "Sow")]
    page.call("relations.create", from_item=tasks[1], to_item=tasks[0], kind="blocked_by")

    html = page.page("/graph", accept_language="de")

    assert "<title>blockiert durch</title>" in html or "<title>blockiert</title>" in html


def test_a_large_graph_is_cut_to_its_most_linked_items_and_says_so(page: PageClient) -> None:
    page.call("notes.create", title="Hub")
    for start in range(0, 300, 50):
        steps = [
            {"tool": "create_note", "args": {"title": f"Note {number}", "content": "[[Hub]]"}}
            for number in range(start, start + 50)
        ]
        page.call("batch", operations=steps)

    whole, around = page.page("/graph"), page.page("/graph?item=Hub")

    assert "301 items and what links them" in whole
    assert "the 250 with the most links are drawn" in whole
    assert whole.count('class="point ') == around.count('class="point ') == 250
    assert "the 250 nearest are drawn" in around


def test_labels_are_in_the_drawing_and_do_not_cover_each_other() -> None:
    nodes = [{"id": str(at), "kind": "note", "title": f"A title {at}", "links": 1} for at in range(40)]
    edges = [{"from_item": str(at), "to_item": str(at // 3), "kind": "mentions"} for at in range(1, 40)]

    drawing = draw_graph(nodes, edges)
    labels = [point for point in drawing.points if point.has_room]

    assert len(labels) > 25
    assert all(0 <= point.x <= WIDTH and 0 <= point.y <= HEIGHT for point in drawing.points)
    assert not any(
        abs(one.label_x - other.label_x) < 40 and abs(one.label_y - other.label_y) < 12
        for one in labels
        for other in labels
        if one is not other
    )


def test_a_link_in_a_note_leads_to_an_item_of_any_kind(page: PageClient, ida: str) -> None:
    note = page.call("notes.list")[0]["id"]

    assert f'<a class="wiki" href="/people/{ida}"' in page.page(f"/notes/{note}")
