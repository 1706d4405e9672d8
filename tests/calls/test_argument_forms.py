"""Arguments are taken in the forms in which models and their clients send them, by every tool."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.calls.arguments import Arguments
from panorama.calls.schemas import input_schema
from panorama.errors import InvalidInputError

SAMPLES: dict[str, Any] = {"string": "x", "integer": 1, "boolean": True, "number": 1.5, "object": {"a": [None]}}


def tools(app: App) -> list[Arguments]:
    """Return what every tool takes."""
    return [operation for operation in app.calls.operation_arguments if operation.operation.tool]


def sample(schema: dict[str, Any]) -> Any:
    """Return a value that a schema allows."""
    if schema.get("type") == "array":
        return [sample(schema["items"])]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0])
    return schema["enum"][-1] if "enum" in schema else SAMPLES[schema["type"]]


def other_forms(value: Any, schema: dict[str, Any]) -> Iterator[Any]:
    """Return how clients send a value too."""
    if isinstance(value, list):
        yield json.dumps(value)
        yield value[0]
    elif isinstance(value, dict):
        yield json.dumps(value)
    elif isinstance(value, str) and "enum" in schema:
        yield f" {value.upper()}".replace("_", " ")
    elif not isinstance(value, str):
        yield json.dumps(value)


def test_every_argument_of_every_tool_is_taken_in_the_forms_that_clients_send(app: App) -> None:
    for tool in tools(app):
        schema = input_schema(tool)
        plain = {name: sample(schema_of_field) for name, schema_of_field in schema["properties"].items()}
        parsed = tool.parse(plain)
        for name, value in plain.items():
            for form in other_forms(value, schema["properties"][name]):
                assert tool.parse({**plain, name: form}) == parsed, (tool.operation.tool, name, form)


@pytest.mark.parametrize("sent", ['["a", "b"]', ["a", "b"]])
def test_a_list_as_json_text_is_that_list(call: Callable[..., Answer], sent: object) -> None:
    made = call("create_task", title="Tea", tags=sent)

    assert call("get_item", item=made.data["id"]).data["item"]["tags"] == ["a", "b"]


def test_an_empty_text_clears_a_list(call: Callable[..., Answer]) -> None:
    made = call("create_task", title="Tea", tags="a")

    call("update_task", task=made.data["id"], tags="")

    assert "tags" not in call("list_tasks").data[0]


def test_text_that_begins_like_json_and_is_none_is_one_value(call: Callable[..., Answer]) -> None:
    made = call("create_task", title="Tea", tags="[urgent")

    assert call("get_item", item=made.data["id"]).data["item"]["tags"] == ["[urgent"]


def test_a_text_argument_keeps_json_as_it_is(call: Callable[..., Answer]) -> None:
    made = call("create_note", title="Data", content='{"a": null}')

    assert call("get_note", note=made.data["id"]).data["content"] == '{"a": null}'


@pytest.mark.parametrize(
    "text", ["[" * 5_000 + "]" * 5_000, '{"status": "\\ud800"}', '{"rank": NaN}', '{"rank": 1e', "[1]"]
)
def test_json_text_that_cannot_be_used_is_refused_in_words(call: Callable[..., Answer], text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        call("query", collection="tasks", where=text)

    assert "where" in refused.value.message


def test_null_inside_an_object_is_a_value(call: Callable[..., Answer]) -> None:
    call("create_task", title="Tea")
    call("create_task", title="Cake", deadline="2026-06-01")

    found = call("query", collection="tasks", where='{"deadline": null}', fields=None)

    assert [row["title"] for row in found.data] == ["Tea"]


def test_a_repeated_key_is_the_same_call_with_and_without_nulls(call: Callable[..., Answer]) -> None:
    first = call("create_task", title="Tea", idempotency_key="k")

    again = call("create_task", title="Tea", idempotency_key="k", notes=None, deadline=None)

    assert again.data["id"] == first.data["id"]


@pytest.mark.parametrize(
    "name", ["mcp__panorama__create_task", "mcp__my_notes__create_task", "panorama_create_task", "panorama.create_task",
             "panorama__create_task", "panorama-create_task", "mcp_panorama_create_task", "functions.create_task",
             "default_api:create_task"]
)  # fmt: skip
def test_what_a_client_writes_before_a_tools_name_is_taken_off(call: Callable[..., Answer], name: str) -> None:
    assert call(name, title="Tea").data["title"] == "Tea"


@pytest.mark.parametrize(
    "step",
    [
        {"name": "create_task", "arguments": {"title": "Tea"}},
        {"tool_name": "mcp__panorama__create_task", "parameters": '{"title": "Tea"}'},
        {"tool": "panorama_create_task", "input": {"title": "Tea", "notes": None}},
        '{"tool": "create_task", "args": {"title": "Tea"}}',
    ],
)
def test_a_step_of_a_batch_is_taken_under_other_names(call: Callable[..., Answer], step: object) -> None:
    for operations in ([step], step, json.dumps([step])):
        assert call("batch", operations=operations).data["succeeded"] == 1


def test_the_arguments_of_a_script_are_taken_in_these_forms_too(call: Callable[..., Answer]) -> None:
    code = "def main(tags: list[str], which: Literal['all', 'some'] = 'all'):\n    return [tags, which]\n"
    call("save_script", name="echo", code=f"from typing import Literal\n\n{code}", summary="Return what is sent.")

    ran = call("run_script", script="echo", args='{"tags": "a", "which": "SOME"}')

    assert ran.data["result"] == [["a"], "some"]
