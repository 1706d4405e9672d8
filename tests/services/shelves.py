"""A library with two scripts that came with the program, and someone who decides."""

from collections.abc import Callable
from pathlib import Path

import pytest

import panorama.app as composition
from panorama.app import App
from panorama.calls import Answer
from tests.kept import Person

Call = Callable[..., Answer]


@pytest.fixture(autouse=True)
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two scripts came with the program."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    (folder / "ours.py").write_text('"""Say five. Ours."""\n\ndef main() -> int:\n    return 5\n')
    (folder / "weekly_review.py").write_text('"""Named like a tool."""\n\ndef main() -> int:\n    return 6\n')
    monkeypatch.setattr(composition, "bundled_path", lambda _: folder)
    return folder


@pytest.fixture
def person(app: App) -> Person:
    """Someone who decides."""
    return Person(app)


def state(call: Call, name: str) -> str:
    """Return a script's state."""
    return str(call("scripts.get", script=name).data["state"])


def tools(app: App) -> list[str]:
    """Return the tools that are scripts."""
    return [tool.operation.tool for tool in app.calls.promoted_tools.list_tools()]
