"""What reading costs in a store of 100,000 notes, and in one of 100,000 tasks; through a client in memory."""

import asyncio
import random
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from panorama.app import open_app
from panorama.config import Settings
from panorama.mcp.server import build_server

from .measure import Board, in_turn, median, ms
from .stores import Language, Town

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]


def questions(language: Language, chance: random.Random) -> dict[str, Callable[[], str]]:
    """Return makers of queries of the sorts that people type; no two are the same soon."""
    words = language.words

    def some(first: int, last: int, count: int) -> str:
        return " ".join(chance.sample(words[first:last], count))

    return {
        "one rare word": lambda: some(1000, 6000, 1),
        "one common word (rank 50 to 500)": lambda: some(50, 500, 1),
        "two words": lambda: some(50, 3000, 2),
        "three words": lambda: some(20, 1000, 3),
        "a word only begun": lambda: some(50, 3000, 1)[:3],
        "a phrase": lambda: f'"{some(50, 500, 2)}"',
        "four words, no note holds all": lambda: some(2000, 6000, 4),
        "one of the ten words that every note holds": lambda: some(0, 10, 1),
    }


def test_keyword_search(many_notes: Path, board: Board) -> None:
    chance = random.Random(11)
    asked = questions(Town().language, chance)

    async def measured() -> dict[str, list[float]]:
        with open_app(Settings(home=many_notes, timezone="Europe/Berlin")) as app:
            async with Client(build_server(app)) as client:

                def asking(make: Callable[[], str]) -> Callable[[], Any]:
                    return lambda: client.call_tool("search", {"query": make(), "limit": chance.randint(10, 20)})

                return await in_turn({sort: asking(make) for sort, make in asked.items()}, times=12)

    found = asyncio.run(measured())

    usual = [value for sort, values in found.items() if "every note" not in sort for value in values]
    board.show("search at 100,000 notes, p50 of usual queries", "≤ 25 ms", ms(usual))
    for sort, values in found.items():
        board.show(f"   {sort}", "≤ 25 ms", ms(values), f"slowest round {max(values):.1f} ms")


def test_overviews(many_tasks: Path, board: Board) -> None:
    async def measured() -> dict[str, list[float]]:
        with open_app(Settings(home=many_tasks, timezone="Europe/Berlin")) as app:
            async with Client(build_server(app)) as client:
                listed = await client.call_tool("query", {"collection": "projects", "select": ["id"], "limit": 50})
                assert listed.structured_content
                projects = cycle([row["id"] for row in listed.structured_content["data"]])
                days, ends = cycle(range(7, 28)), _days()
                steps = {
                    "project_dashboard": lambda: client.call_tool(
                        "project_dashboard", {"project": next(projects), "period_days": next(days)}
                    ),
                    "weekly_review": lambda: client.call_tool("weekly_review", next(ends)),
                    "projects_overview": lambda: client.call_tool("projects_overview", {"period_days": next(days)}),
                    "list_tasks (open)": lambda: client.call_tool("list_tasks", {"limit": next(days)}),
                    "list_tasks view=overdue": lambda: client.call_tool(
                        "list_tasks", {"view": "overdue", "limit": next(days)}
                    ),
                    "list_tasks of a project": lambda: client.call_tool("list_tasks", {"project": next(projects)}),
                    "list_notes": lambda: client.call_tool("list_notes", {"limit": next(days)}),
                    "query group_by": lambda: client.call_tool(
                        "query", {"collection": "tasks", "group_by": ["project", "status"], "limit": next(days)}
                    ),
                    "status": lambda: client.call_tool("status", {}),
                }
                return await in_turn(steps, times=15)

    found = asyncio.run(measured())

    for name, values in found.items():
        bar = "≤ 50 ms" if name.startswith(("project_d", "weekly_review")) else ""
        board.show(f"{name} at 100,000 tasks, p50", bar, ms(values), f"slowest round {max(values):.1f} ms")
    assert median(found["status"]) > 0


def _days() -> Iterator[dict[str, str]]:
    today = date.today()  # noqa: DTZ011 (any day will do)
    for back in cycle(range(60)):
        last = today - timedelta(days=back)
        yield {"start": str(last - timedelta(days=6)), "end": str(last)}
