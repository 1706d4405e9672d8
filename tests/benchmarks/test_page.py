"""What the page costs: until it is seen, what it loads, until a change is on the screen, and beside MCP clients."""

# Playwright is not among the development dependencies: without it its names have no types.
# pyright: reportAttributeAccessIssue=false

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from panorama.transport.address import Address
from tests.benchmarks.measure import Board, median, ms
from tests.benchmarks.page_copy import CopyProcess, Replay, copy_page, replay_requests
from tests.benchmarks.processes import MB, Running, footprint
from tests.benchmarks.timed_calls import TimedCalls, time_calls
from tests.browser.assistant import Assistant, connect_assistant
from tests.browser.driver import Browser, BrowserContext, Page
from tests.browser.page_daemon import PageDaemon

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
LOADS, CHANGES, CALLS, TABS, RELOADS, ROUNDS = 12, 30, 200, 10, 30, 3
PARAGRAPH = "The quick *brown* fox jumps over the lazy dog, and [[Kitchen budget]] says why. " * 5 + "\n\n"
_PAINT = """() => new Promise(done => new PerformanceObserver(list => {
  const paint = list.getEntriesByName('first-contentful-paint')[0]
  if (paint) done(paint.startTime)
}).observe({ type: 'paint', buffered: true }))"""
_WATCH = """title => { window.seen = new Promise(done => {
  const look = () => {
    if (!document.querySelector('main').textContent.includes(title)) return
    watcher.disconnect()
    done(Date.now())
  }
  const watcher = new MutationObserver(look)
  watcher.observe(document.body, { childList: true, subtree: true, characterData: true })
}) }"""

_COUNT_MODULES = """
import sys, panorama.daemon.serve
print(sum(name.startswith(("panorama.web", "jinja2")) for name in sys.modules))
"""


@pytest.fixture(autouse=True)
def nothing_is_left() -> None:
    """Do not look for processes that a test leaves: the browser starts and ends its own as it likes."""


@pytest.fixture
def context(browser: Browser, signed_in: dict[str, Any]) -> Generator[BrowserContext]:
    """A browser that is signed in."""
    state: Any = {"cookies": signed_in["cookies"], "origins": []}
    context = browser.new_context(storage_state=state, base_url=signed_in["origin"])
    yield context
    context.close()


@pytest.fixture
def assistant(daemon: PageDaemon) -> Generator[Assistant]:
    """A real MCP client on the data of the page."""
    with connect_assistant(daemon) as connected:
        yield connected


@pytest.fixture
def page_copy(signed_in: dict[str, Any]) -> Generator[CopyProcess]:
    """The same page from a server that answers from memory."""
    (cookie,) = signed_in["cookies"]
    with copy_page(signed_in["origin"], f"{cookie['name']}={cookie['value']}") as copy:
        yield copy


def test_the_first_paint_of_today(context: BrowserContext, page_copy: CopyProcess, board: Board) -> None:
    pages = {"ours": (context.new_page(), "/today"), "static": (context.new_page(), f"{page_copy.origin}/today")}
    took: dict[str, list[float]] = {name: [] for name in pages}

    for round_ in range(LOADS + 2):
        for name, (page, address) in pages.items():
            page.goto(address)
            paint = float(page.evaluate(_PAINT))
            if round_ >= 2:  # the first ones only warm up
                took[name].append(paint)

    ratio = median([ours / other for ours, other in zip(took["ours"], took["static"], strict=True)])
    board.show(
        "page: first contentful paint of /today, p50", "≤ 100 ms, ≤ 1.5 x the same page from memory",
        f"{ms(took['ours'])}, {ratio:.2f} x",
        f"least {min(took['ours']):.0f} ms; from memory {ms(took['static'])}, least {min(took['static']):.0f} ms",
    )  # fmt: skip


def test_what_today_loads(context: BrowserContext, signed_in: dict[str, Any], board: Board) -> None:
    answers: list[tuple[str, int]] = []
    page = context.new_page()
    page.on("response", lambda answer: None if answer.url.endswith("/live") else answers.append(_measure(answer)))

    page.goto("/today", wait_until="load")
    page.wait_for_timeout(500)

    host = urlsplit(signed_in["origin"]).netloc
    foreign = [url for url, _ in answers if urlsplit(url).netloc != host]
    board.show(
        "page: what /today loads", "≤ 120 KB, ≤ 15 requests, 0 from other hosts",
        f"{sum(size for _, size in answers) / 1000:.0f} KB, {len(answers) + 1} requests, {len(foreign)} from others",
        ", ".join(f"{urlsplit(url).path.rpartition('/')[2]} {size / 1000:.1f}" for url, size in answers),
    )  # fmt: skip


def _measure(answer: Any) -> tuple[str, int]:
    return answer.url, len(answer.body())


def test_a_change_by_a_client_until_it_is_on_the_screen(
    context: BrowserContext, assistant: Assistant, board: Board
) -> None:
    page = context.new_page()
    page.goto("/today")
    page.wait_for_selector("[data-live=on]")
    took: list[float] = []

    for number in range(CHANGES):
        title = f"Measured change {number:03}"
        page.evaluate(_WATCH, title)
        began = time.time()
        task = assistant.call("create_task", title=title, deadline="today")["id"]
        took.append(float(page.evaluate("() => window.seen")) - began * 1000)
        assistant.call("update_task", task=task, status="cancelled")

    p95 = sorted(took)[int(0.95 * len(took))]
    board.show("page: a change by MCP until it is on the screen, p95", "≤ 300 ms", ms(p95), f"p50 {ms(took)}")


def test_calls_beside_ten_tabs(
    context: BrowserContext, daemon: PageDaemon, signed_in: dict[str, Any], page_copy: CopyProcess, board: Board
) -> None:
    """Tell what the browser takes of the processor from what the daemon does for it.

    The browser does the same work beside a copy of the page; without a browser, its requests are sent to the daemon.
    """
    address = Address(str(daemon.home))
    running = Running(address, address.find_pid() or 0)
    idle, tabs, copied, replayed, cpu = [], [], [], [], []
    with time_calls(daemon.home, CALLS) as calls:
        _time_calls_while(calls, _rest)  # the first ones only warm up
        for _ in range(ROUNDS):
            idle.append(_time_calls_while(calls, _rest))
            tabs.append(_time_calls_beside_tabs(context, calls, signed_in["origin"]))
            page_copy.take_requests()
            copied.append(_time_calls_beside_tabs(context, calls, page_copy.origin))
            with replay_requests(signed_in["origin"], page_copy.cookie, page_copy.take_requests()) as replay:
                replayed.append(_time_calls_while(calls, replay.send_next))
                cpu.append(_measure_reload(running, replay))

    board.show(
        "page: MCP call while ten tabs are open and one reloads every 100 ms, p95",
        "≤ 1.5 x without what the browser takes of the processor",
        f"{_ratio(tabs, copied):.2f} x beside the same tabs of another server; {_ratio(replayed, idle):.2f} x idle "
        "beside the same requests without a browser",
        f"with the browser on the same cores {_ratio(tabs, idle):.2f} x idle, beside another server's tabs "
        f"{_ratio(copied, idle):.2f} x; idle {ms(idle)}; CPU of the daemon per reload {ms(cpu)}",
    )  # fmt: skip


def _ratio(many: list[float], other: list[float]) -> float:
    return median([mine / theirs for mine, theirs in zip(many, other, strict=True)])


def _time_calls_beside_tabs(context: BrowserContext, calls: TimedCalls, origin: str) -> float:
    """Return the 95th percentile while ten tabs show today's page and one of them reloads."""
    tabs = [context.new_page() for _ in range(TABS)]
    for tab in tabs:
        tab.goto(f"{origin}/today")
    p95 = _time_calls_while(calls, lambda: _reload(tabs[0]))
    for tab in tabs:
        tab.close()
    return p95


def _time_calls_while(calls: TimedCalls, act: Callable[[], None]) -> float:
    """Return the 95th percentile of the time of calls, in milliseconds, while something is done again and again."""
    with ThreadPoolExecutor(1) as pool:
        times = pool.submit(calls.measure)
        while not times.done():
            act()
    return statistics.quantiles(times.result(), n=20)[-1]


def _rest() -> None:
    time.sleep(0.1)


def _reload(tab: Page) -> None:
    tab.reload(wait_until="commit")
    tab.wait_for_timeout(100)


def _measure_reload(running: Running, replay: Replay) -> float:
    """Return the milliseconds of processor time that the daemon needs for a reload."""
    before = running.cpu_seconds()
    for _ in range(RELOADS):
        replay.send_next()
    return (running.cpu_seconds() - before) / RELOADS * 1000


def test_a_note_of_ten_megabytes(context: BrowserContext, assistant: Assistant, board: Board) -> None:
    note = assistant.call("create_note", title="Long", content=PARAGRAPH * 24_000)["id"]
    page = context.new_page()

    took = _time_loads(page, f"/notes/{note}")

    board.show("page: a note of 10 MB", "≤ 1 s", ms(took))


def test_a_hundred_thousand_tasks(browser: Browser, many_tasks: Path, board: Board) -> None:
    daemon = PageDaemon(many_tasks)
    page = browser.new_page()
    try:
        page.goto(daemon.get_sign_in())
        page.wait_for_url("**/today")
        origin = page.url.removesuffix("/today")
        took = {path: _time_loads(page, origin + path) for path in ("/today", "/tasks", "/notes", "/graph")}
    finally:
        page.close()
        daemon.stop()

    measured = ", ".join(f"{path} {ms(times)}" for path, times in took.items())
    board.show("page: 100,000 tasks and 5,000 notes, p50", "≤ 1 s each", measured)


def _time_loads(page: Page, address: str) -> list[float]:
    took: list[float] = []
    for _ in range(4):
        page.goto(address)
        took.append(float(page.evaluate(_PAINT)))
    return took[1:]


def test_a_daemon_whose_page_nobody_opened(tmp_path: Path, board: Board) -> None:
    modules = subprocess.run(
        [sys.executable, "-c", _COUNT_MODULES], capture_output=True, text=True, check=True
    ).stdout.strip()
    daemon = PageDaemon(tmp_path / "home")
    with connect_assistant(daemon) as assistant:
        assistant.call("list_tasks")
        pid = Address(str(daemon.home)).find_pid()
        assert pid
        before = footprint(pid)
        daemon.get_sign_in()
        after = footprint(pid)
    daemon.stop()

    board.show(
        "page: a daemon whose page nobody opened", "no difference", f"{modules} modules of the page",
        f"memory {before.memory / MB:.1f} MB, {after.memory / MB:.1f} MB once it is opened; {after.since(before)}",
    )  # fmt: skip
