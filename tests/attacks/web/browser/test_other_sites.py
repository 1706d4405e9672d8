"""Another site in the browser in which the user is signed in: it reads, writes and frames nothing."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from panorama.web.rendering import static_version
from tests.attacks.web.browser.conftest import OtherSite
from tests.browser.assistant import Assistant
from tests.browser.driver import Browser, BrowserContext, Page

pytestmark = pytest.mark.browser
ATTACKS = Path(__file__).with_name("attacks.js").read_text()
NAMES = re.findall(r"^    '(.+)': ", ATTACKS, re.MULTILINE)
HARMLESS = ("", "refused", "nothing", "loaded", "true")
"""What an attack may learn: that a browser has loaded the page of a refusal, or has sent something."""

_RUN = f"""async ([name, site]) => {{
  try {{ return await ({ATTACKS})(site)[name]() }} catch {{ return 'refused' }}
}}"""


@pytest.fixture
def context(browser: Browser, signed_in: dict[str, Any]) -> Iterator[BrowserContext]:
    """A browser that has a session under both names of the page; what it complains of is that it refuses."""
    cookie = signed_in["cookies"][0]
    cookies = [cookie, {**cookie, "domain": "127.0.0.1"}]
    context = browser.new_context(storage_state={"cookies": cookies, "origins": []})
    yield context
    context.close()


@pytest.mark.parametrize("where", ["another port", "localhost", "another host"])
@pytest.mark.parametrize("name", NAMES)
def test_another_site_gets_nothing(
    context: BrowserContext, signed_in: dict[str, Any], other_site: OtherSite, origins: Mapping[str, str],
    where: str, name: str,
) -> None:  # fmt: skip
    port = urlsplit(signed_in["origin"]).port
    answers: list[int] = []
    context.on("response", lambda answer: answers.append(answer.status) if urlsplit(answer.url).port == port else None)
    other_site.html = "<!doctype html><title>Other</title><body></body>"
    tab = context.new_page()
    tab.goto(origins[where])

    targets = (signed_in["origin"], f"http://127.0.0.1:{port}")
    files = f"/static/{static_version()}"
    learned = {tab.evaluate(_RUN, [name, {"target": target, "files": files}]) for target in targets}

    assert learned <= set(HARMLESS)
    assert [status for status in answers if status < 400] == []


def test_the_attacks_before_have_written_and_ended_nothing(page: Page, assistant: Assistant) -> None:
    page.goto("/today")

    assert page.locator("h1").inner_text() == "Today"
    assert assistant.call("query", collection="tasks", where={"title": "Planted"}) == []
    assert assistant.call("get_script", script="move_overdue")["state"] == "draft"


def test_a_window_that_another_site_opens_cannot_be_read(
    context: BrowserContext, signed_in: dict[str, Any], other_site: OtherSite, origins: Mapping[str, str],
) -> None:  # fmt: skip
    other_site.html = "<!doctype html><title>Other</title>"
    tab = context.new_page()
    tab.goto(origins["another host"])

    with context.expect_page() as opened:
        tab.evaluate("target => {window.other = window.open(target + '/today')}", signed_in["origin"])
    opened.value.wait_for_load_state()

    assert tab.evaluate("() => {try {return other.document?.title ?? 'closed'} catch {return 'refused'}}") != "Today"
    assert tab.evaluate("() => {try {return other.closed} catch {return true}}")  # cut off by the opener policy


def test_a_form_that_leads_to_our_page_writes_nothing(
    context: BrowserContext, signed_in: dict[str, Any], other_site: OtherSite, origins: Mapping[str, str],
    assistant: Assistant,
) -> None:  # fmt: skip
    target = signed_in["origin"]
    other_site.html = (
        f"<form method=post action={target}/do/quick><input name=line value=Planted><button>Win</button></form>"
    )
    for origin in origins.values():
        tab = context.new_page()
        tab.goto(origin)
        tab.get_by_role("button").click()
        tab.wait_for_url(f"{target}/do/quick")
        assert "Requests from other pages are refused" in tab.content()

    assert assistant.call("query", collection="tasks", where={"title": "Planted"}) == []


@pytest.mark.parametrize("name", ["rebind.test", "localhost", "panorama-0000000000.localhost", "0.0.0.0"])
def test_a_name_that_points_to_our_port_gets_nothing(
    context: BrowserContext, signed_in: dict[str, Any], name: str
) -> None:
    tab = context.new_page()

    answer = tab.goto(f"http://{name}:{urlsplit(signed_in['origin']).port}/today")

    assert answer
    assert answer.status == 421


def test_the_cookie_of_our_name_is_sent_to_no_other_program(
    browser: Browser, signed_in: dict[str, Any], other_site: OtherSite, origins: Mapping[str, str]
) -> None:
    context = browser.new_context(storage_state={"cookies": signed_in["cookies"], "origins": []})
    other_site.cookies.clear()
    tab = context.new_page()
    tab.goto(f"{signed_in['origin']}/today")

    for origin in origins.values():
        tab.goto(origin)

    assert len(other_site.cookies) >= len(origins)
    assert set(other_site.cookies) == {""}
    context.close()


def test_scripts_cannot_read_the_cookie(page: Page) -> None:
    page.goto("/today")

    assert page.evaluate("document.cookie") == ""


@pytest.mark.parametrize("name", ["x-forwarded-host", "x-forwarded-for", "forwarded", "x-real-ip", "x-original-url"])
def test_headers_of_a_proxy_open_nothing(browser: Browser, signed_in: dict[str, Any], name: str) -> None:
    value = "for=127.0.0.1;host=127.0.0.1" if name == "forwarded" else "127.0.0.1"
    context = browser.new_context(extra_http_headers={name: value})

    answer = context.new_page().goto(f"{signed_in['origin']}/today")

    context.close()
    assert answer
    assert answer.status == 401
