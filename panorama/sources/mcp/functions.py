"""Converts the tools of MCP servers to functions. Pure."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mcp_types import Tool, ToolAnnotations

from panorama.domain.sources.functions import HintOrigin, Reach, SourceFunction
from panorama.domain.sources.names import assign_names
from panorama.domain.text.json_types import is_list, is_nested_deeper, is_object

MAX_FUNCTIONS = 2_000
MAX_DESCRIPTION_CHARS = 4_000
MAX_SCHEMA_CHARS = 200_000
MAX_SCHEMA_VALUES = 5_000
MAX_SCHEMA_DEPTH = 64
"""The maximum nesting of a schema: it is stored, and a restore refuses JSON that is nested too deep."""

_READS = re.compile(
    r"(^|_)(get|list|search|read|find|query|describe|show|fetch|view|retrieve|count|stats?|status|info|history|log"
    r"|diff|check|test|open)(_|$)"
)
_ADDRESS = re.compile(r"(^|_)(url|uri|href|link|endpoint|host|hostname|domain|webhook|address|proxy|server)s?(_|$)")
_RUNS_CODE = re.compile(r"(^|_)(repl|exec|execute|eval|shell|bash|command|run)(_|$)")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s-]+")


def convert_tools(tools: Iterable[Tool], *, is_local: bool) -> list[SourceFunction]:
    """Return the functions of a server's tools; `is_local` means that the user vouches that it has no network."""
    usable = {tool.name: tool for tool in list(tools)[:MAX_FUNCTIONS] if tool.name}
    names = assign_names(usable)
    return [_convert_tool(names[own_name], tool, is_local=is_local) for own_name, tool in usable.items()]


def _convert_tool(name: str, tool: Tool, *, is_local: bool) -> SourceFunction:
    hints = tool.annotations or ToolAnnotations()
    parameters = _limit_schema(tool.input_schema) or {"type": "object"}
    runs_code = bool(_RUNS_CODE.search(name))
    reads_only = hints.read_only_hint is True and not runs_code
    takes_address = runs_code or takes_an_address(tool.input_schema)
    origin: HintOrigin = "declared" if hints.read_only_hint is not None else "name" if _READS.search(name) else "none"
    reach: Reach = "own" if reads_only else "others"
    if is_local:
        reach = "here"
    elif runs_code or (takes_address and hints.open_world_hint is not False):
        reach = "anywhere"
    return SourceFunction(
        name=name, own_name=tool.name, description=(tool.description or tool.title or "")[:MAX_DESCRIPTION_CHARS],
        parameters=parameters, returns=_limit_schema(tool.output_schema), reach=reach, reads_only=reads_only,
        hint_origin=origin, destructive=not reads_only and hints.destructive_hint is True,
        repeatable=reads_only or hints.idempotent_hint is True, takes_address=takes_address,
    )  # fmt: skip


def takes_an_address(schema: Mapping[str, Any]) -> bool:
    """Return whether an argument, at any depth, is named or typed like an address."""
    stack: list[Any] = [schema]
    for _ in range(MAX_SCHEMA_VALUES):
        if not stack:
            return False
        value = stack.pop()
        if is_object(value):
            fields = value.get("properties")
            if is_object(fields) and any(_ADDRESS.search(_WORD_START.sub("_", name).lower()) for name in fields):
                return True
            if value.get("format") in ("uri", "url", "iri", "hostname", "uri-reference"):
                return True
            stack.extend(value.values())
        elif is_list(value):
            stack.extend(value)
    return True  # too large to tell


def _limit_schema(schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a schema; one of unreasonable size or depth is dropped."""
    if not schema or is_nested_deeper(schema, MAX_SCHEMA_DEPTH):
        return None
    try:
        size = len(json.dumps(schema))
    except (ValueError, RecursionError):
        return None
    return schema if size <= MAX_SCHEMA_CHARS else None
