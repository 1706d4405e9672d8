"""Chapter 19: what one client changes, the others hear of, in whichever era of the protocol they speak."""

from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest
from fastmcp import Client

from panorama.app import App
from panorama.calls import Answer
from panorama.errors import PanoramaError
from panorama.mcp.server import Server, build_server
from tests.conftest import ERAS, Chat, Era
from tests.listeners import RESOURCES, TOOLS, Listener, listening

pytestmark = pytest.mark.anyio
Call = Callable[..., Answer]


@pytest.fixture
def server(app: App) -> Server:
    """One server for several clients."""
    return build_server(app)


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    """Each era in turn."""
    return request.param


@pytest.fixture
def last(call: Call) -> str:
    """The page of a note whose change is heard last, when all that came before it must have been heard."""
    return page(call("create_note", title="Last"))


@pytest.fixture
async def listener(server: Server, era: Era, last: str) -> AsyncIterator[Listener]:
    """A client that listens to both lists and to the last note."""
    async with listening(server, era, last) as listener:
        yield listener


def page(made: Answer) -> str:
    """Return the address of the page of what was made."""
    kind = {"n": "note", "p": "project", "t": "task"}[made.data["id"][0]]
    return f"panorama://{kind}/{made.data['id']}"


def list_pages(call: Call) -> list[str]:
    """Return the names of the pages at hand."""
    return [row["name"] for row in call("pages.list").data]


async def rest(listener: Listener, call: Call, last: str) -> list[str]:
    """Change the last note, and return what was heard until then besides that."""
    call("append_to_note", note=last.rsplit("/", 1)[1], block="the end")
    return [event for event in await listener.until(last) if event != last]


@pytest.mark.parametrize("writes", ERAS)
async def test_a_note_open_in_one_client_hears_that_another_changed_it(
    server: Server, call: Call, era: Era, writes: Era
) -> None:
    note = call("create_note", title="Plan")

    async with listening(server, era, page(note)) as listener, Client(server, mode=writes) as other:
        await Chat(other)("append_to_note", note=note.data["id"], block="more")

        assert await listener.until(page(note)) == [page(note)]


async def test_what_was_heard_can_be_read_at_once(server: Server, call: Call, era: Era) -> None:
    note = call("create_note", title="Plan")

    async with listening(server, era, page(note)) as listener:
        call("append_to_note", note=note.data["id"], block="more")
        await listener.until(page(note))
        (text,) = await listener.client.read_resource(page(note))

    assert "more" in str(text)


async def test_what_nobody_subscribed_to_is_not_heard(listener: Listener, call: Call, last: str) -> None:
    call("create_task", title="Quiet")
    call("create_note", title="Quiet")

    assert await rest(listener, call, last) == []


async def test_a_change_that_is_taken_back_before_it_is_kept_is_not_heard(
    server: Server, call: Call, era: Era, last: str
) -> None:
    note = call("create_note", title="Plan")
    steps = [
        {"tool": "append_to_note", "args": {"note": note.data["id"], "block": "more"}},
        {"tool": "create_task", "args": {"title": ""}},
    ]

    async with listening(server, era, page(note), last) as listener:
        with suppress(PanoramaError):
            call("batch", operations=steps)

        assert await rest(listener, call, last) == []


async def test_an_undo_is_heard_too(server: Server, call: Call, era: Era) -> None:
    note = call("create_note", title="Plan")
    written = call("append_to_note", note=note.data["id"], block="more")

    async with listening(server, era, page(note)) as listener:
        call("undo", unit=written.metadata["undo"])

        assert await listener.until(page(note)) == [page(note)]


async def test_a_batch_of_a_hundred_is_heard_once(server: Server, call: Call, era: Era, last: str) -> None:
    project = call("create_project", name="House")
    steps = [{"tool": "create_task", "args": {"title": f"Task {n}", "project": "House"}} for n in range(100)]

    async with listening(server, era, page(project), last) as listener:
        call("batch", operations=steps)

        assert await rest(listener, call, last) == [page(project)]


async def test_a_task_that_moves_is_heard_in_both_projects(server: Server, call: Call, era: Era, last: str) -> None:
    old, new = call("create_project", name="Old"), call("create_project", name="New")
    task = call("create_task", title="Move me", project="Old")

    async with listening(server, era, page(old), page(new), last) as listener:
        call("update_task", task=task.data["id"], project="New")

        assert sorted(await rest(listener, call, last)) == sorted([page(old), page(new)])


async def test_todays_page_hears_of_every_task(server: Server, call: Call, era: Era, last: str) -> None:
    today = "panorama://today"

    async with listening(server, era, today, last) as listener:
        call("create_task", title="Tea", deadline="today")

        assert await rest(listener, call, last) == [today]


async def test_clients_of_two_servers_on_one_store_hear_each_other(app: App, call: Call, era: Era) -> None:
    note = call("create_note", title="Plan")

    async with listening(build_server(app), era, page(note)) as listener, Client(build_server(app)) as other:
        await Chat(other)("update_note", note=note.data["id"], title="Scheme")

        assert await listener.until(page(note)) == [page(note)]


async def test_who_unsubscribes_hears_no_more(server: Server, call: Call, last: str) -> None:
    note = call("create_note", title="Plan")

    async with listening(server, "legacy", page(note), last) as listener:
        await listener.subscribe(page(note), to="unsubscribe")
        call("append_to_note", note=note.data["id"], block="more")

        assert await rest(listener, call, last) == []


async def test_pages_at_hand_are_listed_favourite_projects_first(either: Chat) -> None:
    for title in ("beans", "Apples"):
        await either("create_note", title=title, pinned=True)
    await either("create_note", title="Not pinned")
    await either("create_project", name="House", favorite=True)

    found = await either.client.list_resources()

    assert [resource.title for resource in found] == [
        "Today",
        "Reminders",
        "How to write a script",
        "House",
        "Apples",
        "beans",
    ]
    assert {resource.mime_type for resource in found} == {"text/markdown"}


async def test_what_is_listed_can_be_read(either: Chat) -> None:
    await either("create_note", title="Plan", content="one two three", pinned=True)

    uri = (await either.client.list_resources())[-1].uri

    assert "one two three" in str(await either.client.read_resource(uri))


async def test_at_most_fifty_are_listed(call: Call) -> None:
    steps = [{"tool": "create_note", "args": {"title": f"Note {n:02}", "pinned": True}} for n in range(60)]
    call("batch", operations=steps)

    names = list_pages(call)

    assert names == [f"Note {n:02}" for n in range(50)]


CHANGES: dict[str, tuple[str, dict[str, object]]] = {
    "a note is pinned": ("update_note", {"note": "Loose", "pinned": True}),
    "a pinned note is created": ("create_note", {"title": "New", "pinned": True}),
    "it is let go": ("update_note", {"note": "Pinned", "pinned": False}),
    "it is renamed": ("update_note", {"note": "Pinned", "title": "Renamed"}),
    "it is deleted": ("delete_item", {"item": "Pinned"}),
    "a project becomes a favourite": ("update_project", {"project": "House", "favorite": True}),
    "a favourite is renamed": ("update_project", {"project": "Home", "name": "Castle"}),
}


@pytest.fixture
def furnished(call: Call) -> None:
    """A note and a project at hand, and one of each that are not."""
    call("create_note", title="Loose")
    call("create_note", title="Pinned", pinned=True)
    call("create_project", name="House")
    call("create_project", name="Home", favorite=True)


@pytest.mark.parametrize("change", CHANGES)
async def test_the_list_of_pages_is_heard_to_change(
    furnished: None, listener: Listener, call: Call, last: str, change: str
) -> None:
    before, (tool, arguments) = list_pages(call), CHANGES[change]

    call(tool, **arguments)

    assert await rest(listener, call, last) == [RESOURCES]
    assert list_pages(call) != before


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("append_to_note", {"note": "Pinned", "block": "more"}),
        ("update_note", {"note": "Loose", "title": "Renamed"}),
        ("delete_item", {"item": "Loose"}),
        ("update_project", {"project": "Home", "status": "blocked"}),
        ("create_task", {"title": "Tea"}),
    ],
)
async def test_what_leaves_the_list_as_it_is_is_not_heard(
    furnished: None, listener: Listener, call: Call, last: str, tool: str, arguments: dict[str, object]
) -> None:
    before = list_pages(call)

    call(tool, **arguments)

    assert await rest(listener, call, last) == []
    assert list_pages(call) == before


async def test_a_pinned_note_that_comes_back_from_the_trash_is_heard(
    furnished: None, server: Server, call: Call, era: Era
) -> None:
    gone = call("delete_item", item="Pinned")

    async with listening(server, era) as listener:
        call("undo", unit=gone.metadata["undo"])

        assert await listener.until(RESOURCES) == [RESOURCES]


async def test_a_changed_list_of_tools_is_heard(server: Server, listener: Listener) -> None:
    server.hub.on_tools_changed()

    assert await listener.until(TOOLS) == [TOOLS]
