"""Chapter 16: what a person picks in the client: pages to read, ways to begin, names being typed."""

import pytest
from mcp.types import INVALID_PARAMS, PromptReference, ResourceTemplateReference

from tests.conftest import Chat

pytestmark = pytest.mark.anyio


async def page(chat: Chat, uri: str) -> str:
    """Read a resource's text."""
    return str((await chat.client.read_resource(uri))[0].text)


async def test_a_note_is_read_as_markdown(either: Chat) -> None:
    made = await either("create_note", title="Plan", content="# One\n\ntext")

    assert "# One\n\ntext" in await page(either, f"panorama://note/{made.id}")


async def test_a_project_is_read_with_what_is_open_in_it(either: Chat) -> None:
    made = await either("create_project", name="House", description="where we live")
    await either("create_task", title="Paint", project="House")
    await either("create_note", title="Colours", project="House")

    text = await page(either, f"panorama://project/{made.id}")

    assert all(word in text for word in ("House", "where we live", "Paint", "Colours"))


async def test_a_task_is_read_with_its_notes(either: Chat) -> None:
    made = await either("create_task", title="Tea", notes="green", deadline="2026-06-01")

    text = await page(either, f"panorama://task/{made.id}")

    assert all(word in text for word in ("Tea", "green", "2026-06-01"))


async def test_todays_view_shows_what_is_late_due_and_under_way(either: Chat) -> None:
    for title, fields in {
        "late": {"deadline": "yesterday"},
        "due": {"deadline": "today"},
        "begun": {"status": "in_progress"},
        "far": {"deadline": "+9d"},
    }.items():
        await either("create_task", title=title, **fields)

    text = await page(either, "panorama://today")

    assert all(word in text for word in ("late", "due", "begun", "2026-05-20"))
    assert "far" not in text


async def test_two_tasks_that_look_alike_both_stand_in_todays_view(either: Chat) -> None:
    for _ in range(2):
        await either("create_task", title="Water plants", deadline="today")

    assert (await page(either, "panorama://today")).count("Water plants") == 2


@pytest.mark.parametrize(
    "uri",
    [
        *("panorama://note/n_zzzzzzzzzz", "panorama://project/p_zzzzzzzzzz"),
        *("panorama://job/w_zzzzzzzzzz", "panorama://run/c_zzzzzzzzzz", "panorama://nothing"),
    ],
)
async def test_a_page_that_does_not_exist_is_an_error_in_words(either: Chat, uri: str) -> None:
    from mcp import MCPError

    with pytest.raises(MCPError) as refusal:
        await either.client.read_resource(uri)

    assert refusal.value.error.code == INVALID_PARAMS
    assert uri in str(refusal.value)


async def test_a_long_note_is_cut_with_its_length_and_a_way_to_read_on(chat: Chat) -> None:
    made = await chat("create_note", title="Long", content="word " * 50_000)

    text = await page(chat, f"panorama://note/{made.id}")

    assert len(text) <= 40_000
    assert "250,0" in text[-200:]
    assert "get_note" in text[-200:]


async def test_the_resources_are_listed(either: Chat) -> None:
    templates = {template.uri_template for template in await either.client.list_resource_templates()}
    fixed = {str(resource.uri) for resource in await either.client.list_resources()}

    assert templates == {f"panorama://{kind}/{{id}}" for kind in ("job", "note", "project", "run", "task")}
    assert fixed == {"panorama://today", "panorama://reminders", "panorama://scripts"}


async def test_the_prompts_are_listed(either: Chat) -> None:
    prompts = await either.client.list_prompts()

    assert {prompt.name for prompt in prompts} == {"weekly_review", "plan_my_day", "capture_meeting", "write_script"}
    assert all(prompt.title and prompt.description for prompt in prompts)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("weekly_review", {}, "weekly_review"),
        ("weekly_review", {"start": "2026-05-01"}, "2026-05-01"),
        ("plan_my_day", {"hours": "4"}, "4 hours"),
        ("capture_meeting", {"project": "House"}, "House"),
        ("write_script", {"task": "list what is late"}, "does this: list what is late"),
    ],
)
async def test_a_prompt_takes_its_arguments(either: Chat, name: str, arguments: dict[str, str], expected: str) -> None:
    prompt = await either.client.get_prompt(name, arguments)

    assert expected in str(prompt.messages[0].content)


async def test_how_to_write_a_script_is_told_in_two_kilobytes(either: Chat) -> None:
    prompt = str(getattr((await either.client.get_prompt("write_script")).messages[0].content, "text", ""))
    answer = await page(either, "panorama://scripts")

    assert answer in prompt
    assert "def main(" in answer
    assert len(prompt.encode()) < 2048


async def test_braces_in_a_prompts_argument_are_only_signs(either: Chat) -> None:
    prompt = await either.client.get_prompt("capture_meeting", {"project": "{0} {x} %s"})

    assert "{0} {x} %s" in str(prompt.messages[0].content)


async def test_a_name_that_is_begun_is_completed(either: Chat) -> None:
    await either("create_project", name="House")
    await either("create_project", name="Taxes")

    done = await either.client.complete(
        PromptReference(name="capture_meeting", type="ref/prompt"), {"name": "project", "value": "ho"}
    )

    assert done.values == ["House"]


async def test_an_id_is_completed_by_the_name_it_stands_for(either: Chat) -> None:
    made = await either("create_note", title="Plan")

    ref = ResourceTemplateReference(uri="panorama://note/{id}", type="ref/resource")
    done = await either.client.complete(ref, {"name": "id", "value": "pl"})

    assert done.values == [made.id]


@pytest.mark.parametrize("value", ["%", "_", "'", '"', "\\", "🦓", "x" * 10_000])
async def test_odd_signs_complete_to_nothing(either: Chat, value: str) -> None:
    await either("create_project", name="House")

    done = await either.client.complete(
        PromptReference(name="capture_meeting", type="ref/prompt"), {"name": "project", "value": value}
    )

    assert done.values == []
