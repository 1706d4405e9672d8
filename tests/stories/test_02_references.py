"""Chapter 2: an item is named by its id or by its name, and a doubt is answered with candidates."""

import pytest

from tests.conftest import Chat, StandingClock

pytestmark = pytest.mark.anyio


async def test_a_task_is_named_by_its_title(chat: Chat) -> None:
    made = await chat("create_task", title="Buy tea")

    changed = await chat("update_task", task="Buy tea", urgent=True)

    assert changed.id == made.id


async def test_a_name_is_found_whatever_its_case_and_outer_spaces(chat: Chat) -> None:
    made = await chat("create_project", name="Über Größe")

    found = await chat("get_project", project="  über GRÖSSE ")

    assert found.id == made.id


async def test_an_ambiguous_title_is_answered_with_candidates(chat: Chat) -> None:
    first, second = [await chat("create_task", title="Buy tea") for _ in range(2)]

    refusal = await chat.refused("update_task", task="Buy tea", urgent=True)

    assert {candidate["id"] for candidate in refusal.candidates} == {first.id, second.id}
    assert first.id in refusal.text
    assert second.id in refusal.text


async def test_candidates_have_the_days_of_the_users_time_zone(chat: Chat, clock: StandingClock) -> None:
    clock.advance(hours=14.5)  # half past midnight in Berlin, where it is two hours later than in UTC
    for _ in range(2):
        await chat("create_task", title="Order tiles", deadline="2026-05-22T00:30")

    refusal = await chat.refused("update_task", task="Order tiles", urgent=True)

    days = {(candidate["created_at"], candidate["deadline"]) for candidate in refusal.candidates}
    assert days == {("2026-05-21", "2026-05-22")}


async def test_of_a_name_that_only_something_deleted_has_is_said_where_that_is(chat: Chat) -> None:
    made = await chat("create_task", title="Buy tea")
    await chat("create_task", title="Buy teacups")
    await chat("delete_item", item=made.id)

    refusal = await chat.refused("update_task", task="buy tea", urgent=True)

    assert f"“Buy tea” ({made.id}) is in the trash" in refusal.text


async def test_a_candidate_is_taken_by_its_id(chat: Chat) -> None:
    for _ in range(2):
        await chat("create_task", title="Buy tea")

    refusal = await chat.refused("update_task", task="Buy tea", urgent=True)
    changed = await chat("update_task", task=refusal.candidates[0]["id"], urgent=True)

    assert changed.data["urgent"] is True


@pytest.mark.parametrize(
    "text", ["Kitchen renovaton", "kitchen", "renovation", "Kichen renovation", "The kitchen renovation"]
)
async def test_an_unknown_name_is_answered_with_the_nearest(chat: Chat, text: str) -> None:
    made = await chat("create_project", name="Kitchen renovation")
    await chat("create_project", name="Taxes")

    refusal = await chat.refused("get_project", project=text)

    assert refusal.code == "not_found"
    assert [candidate["id"] for candidate in refusal.candidates] == [made.id]


@pytest.mark.parametrize("text", ["Teaa", "Te", "tae"])
async def test_a_slip_in_a_short_name_is_answered_with_the_nearest(chat: Chat, text: str) -> None:
    made = await chat("create_task", title="Tea")

    refusal = await chat.refused("update_task", task=text, urgent=True)

    assert [candidate["id"] for candidate in refusal.candidates] == [made.id]


async def test_an_id_of_another_kind_is_refused(chat: Chat) -> None:
    note = await chat("create_note", title="Tea")

    refusal = await chat.refused("update_task", task=note.id, urgent=True)

    assert refusal.code in ("not_found", "invalid_input")
    assert "note" in refusal.text


async def test_an_unknown_id_is_not_found(chat: Chat) -> None:
    refusal = await chat.refused("get_item", item="t_zzzzzzzzzz")

    assert refusal.code == "not_found"
    assert "t_zzzzzzzzzz" in refusal.message


async def test_a_closed_task_and_an_open_one_of_one_title_are_ambiguous_to_a_write(chat: Chat) -> None:
    first = await chat("create_task", title="Water plants", status="done")
    second = await chat("create_task", title="Water plants")

    refusal = await chat.refused("delete_item", item="Water plants")

    assert {candidate["id"] for candidate in refusal.candidates} == {first.id, second.id}


async def test_a_title_of_two_kinds_is_ambiguous_where_any_kind_is_meant(chat: Chat) -> None:
    task = await chat("create_task", title="Tea")
    note = await chat("create_note", title="Tea")

    refusal = await chat.refused("get_item", item="Tea")

    assert {candidate["id"] for candidate in refusal.candidates} == {task.id, note.id}


async def test_a_title_of_two_kinds_is_clear_where_one_kind_is_meant(chat: Chat) -> None:
    await chat("create_task", title="Tea")
    note = await chat("create_note", title="Tea")

    found = await chat("get_note", note="Tea")

    assert found.id == note.id


async def test_a_title_that_looks_like_an_id_is_found(chat: Chat) -> None:
    made = await chat("create_task", title="t_7k3q9xv2mh")

    changed = await chat("update_task", task=made.id, urgent=True)

    assert changed.data["title"] == "t_7k3q9xv2mh"


async def test_what_is_in_the_trash_has_no_claim_on_its_name(chat: Chat) -> None:
    old = await chat("create_task", title="Tea")
    await chat("delete_item", item=old.id)
    new = await chat("create_task", title="Tea")

    changed = await chat("update_task", task="Tea", urgent=True)

    assert changed.id == new.id


async def test_a_parent_is_named_by_its_title(chat: Chat) -> None:
    parent = await chat("create_task", title="Move house")

    child = await chat("create_task", title="Pack", parent="Move house")

    assert child.data["parent"] == parent.id
    assert (await chat("list_tasks", parent="Move house")).titles == ["Pack"]


async def test_an_empty_reference_where_one_is_needed_is_refused(chat: Chat) -> None:
    await chat("create_task", title="Tea")

    refusal = await chat.refused("update_task", task="", urgent=True)

    assert "task" in refusal.message
