"""What is known of the tools of MCP servers."""

from typing import Any

import pytest
from mcp_types import Tool

from panorama.sources.mcp.functions import MAX_FUNCTIONS, convert_tools


def _convert(name: str, properties: Any = None, hints: Any = None, *, is_local: bool = False, **more: Any) -> Any:
    schema = {"type": "object", "properties": properties or {}}
    tool = Tool.model_validate({"name": name, "inputSchema": schema, "annotations": hints, **more})
    return convert_tools([tool], is_local=is_local)[0]


READS = {"readOnlyHint": True}


@pytest.mark.parametrize(
    ("name", "properties", "hints", "expected"),
    [
        ("get_page", None, READS, ("own", True, "declared")),
        ("get_page", None, None, ("others", False, "name")),
        ("send_mail", None, None, ("others", False, "none")),
        ("send_mail", None, {"readOnlyHint": False}, ("others", False, "declared")),
        ("get_page", {"pageUrl": {}}, READS, ("anywhere", True, "declared")),
        ("get_page", {"a": {"format": "uri"}}, READS, ("anywhere", True, "declared")),
        ("get_page", {"a": {"items": {"properties": {"webhook": {}}}}}, READS, ("anywhere", True, "declared")),
        ("get_page", {"url": {}}, {**READS, "openWorldHint": False}, ("own", True, "declared")),
        ("run_query", None, READS, ("anywhere", False, "declared")),
        ("pythonRepl", None, READS, ("anywhere", False, "declared")),
        ("prune", {"pattern": {}}, None, ("others", False, "none")),
    ],
)
def test_reach_and_effect_follow_from_hints_schema_and_name(
    name: str, properties: Any, hints: Any, expected: Any
) -> None:
    function = _convert(name, properties, hints)

    assert (function.reach, function.reads_only, function.hint_origin) == expected


def test_a_source_that_the_user_calls_local_reaches_this_machine_only() -> None:
    assert _convert("fetch", {"url": {}}, READS, is_local=True).reach == "here"


def test_a_schema_that_refers_to_itself_is_read() -> None:
    loop: dict[str, Any] = {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}}}

    assert _convert("get", {"node": {"$ref": "#/$defs/Node"}}, READS, **{"$defs": {"Node": loop}}).reach == "own"


def test_a_schema_of_unreasonable_size_is_dropped() -> None:
    function = _convert("get", {f"p{number}": {"description": "x" * 1000} for number in range(300)}, READS)

    assert function.parameters == {"type": "object"}


def test_only_the_first_two_thousand_tools_are_used() -> None:
    tools = [Tool.model_validate({"name": f"t{number}", "inputSchema": {}}) for number in range(10_000)]

    assert len(convert_tools(tools, is_local=False)) == MAX_FUNCTIONS
