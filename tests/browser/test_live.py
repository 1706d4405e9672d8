"""Pages that stay up to date: many tabs, other clients, a daemon that ends and begins again."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.assistant import Assistant, connect_assistant
from tests.browser.driver import Browser, Complaints, Page, expect
from tests.browser.fixtures import OpenContext
from tests.browser.page_daemon import PageDaemon
from tests.browser.probes import SLOW_FETCH

pytestmark = pytest.mark.browser
TABS = 10
"""More than the six connections that a browser opens to one server."""


@pytest.fixture
def own_daemon(sample_home: Path, tmp_path: Path) -> Iterator[PageDaemon]:
    """A daemon of this test alone, over an empty data directory."""
    daemon = PageDaemon(tmp_path / "home")
    yield daemon
    daemon.stop()
    shutil.rmtree(daemon.home, ignore_errors=True)


def test_a_change_by_an_assistant_is_shown(page: Page, assistant: Assistant) -> None:
    page.goto("/today")
    expect(page.locator("body")).to_have_attribute("data-live", "on")

    task = assistant.call("create_task", title="Feed the cat", deadline="today")["id"]
    expect(page.locator(f"#g-today #{task}")).to_be_visible()
    assistant.call("update_task", task=task, status="done")

    expect(page.locator(f"#g-today #{task}")).to_have_count(0)


def test_ten_tabs_share_one_stream_and_all_show_a_change(open_context: OpenContext, assistant: Assistant) -> None:
    context = open_context()
    streams: list[str] = []
    context.on("request", lambda request: streams.append(request.url) if request.url.endswith("/live") else None)
    tabs = [context.new_page() for _ in range(TABS)]
    for tab in tabs:
        tab.goto("/jobs")  # shows jobs alone: the other tabs are hidden, and refresh when they are looked at
        expect(tab.locator("body")).to_have_attribute("data-live", "on")

    task = assistant.call("create_task", title="Wind the clock", deadline="today")["id"]

    for tab in tabs:
        tab.goto("/today")
        expect(tab.locator(f"#{task}")).to_be_visible()
    assert len([url for url in streams if url]) <= 2 * TABS
    assert sum(tab.evaluate("performance.getEntriesByName(location.origin + '/live').length") for tab in tabs) <= 1


def test_pages_are_fetched_one_after_another_while_changes_arrive(page: Page, assistant: Assistant) -> None:
    page.goto("/today")
    expect(page.locator("body")).to_have_attribute("data-live", "on")
    page.evaluate(SLOW_FETCH)

    tasks = [assistant.call("create_task", title=f"Wipe shelf {n}", deadline="today")["id"] for n in range(6)]

    expect(page.locator(f"#{tasks[-1]}")).to_be_visible()
    assert page.evaluate("mostUnderWay") == 1


def test_another_tab_listens_when_the_first_is_closed(open_context: OpenContext, assistant: Assistant) -> None:
    context = open_context()
    first, second = context.new_page(), context.new_page()
    for tab in (first, second):
        tab.goto("/today")
        expect(tab.locator("body")).to_have_attribute("data-live", "on")

    first.close()
    task = assistant.call("create_task", title="Air the rooms", deadline="today")["id"]

    expect(second.locator(f"#{task}")).to_be_visible()


def test_the_page_says_that_the_daemon_is_away_and_goes_on_when_it_is_back(
    browser: Browser, own_daemon: PageDaemon, complaints: Complaints
) -> None:
    context = browser.new_context()
    complaints.watch(context)
    page = context.new_page()
    page.goto(own_daemon.get_sign_in())
    expect(page.locator("body")).to_have_attribute("data-live", "on")
    page.get_by_label("New task").fill("Half a thou")

    own_daemon.stop()
    expect(page.locator("#live")).to_have_text("Reconnecting …")
    page.set_viewport_size({"width": 320, "height": 640})
    expect(page.locator("#live")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".toast.bad")).to_contain_text("does not answer")
    expect(page.get_by_label("New task")).to_have_value("Half a thou")

    with connect_assistant(own_daemon) as assistant:
        assistant.call("create_task", title="Written meanwhile", deadline="today")
        own_daemon.get_sign_in()  # the page is served again, on the port it had
        expect(page.locator("body")).to_have_attribute("data-live", "on")
        expect(page.locator("#g-today")).to_contain_text("Written meanwhile")
    expect(page.get_by_label("New task")).to_have_value("Half a thou")

    context.close()
    assert [text for text in complaints.texts if "net::ERR_" not in text] == []


def test_reading_and_simple_writes_work_without_scripts(open_context: OpenContext, assistant: Assistant) -> None:
    task = assistant.call("create_task", title="Oil the hinge", deadline="today")["id"]
    page = open_context(java_script_enabled=False).new_page()
    page.goto("/today")

    page.get_by_role("checkbox", name="Done: Oil the hinge").click()
    expect(page.locator(f"#g-today #{task}")).to_have_count(0)
    page.get_by_label("New task").fill("Grease the lock tomorrow")
    page.get_by_label("New task").press("Enter")

    expect(page.locator("#g-soon")).to_contain_text("Grease the lock")
    expect(page).to_have_url(re.compile("/today$"))
