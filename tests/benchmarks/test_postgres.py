"""What everyday calls cost on a PostgreSQL server beside SQLite; name a server that syncs in PANORAMA_TEST_POSTGRES."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import Settings

from .measure import Board, Step, in_turn, ms, ratio
from .stores import Town

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
PERSON = Conversation(id="v_benchmark", actor="cli", client="benchmark")
NOTES, TASKS, WORDS = 2_000, 500, 300
BAR = 2.0


@contextmanager
def filled(settings: Settings) -> Generator[Callable[..., Any]]:
    """Yield how to call a product with some notes and tasks."""
    with open_app(settings) as app:
        call = caller(app)
        words = Town().language.text
        call("create_project", name="Garden")
        for start in range(0, NOTES, 100):
            steps = [
                {"tool": "create_note", "args": {"title": f"Note {start + number}", "content": words(WORDS)}}
                for number in range(100)
            ]
            call("batch", operations=steps)
        for start in range(0, TASKS, 100):
            call(
                "batch",
                operations=[{"tool": "create_task", "args": {"title": f"Task {start}", "project": "Garden"}}] * 100,
            )
        yield call


def caller(app: App) -> Callable[..., Any]:
    """Return how to call an operation."""
    return lambda operation, **arguments: app.calls.call(operation, arguments, PERSON)


def as_steps(name: str, call: Callable[..., Any]) -> dict[str, Step]:
    """Return the calls to measure on one database."""
    numbers, text = count(), Town().language.text
    note = call("create_note", title="Read again", content=text(WORDS)).data["id"]
    task = call("create_task", title="Changed again").data["id"]
    common = text(40).split()
    steps: dict[str, Callable[[], Any]] = {
        "create_task": lambda: call("create_task", title=f"Bench {next(numbers)}"),
        "create_note": lambda: call("create_note", title=f"Bench {next(numbers)}", content=text(WORDS)),
        "update_task": lambda: call("update_task", task=task, title=f"Changed {next(numbers)}"),
        "get_note": lambda: call("get_note", note=note),
        "list_tasks": lambda: call("list_tasks", limit=1 + next(numbers) % 20),
        "project_dashboard": lambda: call("project_dashboard", project="Garden"),
        "search": lambda: call("search", query=common[next(numbers) % len(common)], mode="keyword"),
    }

    def run(work: Callable[[], Any]) -> Step:
        async def step() -> None:
            work()

        return step

    return {f"{name} {label}": run(work) for label, work in steps.items()}


def test_everyday_calls(tmp_path: Path, postgres_url: str, board: Board) -> None:
    with closing(psycopg.connect(postgres_url)) as server:
        (synced,) = server.execute("SHOW fsync").fetchone() or ("",)
    chosen: dict[str, Any] = {"timezone": "Europe/Berlin", "embedder": "none", "toolsets": ("default", "more")}
    file = Settings(home=tmp_path / "file", **chosen)
    space = Settings(home=tmp_path / "space", database_url=SecretStr(postgres_url), space="bench", **chosen)
    with filled(file) as on_file, filled(space) as on_space:
        steps = as_steps("file", on_file) | as_steps("space", on_space)
        found = asyncio.run(in_turn(steps, times=40))

    for label in (name.removeprefix("file ") for name in steps if name.startswith("file ")):
        board.show(
            f"{label} on PostgreSQL / SQLite, p50", f"≤ {BAR:g} x",
            f"{ratio(found, f'space {label}', f'file {label}'):.2f} x",
            f"{ms(found[f'space {label}'])} / {ms(found[f'file {label}'])}; fsync {synced}",
        )  # fmt: skip
