"""A view: one page of the web interface, written by one function and one template."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from panorama.web.page_calls import PageCalls
from panorama.web.texts import Texts

Context = Mapping[str, Any]
Section = Literal["", "Automation", "Data"]


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """The request for a view: the parts of its path, its query, the language, and the requester."""

    calls: PageCalls
    texts: Texts
    path: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    is_read_only: bool = False

    def get_number(self, name: str, default: int, largest: int) -> int:
        """Return a number of the query, or the default if it is not one from 1 to the largest."""
        text = self.query.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= largest else default


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One page.

    `make` returns the values of the template `<name>.html`; "title" among them replaces the view's own. `kinds` are the
    kinds of items whose changes it shows at once. `section` is its heading in the menu, None if it is not listed there;
    the view `within` is then marked as the current one. With `is_cached` the page is rendered again only after a change
    of an item, or in the next minute: only for views of nothing but items.
    """

    name: str
    path: str
    title: str
    make: Callable[[ViewRequest], Context]
    kinds: tuple[str, ...] = ()
    section: Section | None = None
    within: str = ""
    is_cached: bool = False
