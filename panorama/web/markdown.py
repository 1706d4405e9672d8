"""Markdown of notes as HTML that is safe to show.

The renderer takes no HTML from the text, pictures are links, and nh3 removes whatever is not on its list all the same.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

MAX_CHARS = 200_000
"""The characters of a text that are rendered; the rest is shown on request as plain text."""

WIKILINK_CHARS = 400
_BOX = re.compile(r"<li>(<p>)?\[([ xX])\] ")
_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code"),
    *("em", "strong", "s", "a", "span", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "span": {"title"}, "ol": {"start"}}
_CLASSES = {
    "a": {"wiki", "picture"},
    "span": {"missing", "checked", "unchecked"},
    "li": {"box"},
}
FindItem = Callable[[str], str]
"""Returns the address of the item with a title, "" if there is none."""


def render_markdown(text: str, find_item: FindItem) -> str:
    """Return a text as safe HTML.

    Args:
        find_item: Finds what `[[Title]]` links to.
    """
    html = _parser().render(text[:MAX_CHARS], {"find_item": find_item})
    html = _BOX.sub(_render_box, html)
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    parser.inline.ruler.before("link", "wikilink", _parse_wikilink)
    parser.add_render_rule("wikilink", _render_wikilink)
    parser.add_render_rule("image", _render_image)
    return parser


def _parse_wikilink(state: StateInline, silent: bool) -> bool:
    """Parse [[Title]] or [[Title|words]] as a token; inside code it stays as it is."""
    if not state.src.startswith("[[", state.pos):
        return False
    end = state.src.find("]]", state.pos + 2, state.pos + WIKILINK_CHARS)
    inside = state.src[state.pos + 2 : end] if end > 0 else ""
    if not inside.strip() or "[" in inside or "\n" in inside:
        return False
    if not silent:
        target, _, words = inside.partition("|")
        title = target.partition("#")[0].strip()
        state.push("wikilink", "", 0).meta = {"title": title, "words": words.strip() or target.strip()}
    state.pos = end + 2
    return True


def _render_wikilink(_: RendererHTML, tokens: Sequence[Token], at: int, __: object, env: Mapping[str, Any]) -> str:
    title, words = tokens[at].meta["title"], escape(tokens[at].meta["words"])
    address = env["find_item"](title)
    if address:
        return f'<a class="wiki" href="{escape(address)}">{words}</a>'
    return f'<span class="missing" title="{escape(title)}">{words}</span>'


def _render_image(_: RendererHTML, tokens: Sequence[Token], at: int, __: object, ___: Mapping[str, Any]) -> str:
    """Render a picture as a link: nothing is fetched from elsewhere unless the user goes there."""
    source = escape(str(tokens[at].attrs.get("src", "")))
    return f'<a class="picture" href="{source}">{escape(tokens[at].content) or source}</a>'


def _render_box(match: re.Match[str]) -> str:
    state, sign = ("checked", "☑") if match[2] != " " else ("unchecked", "☐")
    return f'<li class="box">{match[1] or ""}<span class="{state}">{sign}</span> '
