"""Fields are edges of the graph: whom tasks are assigned to, who attended, teams and managers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, text

from panorama.app import App, open_app
from panorama.calls import Answer, Conversation
from panorama.config import Settings
from panorama.domain.changes import Origin
from panorama.services.graph.unread_links import read_unread_links
from panorama.store import migrate
from panorama.store.tables import edges, marks

Call = Callable[..., Answer]


@pytest.fixture
def person(call: Call) -> str:
    """A person with everything that a field can connect with them."""
    team = call("teams.create", name="Fitters").data["id"]
    boss = call("people.create", name="Zora").data["id"]
    id_ = call("people.create", name="Benedikt", team=team, manager=boss).data["id"]
    call("tasks.create", title="Fit the hob", assignee="Benedikt")
    call("tasks.create", title="Get the offer", waiting_for="Benedikt")
    call("sessions.log", title="Site visit", attendees=["Benedikt", "Nobody known"], lines=["one"])
    call("events.create", title="Handover", starts_at="2030-05-01 09:00", attendees=["Benedikt"])
    return id_


EVERYTHING = {
    ("member_of", "Fitters", "team of the person"),
    ("managed_by", "Zora", "manager of the person"),
    ("assigned", "Fit the hob", "assignee of the task"),
    ("awaited_by", "Get the offer", "waiting_for of the task"),
    ("attended", "Site visit", "people of the session"),
    ("attended", "Handover", "people of the event"),
}


def related(call: Call, item: str, **more: Any) -> set[tuple[str, str, str]]:
    """Return relation, title and reason of what fields connect an item with."""
    found = call("graph.related", item=item, limit=100, **more).data["neighbours"]
    return {(row["relation"], row["title"], row["why"]) for row in found if row["source"] == "field"}


def test_everything_with_a_person_is_related_to_them(call: Call, person: str) -> None:
    assert related(call, person) == EVERYTHING
    assert related(call, "Zora") == {("manages", "Benedikt", "manager of the person")}
    assert related(call, "Fitters") == {("has_member", "Benedikt", "team of the person")}
    assert {row[1] for row in related(call, person, kinds=["attended"])} == {"Site visit", "Handover"}
    assert {row[1] for row in related(call, person, direction="out")} == {"Fitters", "Zora"}
    assert "Site visit" in {row[1] for row in related(call, "Fit the hob", depth=2)}
    ways = call("graph.paths", from_item="Zora", to_item="Site visit").data["paths"]
    assert [step["title"] for step in ways[0]] == ["Zora", "Benedikt", "Site visit"]
    hit = call("graph.context", topic="hob").data["hits"][0]
    assert [(row["relation"], row["title"]) for row in hit["related"]] == [("assigned_to", "Benedikt")]
    assert "backlinks" not in call("items.get", item=person).data  # those are links in texts


def test_edges_follow_their_fields_the_trash_and_undo(call: Call, person: str) -> None:
    call("tasks.update", task="Fit the hob", assignee="Zora")
    assert related(call, "Fit the hob") == {("assigned_to", "Zora", "assignee of the task")}
    call("tasks.update", task="Fit the hob", assignee="", title="Fit the hob at last")
    assert related(call, "Fit the hob at last") == set()
    call("history.undo")
    call("history.undo")
    assert related(call, person) == EVERYTHING

    call("items.delete", item=person)
    assert related(call, "Fit the hob") == set()
    assert call("graph.related", item="Fit the hob").data["unresolved"] == []
    assert call("graph.stats").data["unresolved"] == 0
    call("items.restore", item=person)
    call("items.delete", item="Handover")
    call("history.undo")
    assert related(call, person) == EVERYTHING


def test_edges_move_with_a_merge_and_back(call: Call, person: str) -> None:
    other = call("people.create", name="Ben", last_name="Gruber").data["id"]
    call("people.merge", person=person, into=other)
    assert {row[1] for row in related(call, other)} >= {"Fit the hob", "Get the offer", "Site visit", "Handover"}
    call("history.undo")
    assert related(call, other) == set()
    assert related(call, person) == EVERYTHING


def test_a_text_that_says_the_same_as_a_field_adds_no_edge(call: Call, person: str) -> None:
    call("tasks.update", task="Fit the hob", notes=f"- assigned_to [[{person}]]")
    assert related(call, "Fit the hob") == {("assigned_to", "Benedikt", "assignee of the task")}
    call("tasks.update", task="Fit the hob", assignee="")
    found = call("graph.related", item="Fit the hob").data["neighbours"]
    assert [(row["relation"], row["source"]) for row in found] == [("assigned_to", "parsed")]


def test_fields_that_were_stored_before_are_read_in_the_background(app: App, call: Call, person: str) -> None:
    database = app.context.database
    origin = Origin(actor="cli", client="", conversation="", operation="", call="c_0000000001", unit="c_0000000001")
    holders = [person, *(row["id"] for row in call("graph.related", item=person).data["neighbours"])]
    with database.transaction(origin) as session:
        session.connection.execute(delete(edges))
        session.connection.execute(insert(marks), [{"name": f"links {id_}", "value": 1} for id_ in holders])
    assert related(call, person) == set()
    read_unread_links(database, lambda: False)
    assert related(call, person) == EVERYTHING


INDENTED = "Tea is\n\n    [[Benedikt]]"


def test_links_in_indented_code_that_were_stored_before_end_in_the_background(
    app: App, call: Call, person: str
) -> None:
    code = [
        call("notes.create", title="Tab", content="\t[[Benedikt]]").data["id"],
        call("notes.create", title="Spaces and tab", content="Tea\r\n\r\n  \t[[Benedikt]]").data["id"],
        call("tasks.create", title="Task", notes=INDENTED).data["id"],
        call("projects.create", name="Project", description=INDENTED).data["id"],
        call("people.create", name="Person", notes=INDENTED).data["id"],
    ]
    others = [
        call("notes.create", title="Link", content="[[Benedikt]]\n\n    code").data["id"],
        call("notes.create", title="Code", content="Tea is\n\n    code").data["id"],
    ]
    nested = call("notes.create", title="List", content="- [[Zora]]\n    - [[Benedikt]]").data["id"]
    database = app.context.database
    origin = Origin(actor="cli", client="", conversation="", operation="", call="c_0000000001", unit="c_0000000001")
    with database.transaction(origin) as session:
        session.connection.execute(insert(edges), [
            {"from_item": id_, "to_item": person, "kind": "mentions", "target": "Benedikt", "key": "benedikt",
             "tail": "", "position": 8}
            for id_ in code
        ])  # fmt: skip
        session.connection.execute(text("UPDATE alembic_version SET version_num = '0025'"))

    migrate.create_tables(database)

    with database.reading() as session:
        unread = list(session.connection.execute(select(marks.c.name).where(marks.c.name.like("links %"))).scalars())
    assert sorted(unread) == sorted(f"links {id_}" for id_ in [*code, nested])
    read_unread_links(database, lambda: False)
    found = call("graph.related", item=person, limit=100).data["neighbours"]
    assert {row["id"] for row in found if row["source"] == "parsed"} == {others[0], nested}


def test_a_restored_data_directory_has_the_edges(call: Call, person: str, tmp_path: Path) -> None:
    archive = call("export", folder=str(tmp_path / "exports"), confirm=True).data["path"]
    call("restore", source=archive, folder=str(tmp_path / "home"))

    with open_app(Settings(home=tmp_path / "home", timezone="Europe/Berlin")) as app:
        client = Conversation(id="v", actor="cli", client="tests")
        assert related(lambda name, **more: app.calls.call(name, more, client), person) == EVERYTHING
