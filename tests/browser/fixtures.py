"""What tests in a browser share: Chromium, a daemon with sample data, tabs that are signed in, and an assistant.

A plugin of all tests: each conftest that imported the fixtures would start a browser of its own, and Playwright allows
one in a thread.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.assistant import Assistant, connect_assistant
from tests.browser.page_daemon import PageDaemon, make_environment

if TYPE_CHECKING:
    from tests.browser.driver import Browser, BrowserContext, Complaints, Page

OpenContext = Callable[..., "BrowserContext"]
"""Makes a browser context that is signed in; its options are those of Playwright's `new_context`."""


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Chromium. Without it the tests are skipped; they fail in CI."""
    from tests.browser.driver import CHROMIUM, launch_browser

    if not CHROMIUM:
        reason = "There is no Chromium: apt install chromium, or set CHROMIUM to its path."
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with launch_browser() as launched:
        yield launched


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory in which every view has something to show; written once for all workers of a run."""
    home = tmp_path_factory.mktemp("sample") / "home"
    base = tmp_path_factory.getbasetemp()
    written = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "written-sample" / "home"
    written.parent.mkdir(exist_ok=True)
    with (written.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not written.exists():
            draft = written.with_name("draft")
            command = [sys.executable, "-m", "tests.browser.sample_data", str(draft)]
            subprocess.run(command, env=make_environment(draft), check=True, timeout=240)
            draft.rename(written)
    shutil.copytree(written, home)
    return home


@pytest.fixture(scope="session")
def daemon(browser: "Browser", sample_home: Path) -> Iterator[PageDaemon]:
    """The daemon over the sample data; `panorama open` starts it."""
    daemon = PageDaemon(sample_home)
    yield daemon
    daemon.stop()


@pytest.fixture(scope="session")
def signed_in(browser: "Browser", daemon: PageDaemon) -> dict[str, Any]:
    """The cookies of a browser whose user ran `panorama open` once."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(daemon.get_sign_in())
    page.wait_for_url("**/today")
    state: dict[str, Any] = context.storage_state()
    context.close()
    return state | {"origin": page.url.removesuffix("/today")}


@pytest.fixture
def complaints() -> "Complaints":
    """What the browser complains of during the test; the test fails if something is left here."""
    from tests.browser.driver import Complaints

    return Complaints()


@pytest.fixture
def open_context(browser: "Browser", signed_in: dict[str, Any], complaints: "Complaints") -> "Iterator[OpenContext]":
    """Makes contexts that are signed in."""
    from tests.browser.driver import VIEWPORT, WAIT_MILLISECONDS

    contexts: list[BrowserContext] = []

    def open_context(**options: Any) -> "BrowserContext":
        state = {"cookies": signed_in["cookies"], "origins": []}
        defaults = {"viewport": VIEWPORT, "base_url": signed_in["origin"], "storage_state": state, "locale": "en-GB"}
        context = browser.new_context(**{**defaults, **options})
        context.set_default_timeout(WAIT_MILLISECONDS)
        complaints.watch(context)
        contexts.append(context)
        return context

    yield open_context
    for context in contexts:
        context.close()
    assert complaints.texts == []


@pytest.fixture
def page(open_context: "OpenContext") -> "Page":
    """A tab that shows nothing yet; `page.goto("/today")`."""
    page: Page = open_context(reduced_motion="reduce").new_page()
    return page


@pytest.fixture(scope="module")
def assistant(daemon: PageDaemon) -> Iterator[Assistant]:
    """A real MCP client on the same data."""
    with connect_assistant(daemon) as connected:
        yield connected
