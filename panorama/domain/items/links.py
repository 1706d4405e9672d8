"""Links: a web address with a title, and which addresses are allowed."""

import re
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from panorama.domain.items.item import Item, Kind, single_line
from panorama.errors import InvalidInputError

SCHEMES = ("http", "https", "mailto")
URL_CHARS = 4000
_COMPLETE_URL = re.compile(r"(?:https?://|mailto:)\S+$", re.IGNORECASE)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Item):
    """An address with a title."""

    KIND: ClassVar[Kind] = "link"
    BRIEF: ClassVar[tuple[str, ...]] = ("id", "title", "url", "project", "tags")
    LONG: ClassVar[tuple[str, ...]] = ("description",)
    LINKED: ClassVar[str] = "description"

    title: str
    url: str
    project: str | None = None
    tags: tuple[str, ...] = ()
    description: str = ""

    def search_text(self) -> tuple[str, str]:
        """Its title; its address, description and tags."""
        return self.title, "\n".join((self.url, self.description, " ".join(self.tags)))

    def to_markdown_line(self) -> str:
        """Return it as a Markdown link and its description."""
        return f"[{self.title}]({self.url}) {' '.join(self.description.split())}".rstrip()


def normalize_url(url: str) -> str:
    """Return an address with its scheme, https by default.

    Raises:
        InvalidInputError: It is not an address, or its scheme is not http, https or mailto.
    """
    text = single_line(url, "url", limit=URL_CHARS)
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() not in SCHEMES:
        raise InvalidInputError(f"url has the scheme {scheme[1]!r}.", hint="Use http, https or mailto.")
    whole = text if scheme else f"mailto:{text}" if _is_mail(text) else f"https://{text}"
    if " " in whole or not _has_target(whole):
        raise InvalidInputError(f"url is not an address: {text[:80]!r}.", hint="Example: https://example.org/page.")
    return whole


def check_not_swapped(url: str, title: str) -> None:
    """Check that title and address are not swapped.

    Raises:
        InvalidInputError: The title is an address with a scheme, and the url is not.
    """
    title_text = title.strip()
    if not _COMPLETE_URL.match(title_text) or _SCHEME.match(url.strip()) or not _has_target(title_text):
        return
    if not url.strip() or _is_mail(url) or _host(f"https://{url.strip()}") == _host(title_text):
        return
    raise InvalidInputError(
        "url takes an address: title and url are the wrong way round.",
        hint=f"Give url={title_text[:80]!r} and title={url.strip()[:80]!r}; for an address write its https:// too.",
    )


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _is_mail(text: str) -> bool:
    return "@" in text and "/" not in text.split("@", 1)[0]


def _has_target(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.path.strip("@") if parts.scheme.lower() == "mailto" else parts.hostname)
