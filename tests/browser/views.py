"""The addresses of all views: those with a placeholder are found as a user finds them, by links."""

import re
from collections.abc import Iterator, Mapping

from panorama.web.view import View
from panorama.web.views import VIEWS
from tests.browser.driver import Page

KEYS = tuple(view.path for view in VIEWS)
"""The views by their paths, which are unique."""

_PLACEHOLDER = re.compile(r"\\\{\w+\\\}")
_LINKS = "links => links.map(link => link.getAttribute('href'))"


def find_addresses(page: Page, origin: str) -> Mapping[str, str]:
    """Return an address for each view by its path."""
    addresses = {view.path: view.path for view in VIEWS if "{" not in view.path}
    waiting = list(addresses.values())
    while waiting and len(addresses) < len(VIEWS):
        page.goto(origin + waiting.pop(0))
        for href in page.eval_on_selector_all("a[href^='/']", _LINKS):
            view = next(_iter_matches(href.partition("?")[0]), None)
            if view and view.path not in addresses:
                addresses[view.path] = href
                waiting.append(href)
    return addresses


def _iter_matches(path: str) -> Iterator[View]:
    """Yield the views of a path, the one that answers first."""
    for view in VIEWS:
        if re.fullmatch(_PLACEHOLDER.sub("[^/]+", re.escape(view.path)), path):
            yield view
