"""Scripts that tests keep, and a person who decides on them as a client's question or a terminal lets them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer, Conversation
from panorama.errors import ConfirmationError
from tests.conftest import ON_POSTGRES

changed_text_ends_it = pytest.mark.skipif(
    ON_POSTGRES, reason="a space keeps the approved text, and a changed file is a draft: test_shared_scripts.py"
)

COUNTING = '''"""Count the tasks of a project. It only reads."""


def main(project: str = "") -> int:
    """Return how many.

    Args:
        project: Only this project.
    """
    return len(sdk.tasks.list(project=project or None, status="any"))
'''
WRITING = '''"""Write a task down."""

from datetime import date


def main(title: str, day: date | None = None) -> str:
    return sdk.tasks.create(title, deadline=day).id
'''


@dataclass(frozen=True)
class Person:
    """Someone at a terminal or at a client's question."""

    app: App

    def decides(self, operation: str, **arguments: Any) -> Answer:
        """Agree to what is asked, in just the words in which it is asked."""
        conversation = Conversation("cli", actor="cli", client="panorama")
        try:
            return self.app.calls.call(operation, arguments, conversation)
        except ConfirmationError as error:
            return self.app.calls.call(operation, arguments, conversation, agreed=error.agreement)

    def approves(self, name: str) -> Answer:
        """Approve a script as it is now."""
        digest = self.app.calls.call("scripts.get", {"script": name}, Conversation("cli", "cli")).data["digest"]
        return self.decides("scripts.approve", script=name, digest=digest)

    def promotes(self, name: str, **more: Any) -> Answer:
        """Make a script a tool."""
        return self.decides("scripts.promote", script=name, **more)


def put(app: App, name: str, text: str) -> Path:
    """Write a script with an editor, as a person does."""
    folder = app.settings.home / "scripts"
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return path
