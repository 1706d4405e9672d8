"""What links cost: walks in a large graph, a note of many links, a new title that a thousand notes follow."""

import asyncio
import random
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from panorama.app import App, open_app
from panorama.calls.conversation import Conversation
from panorama.config import Settings
from panorama.domain.changes import Origin
from panorama.mcp.server import build_server
from panorama.store.graph import edges
from panorama.store.items import rows
from panorama.store.tables import edges as edge_table

from .measure import Board, in_turn, median, ms
from .processes import daemon
from .raw import spawned
from .test_doors import in_turns

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]

RELATIONS = 300_000
LINKING = 1_000
LINKS = 2_000
WALKS = 200
READER = Conversation("mcp", "bench")
WRITER = Origin(actor="cli", client="bench", conversation="", operation="", call="c_0000000001", unit="c_0000000001")


def add_edges(app: App, chance: random.Random) -> list[str]:
    """Add 300,000 links between the notes, most of them to notes that are linked already; return the notes."""
    with app.context.database.transaction(WRITER) as session:
        notes = rows.list_living(session, "note")
        columns = ("from_item", "to_item", "kind", "relation", "target", "key", "tail", "position")
        ends = ((chance.choice(notes), notes[int(len(notes) * chance.random() ** 1.5)]) for _ in range(RELATIONS))
        kinds = ("mentions", "mentions", "mentions", "part_of", "supports")
        made = ((first, second, chance.choice(kinds), None, "x", "x", "", 0) for first, second in ends)
        session.dialect.insert_rows(session.connection, edge_table, columns, made)
    return notes


def add_people(app: App, chance: random.Random) -> list[str]:
    """Create 500 people, each named in two notes; return their ids."""
    people: list[str] = []
    for number in range(500):
        name = f"{chance.choice(('Ana', 'Benedikt', 'Zoë'))} Kova{number:03}"
        person = app.calls.call("create_person", {"name": name, "aliases": [f"Nick{number:03}x"]}, READER)
        people.append(person.data["id"])
        for text in (f"Then {name} came.", f"Nick{number:03}x knows."):
            app.calls.call("create_note", {"title": "Talk", "content": text}, READER)
    return people


def test_walks(many_notes: Path, tmp_path: Path, board: Board) -> None:
    home = tmp_path / "home"
    shutil.copytree(many_notes, home)
    chance = random.Random(3)
    with open_app(Settings(home=home, timezone="Europe/Berlin")) as app:
        notes, people = add_edges(app, chance), add_people(app, chance)

        def measure(**more: Any) -> Callable[[], float]:
            def step() -> float:
                began = time.perf_counter()
                app.calls.call("related", {"item": chance.choice(notes), **more}, READER)
                return (time.perf_counter() - began) * 1000

            return step

        steps = {"depth 1, the operation alone": measure(), "depth 3, the operation alone": measure(depth=3)}
        found = in_turns(steps, WALKS)
    with daemon(home, toolsets="default,people"), spawned(home) as client:
        steps = {
            f"depth {depth}": lambda depth=depth: client.took("related", item=chance.choice(notes), depth=depth)
            for depth in (1, 2, 3, 4)
        } | {
            "depth 3, one kind": lambda: client.took(
                "related", item=chance.choice(notes), depth=3, kinds=["part_of"]
            ),
            "depth 1, of a person": lambda: client.took("related", item=chance.choice(people)),
            "the dashboard of a person": lambda: client.took("person_dashboard", person=chance.choice(people)),
            "status (what any call costs)": lambda: client.took("status"),
        }  # fmt: skip
        found |= in_turns(steps, WALKS)

    bars = {"depth 1": "≤ 5 ms", "depth 3": "≤ 30 ms"}
    for step, values in found.items():
        board.show(f"related at 100,000 notes and 300,000 relations: {step}, p50", bars.get(step, ""), ms(values))


def test_a_note_of_many_links(tmp_path: Path, board: Board) -> None:
    words = "some words of a long note that goes on and on " * 11
    plain = [f"{words}{number} Note-{number:05}x\n" for number in range(LINKS)]
    linked = [line.replace("Note-", "[[No").replace("x\n", "]]\n") for line in plain]

    async def measure() -> dict[str, list[float]]:
        with open_app(Settings(home=tmp_path / "home", timezone="Europe/Berlin")) as app:
            async with Client(build_server(app)) as client:
                for number in range(0, LINKS, 2):
                    await client.call_tool("create_note", {"title": f"No{number:05}"})
                ids = {}
                for name, lines in (("plain", plain), ("linked", linked)):
                    made = await client.call_tool("create_note", {"title": name, "content": "".join(lines)})
                    ids[name] = (made.structured_content or {})["data"]["id"]
                texts = {"plain": "".join(plain), "linked": "".join(linked)}
                counts = dict.fromkeys(texts, 0)

                def save(name: str) -> Callable[[], Any]:
                    def step() -> Any:
                        counts[name] += 1
                        content = f"{counts[name]}\n{texts[name]}"
                        return client.call_tool("update_note", {"note": ids[name], "content": content})

                    return step

                def create(name: str) -> Callable[[], Any]:
                    def step() -> Any:
                        counts[name] += 1
                        return client.call_tool(
                            "create_note",
                            {"title": f"{name} {counts[name]}", "content": f"{counts[name]}{texts[name]}"},
                        )

                    return step

                steps = {
                    "save without": save("plain"), "save with": save("linked"), "create without": create("plain"),
                    "create with": create("linked"),
                }  # fmt: skip
                return await in_turn(steps, times=2)

    found = asyncio.run(measure())

    for verb in ("save", "create"):
        ratio = median(found[f"{verb} with"]) / median(found[f"{verb} without"])
        size = len("".join(linked)) / 1e6
        board.show(
            f"{verb} a note of {size:.1f} MB with {LINKS:,} links against the same without", "≤ 2 x", f"{ratio:.2f} x",
            f"{ms(found[f'{verb} without'])} without, {ms(found[f'{verb} with'])} with",
        )  # fmt: skip


def test_a_new_title_that_a_thousand_notes_follow(tmp_path: Path, board: Board) -> None:
    async def measure() -> dict[str, list[float]]:
        with open_app(Settings(home=tmp_path / "home", timezone="Europe/Berlin")) as app:
            async with Client(build_server(app)) as client:
                made = await client.call_tool("create_note", {"title": "Title 0"})
                target = (made.structured_content or {})["data"]["id"]
                for number in range(LINKING):
                    content = f"About {number}: see [[Title 0]] and more words."
                    await client.call_tool("create_note", {"title": f"Log {number}", "content": content})
                count = [0]

                def rename() -> Any:
                    count[0] += 1
                    return client.call_tool("update_note", {"note": target, "title": f"Title {count[0]}"})

                return await in_turn({"rename": rename}, times=1)

    found = asyncio.run(measure())

    board.show(f"renaming a note that {LINKING:,} others link to", "≤ 1 s", ms(found["rename"]))


def test_reading_the_links_of_texts_that_were_there(many_notes: Path, tmp_path: Path, board: Board) -> None:
    shutil.copytree(many_notes, tmp_path / "home")
    with open_app(Settings(home=tmp_path / "home", timezone="Europe/Berlin")) as app, suppress(KeyError):
        with app.context.database.reading() as session:
            notes = rows.list_living(session, "note")[:2_000]

        async def rebuild() -> None:
            with app.context.database.transaction(WRITER) as session:
                for note in rows.iter_items(session, notes):
                    edges.rebuild_item(session, note)

        found = asyncio.run(in_turn({"rebuild": rebuild}, times=1))

    board.show("reading the links of 2,000 notes of 100 words without any", "", ms(found["rebuild"]))
