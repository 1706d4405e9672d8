"""Chapter 20: what is made for others is a file, with a name, versions, and a way back."""

from base64 import b64encode
from typing import Any

import pytest

from tests.conftest import Chat

pytestmark = pytest.mark.anyio

TOOLS = {"write_file", "list_files", "get_file", "update_file"}


@pytest.fixture
def toolsets() -> tuple[str, ...]:
    """The tools of files are listed."""
    return ("default", "files")


def step(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a step of a batch."""
    return {"tool": tool, "args": arguments}


@pytest.mark.parametrize("toolsets", [("default",)], ids=["default"])
async def test_a_batch_writes_a_file_though_its_tools_are_not_listed(either: Chat) -> None:
    listed = {tool.name for tool in await either.client.list_tools()}

    answer = await either("batch", operations=[step("write_file", name="tea.csv", text="tea,cups\noolong,2\n")])

    made = answer.data["results"][0]["data"]
    assert not TOOLS & listed
    assert (made["name"], made["media_type"], made["size"]) == ("tea.csv", "text/csv", 18)
    assert (await either("search", query="oolong")).data[0]["id"] == made["id"]


async def test_the_toolset_lists_them(chat: Chat) -> None:
    tools = {tool.name: tool for tool in await chat.client.list_tools()}

    assert set(tools) >= TOOLS
    assert all(len(tools[name].description or "") <= 600 for name in TOOLS)
    assert "null" not in str(tools["write_file"].input_schema)
    assert tools["write_file"].input_schema["required"] == ["name"]


async def test_a_report_is_written_read_and_written_again(chat: Chat) -> None:
    await chat("create_project", name="Garden")
    await chat("write_file", name="beds.md", text="# Beds\n\nnone", project="Garden")

    over = await chat("write_file", name="beds.md", text="# Beds\n\nbeans", project="Garden")

    read = await chat("get_file", file="beds.md")
    assert read.data["text"] == "# Beds\n\nbeans"
    assert read.text.split("\n")[0] == f"File “beds.md” ({read.id}), 13 characters"
    assert (over.id, over.data["version"]) == (read.id, 2)


async def test_undo_brings_the_old_content_back(chat: Chat) -> None:
    await chat("write_file", name="beds.md", text="none")
    await chat("write_file", name="beds.md", text="beans")

    await chat("undo")

    assert (await chat("get_file", file="beds.md")).data["text"] == "none"


async def test_an_atomic_batch_that_fails_leaves_the_old_content(chat: Chat) -> None:
    await chat("write_file", name="beds.md", text="none")

    await chat.refused(
        "batch", operations=[step("write_file", name="beds.md", text="beans"), step("delete_item", item="Nowhere")]
    )

    assert (await chat("get_file", file="beds.md")).data["text"] == "none"


async def test_a_batch_goes_on_with_the_file_it_wrote(chat: Chat) -> None:
    await chat(
        "batch",
        operations=[
            step("write_file", name="draft.txt", text="beans"),
            step("update_file", file="$0.data.id", name="beds.txt", tags=["done"]),
            step("create_reminder", title="Send it", at="2026-06-01T09:00", item="$0.data.id"),
        ],
    )

    shown = (await chat("get_item", item="beds.txt")).data
    assert shown["item"]["tags"] == ["done"]
    assert [row["title"] for row in shown["belonging"]["reminders"]] == ["Send it"]


async def test_a_picture_is_kept_but_not_shown(chat: Chat) -> None:
    await chat("write_file", name="bed.png", base64=b64encode(b"\x89PNG\r\n\x1a\n\x00").decode())

    read = await chat("get_file", file="bed.png")

    assert read.summary.endswith("image/png, 9 bytes: no text to show")
    assert "text" not in read.data


async def test_what_is_wrong_is_told(chat: Chat) -> None:
    path = await chat.refused("write_file", name="/home/me/beds.md", text="x")
    nothing = await chat.refused("write_file", name="beds.md")
    unknown = await chat.refused("write_file", name="beds.md", content="x")

    assert "report.csv" in path.hint
    assert 'text=""' in nothing.hint
    assert "text" in unknown.hint


async def test_a_deleted_file_comes_back(chat: Chat) -> None:
    made = await chat("write_file", name="beds.md", text="beans")
    await chat("delete_item", item="beds.md")
    assert (await chat("list_files")).data == []

    await chat("undo")

    assert (await chat("list_files")).data[0]["id"] == made.id
