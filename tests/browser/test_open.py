"""`panorama open` over a real daemon: signing in, reading only, signing out."""

import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.driver import Browser, BrowserContext, Page, expect
from tests.browser.page_daemon import PageDaemon

pytestmark = pytest.mark.browser


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser in which nobody is signed in."""
    context = browser.new_context(locale="en-GB")
    yield context
    context.close()


@pytest.fixture
def tab(context: BrowserContext) -> Page:
    """A tab of that browser."""
    return context.new_page()


def test_both_printed_addresses_sign_in(context: BrowserContext, daemon: PageDaemon) -> None:
    for number, host in enumerate((r"panorama-\w+\.localhost", r"127\.0\.0\.1")):
        tab = context.new_page()
        address = daemon.run("open", "--print").stdout.splitlines()[number]
        assert re.match(rf"http://{host}:\d+/in#", address)

        tab.goto(address)

        expect(tab).to_have_url(re.compile("/today$"))


def test_an_address_signs_in_once(context: BrowserContext, browser: Browser, daemon: PageDaemon) -> None:
    address = daemon.get_sign_in()
    context.new_page().goto(address)
    other = browser.new_context(locale="en-GB")

    tab = other.new_page()
    tab.goto(address)

    expect(tab.locator("#state")).to_contain_text("used already")
    assert tab.url.endswith("/in")  # the code is no longer in the address
    other.close()


def test_the_printed_code_is_entered_by_hand(tab: Page, daemon: PageDaemon) -> None:
    address, _, code = daemon.get_sign_in().partition("#")
    tab.goto(address)

    tab.get_by_label("Code").fill(code)
    tab.get_by_role("button", name="Sign in").click()

    expect(tab).to_have_url(re.compile("/today$"))


def test_a_view_is_opened_by_its_name(tab: Page, daemon: PageDaemon) -> None:
    tab.goto(daemon.get_sign_in("review"))

    expect(tab).to_have_url(re.compile("/review$"))
    assert "There is no view" in daemon.run("open", "nothing", "--print", check=False).stderr


def test_a_session_that_only_reads_has_nothing_that_writes(tab: Page, daemon: PageDaemon) -> None:
    tab.goto(daemon.get_sign_in("--read-only"))
    expect(tab).to_have_url(re.compile("/today$"))

    expect(tab.locator(".foot")).to_contain_text("read only")
    assert tab.get_by_label("New task").count() == 0
    assert tab.locator(".tick-box:not([disabled])").count() == 0


def test_a_session_that_is_ended_shows_no_further_page(
    tab: Page, context: BrowserContext, browser: Browser, daemon: PageDaemon
) -> None:
    tab.goto(daemon.get_sign_in())
    expect(tab.locator("body")).to_have_attribute("data-live", "on")
    other = browser.new_context(locale="en-GB").new_page()
    other.goto(daemon.get_sign_in("settings"))
    expect(other).to_have_url(re.compile("/settings$"))

    other.get_by_role("button", name="Sign out", exact=True).nth(1).click()  # the first is the browser of this tab
    expect(other).to_have_url(re.compile("/settings$"))
    tab.locator(".side nav").get_by_role("link", name="Notes").click()

    expect(tab.locator("main")).to_contain_text("Nobody is signed in here")
    other.context.close()


def test_a_browser_is_led_by_a_file_that_its_owner_alone_can_read(
    tab: Page, daemon: PageDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "address"
    script = tmp_path / "browser"
    script.write_text(f"#!{sys.executable}\nimport sys\nopen({str(note)!r}, 'w').write(sys.argv[1])\n")
    script.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(script))
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)

    printed = daemon.run("open")

    address = note.read_text()
    file = Path(address.removeprefix("file://"))
    assert (address.startswith("file://"), "#" in printed.stdout) == (True, False)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    tab.goto(address)
    expect(tab).to_have_url(re.compile("/today$"))
    assert not file.exists()
