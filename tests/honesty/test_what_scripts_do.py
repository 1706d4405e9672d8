"""What the library says of the SDK is what the catalogue says."""

import ast
import inspect
from collections.abc import Mapping
from typing import Any, cast

import pytest

from panorama.app import App
from panorama.domain.scripts.allowed_calls import list_operations
from panorama.domain.scripts.library import parse_signature
from panorama.domain.scripts.scripts import SOURCE_CALL
from panorama.domain.scripts.sdk_usage import is_writing
from panorama.mcp.guide import GUIDE
from panorama.sdk import SURFACE


def test_what_writes_by_its_name_writes(app: App) -> None:
    known = {
        operation.operation.sdk: operation.operation
        for operation in app.calls.operation_arguments
        if operation.operation.sdk
    }
    known.pop("scripts.call")  # what it writes, the script that it runs writes
    known.pop(SOURCE_CALL)  # whether it writes, the function says

    assert {name: is_writing(name) for name in known} == {name: value.writes for name, value in known.items()}


def test_the_guide_is_under_two_kilobytes_and_its_example_is_a_script() -> None:
    example = GUIDE.partition("```python\n")[2].partition("```")[0]

    assert len(GUIDE.encode()) < 2048
    assert parse_signature(example).summary == "Move what is overdue to a new day, and list it."


def _list_functions() -> dict[str, Any]:
    """Return the functions of the SDK by name, as `tasks.update`."""
    nouns = {name: value for name, value in SURFACE.items() if isinstance(value, Mapping) and name != "errors"}
    inner = {
        f"{noun}.{name}": function
        for noun, functions in nouns.items()
        for name, function in cast("Mapping[str, Any]", functions).items()
    }
    return inner | {name: value for name, value in SURFACE.items() if inspect.isfunction(value)}


def _find_called_operations(function: Any) -> set[str]:
    """Return the operations that stand in the text of a function, and in those that it calls for one item."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(inspect.unwrap(function)))):
        if isinstance(node, ast.Call):
            called, first = ast.unparse(node.func), node.args[0] if node.args else None
            if called in ("wire.call", "wire.call_update", "wire.list_rows") and isinstance(first, ast.Constant):
                found.add(str(first.value))
            found |= {"get_item": {"items.get"}, "delete_item": {"items.get", "items.delete"}}.get(called, set())
    return found


@pytest.mark.parametrize("name", _list_functions())
def test_a_review_that_shows_a_function_allows_the_operations_that_it_calls(name: str) -> None:
    called = _find_called_operations(_list_functions()[name])

    entry = "scripts" if name == "scripts.call" else name
    assert not called or set(list_operations(entry)) == called
