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


SLOW_FETCH = """() => {
  const { fetch } = window
  let underWay = 0
  window.mostUnderWay = 0
  window.fetch = async (...request) => {
    mostUnderWay = Math.max(mostUnderWay, ++underWay)
    await new Promise(done => setTimeout(done, 200))
    return fetch(...request).finally(() => underWay--)
  }
}"""
"""Makes each request of a page take as long as on a busy machine, and counts those under way."""
