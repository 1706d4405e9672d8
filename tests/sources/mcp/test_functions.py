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
    loop = {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}}}
    definitions: dict[str, Any] = {"$defs": {"Node": loop}}

    assert _convert("get", {"node": {"$ref": "#/$defs/Node"}}, READS, **definitions).reach == "own"


def test_a_schema_of_unreasonable_size_is_dropped() -> None:
    function = _convert("get", {f"p{number}": {"description": "x" * 1000} for number in range(300)}, READS)

    assert function.parameters == {"type": "object"}


def _nest(levels: int, innermost: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of an object within so many others."""
    schema = innermost
    for _ in range(levels // 2):
        schema = {"properties": {"inner": schema}}
    return schema


def test_a_schema_that_is_nested_too_deep_is_dropped() -> None:
    kept, deep = ({"inner": _nest(levels, {"type": "string"})} for levels in (60, 62))

    assert _convert("get", kept).parameters["properties"] == kept
    assert _convert("get", deep).parameters == {"type": "object"}
    assert _convert("get", outputSchema=_nest(66, {"type": "object"})).returns is None


def test_the_address_that_a_dropped_schema_names_still_counts() -> None:
    fields = {f"p{number}": {"description": "x" * 1000} for number in range(300)}

    for properties in (fields | {"url": {}}, {"inner": _nest(80, {"properties": {"url": {}}})}):
        function = _convert("get", properties, READS)
        assert (function.parameters, function.takes_address) == ({"type": "object"}, True)


def test_only_the_first_two_thousand_tools_are_used() -> None:
    tools = [Tool.model_validate({"name": f"t{number}", "inputSchema": {}}) for number in range(10_000)]

    assert len(convert_tools(tools, is_local=False)) == MAX_FUNCTIONS
