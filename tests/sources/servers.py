"""The small MCP server of the tests, as a source."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from panorama.sources.config import SourceConfig

RAW_SERVER = Path(__file__).with_name("raw_server.py")


def raw_entry(*flags: str, **more: Any) -> dict[str, Any]:
    """Return the entry of `sources.json` that starts the server."""
    return {"command": sys.executable, "args": ["-S", str(RAW_SERVER), *flags], **more}


def raw_config(*flags: str, env: Mapping[str, str] | None = None, **more: Any) -> SourceConfig:
    """Return the configuration of a source that starts the server."""
    entry = raw_entry(*flags)
    return SourceConfig(name="raw", command=entry["command"], args=tuple(entry["args"]), env=env or {}, **more)
