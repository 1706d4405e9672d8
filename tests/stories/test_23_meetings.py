"""Chapter 23: meetings as they happen, who is there, and what is in the calendar."""

import pytest

from tests.conftest import Chat

pytestmark = pytest.mark.anyio


@pytest.fixture
def toolsets() -> tuple[str, ...]:
    """The groups of tools that are listed."""
    return ("default", "people", "sessions", "calendar")


async def test_a_meeting_is_logged_as_it_happens(either: Chat) -> None:
    await either("create_person", name="Ana", last_name="Kovač", aliases=["Anka"])
    begun = await either("log_session", title="Hob meeting", attendees="Anka", lines="Looked at two hobs")
    await either("log_session", session="Hob meeting", lines='[{"type": "decision", "text": "Induction"}]')
    answer = await either("log_session", session=begun.id, lines=["Ordered", {"text": "Call Ben", "type": "next_step"}])

    shown = await either("get_item", item="hob meeting")
    decided = await either("get_session", session=begun.id, type="decision")

    assert answer.summary.endswith("4 lines, version 3")
    assert shown.data["item"]["attendees"] == ["Ana Kovač"]
    assert [line["text"] for line in shown.data["belonging"]["lines"]] == [
        "Looked at two hobs", "Induction", "Ordered", "Call Ben",
    ]  # fmt: skip
    assert [line["text"] for line in decided.data["lines"]] == ["Induction"]


async def test_what_was_decided_is_found(either: Chat) -> None:
    await either("log_session", title="Hob meeting", lines=[{"type": "decision", "text": "Induction, 80 cm wide"}])

    found = await either("search", query="what did we decide: induction")

    assert "Hob meeting" in found.text
    assert "**Induction**" in found.text


async def test_lines_are_undone_call_by_call(either: Chat) -> None:
    meeting = await either("log_session", title="Hob meeting", lines=["one"])
    for text in ("two", "three"):
        await either("log_session", session=meeting.id, lines=[text])

    await either("undo")
    left = await either("get_session", session=meeting.id)
    await either("undo", redo=True)
    back = await either("get_session", session=meeting.id)

    assert ([line["text"] for line in left.data["lines"]], len(back.data["lines"])) == (["one", "two"], 3)


async def test_who_comes_on_friday_has_one_answer(either: Chat) -> None:
    await either("create_event", title="Tiler comes", starts_at="friday 9:00", ends_at="12:00", attendees=["Ben"])
    await either("create_session", title="Kick-off", started_at="friday 14:00", attendees=["Ana"])

    answer = await either("list_events", day="friday")

    assert answer.summary == "2 events (day Fri 2026-05-22)"
    assert [(row["title"], row["attendees"]) for row in answer.data] == [
        ("Tiler comes", ["Ben"]),
        ("Kick-off", ["Ana"]),
    ]


async def test_a_chain_of_thoughts_is_measured_and_exported(either: Chat) -> None:
    lines = ["Gas", {"text": "Induction", "revises": 1}]
    thoughts = await either("log_session", title="Which hob", kind="thinking", lines=lines)

    measured = await either("analyze_session", session=thoughts.id)
    exported = await either("export_session", session=thoughts.id, format="json")

    assert "revision rate 0.5, depth 2" in measured.summary
    assert '"revises": 1' in exported.data["text"]


async def test_an_event_that_ends_before_it_begins_is_refused(either: Chat) -> None:
    error = await either.refused("create_event", title="Bad", starts_at="friday 9:00", ends_at="2026-05-22T08:00")

    assert "before it begins" in error.message
