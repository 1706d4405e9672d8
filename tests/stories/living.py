"""What lives in a store, and a project with something of each kind."""

from typing import Any

from tests.conftest import Chat, ToolAnswer


async def item(chat: Chat, id_: str) -> dict[str, Any]:
    """Read one item's fields."""
    return dict((await chat("get_item", item=id_)).data["item"])


async def living(chat: Chat) -> set[str]:
    """Return the names of everything that lives."""
    kinds = [("projects", "name"), ("tasks", "title"), ("notes", "title"), ("links", "title"), ("reminders", "title")]
    found = [[row[name] for row in (await chat("query", collection=kind)).data] for kind, name in kinds]
    return {name for names in found for name in names}


async def full_house(chat: Chat) -> ToolAnswer:
    """Make a project with two tasks, a note and a link."""
    made = await chat("create_project", name="House")
    for title in ("Paint", "Clean"):
        await chat("create_task", title=title, project="House")
    await chat("create_note", title="Colours", project="House")
    await chat("create_link", url="https://example.org", title="Shop", project="House")
    return made
