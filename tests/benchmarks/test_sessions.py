"""What every kind of item costs beside tasks, and whether a session is appended to in linear time."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings

from .measure import Board

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]

TIMES = 300
LONG, PART = 50_000, 5_000


def take_milliseconds(step: Callable[[], Any]) -> float:
    """Return how long a step takes."""
    begun = time.perf_counter()
    step()
    return (time.perf_counter() - begun) * 1000


def make_caller(app: App) -> Callable[..., Any]:
    """Return a function that calls operations as a tool does."""
    conversation = Conversation(actor="tool", client="bench", id="bench")
    return lambda operation, /, **arguments: app.calls.call(operation, arguments, conversation)


def test_creating_and_reading_against_tasks(tmp_path: Path, board: Board) -> None:
    with open_app(read_settings(home=tmp_path / "home", timezone="Europe/Berlin")) as app:
        call, number = make_caller(app), count()
        task = call("tasks.create", title="Task").data["id"]
        session = call("sessions.log", title="Meeting", lines=["one"]).data["id"]
        event = call("events.create", title="Event", starts_at="today 9:00").data["id"]
        person = call("people.create", name="Ana Kova").data["id"]
        team = call("teams.create", name="Team").data["id"]
        notes = [call("notes.create", title=f"Note {number}").data["id"] for number in range(TIMES + 2)]
        relation = call("relations.create", from_item=notes[-2], kind="supports", to_item=notes[-1]).data["id"]
        items = {"session": session, "event": event, "person": person, "team": team, "relation": relation}
        pairs = pairwise(notes)

        def relate(first: str, second: str) -> None:
            call("relations.create", from_item=first, kind="extends", to_item=second)

        steps: dict[str, Callable[[], Any]] = {
            "create_task": lambda: call("tasks.create", title=f"Task {next(number)}"),
            "create_session": lambda: call("sessions.create", title=f"Meeting {next(number)}"),
            "create_event": lambda: call("events.create", title=f"Event {next(number)}", starts_at="today 9:00"),
            "create_person": lambda: call("people.create", name=f"Ana Kova{next(number)}"),
            "create_team": lambda: call("teams.create", name=f"Team {next(number)}"),
            "create_relation": lambda: relate(*next(pairs)),
            "read a task": lambda: call("items.get", item=task),
            **{f"read {name}": partial(call, "items.get", item=id_) for name, id_ in items.items()},
        }
        found: dict[str, list[float]] = {name: [] for name in steps}
        for _ in range(TIMES):
            for name, step in steps.items():
                found[name].append(take_milliseconds(step))

    p50 = {name: statistics.median(values) for name, values in found.items()}
    for name in [name for name in p50 if name not in ("create_task", "read a task")]:
        board.show(
            f"{name}, p50 / create_task", "≤ 1.3 x", f"{p50[name] / p50['create_task']:.2f} x",
            f"{p50[name]:.2f} / {p50['create_task']:.2f} ms; a task is read in {p50['read a task']:.2f} ms",
        )  # fmt: skip


def test_appending_lines_one_by_one_and_to_a_long_session(tmp_path: Path, board: Board) -> None:
    with open_app(read_settings(home=tmp_path / "home", timezone="Europe/Berlin")) as app:
        call = make_caller(app)
        session = call("sessions.log", title="Meeting").data["id"]
        text = "A line of usual length about the kitchen, its tiles and who is going to order them"

        def append() -> float:
            return take_milliseconds(lambda: call("sessions.log", session=session, lines=[text]))

        short = [append() for _ in range(1000)]
        for start in range(0, LONG, PART):
            call("sessions.log", session=session, lines=[f"{text} {at}" for at in range(start, start + PART)])
        long = [append() for _ in range(200)]
        starts = iter(range(1, LONG, 1000))
        page = [take_milliseconds(lambda: call("sessions.get", session=session, start=next(starts))) for _ in range(50)]

    first, second = statistics.median(short[100:200]), statistics.median(short[900:])
    board.show("line 900 to 1,000 / line 100 to 200, p50", "≤ 1.2 x", f"{second / first:.2f} x", f"{first:.2f} ms")
    at_end = statistics.median(long)
    board.show("appending to 50,000 lines / to 100, p50", "", f"{at_end / first:.2f} x", f"{at_end:.2f} ms")
    board.show("reading a page of 50,000 lines, p50", "", f"{statistics.median(page):.2f} ms")
