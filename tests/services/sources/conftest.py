"""A small MCP server as the source `crm` of the product."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sources.servers import raw_entry

Configure = Callable[..., None]


@pytest.fixture
def configure(home: Path) -> Configure:
    """Writes `sources.json` with the small server under a name."""

    def configure(*flags: str, name: str = "crm", **more: Any) -> None:
        entries = {name: raw_entry(*flags, **more)}
        (home / "sources.json").write_text(json.dumps({"mcpServers": entries}))

    return configure
