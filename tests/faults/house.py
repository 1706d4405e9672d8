"""The product in this process, without a door: short words for the tests."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import Settings


@dataclass(frozen=True)
class OpenStore:
    """An open store, and one client that uses it."""

    app: App
    client: Conversation

    @classmethod
    @contextmanager
    def opened(cls, home: Path, *, busy_seconds: float = 0.2) -> Generator[Self]:
        """Open the store of a data directory; it waits 0.2 s for a lock unless told otherwise."""
        with open_app(Settings(home=home, timezone="Europe/Berlin", busy_seconds=busy_seconds)) as app:
            yield cls(app, Conversation(id="v_faults", actor="tool", client="faults"))

    @property
    def home(self) -> Path:
        """The data directory."""
        return self.app.settings.home

    def do(self, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """Call an operation; return its data and metadata."""
        return self.app.calls.call(operation, arguments, self.client).to_dict()

    def settle(self) -> None:
        """Wait until the call log is written."""
        self.app.recorder.flush()
