"""Chapter 12: several operations in one call."""

from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.domain.changes import Origin
from tests.conftest import Chat

pytestmark = pytest.mark.anyio

OTHER = Origin(actor="tool", client="other", conversation="v_other", operation="", call="c_other", unit="c_other")


def step(tool: str, **args: Any) -> dict[str, Any]:
    """Return one operation."""
    return {"tool": tool, "args": args}


async def titles(chat: Chat) -> list[str]:
    """Return the titles of open tasks."""
    return sorted((await chat("list_tasks")).titles)


async def test_operations_run_in_order_and_answer_by_position(chat: Chat) -> None:
    done = await chat("batch", operations=[step("create_task", title=title) for title in "abc"])

    assert [result["data"]["title"] for result in done.data["results"]] == ["a", "b", "c"]
    assert done.data["succeeded"] == 3


async def test_a_step_refers_to_an_earlier_result(chat: Chat) -> None:
    done = await chat(
        "batch",
        operations=[
            step("create_project", name="House"),
            step("create_task", title="Paint", project="$0.data.id"),
            step("update_task", task="$1.data.id", tags=["$0.data.name"]),
        ],
    )

    results = done.data["results"]
    assert results[1]["data"]["project"] == results[0]["data"]["name"]
    assert results[2]["data"]["tags"] == ["House"]


async def test_a_step_refers_to_a_row_of_a_list(chat: Chat) -> None:
    await chat("create_task", title="Tea")

    await chat("batch", operations=[step("list_tasks"), step("update_task", task="$0.data.0.id", title="Coffee")])

    assert await titles(chat) == ["Coffee"]


async def test_a_text_that_merely_holds_a_dollar_stays(chat: Chat) -> None:
    texts = ("costs $5", "costs $5, $5.data", "costs $7.data.id")

    await chat("batch", operations=[step("create_task", title=title) for title in ("a", *texts)])

    assert {*texts} <= {*await titles(chat)}


@pytest.mark.parametrize("number", [0, 1, 2])
async def test_a_reference_inside_a_longer_text_is_refused_before_anything_runs(chat: Chat, number: int) -> None:
    text = f"see ${number}.data.id"
    steps = [step("create_task", title="a"), step("create_note", title="n", content=text), step("status")]

    refusal = await chat.refused("batch", operations=steps, atomic=False)

    assert f"${number}.data.id is inside a longer text" in refusal.message
    assert f"$${number}.data.id" in refusal.hint
    assert await titles(chat) == []


@pytest.mark.parametrize(("sent", "kept"), [("see $$0.data.id", "see $0.data.id"), ("$$0.data.id", "$0.data.id")])
async def test_a_doubled_dollar_keeps_what_looks_like_a_reference(chat: Chat, sent: str, kept: str) -> None:
    await chat("batch", operations=[step("create_task", title="a"), step("create_task", title=sent)])

    assert kept in await titles(chat)


@pytest.mark.parametrize(
    "reference", ["$1.data.id", "$7.data.id", "$0.data.nothing", "$0.data.id.deeper", "$0.datta.id"]
)
async def test_a_reference_to_nothing_is_refused_and_nothing_kept(chat: Chat, reference: str) -> None:
    refusal = await chat.refused(
        "batch", operations=[step("create_task", title="a"), step("create_note", title=reference)]
    )

    assert refusal.code == "invalid_input"
    assert reference in refusal.text
    assert await titles(chat) == []


async def test_one_error_takes_all_back(chat: Chat) -> None:
    refusal = await chat.refused(
        "batch",
        operations=[
            step("create_task", title="a"),
            step("update_task", task="Nobody", title="x"),
            step("create_task", title="b"),
        ],
    )

    assert refusal.code == "not_found"
    assert "Step 1" in refusal.message
    assert "update_task" in refusal.message
    assert await titles(chat) == []


async def test_what_was_taken_back_leaves_no_change_and_no_hit(chat: Chat) -> None:
    await chat.refused("batch", operations=[step("create_note", title="zebra"), step("create_note", title="")])

    assert (await chat("search", query="zebra")).data == []
    assert (await chat("query", collection="changes")).data == []


async def test_candidates_of_a_step_are_told(chat: Chat) -> None:
    made = await chat("create_project", name="Kitchen renovation")

    refusal = await chat.refused("batch", operations=[step("create_task", title="x", project="Kitchen")])

    assert [candidate["id"] for candidate in refusal.candidates] == [made.id]


async def test_not_atomic_each_result_tells_its_own_fate(chat: Chat) -> None:
    done = await chat(
        "batch",
        atomic=False,
        operations=[
            step("create_task", title="a"),
            step("update_task", task="Nobody", title="x"),
            step("create_task", title="b"),
        ],
    )

    assert [result["ok"] for result in done.data["results"]] == [True, False, True]
    error = done.data["results"][1]["error"]
    assert (error["code"], bool(error["message"]), bool(error["hint"])) == ("not_found", True, True)
    assert await titles(chat) == ["a", "b"]


async def test_not_atomic_the_numbers_of_both_fates_are_told(chat: Chat) -> None:
    done = await chat("batch", atomic=False, operations=[step("create_task", title="a"), step("create_task", title="")])

    assert (done.data["succeeded"], done.data["failed"], done.data["atomic"]) == (1, 1, False)


async def test_a_batch_without_a_failure_says_so(chat: Chat) -> None:
    done = await chat("batch", operations=[step("create_task", title="a")])

    assert (done.data["succeeded"], done.data["failed"], done.data["atomic"]) == (1, 0, True)


async def test_not_atomic_a_reference_to_a_failed_step_fails_alone(chat: Chat) -> None:
    done = await chat(
        "batch",
        atomic=False,
        operations=[
            step("create_project", name=""),
            step("create_task", title="x", project="$0.data.id"),
            step("create_task", title="b"),
        ],
    )

    assert [result["ok"] for result in done.data["results"]] == [False, False, True]


@pytest.mark.parametrize("atomic", [True, False])
async def test_a_batch_in_a_batch_is_refused(chat: Chat, atomic: bool) -> None:
    nested = step("batch", operations=[step("create_task", title="x")])

    result = await chat.raw("batch", operations=[nested], atomic=atomic)

    assert result.is_error or result.structured_content["data"]["results"][0]["ok"] is atomic is False
    assert await titles(chat) == []


async def test_an_unknown_tool_is_answered_with_the_nearest(chat: Chat) -> None:
    refusal = await chat.refused("batch", operations=[step("create_tsk", title="x")])

    assert "create_task" in refusal.text


async def test_not_atomic_an_unknown_tool_is_one_failed_step(chat: Chat) -> None:
    done = await chat("batch", atomic=False, operations=[step("create_tsk", title="x"), step("create_task", title="b")])

    assert [result["ok"] for result in done.data["results"]] == [False, True]


async def test_tools_that_are_not_listed_are_at_hand(chat: Chat) -> None:
    await chat("create_link", url="example.org", title="Shop")

    await chat("batch", operations=[step("update_link", link="Shop", title="Store")])

    assert (await chat("query", collection="links")).data[0]["title"] == "Store"


@pytest.mark.parametrize("count", [0, 101])
async def test_a_batch_has_one_to_a_hundred_steps(chat: Chat, count: int) -> None:
    refusal = await chat.refused("batch", operations=[step("create_task", title="x")] * count)

    assert "100" in refusal.text
    assert await titles(chat) == []


async def test_a_hundred_steps_are_done(chat: Chat) -> None:
    done = await chat("batch", operations=[step("create_task", title=f"task {n}") for n in range(100)])

    assert done.data["succeeded"] == 100
    assert len(done.data["results"]) == 100
    assert len(done.text) <= 40_000


async def test_undo_is_a_step_too(chat: Chat) -> None:
    made = await chat("create_task", title="a")

    await chat("batch", operations=[step("undo", unit=made.metadata["undo"]), step("create_task", title="b")])

    assert await titles(chat) == ["b"]


@pytest.mark.parametrize(
    "broken",
    [{}, {"args": {}}, {"tool": ""}, {"tool": "status", "extra": 1}, "status", None, {"tool": "status", "args": []}],
)
async def test_a_step_of_the_wrong_form_is_refused(chat: Chat, broken: object) -> None:
    refusal = await chat.refused("batch", operations=[step("create_task", title="x"), broken])

    assert refusal.code in ("invalid_input", "not_found")
    assert await titles(chat) == []


@pytest.mark.parametrize("atomic", [True, False])
async def test_a_batch_reaches_no_operation_that_only_the_command_line_has(
    chat: Chat, tmp_path: Path, atomic: bool
) -> None:
    (tmp_path / "secret.md").write_text("- [ ] read me")
    step = {"tool": "import.markdown", "args": {"folder": str(tmp_path)}}

    answer = await chat.raw("batch", operations=[step], atomic=atomic)

    assert "There is no tool" in str(answer.content)
    assert (await chat("search", query="read me")).data == []


async def test_a_batch_that_only_reads_does_not_wait_for_others_who_write(chat: Chat, app: App) -> None:
    with app.context.database.transaction(OTHER):
        read = await chat("batch", operations=[step("list_tasks"), step("list_notes")], atomic=True)

    assert read.data["succeeded"] == 2
