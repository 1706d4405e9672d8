"""Mentions: a known person named in a text is found from both sides, and stored nowhere."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer

Call = Callable[..., Answer]


@pytest.fixture(autouse=True)
def ana(call: Call) -> Any:
    """A person with an alias."""
    return call("people.create", name="Ana", last_name="Kovač", aliases=["Anka", "AK"]).data


def mentions(call: Call, item: str, **more: Any) -> list[tuple[str, str, str]]:
    """Return relation, title and sentence of what is related to an item only by a name."""
    found = call("graph.related", item=item, **more).data["neighbours"]
    return [(row["relation"], row["title"], row["why"]) for row in found if row["source"] == "mentioned"]


@pytest.mark.parametrize(
    "text",
    ["Ana Kovač came.", "Then ANA KOVAČ came.", "Anka’s idea", "(Anka)", "Ana\nKovač", "Ana Kovac\u030c", "**Anka**",
     "Talk to Anka."],
)  # fmt: skip
def test_a_name_in_a_note_relates_it_to_the_person_from_both_sides(call: Call, text: str) -> None:
    note = call("notes.create", title="Floor", content=text).data["id"]

    assert [row[:2] for row in mentions(call, note)] == [("mentions", "Ana Kovač")]
    assert [row[:2] for row in mentions(call, "Ana Kovač")] == [("mentioned_by", "Floor")]


@pytest.mark.parametrize(
    "text",
    ["Ana Kovačević came", "Ana-Kovač", "Hanka", "Anka-Maria", "anka lower", "AK is a rifle", "Ana alone", "`Anka`",
     "```\nAnka\n```", "<!-- Anka -->", "anka@example.org", "Ana. Kovač", "Kovač Ana"],
)  # fmt: skip
def test_other_words_code_and_short_names_are_no_mention(call: Call, text: str) -> None:
    note = call("notes.create", title="Floor", content=text).data["id"]

    assert mentions(call, note) == []
    assert mentions(call, "Ana Kovač") == []


def test_lines_of_a_session_and_titles_mention_too(call: Call) -> None:
    call("sessions.log", title="Planning", lines=["Budget", "Ask Anka about grout"])
    call("tasks.create", title="Call Ana Kovač")

    assert {row[1:] for row in mentions(call, "Ana Kovač")} == {
        ("Planning", "Ask Anka about grout"),
        ("Call Ana Kovač", "Call Ana Kovač"),
    }
    assert mentions(call, "Planning") == [("mentions", "Ana Kovač", "Ask Anka about grout")]


def test_an_attendee_who_was_not_known_yet_is_mentioned(call: Call) -> None:
    call("events.create", title="Tiles", starts_at="2026-05-22T15:00", attendees=["Ida Berg", "x@example.org"])
    call("sessions.log", title="Planning", lines=["Budget"], attendees=["Ida Berg"])
    call("people.create", name="Ida", last_name="Berg")

    assert set(mentions(call, "Ida Berg")) == {
        ("mentioned_by", "Tiles", "Ida Berg, x@example.org"), ("mentioned_by", "Planning", "Ida Berg"),
    }  # fmt: skip
    assert mentions(call, "Tiles") == [("mentions", "Ida Berg", "Ida Berg, x@example.org")]
    assert mentions(call, "Planning") == [("mentions", "Ida Berg", "Ida Berg")]


def test_an_alias_of_two_people_or_a_first_name_of_another_is_ambiguous(call: Call) -> None:
    call("people.create", name="Anka", last_name="Berg")
    note = call("notes.create", title="Floor", content="Anka came.").data["id"]

    assert mentions(call, note) == []
    assert mentions(call, "Ana Kovač") == []
    assert mentions(call, "Anka Berg") == []


def test_a_linked_person_is_no_mention_beside_the_link(call: Call) -> None:
    note = call("notes.create", title="Floor", content="[[Ana Kovač]] and Anka").data["id"]

    assert mentions(call, note) == []
    assert len(call("graph.related", item=note).data["neighbours"]) == 1


def test_kinds_direction_and_limit_hold_for_mentions(call: Call) -> None:
    for number in range(3):
        call("notes.create", title=f"Floor {number}", content="Anka came.")

    limited = call("graph.related", item="Anka", limit=2)

    assert len(limited.data["neighbours"]) == 2
    assert limited.data["is_partial"]
    assert "2 of them only mentioned by name" in limited.summary
    assert mentions(call, "Anka", kinds=["blocked_by"]) == mentions(call, "Anka", direction="out") == []
    assert len(mentions(call, "Anka", kinds=["mentioned_by"], direction="in")) == 3
    assert mentions(call, "Floor 1", direction="in") == []


def test_mentions_end_with_the_text_the_alias_and_the_person(call: Call) -> None:
    note = call("notes.create", title="Floor", content="Anka came.").data["id"]
    call("people.update", person="Anka", aliases=[])
    assert mentions(call, note) == mentions(call, "Ana Kovač") == []

    call("history.undo")
    assert mentions(call, note)
    call("notes.update", note=note, content="Nobody came.")

    assert mentions(call, "Ana Kovač") == []
    assert call("relations.list").data == []


def test_names_in_scripts_without_case_are_found(call: Call) -> None:
    call("people.create", name="王伟")
    note = call("notes.create", title="笔记", content="昨天 王伟 来了。").data["id"]

    assert [row[1] for row in mentions(call, note)] == ["王伟"]
    assert [row[1] for row in mentions(call, "王伟")] == ["笔记"]
