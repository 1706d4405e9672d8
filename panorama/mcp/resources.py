"""Resources: notes, projects and tasks by id, and today's view, as Markdown; completion of their ids.

What a person pinned or marked as a favourite is listed; all else is found by its template.
"""

import logging
from collections.abc import Sequence
from typing import Any

import anyio.to_thread
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
from panorama.mcp.guide import GUIDE
from panorama.mcp.tools import Conversing
from panorama.mcp.uris import KINDS, REMINDERS, SCHEME, SCRIPTS, TODAY, page_of

MARKDOWN = "text/markdown"
COMPLETIONS = 20
LISTED = 50
"""How many pages are listed beside today's."""

_SAYS = {"project": "A favourite project with its open tasks and notes.", "note": "A pinned note."}


class MissingError(FastMCPError, UnknownPageError):
    """There is no such page. As both it is told to the client as one, and is no error of ours in the log."""


class Marked(Provider):
    """The favourite projects and pinned notes as a list; they are read by their templates, like all others."""

    def __init__(self, calls: Calls, conversing: Conversing) -> None:
        super().__init__()
        self._calls = calls
        self._conversing = conversing

    async def _list_resources(self) -> Sequence[Resource]:
        answer = await anyio.to_thread.run_sync(self._calls.call, "pages.list", {"limit": LISTED}, self._conversing())
        return [
            Resource.model_validate(
                {
                    "uri": page_of(row["kind"], row["id"]), "name": row["name"], "title": row["name"],
                    "description": _SAYS[row["kind"]], "mime_type": MARKDOWN,
                }
            )
            for row in answer.data
        ]  # fmt: skip

    async def get_tasks(self) -> Sequence[FastMCPComponent]:
        """Offer nothing to run in the background; the server asks at its start, when there is no conversation yet."""
        return ()

    async def _get_resource(self, uri: str, version: VersionSpec | None = None) -> Resource | None:
        del uri, version
        return None


def add_resources(mcp: FastMCP, calls: Calls, conversing: Conversing) -> None:
    """Offer the resources and the completion of references."""
    mcp.add_provider(Marked(calls, conversing))

    async def read(name: str, **arguments: Any) -> str:
        try:
            answer = await anyio.to_thread.run_sync(calls.call, name, arguments, conversing())
        except NotFoundError as error:
            raise MissingError(error.message, log_level=logging.DEBUG) from error
        except PanoramaError as error:
            raise ResourceError(error.message, log_level=logging.INFO) from error
        return str(answer.data["markdown"])

    @mcp.resource(page_of("note", "{id}"), name="note", title="A note", mime_type=MARKDOWN)
    async def note(id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """A note's text."""
        return await read("pages.note", note=id)

    @mcp.resource(page_of("project", "{id}"), name="project", title="A project", mime_type=MARKDOWN)
    async def project(id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """A project with its open tasks and notes."""
        return await read("pages.project", project=id)

    @mcp.resource(page_of("task", "{id}"), name="task", title="A task", mime_type=MARKDOWN)
    async def task(id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """A task with its notes."""
        return await read("pages.task", task=id)

    @mcp.resource(page_of("run", "{id}"), name="run", title="A run of a script", mime_type=MARKDOWN)
    async def run(id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """A script that ran: its text, output, calls and changes."""
        return await read("pages.run", run=id)

    @mcp.resource(page_of("job", "{id}"), name="job", title="A background job", mime_type=MARKDOWN)
    async def job(id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """A background job: how far it is, and what became of it."""
        return await read("pages.job", job=id)

    @mcp.resource(TODAY, name="today", title="Today", mime_type=MARKDOWN)
    async def today() -> str:  # pyright: ignore[reportUnusedFunction]
        """What is overdue, due today or under way."""
        return await read("pages.today")

    @mcp.resource(REMINDERS, name="reminders", title="Reminders", mime_type=MARKDOWN)
    async def reminders() -> str:  # pyright: ignore[reportUnusedFunction]
        """Reminders that rang and wait, and those to come."""
        return await read("pages.reminders")

    @mcp.resource(SCRIPTS, name="scripts", title="How to write a script", mime_type=MARKDOWN)
    async def scripts() -> str:  # pyright: ignore[reportUnusedFunction]
        """How to write a script that is worth keeping, by example."""
        return GUIDE

    @mcp.completion
    async def complete(  # pyright: ignore[reportUnusedFunction]
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        del context
        kind = _completed(ref, argument)
        if kind is None:
            return None
        sent = {"kind": kind, "begun": argument.value, "limit": COMPLETIONS}
        answer = await anyio.to_thread.run_sync(calls.call, "items.complete", sent, conversing())
        shown = "id" if isinstance(ref, ResourceTemplateReference) else "name"
        return Completion(values=[str(row[shown]) for row in answer.data])


def _completed(ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument) -> str | None:
    if isinstance(ref, ResourceTemplateReference):
        kind = ref.uri.removeprefix(SCHEME).split("/", 1)[0]
        return kind if kind in KINDS and argument.name == "id" else None
    return argument.name if argument.name in KINDS else None
