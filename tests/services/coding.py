"""Code that is run as a tool runs it, and what it left."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer

Call = Callable[..., Answer]


@pytest.fixture
def run(call: Call) -> Callable[..., dict[str, Any]]:
    """Runs a script and returns what is told of it."""

    def ran(code: str, **wishes: Any) -> dict[str, Any]:
        return call("run_code", code=code, **wishes).data

    return ran


Run = Callable[..., dict[str, Any]]


def titles(call: Call) -> list[str]:
    """Return the titles of the tasks in a list."""
    return sorted(row["title"] for row in call("list_tasks").data)
