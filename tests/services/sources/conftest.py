"""A small MCP server as the source `crm` of the product."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Conversation
from tests.sources.servers import raw_entry

Configure = Callable[..., None]
Allow = Callable[..., None]


@pytest.fixture
def configure(home: Path) -> Configure:
    """Writes `sources.json` with the small server under a name."""

    def configure(*flags: str, name: str = "crm", **more: Any) -> None:
        entries = {name: raw_entry(*flags, **more)}
        (home / "sources.json").write_text(json.dumps({"mcpServers": entries}))

    return configure


@pytest.fixture
def show_allowed(app: App) -> Allow:
    """Shows the user what the rules of a source allow, as `panorama sources allow` does."""

    def show_allowed(name: str = "crm") -> None:
        app.calls.call("sources.renew", {"source": name}, Conversation("v_terminal", "cli", "panorama"))

    return show_allowed
