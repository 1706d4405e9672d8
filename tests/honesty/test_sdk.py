"""The SDK and the catalogue: every operation that scripts may call has a twin, and the SDK stands alone."""

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from panorama.app import App
from panorama.calls.arguments import Arguments
from panorama.domain.items import item
from panorama.domain.scripts.scripts import SOURCE_CALL
from panorama.sdk import SURFACE, Row, Transport, use
from panorama.sdk.core import rows
from panorama.sdk.core import types as _types
from panorama.sdk.core.aliases import TOOL_ONLY, TOOLS
from panorama.sdk.core.unset import UNSET
from panorama.services.history import results as history_results
from panorama.services.items import overview_results, results
from panorama.services.search.results import SearchHit
from panorama.services.status import Status

ROOT = Path(__file__).resolve().parents[2]
OF_THE_DOOR = {"limit", "cursor", "detail", "confirm", "idempotency_key"}


def twin(name: str) -> Callable[..., Any]:
    """Return the function of the SDK that goes by a name."""
    found: Any = SURFACE
    for part in name.split("."):
        found = found[part]
    return found


def scriptable(app: App) -> dict[str, Arguments]:
    """Return the operations that scripts may call, by their names in scripts."""
    every = {
        operation.operation.sdk: operation for operation in app.calls.operation_arguments if operation.operation.sdk
    }
    return {name: value for name, value in every.items() if name != SOURCE_CALL}  # its twins are those of the sources


def own(arguments: Arguments) -> dict[str, Any]:
    """Return the parameters of an operation's method and their defaults."""
    shape = inspect.signature(arguments.operation.call).parameters
    return {name: value.default for name, value in shape.items() if name != arguments.page_parameter}


def test_every_operation_has_a_twin_with_equal_arguments_and_first_line(app: App) -> None:
    for name, operation in scriptable(app).items():
        function = twin(name)
        mine = {key: _default(value) for key, value in inspect.signature(function).parameters.items()}
        door = OF_THE_DOOR - own(operation).keys()
        assert {key: value for key, value in mine.items() if key not in door} == _whole(own(operation)), name
        assert mine.keys() <= operation.model.model_fields.keys(), name
        assert _first(function) == _first(operation.operation.call), name
        assert ("limit" in mine) == bool(operation.page_parameter or "limit" in own(operation)), name
        assert ("confirm" in mine) == operation.operation.asks, name
        assert [*mine][: len(own(operation))] == [*own(operation)], name


def _default(parameter: inspect.Parameter) -> Any:
    """Return the default that is sent; what an update keeps is not, as None is not by other clients."""
    return None if parameter.default is UNSET else parameter.default


def _whole(shape: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with defaults as scripts have them: where a model reads a page of a text, they read all."""
    return {name: None if name == "chars" else default for name, default in shape.items()}


def _first(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def test_every_tool_that_goes_by_another_name_in_scripts_is_told(app: App) -> None:
    tools = {value.operation.tool: name for name, value in scriptable(app).items() if value.operation.tool}

    assert {tool: name for tool, name in tools.items() if tool != name and tool not in name.split(".")} == TOOLS


def test_every_tool_is_told_in_a_hint_as_what_a_script_calls_or_as_a_tool(app: App) -> None:
    tools = {operation.operation.tool for operation in app.calls.operation_arguments if "_" in operation.operation.tool}

    assert tools <= {*TOOLS, *TOOL_ONLY}


def test_choices_are_those_of_the_operation(app: App) -> None:
    for name, operation in scriptable(app).items():
        mine = get_type_hints(inspect.unwrap(twin(name)), vars(_types) | vars(sys.modules[twin(name).__module__]))
        for parameter in operation.parameters:
            assert _choices(parameter.annotation) <= _choices(mine[parameter.name]) or not _choices(
                mine[parameter.name]
            ), f"{name}: {parameter.name}"


def _choices(annotation: Any) -> set[Any]:
    """Return the values that a type lists."""
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    return {value for part in get_args(annotation) for value in _choices(part)}


class Recording:
    """A transport that remembers which operations are called."""

    page_rows = 10
    state: dict[str, Any]

    def __init__(self) -> None:
        self.state = {}
        self.called: list[tuple[str, dict[str, Any]]] = []

    def call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Answer with one row that has everything."""
        self.called.append((operation, arguments))
        row = Row(id="x_0000000001", kind="", content="", text="", version=1, end=None)
        row.item = row
        is_list = "limit" in arguments
        return {"data": [] if is_list else row, "metadata": {}}

    def progress(self, current: float, total: float, message: str) -> None:
        """Do nothing."""

    def parallel(self, functions: Any, at_most: int) -> list[Any]:
        """Run one after another, however many may run at a time."""
        assert at_most
        return [function() for function in functions]


@pytest.fixture
def recording() -> Any:
    """The transport that is in use."""
    made = Recording()
    way: Transport = made
    use(way)
    yield made
    use(None)


def test_a_twin_sends_its_operation_with_known_arguments_alone(app: App, recording: Recording) -> None:
    for name, operation in scriptable(app).items():
        given = {key: f"{key}" for key, default in own(operation).items() if default is inspect.Parameter.empty}
        if "confirm" in inspect.signature(twin(name)).parameters:
            given["confirm"] = True
        twin(name)(**given)

        sent, arguments = recording.called.pop()
        assert sent == operation.operation.name
        assert arguments.keys() <= operation.model.model_fields.keys(), name
        assert given.items() <= arguments.items(), name


def test_no_operation_is_sent_that_does_not_exist(app: App) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "panorama" / "sdk").rglob("*.py"))
    sent = set(re.findall(r'wire\.(?:call|call_update|list_rows)\(\s*"([\w.]+)"', text))

    assert sent == {SOURCE_CALL} | {operation.operation.name for operation in scriptable(app).values()}


@pytest.mark.parametrize("letter", rows.KINDS)
def test_the_fields_of_the_types_are_those_of_the_items(letter: str) -> None:
    kind = item.LETTERS[letter]
    stored = next(entry for entry in _every(item.Item) if getattr(entry, "KIND", "") == kind)
    typed = get_type_hints(getattr(_types, rows.KINDS[letter]))
    known = {field.name for field in fields(stored)} - {"deleted_at"}

    assert typed.keys() - {*stored.DERIVED} == known
    assert known <= {*rows.FIELDS[letter]}


def _every(kind: type[Any]) -> list[type[Any]]:
    return [entry for below in kind.__subclasses__() for entry in (below, *_every(below))]


@pytest.mark.parametrize(
    ("view", "typed"),
    [
        (overview_results.Dashboard, _types.Dashboard),
        (overview_results.Overview, _types.Projects),
        (overview_results.WeeklyReview, _types.Week),
        (overview_results.ProjectHealth, _types.Health),
        (results.DeleteResult, _types.Removed),
        (SearchHit, _types.Found),
        (history_results.UndoResult, _types.Undone),
        (results.BatchResult, _types.Batch),
        (results.NoteText, _types.NoteText),
        (results.FileText, _types.FileText),
        (results.ItemView, _types.Whole),
        (history_results.HistoryLine, _types.Change),
        (Status, _types.Status),
        (results.ProjectView, _types.ProjectCounts),
    ],
)
def test_the_fields_of_a_typed_answer_are_those_of_its_view(view: Any, typed: type) -> None:
    told = set(get_type_hints(typed))

    assert told <= {field.name for field in fields(view)}


BARE = """
import sys
sys.path[:0] = [sys.argv[1]]
before = set(sys.modules)
import panorama.sdk
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
import json
ours = sorted(name for name in sys.modules if name.startswith("panorama"))
print(json.dumps([sorted(loaded - set(sys.stdlib_module_names)), ours]))
"""


def test_the_sdk_needs_nothing_but_python() -> None:
    run = subprocess.run(
        [sys.executable, "-S", "-I", "-c", BARE, str(ROOT)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )

    foreign, ours = json.loads(run.stdout)
    assert foreign == ["panorama"]
    assert all(name in ("panorama", "panorama.kinds") or name.startswith("panorama.sdk") for name in ours)


@pytest.mark.parametrize(
    "heavy", ["asyncio", "socket", "json", "subprocess", "concurrent.futures", "urllib", "logging"]
)
def test_the_sdk_loads_nothing_heavy(heavy: str) -> None:
    code = f"import sys; sys.path[:0] = [sys.argv[1]]; import panorama.sdk; print({heavy!r} in sys.modules)"

    run = subprocess.run(
        [sys.executable, "-S", "-I", "-c", code, str(ROOT)], capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == "False"
