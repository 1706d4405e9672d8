"""Sessions: meetings and thoughts, logged line by line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.store.items import long_texts

Call = Callable[..., Answer]


@pytest.fixture
def meeting(call: Call) -> Any:
    """A meeting with two lines."""
    call("projects.create", name="Kitchen")
    lines = ["Looked at two hobs", {"type": "decision", "speaker": "Ana", "text": "Induction"}]
    return call(
        "sessions.log", title="Hob meeting", project="Kitchen", lines=lines, attendees=["Ana", "ben@example.org"]
    ).data


def texts(call: Call, session: str, **more: Any) -> list[str]:
    """Return the texts of a session's lines."""
    return [line["text"] for line in call("sessions.get", session=session, **more).data["lines"]]


def test_a_title_begins_a_session_and_a_session_is_added_to(call: Call, meeting: Any) -> None:
    answer = call("sessions.log", session="hob meeting", lines=["Ordered"], attendees=["Cleo", "ana"], summary="Done")

    assert answer.summary == "Logged session “Hob meeting” (s_0000000006), 3 lines, version 2"
    now = call("sessions.get", session=meeting["id"]).data
    assert (now["attendees"], now["summary"]) == (["Ana", "ben@example.org", "Cleo"], "Done")
    assert [line["text"] for line in now["lines"]] == ["Looked at two hobs", "Induction", "Ordered"]


def test_each_append_is_one_change_without_the_lines_before(call: Call, meeting: Any) -> None:
    call("sessions.log", session=meeting["id"], lines=["a", "b"])

    last = call("history.list", item=meeting["id"]).data
    assert [line["action"] for line in last] == ["update", "create"]
    assert last[0]["fields"] == {"lines 3-4": [0, 2]}


def test_an_append_is_undone_and_redone(call: Call, meeting: Any) -> None:
    call("sessions.log", session=meeting["id"], lines=["wrong"], summary="Wrong too")

    call("history.undo")
    undone = call("sessions.get", session=meeting["id"]).data
    call("history.undo", redo=True)

    assert (undone["line_count"], undone["summary"], len(undone["lines"])) == (2, "", 2)
    assert texts(call, meeting["id"])[-1] == "wrong"
    assert call("items.get", item=meeting["id"]).data["item"]["line_count"] == 3


def test_an_earlier_append_is_undone_alone(call: Call, meeting: Any) -> None:
    first = call("sessions.log", session=meeting["id"], lines=["first"]).metadata["undo"]
    call("sessions.log", session=meeting["id"], lines=["second"])

    call("history.undo", unit=first)
    call("sessions.log", session=meeting["id"], lines=["third"])

    lines = call("sessions.get", session=meeting["id"]).data["lines"]
    assert [(line["position"], line["text"]) for line in lines[2:]] == [(4, "second"), (5, "third")]


def test_search_finds_lines_as_long_as_they_are_there(call: Call, meeting: Any) -> None:
    def hits(word: str) -> list[str]:
        return [hit["snippet"] for hit in call("search", query=word, mode="keyword").data]

    assert hits("induction") == ["…na, ben@example.org Looked at two hobs decision Ana: **Induction**"]
    call("sessions.log", session=meeting["id"], lines=["Extractor with recirculation"])
    assert len(hits("recirculation")) == 1
    call("history.undo")
    assert hits("recirculation") == []
    call("items.delete", item=meeting["id"])
    assert hits("induction") == []
    call("items.restore", item=meeting["id"])
    assert len(hits("induction")) == 1


def test_the_words_of_all_blocks_follow_a_new_title(app: App, call: Call, meeting: Any) -> None:
    call("sessions.log", session=meeting["id"], lines=[f"line number{at}" for at in range(100)])

    call("sessions.update", session=meeting["id"], title="Renamed")

    hits = [call("search", query=f"renamed number{at}", mode="keyword").data for at in (0, 50, 99)]
    assert all(len(found) == 1 for found in hits)
    with app.context.database.reading() as session:
        assert long_texts.is_indexed(session)


def test_lines_are_read_by_page_and_type(call: Call, meeting: Any) -> None:
    call("sessions.log", session=meeting["id"], lines=["x" * 9000, {"text": "Which colour?", "type": "question"}])

    first = call("sessions.get", session=meeting["id"]).data
    second = call("sessions.get", session=meeting["id"], start=first["next_start"]).data
    shown = call("items.get", item=meeting["id"]).data

    assert (len(first["lines"]), first["next_start"], len(second["lines"])) == (2, 3, 1)
    assert texts(call, meeting["id"], type="question") == ["Which colour?"]
    assert ([line["text"] for line in shown["belonging"]["lines"]], shown["more"]) == (
        ["Looked at two hobs", "Induction"], {"next_start": 3},
    )  # fmt: skip


def test_a_session_of_many_lines_is_whole_in_scripts(call: Call) -> None:
    code = """
session = sdk.sessions.create("Long")
for part in range(5):
    sdk.sessions.log(session=session, lines=[f"{part} {at}" for at in range(500)])
whole = sdk.sessions.get(session)
return [len(whole.lines), whole.lines[-1].text, whole.next_start, len(sdk.sessions.export(session).splitlines())]
"""
    assert call("run_code", code=code).data["result"] == [2500, "4 499", None, 2506]


def test_thoughts_are_revised_and_measured(call: Call) -> None:
    lines: list[Any] = ["Gas", {"text": "Induction", "revises": 1, "confidence": 0.5}, "Order it"]
    lines += [{"text": "Induction, 80 cm", "revises": 2, "branch": "wide", "confidence": 0.9}]
    session = call("sessions.log", title="Which hob", kind="thinking", lines=lines).data["id"]

    measured = call("sessions.analyze", session=session).data

    assert [line["type"] for line in call("sessions.get", session=session).data["lines"]] == ["thought"] * 4
    assert {name: measured[name] for name in ("linearity", "revision_rate", "depth", "branches", "confidence")} == {
        "linearity": 0.5, "revision_rate": 0.5, "depth": 3, "branches": ["wide"], "confidence": 0.7,
    }  # fmt: skip


def test_it_is_exported_as_markdown_and_json(call: Call, meeting: Any) -> None:
    text = call("sessions.export", session=meeting["id"]).data["text"]
    data = json.loads(call("sessions.export", session=meeting["id"], format="json").data["text"])

    assert "- Attendees: Ana, ben@example.org" in text
    assert "## Decisions\n\n- **Ana**: Induction\n" in text
    assert [line["text"] for line in data["lines"]] == ["Looked at two hobs", "Induction"]


def test_it_is_listed_by_project_attendee_and_day(call: Call, meeting: Any) -> None:
    call("sessions.create", title="Old", started_at="2026-01-02T09:00", kind="thinking")

    assert [row["title"] for row in call("sessions.list").data] == ["Hob meeting", "Old"]
    assert len(call("sessions.list", project="Kitchen", attendee="Ana", since="today").data) == 1
    assert [row["title"] for row in call("sessions.list", until="2026-01-02").data] == ["Old"]
    assert [row["id"] for row in call("items.get", item="Kitchen").data["belonging"]["sessions"]] == [meeting["id"]]
    assert call("query", collection="sessions", where={"line_count": {"gte": 2}}, count=True).data == [{"count": 1}]


def test_its_lines_are_purged_with_it(app: App, call: Call, clock: Any, meeting: Any) -> None:
    call("items.delete", item=meeting["id"])
    clock.advance(days=40)

    call("purge", confirm=True)

    with app.context.database.reading() as session:
        assert session.connection.exec_driver_sql("SELECT count(*) FROM session_lines").scalar() == 0
        assert long_texts.is_indexed(session)


def test_its_lines_come_back_from_an_export(call: Call, meeting: Any, tmp_path: Path) -> None:
    export = Path(call("export", folder=str(tmp_path), confirm=True).data["path"])

    restored = call("restore", source=str(export), folder=str(tmp_path / "again")).data

    assert len((export / "data/session_lines.jsonl").read_text("utf-8").splitlines()) == 2
    assert "Induction" in (export / "markdown/Kitchen/Hob meeting.md").read_text("utf-8")
    assert restored["rows"] > 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, InvalidInputError, "title is empty"),
        ({"title": "A", "session": "Hob meeting"}, InvalidInputError, "Both title and session"),
        ({"session": "Nothing"}, NotFoundError, "no session “Nothing”"),
        ({"title": "A", "lines": [" "]}, InvalidInputError, "lines[0] has no text"),
        ({"title": "A", "lines": [{"text": "a", "who": "b"}]}, InvalidInputError, "no field 'who'"),
        ({"title": "A", "lines": [{"text": "a", "type": "shout"}]}, InvalidInputError, "lines[0].type is 'shout'"),
        ({"title": "A", "lines": [{"text": "a", "revises": 1}]}, InvalidInputError, "lines[0].revises must be"),
        ({"title": "A", "lines": [{"text": "a", "confidence": 2}]}, InvalidInputError, "confidence is '2'"),
        ({"title": "A", "lines": [{"text": ["a"]}]}, InvalidInputError, "lines[0].text must be text, not list"),
        ({"title": "A", "lines": ["a" * 10_001]}, InvalidInputError, "10,001 characters"),
        ({"title": "A", "lines": ["a"] * 5001}, InvalidInputError, "lines has 5,001 lines"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_stored(
    call: Call, meeting: Any, arguments: Any, error: Any, message: str
) -> None:
    with pytest.raises(error) as caught:
        call("sessions.log", **arguments)

    assert message in caught.value.message
    assert len(call("sessions.list").data) == 1


def test_a_removed_line_cannot_be_revised(call: Call, meeting: Any) -> None:
    call("sessions.log", session=meeting["id"], lines=["wrong"])
    call("history.undo")
    call("sessions.log", session=meeting["id"], lines=["right"])

    with pytest.raises(InvalidInputError, match="line 3, which was removed"):
        call("sessions.log", session=meeting["id"], lines=[{"text": "again", "revises": 3}])


def test_a_second_session_of_the_title_is_told(call: Call, meeting: Any) -> None:
    answer = call("sessions.log", title="Hob meeting")

    assert meeting["id"] in answer.metadata["hint"]
    with pytest.raises(ConflictError):
        call("sessions.log", session="Hob meeting", lines=["a"])


def test_a_session_does_not_end_before_it_begins(call: Call, meeting: Any) -> None:
    with pytest.raises(InvalidInputError, match="before it begins"):
        call("sessions.update", session=meeting["id"], ended_at="today 9:00")

    call("sessions.update", session=meeting["id"], started_at="today 9:00", ended_at="today 9:30")
    assert call("sessions.get", session=meeting["id"]).data["ended_at"] == "2026-05-20T09:30+02:00"


def test_attendees_are_found_among_people_by_any_of_their_names(call: Call) -> None:
    ana = call("people.create", name="Ana", last_name="Kovač", aliases=["Anka"], email="ana@example.org").data["id"]

    session = call(
        "sessions.log", title="Weekly", attendees=["anka", "ana@example.org", "Ben", "cleo@example.org"]
    ).data

    assert session["attendees"] == ["Ana Kovač", "Ben", "cleo@example.org"]
    assert call("sessions.get", session="Weekly").data["people"] == [ana]
    assert [len(call("sessions.list", attendee=name).data) for name in ("Anka", "Ben", "Dora")] == [1, 1, 0]
    assert len(call("people.list").data) == 1


def test_people_are_created_only_if_asked_and_undone_with_the_session(call: Call) -> None:
    attendees = ["Ben", "Cleo Maas <cleo@example.org>"]
    call("sessions.log", title="Weekly", attendees=attendees, create_people=True)

    assert [(row["full_name"], row.get("email")) for row in call("people.list").data] == [
        ("Ben", None), ("Cleo Maas", "cleo@example.org"),
    ]  # fmt: skip
    call("history.undo")
    assert (call("people.list").data, call("sessions.list").data) == ([], [])


def test_a_name_of_two_people_stays_text_and_is_told(call: Call) -> None:
    for last_name in ("Kovač", "Maas"):
        call("people.create", name="Ana", last_name=last_name)

    answer = call("sessions.log", title="Weekly", attendees=["Ana"])

    assert "“Ana” is the name of 2 people" in answer.metadata["hint"]
    assert call("sessions.get", session="Weekly").data["people"] == []


def test_a_name_of_two_people_stays_beside_one_of_them_when_others_are_added(call: Call) -> None:
    for last_name in ("Kovač", "Maas"):
        call("people.create", name="Ana", last_name=last_name)
    both = ["Ana", "Ana Kovač"]
    session = call("sessions.log", title="Weekly", attendees=both).data["id"]
    event = call("events.create", title="Visit", starts_at="tomorrow 9:00", attendees=both).data["id"]

    logged = call("sessions.log", session=session, attendees=["Ben"])
    updated = call("events.update", event=event, attendees=[*both, "Ben"])

    assert [answer.data["attendees"] for answer in (logged, updated)] == [[*both, "Ben"]] * 2
    assert all("“Ana” is the name of 2 people" in answer.metadata["hint"] for answer in (logged, updated))


def test_a_merged_person_keeps_the_meetings(call: Call) -> None:
    old = call("people.create", name="Ana").data["id"]
    new = call("people.create", name="Ana Kovač").data["id"]
    call("sessions.log", title="Weekly", attendees=["Ana"])

    call("people.merge", person=old, into=new)

    assert call("sessions.get", session="Weekly").data["people"] == [new]


def test_a_purged_person_is_no_longer_referred_to_by_meetings(call: Call, clock: Any) -> None:
    ids = [call("people.create", name=name).data["id"] for name in ("Ana", "Ben")]
    call("sessions.log", title="Weekly", attendees=["Ana", "Ben"])
    call("items.delete", item=ids[0])
    clock.advance(days=40)

    call("purge", confirm=True)

    assert call("sessions.get", session="Weekly").data["people"] == [ids[1]]


@pytest.mark.parametrize("query", ["what did we decide about the hob", "was haben wir zum hob beschlossen"])
def test_a_question_after_what_was_decided_finds_the_line(call: Call, query: str) -> None:
    call("sessions.log", title="Planning", lines=[{"text": "Induction hob from Bosch", "type": "decision"}, "Budget"])
    call("sessions.log", title="Think hob", kind="thinking", lines=["Gas hob is cheap", "Sell the old hob"])
    call("tasks.create", title="Order the hob")

    first = call("search", query=query, mode="keyword").data[0]

    assert first["title"] == "Planning"
    assert "Induction" in first["snippet"]


def test_people_of_one_name_all_attend_and_stay_when_others_are_added(call: Call) -> None:
    for email in ("ana1@example.org", "ana2@example.org"):
        call("people.create", name="Ana Kovač", email=email)
    people = [row["id"] for row in call("people.list").data]
    session = call("sessions.log", title="Weekly", attendees=["ana1@example.org", "ana2@example.org"]).data["id"]

    answer = call("sessions.log", session=session, attendees=["Ben"])

    row = call("sessions.get", session=session).data
    assert row["attendees"] == ["Ana Kovač <ana1@example.org>", "Ana Kovač <ana2@example.org>", "Ben"]
    assert sorted(row["people"]) == sorted(people)
    assert "hint" not in answer.metadata
    assert [len(call("sessions.list", attendee=name).data) for name in ("Ana Kovač", *people)] == [1, 1, 1]


def test_a_person_who_got_another_name_stays_an_attendee(call: Call) -> None:
    person = call("people.create", name="Cora Maier").data["id"]
    session = call("sessions.log", title="Weekly", attendees=["Cora Maier"]).data["id"]
    event = call("events.create", title="Visit", starts_at="tomorrow 9:00", attendees=["Cora Maier"]).data["id"]
    call("people.update", person=person, name="Cora Neu")

    call("sessions.log", session=session, attendees=["Ben"], create_people=True)
    call("events.update", event=event, attendees=["Cora Maier", "Ben"])

    board = call("people.dashboard", person=person).data
    assert (len(board["sessions"]), len(board["events"])) == (1, 1)
    assert [row["full_name"] for row in call("people.list").data] == ["Ben", "Cora Neu"]
    call("sessions.update", session=session, attendees=["Ben"])
    assert call("people.dashboard", person=person).data["sessions"] == []


def test_a_person_who_got_another_name_is_removed_while_a_guest_stays(call: Call) -> None:
    person = call("people.create", name="Cora Maier").data["id"]
    session = call("sessions.log", title="Weekly", attendees=["Cora Maier", "Bob"]).data["id"]
    call("people.update", person=person, name="Cora Neu")

    call("sessions.update", session=session, attendees=["Bob"])

    assert call("sessions.get", session=session).data["attendees"] == ["Bob"]
    assert call("sessions.list", attendee="Cora Neu").data == []


def test_an_attendee_with_the_longest_name_can_be_joined_by_others(call: Call) -> None:
    person = call("people.create", name="A" * 200, last_name="B" * 200).data["id"]
    session = call("sessions.log", title="Weekly", attendees=[person]).data["id"]

    call("sessions.log", session=session, attendees=["Ben"])

    assert call("sessions.get", session=session).data["people"] == [person]


def test_an_end_that_is_a_time_of_day_or_a_distance_counts_from_the_start_and_is_shown(call: Call) -> None:
    made = call("sessions.create", title="Weekly", started_at="last friday 3pm", ended_at="5pm").data
    late = call("sessions.create", title="Late", started_at="2026-05-11 22:00", ended_at="1:00").data
    moved = call("sessions.update", session="Weekly", ended_at="+30 min").data

    assert (made["started_at"], made["ended_at"]) == ("2026-05-15T15:00+02:00", "2026-05-15T17:00+02:00")
    assert late["ended_at"] == "2026-05-12T01:00+02:00"
    assert moved["ended_at"] == "2026-05-15T15:30+02:00"
    assert call("sessions.update", session="Weekly", ended_at="+45m").data["ended_at"] == "2026-05-15T15:45+02:00"
    with pytest.raises(InvalidInputError, match="ends before it begins"):
        call("sessions.update", session="Weekly", ended_at="2pm")
