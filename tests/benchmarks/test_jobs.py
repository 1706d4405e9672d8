"""What jobs cost: how soon one runs, how many run in a second, and what others feel of a reindex."""

import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import Settings
from panorama.domain.jobs import FINAL_STATES, Job, Requester
from panorama.services.base import random_id, utc_now
from panorama.services.jobs.jobs import QUEUE
from panorama.store.log import jobs as rows
from panorama.transport.address import Address
from tests.doors.peer import Peer, kill
from tests.working import JobActivity, at_work, offered

from .meanings import until, write_notes
from .measure import Board, ms

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]

JOBS, NOTES, SHORT = 10_000, 5_000, 100
WORDS = "It was told at length, with more patience than there was time for. " * 12
TALK = Conversation("v_bench", "cli", "benchmark")


class Timed(JobActivity):
    """Work that notes when it begins."""

    at = 0.0

    def nothing(self) -> dict[str, str]:
        """Note when.

        It is quick.
        """
        self.at = time.perf_counter()
        return {}


def timed(step: Callable[[], object]) -> float:
    """Return the milliseconds that a step takes."""
    began = time.perf_counter()
    step()
    return (time.perf_counter() - began) * 1000


def format_times(values: list[float]) -> str:
    """Return median and worst of hundred."""
    return f"p50 {ms(statistics.median(values))}, p99 {ms(sorted(values)[int(len(values) * 0.99)])}"


def test_how_soon_a_job_runs(tmp_path: Path, board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.working.Works", Timed)
    with open_app(Settings(home=tmp_path / "home", embedder="none")) as app:
        works: Any = offered(app)
        waits: list[float] = []
        with at_work(app):
            for _ in range(SHORT):
                began = time.perf_counter()
                id_ = app.calls.call("test.nothing", {"background": True}, TALK).data["id"]
                app.jobs.wait_for(id_, 10)
                waits.append((works.at - began) * 1000)
    board.show("submit → running", "p50 ≤ 50 ms", format_times(waits))


def queued(app: App, count: int) -> None:
    """Put jobs into the queue that nobody runs yet."""
    with app.context.database.transaction(QUEUE) as session:
        for _ in range(count):
            id_ = random_id("w")
            rows.add(
                session, Job(id=id_, kind="nothing", arguments={}, asker=Requester(), created_at=utc_now(), unit=id_)
            )


def test_ten_thousand_jobs(tmp_path: Path, board: Board) -> None:
    with open_app(Settings(home=tmp_path / "home", embedder="none")) as app:
        offered(app)
        queued(app, JOBS)
        last = app.calls.call("list_jobs", {"limit": 1}, TALK).data[0]["id"]
        lists, gets = list[float](), list[float]()
        with at_work(app):
            until(lambda: app.jobs.count_jobs().get("queued", 0) < JOBS)
            first, began, worked = app.jobs.count_jobs().get("queued", 0), time.perf_counter(), time.process_time()
            while app.jobs.count_jobs().get("queued", 0):
                lists.append(timed(lambda: app.calls.call("list_jobs", {}, TALK)))
                gets.append(timed(lambda: app.calls.call("get_job", {"job": last}, TALK)))
                time.sleep(0.02)
            rate, cost = first / (time.perf_counter() - began), (time.process_time() - worked) / first * 1000
        idle = [timed(lambda: app.calls.call("list_jobs", {}, TALK)) for _ in range(50)]
    board.show("10,000 no-op jobs", "≥ 200 a second", f"{rate:,.0f} a second, {cost:.2f} ms of the processor each")
    board.show("list_jobs meanwhile", "≤ 20 ms", format_times(lists), f"idle {format_times(idle)}")
    board.show("get_job meanwhile", "≤ 20 ms", format_times(gets))


def test_what_others_feel_of_a_reindex(tmp_path: Path, board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    with open_app(Settings(home=home, embedder="none")) as app:
        write_notes(app, [f"About number {number}. {WORDS}" for number in range(NOTES)])
    settings = {"HOME": home, "TOOLSETS": "more", "TIMEZONE": "UTC", "LINGER_SECONDS": 0, "EMBEDDER": "minilm"}
    monkeypatch.delenv("PANORAMA_NO_DAEMON", raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(f"PANORAMA_{name}", str(value))
    address = Address(str(home))
    with Peer() as peer:
        calls: dict[str, Callable[[], object]] = {
            "create_task": lambda: peer.call("create_task", title=f"Task {time.perf_counter_ns()}"),
            "list_tasks": lambda: peer.call("list_tasks", limit=20, view=None, tag=f"t{time.perf_counter_ns()}"),
            "search": lambda: peer.call("search", query=f"number {time.perf_counter_ns() % 5000}", mode="keyword"),
            "status": lambda: peer.call("status"),
        }
        id_ = peer.call("reindex", scope="everything", background=True)["data"]["id"]
        busy: dict[str, list[float]] = {name: [] for name in calls}
        until(lambda: peer.call("get_job", job=id_)["data"]["current"] > 0)
        for _ in range(150):
            for name, call in calls.items():
                busy[name].append(timed(call))
        state = peer.call("get_job", job=id_)["data"]
        assert state["state"] == "running", state
        until(lambda: peer.call("get_job", job=id_)["data"]["state"] in FINAL_STATES)
        until(lambda: not peer.call("status")["data"]["search"].get("pending"))
        idle = {name: [timed(call) for _ in range(150)] for name, call in calls.items()}
    for name in calls:
        times = statistics.median(busy[name]) / statistics.median(idle[name])
        measured = f"{times:.2f} x ({format_times(busy[name])})"
        board.show(f"{name} during a reindex", "≤ 2 x idle", measured, f"idle {format_times(idle[name])}")
    with suppress(ProcessLookupError):
        if pid := address.find_pid():
            kill(pid)
