"""Checking the arguments of a call against a schema."""

from typing import Any

import pytest

from panorama.domain.sources.arguments import drop_absent, find_mistakes

SCHEMA: dict[str, Any] = {
    "type": "object", "required": ["id"],
    "properties": {
        "id": {"type": "string"}, "limit": {"anyOf": [{"type": "integer", "maximum": 100}, {"type": "null"}]},
        "state": {"enum": ["open", "done"]}, "node": {"$ref": "#/$defs/Node"},
    },
    "$defs": {"Node": {"properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}}}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "mistakes"),
    [
        ({"id": "a", "limit": 5, "state": "open", "node": {"next": {"name": "x"}}}, []),
        ({}, ["id is missing."]),
        ({"Id": "a"}, ["id is missing.", "There is no argument Id; did you mean id?"]),
        ({"id": "a", "colour": 1}, ["There is no argument colour; it takes id, limit, state, node."]),
        ({"id": 1}, ["id: 1 is not of type 'string'."]),
        ({"id": "a", "state": "opne"}, ["state: 'opne' is not one of ['open', 'done']."]),
        ({"id": "a", "node": {"next": {"name": 5}}}, ["node.next.name: 5 is not of type 'string'."]),
    ],
)
def test_each_mistake_is_named(arguments: dict[str, Any], mistakes: list[str]) -> None:
    assert find_mistakes(arguments, SCHEMA) == mistakes


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "no such type"}}},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"pattern": "(a+)+$"}}},
        {"properties": "none", "required": "a"},
        {},
    ],
)
def test_a_schema_that_cannot_be_used_is_passed_over(schema: dict[str, Any]) -> None:
    assert find_mistakes({"a": "a" * 40 + "!"}, schema) == []


def test_none_is_sent_only_where_the_schema_allows_it() -> None:
    assert drop_absent({"id": None, "limit": None, "state": None}, SCHEMA) == {"limit": None}
