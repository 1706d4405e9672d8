"""Resources: notes, projects and tasks by id, and today's view, as Markdown; completion of their ids."""

from typing import Any

import anyio.to_thread
from fastmcp import FastMCP
from fastmcp.exceptions import NotFoundError as MissingError
from fastmcp.exceptions import ResourceError
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from panorama.calls import Calls
from panorama.errors import NotFoundError, PanoramaError
from panorama.mcp.tools import Conversing

MARKDOWN = "text/markdown"
COMPLETIONS = 20
_KINDS = ("note", "project", "task")


def add_resources(mcp: FastMCP, calls: Calls, conversing: Conversing) -> None:
    """Offer the resources and the completion of references."""

    async def read(name: str, **arguments: Any) -> str:
        try:
            answer = await anyio.to_thread.run_sync(calls.call, name, arguments, conversing())
        except NotFoundError as error:
            raise MissingError(error.message) from error
        except PanoramaError as error:
            raise ResourceError(error.message) from error
        return str(answer.data["markdown"])

    @mcp.resource("panorama://note/{id}", name="note", title="A note", mime_type=MARKDOWN)
    async def note(id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """A note's text."""
        return await read("pages.note", note=id)

    @mcp.resource("panorama://project/{id}", name="project", title="A project", mime_type=MARKDOWN)
    async def project(id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """A project with its open tasks and notes."""
        return await read("pages.project", project=id)

    @mcp.resource("panorama://task/{id}", name="task", title="A task", mime_type=MARKDOWN)
    async def task(id: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """A task with its notes."""
        return await read("pages.task", task=id)

    @mcp.resource("panorama://today", name="today", title="Today", mime_type=MARKDOWN)
    async def today() -> str:  # pyright: ignore[reportUnusedFunction]
        """What is overdue, due today or under way."""
        return await read("pages.today")

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
        kind = ref.uri.removeprefix("panorama://").split("/", 1)[0]
        return kind if kind in _KINDS and argument.name == "id" else None
    return argument.name if argument.name in _KINDS else None
