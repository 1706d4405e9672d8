"""Every view is usable by everybody: axe-core, keyboard, zoom, narrow screens, motion, forced colours, print."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.browser.axe import COLOUR_RULES, RULES, find_violations
from tests.browser.driver import VIEWPORT, WAIT_MILLISECONDS, Browser, BrowserContext, Complaints, Page
from tests.browser.probes import get_style, probe
from tests.browser.views import KEYS, find_addresses

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

NARROW = {"width": 320, "height": 640}
ZOOMED = {"width": 640, "height": 430}
"""What a window of 1280 x 860 shows at 200 %."""

MOST_STOPS = 400
"""The stops of the Tab key on a view; all views of the sample have fewer."""


@pytest.fixture(scope="module")
def context(browser: Browser, signed_in: dict[str, Any]) -> Iterator[BrowserContext]:
    """One signed-in browser for all tests, so that style sheets and scripts are loaded once."""
    state: Any = {"cookies": signed_in["cookies"], "origins": []}
    context = browser.new_context(
        viewport=VIEWPORT, base_url=signed_in["origin"], storage_state=state, locale="en-GB", reduced_motion="reduce"
    )
    context.set_default_timeout(WAIT_MILLISECONDS)
    yield context
    context.close()


@pytest.fixture(scope="module")
def context_complaints(context: BrowserContext) -> Complaints:
    """What the browser complains of."""
    complaints = Complaints()
    complaints.watch(context)
    return complaints


@pytest.fixture
def page(context: BrowserContext, context_complaints: Complaints) -> Iterator[Page]:
    """A new tab of the shared browser; the test fails if the browser complains."""
    page = context.new_page()
    yield page
    page.close()
    texts = [*context_complaints.texts]
    context_complaints.clear()
    assert texts == []


@pytest.fixture(scope="module")
def addresses(context: BrowserContext, signed_in: dict[str, Any]) -> Mapping[str, str]:
    """An address of each view."""
    page = context.new_page()
    found = find_addresses(page, signed_in["origin"])
    page.close()
    return found


def test_every_view_is_reached_by_links(addresses: Mapping[str, str]) -> None:
    assert sorted(set(KEYS) - addresses.keys()) == []


@pytest.mark.parametrize("key", KEYS)
def test_axe_finds_nothing_in_light_and_dark(page: Page, addresses: Mapping[str, str], key: str) -> None:
    page.goto(addresses[key])

    found = {}
    for scheme, rules in (("light", RULES), ("dark", COLOUR_RULES)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found[scheme] = find_violations(page, rules)

    assert found == {"light": [], "dark": []}


@pytest.mark.parametrize("key", KEYS)
def test_nothing_is_cut_off_on_narrow_screens_and_at_zoom(page: Page, addresses: Mapping[str, str], key: str) -> None:
    page.goto(addresses[key])

    found = {}
    for name, viewport in (("narrow", NARROW), ("zoomed", ZOOMED)):
        page.set_viewport_size(viewport)
        found[name] = (probe(page, "isWiderThanWindow"), probe(page, "findCutOff"))

    assert found == dict.fromkeys(found, (False, []))


def test_no_view_is_cut_off_on_narrow_screens_in_german(
    browser: Browser, signed_in: dict[str, Any], addresses: Mapping[str, str]
) -> None:
    state: Any = {"cookies": signed_in["cookies"], "origins": []}
    page = browser.new_page(viewport=NARROW, base_url=signed_in["origin"], storage_state=state, locale="de-DE")

    wrong: list[str] = []
    for key, address in addresses.items():
        page.goto(address)
        wrong += [key] if probe(page, "isWiderThanWindow") or probe(page, "findCutOff") else []

    page.context.close()
    assert wrong == []


@pytest.mark.parametrize("key", KEYS)
def test_the_tab_key_reaches_everything_and_shows_where_it_is(
    page: Page, addresses: Mapping[str, str], key: str
) -> None:
    page.goto(addresses[key])
    page.locator(".skip").focus()  # the first of all

    unclear = []
    for _ in range(MOST_STOPS):
        focused = probe(page, "visitFocused")
        if focused is None:
            break
        unclear += [] if focused["isClear"] else [focused["html"]]
        page.keyboard.press("Tab")

    assert unclear == []
    assert probe(page, "findUnvisited") == []


@pytest.mark.parametrize("key", KEYS)
def test_a_printed_view_is_its_content_in_black_on_white(page: Page, addresses: Mapping[str, str], key: str) -> None:
    page.goto(addresses[key])

    page.emulate_media(media="print", color_scheme="dark")

    controls = (".side", ".skip", ".toasts", ".quick", ".choose-bar")
    assert [name for name in controls if page.locator(name).first.is_visible()] == []
    assert page.locator("h1").first.is_visible()
    body = page.locator("body")
    assert (get_style(body, "color"), get_style(body, "backgroundColor")) == ("rgb(27, 28, 31)", "rgb(255, 255, 255)")
    assert page.evaluate("document.querySelector('main').getBoundingClientRect().x") <= 16


def test_nothing_moves_for_those_who_want_no_motion(page: Page) -> None:
    page.goto("/today")
    page.locator("#g-today .tick-box").first.click()
    undo = page.get_by_role("button", name="Undo")
    undo.wait_for()

    moving = probe(page, "countMoving")

    undo.click()
    assert moving == 0


def test_forced_colours_show_where_one_is(page: Page) -> None:
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    page.goto("/tasks")

    for links in (page.locator(".side a"), page.locator(".tabs a")):
        outlines = [get_style(link, "outlineStyle") for link in links.all()]
        assert outlines.count("solid") == 1


def test_forced_colours_show_what_is_completed_and_what_is_chosen(page: Page) -> None:
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    page.goto("/today")
    page.locator("#done summary").click()
    tick = page.locator("#done .tick-box").first
    sign = tick.locator("svg")

    page.keyboard.press("Control+k")
    chosen = page.locator("[role=option][aria-selected=true]")
    chosen.wait_for()

    assert get_style(sign, "stroke") != get_style(tick, "backgroundColor")
    assert (get_style(sign, "opacity"), get_style(chosen, "outlineStyle")) == ("1", "solid")


def test_the_first_stop_leads_past_the_menu(page: Page) -> None:
    page.goto("/tasks")

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.id") == "main"
