"""Promoted scripts as operations: each has its own tool, derived from its text.

Nothing is registered: the tools are derived from the approvals and the files at every list and call.
"""

import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

from pydantic import WithJsonSchema

from panorama.calls.arguments import Arguments
from panorama.domain.scripts.library import TOOL_PREFIX, Parameter, Signature
from panorama.domain.scripts.sdk_usage import ANYTHING
from panorama.errors import PanoramaError
from panorama.operation import Operation
from panorama.services.scripts.library.library import Library
from panorama.services.scripts.library.runner import LibraryRunner
from panorama.services.scripts.library.saved_script import SavedScript, analyze_script
from panorama.services.scripts.run_results import RunResult
from panorama.store.signals import Signal

_Key = tuple[str, str, bool]
DRY_RUN = "dry_run"


class PromotedTools:
    """The script tools. Thread-safe."""

    def __init__(self, library: Library, scripts: LibraryRunner) -> None:
        self._library = library
        self._scripts = scripts
        self._known: dict[_Key, Arguments] = {}
        self._seen: tuple[_Key, ...] | None = None
        self._lock = threading.Lock()
        self._changed = Signal[[]]()
        library.subscribe(self._look_for_changes)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a listener once whenever tools come, go or change; return how to stop that."""
        self._look_for_changes()
        return self._changed.subscribe(listener)

    def subscribe_to_scripts(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a listener whenever a script of the library changes, drafts too; return how to stop that."""
        return self._library.subscribe(listener)

    def list_tools(self) -> list[Arguments]:
        """Return the arguments of each of these tools, sorted by name."""
        scripts = {_key(script): script for script in self._list_promoted()}
        self._known = {key: self._known.get(key) or self._build_arguments(script) for key, script in scripts.items()}
        return list(self._known.values())

    def list_versions(self) -> list[str]:
        """Return a digest of the current tools."""
        return [" ".join(map(str, _key(script))) for script in self._list_promoted()]

    def _list_promoted(self) -> list[SavedScript]:
        """Return the promoted scripts, and notify the listeners if they are not those of the last time."""
        scripts = self._library.list_promoted()
        keys = tuple(map(_key, scripts))
        with self._lock:
            seen, self._seen = self._seen, keys
        if seen is not None and keys != seen:
            self._changed.notify()
        return scripts

    def _look_for_changes(self) -> None:
        with suppress(PanoramaError):  # a locked database: the next list notices it
            self._list_promoted()

    def find(self, tool: str) -> Arguments | None:
        """Return the arguments of a tool, None if it does not exist (any more)."""
        if not tool.startswith(TOOL_PREFIX):
            return None
        for script in self._library.list_promoted(tool.removeprefix(TOOL_PREFIX)):
            return self._known.get(_key(script)) or self._build_arguments(script)
        if any(name == tool.removeprefix(TOOL_PREFIX) for name, _, _ in self._seen or ()):
            self._list_promoted()  # it is gone: clients that have it in their list are notified
        return None

    def _build_arguments(self, script: SavedScript) -> Arguments:
        analysis, name = analyze_script(script.text), script.name
        reads = script.reads_only
        deletes = any(entry.endswith((".delete", ANYTHING)) for entry in script.calls)
        run = self._build_function(name, analysis.signature, reads_only=reads)
        return Arguments(
            Operation(
                name=f"{TOOL_PREFIX}{name}",
                call=run,
                tool=f"{TOOL_PREFIX}{name}",
                toolset="scripts",
                policy="read" if reads else "delete" if deletes else "write",
                transactional=False,
                composed=True,
                long=True,
            )
        )

    def _build_function(self, name: str, signature: Signature, *, reads_only: bool) -> Callable[..., RunResult]:
        """Return a function with a script's parameters, for `Arguments`."""
        names = {parameter.name for parameter in signature.parameters}
        may_try = not reads_only and DRY_RUN not in names

        def run(**values: Any) -> RunResult:
            tries = bool(values.pop(DRY_RUN, False)) if may_try else False
            passed = {key: value for key, value in values.items() if value is not None}
            return self._scripts.run_tool(name, passed, dry_run=tries)

        parameters = [_parameter(parameter) for parameter in signature.parameters]
        if may_try:
            parameters.append(_keyword_parameter(DRY_RUN, bool, default=False))
        run.__doc__ = signature.description
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": RunResult}
        run.__signature__ = inspect.Signature(parameters, return_annotation=RunResult)
        return run


def _key(script: SavedScript) -> _Key:
    return script.name, script.text.digest, script.reads_only


def _parameter(parameter: Parameter) -> inspect.Parameter:
    schema = parameter.type.to_json_schema() | ({"description": parameter.description} if parameter.description else {})
    default = inspect.Parameter.empty if parameter.required else parameter.default
    return _keyword_parameter(parameter.name, Annotated[Any, WithJsonSchema(schema)], default=default)


def _keyword_parameter(name: str, annotation: Any, *, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
