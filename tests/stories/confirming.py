"""A project whose deletion a person is asked about, and the user."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastmcp.client.elicitation import ElicitResult

from panorama.calls import Answer

ALL_OF_IT = {"item": "House", "items": "trash"}
Call = Callable[..., Answer]
Rows = Callable[[], dict[str, int]]


@dataclass
class Person:
    """Someone at a client that can ask: answers each question in the same way, and remembers what was asked."""

    action: Any = "accept"
    content: dict[str, Any] | None = field(default_factory=lambda: {"value": True})
    meanwhile: Callable[[], object] = lambda: None
    asked: list[str] = field(default_factory=list[str])

    async def answer(self, message: str, *_: Any) -> ElicitResult[dict[str, Any]]:
        """Answer a question."""
        self.asked.append(message)
        self.meanwhile()
        return ElicitResult(action=self.action, content=self.content if self.action == "accept" else None)


@pytest.fixture
def furnished(call: Call) -> None:
    """A project with two tasks, a note and a link."""
    call("create_project", name="House")
    for title in ("Paint", "Clean"):
        call("create_task", title=title, project="House")
    call("create_note", title="Colours", project="House")
    call("create_link", url="https://example.org", title="Shop", project="House")
