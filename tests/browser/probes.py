"""Asks a page what only a script in it can tell."""

from pathlib import Path
from typing import Any

from tests.browser.driver import Locator, Page

_SOURCE = Path(__file__).with_suffix(".js").read_text()


def probe(page: Page, name: str) -> Any:
    """Call a function of `probes.js` in a page, and return what it returns."""
    return page.evaluate(f"() => (\n{_SOURCE}).{name}()")


def get_style(locator: Locator, name: str) -> str:
    """Return a property of an element's computed style."""
    return str(locator.evaluate("(element, name) => getComputedStyle(element)[name]", name))
