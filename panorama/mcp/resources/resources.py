"""Resources: notes, projects and tasks by id, and today's view, as Markdown; completion of their ids.

Pinned notes and favourite projects are listed; everything else is read by its template.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import FastMCPError, ResourceError
from fastmcp.exceptions import NotFoundError as UnknownPageError
from fastmcp.resources import Resource
from fastmcp.server.providers import Provider
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.versions import VersionSpec
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from panorama.calls import Calls
from panorama.errors import NotFoundError, PanoramaError
from panorama.kinds import BY_NAME
from panorama.mcp.cancellation import run_read
from panorama.mcp.guide import GUIDE
from panorama.mcp.resources.uris import KINDS, REMINDERS, SCHEME, SCRIPTS, TODAY, page_uri
from panorama.mcp.tools import GetConversation

MARKDOWN = "text/markdown"
MAX_COMPLETIONS = 20
MAX_LISTED = 50
"""How many pages are listed beside today's."""

_PAGE_KINDS = (
    ("note", "A note", "A note's text."),
    ("project", "A project", "A project with its open tasks and notes."),
    ("task", "A task", "A task with its notes."),
    ("run", "A run of a script", "A script that ran: its text, output, calls and changes."),
    ("job", "A background job", "A background job: its progress and result."),
)
"""The kinds that have pages, with the title and description of each."""

_DESCRIPTIONS = {"project": "A favourite project with its open tasks and notes.", "note": "A pinned note."}


class PageNotFoundError(FastMCPError, UnknownPageError):
    """There is no such page: a client's error, which is not logged as one of ours."""


class PinnedPageProvider(Provider):
    """Favourite projects and pinned notes as a list; like all others they are read by their templates."""

    def __init__(self, calls: Calls, conversing: GetConversation) -> None:
        super().__init__()
        self._calls = calls
        self._conversing = conversing

    async def _list_resources(self) -> Sequence[Resource]:
        answer = await run_read(self._calls, "pages.list", {"limit": MAX_LISTED}, self._conversing())
        return [
            Resource.model_validate(
                {
                    "uri": page_uri(row["kind"], row["id"]), "name": row["name"], "title": row["name"],
                    "description": _DESCRIPTIONS[row["kind"]], "mime_type": MARKDOWN,
                }
            )
            for row in answer.data
        ]  # fmt: skip

    async def get_tasks(self) -> Sequence[FastMCPComponent]:
        """Return no background tasks; the server asks for them at its start, when there is no conversation yet."""
        return ()

    async def _get_resource(self, uri: str, version: VersionSpec | None = None) -> Resource | None:
        del uri, version
        return None


class PageReader:
    """Reads pages in the conversation of the request."""

    def __init__(self, calls: Calls, conversing: GetConversation) -> None:
        self._calls = calls
        self._conversing = conversing

    async def read(self, name: str, **arguments: Any) -> str:
        """Return a page as Markdown.

        Raises:
            MissingError: There is none.
            ResourceError: It cannot be read.
        """
        try:
            answer = await run_read(self._calls, name, arguments, self._conversing())
        except NotFoundError as error:
            raise PageNotFoundError(error.message, log_level=logging.DEBUG) from error
        except PanoramaError as error:
            raise ResourceError(error.message, log_level=logging.INFO) from error
        return str(answer.data["markdown"])

    def make_item_reader(self, kind: str) -> Callable[[str], Awaitable[str]]:
        """Return the reader of a kind's pages by id."""

        async def page(id: str) -> str:
            return await self.read(f"pages.{kind}", **{kind: id})

        return page

    def make_page_reader(self, name: str) -> Callable[[], Awaitable[str]]:
        """Return the reader of a page without an id."""

        async def page() -> str:
            return await self.read(f"pages.{name}")

        return page

    async def complete(
        self,
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        """Return the ids, or for prompts the names, with this beginning."""
        del context
        kind = _completion_kind(ref, argument)
        if kind is None:
            return None
        arguments = {"kind": kind, "begun": argument.value, "limit": MAX_COMPLETIONS}
        answer = await run_read(self._calls, "items.complete", arguments, self._conversing())
        shown = "id" if isinstance(ref, ResourceTemplateReference) else "name"
        return Completion(values=[str(row[shown]) for row in answer.data])


async def read_guide() -> str:
    """Return how to write a script."""
    return GUIDE


def add_resources(mcp: FastMCP, calls: Calls, conversing: GetConversation) -> None:
    """Offer the resources and the completion of references."""
    mcp.add_provider(PinnedPageProvider(calls, conversing))
    pages = PageReader(calls, conversing)

    def add_resource(uri: str, name: str, title: str, description: str, read: Callable[..., Awaitable[str]]) -> None:
        mcp.resource(uri, name=name, title=title, description=description, mime_type=MARKDOWN)(read)

    for kind, title, description in _PAGE_KINDS:
        add_resource(page_uri(kind, "{id}"), kind, title, description, pages.make_item_reader(kind))
    add_resource(TODAY, "today", "Today", "What is overdue, due today or in progress.", pages.make_page_reader("today"))
    add_resource(
        REMINDERS,
        "reminders",
        "Reminders",
        "Reminders that wait to be acknowledged, and upcoming ones.",
        pages.make_page_reader("reminders"),
    )
    scripts = "How to write a script that is worth keeping, by example."
    add_resource(SCRIPTS, "scripts", "How to write a script", scripts, read_guide)
    mcp.completion(pages.complete)


def _completion_kind(ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument) -> str | None:
    if isinstance(ref, ResourceTemplateReference):
        kind = ref.uri.removeprefix(SCHEME).split("/", 1)[0]
        return kind if kind in KINDS and argument.name == "id" else None
    return argument.name if argument.name in BY_NAME else None
