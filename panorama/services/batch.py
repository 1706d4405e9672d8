"""Batch: several operations in one call, all or nothing unless asked otherwise."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from panorama.domain.plain import is_list, is_object
from panorama.errors import InvalidInputError, PanoramaError
from panorama.ports import Calls
from panorama.services.views import BatchResult

MOST = 100
SHOWN_CHARS = 30_000
LEAST_CHARS = 300
_REFERENCE = re.compile(r"\$(\d{1,3})((?:\.[A-Za-z0-9_]+)*)")
_WITHIN = re.compile(r"\$(\d{1,3})\.(?:data|metadata|summary)\b(?:\.[A-Za-z0-9_]+)*")
_HINT = (
    'Example: [{"tool": "create_task", "args": {"title": "…"}}, {"tool": "get_item", "args": {"item": "$0.data.id"}}].'
)


Step = Mapping[str, Any]


def _as_tool(step: Step) -> Step:
    """Return a step by the name of its operation, which scripts write with `sdk.` before it."""
    name = step.get("tool")
    return {**step, "tool": name.removeprefix("sdk.")} if isinstance(name, str) else step


class Batch:
    """Runs several operations as one call."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def run(self, operations: tuple[Step, ...], atomic: bool = True) -> BatchResult:
        """Run up to 100 operations in order, all or nothing; one undo takes all back.

        Any tool, listed or not, except batch. "$0.data.id" in an argument stands for a value of an earlier result.

        Args:
            operations: [{"tool": "create_task", "args": {…}}]
            atomic: false: each stands alone and tells its own fate.

        Raises:
            InvalidInputError: The list is empty or too long, or a step is not allowed in it.
        """
        operations = tuple(map(_as_tool, operations))
        self._checked(operations, atomic)
        most = SHOWN_CHARS // len(operations)
        results: list[Mapping[str, Any]] = []
        for at, step in enumerate(operations):
            try:
                results.append(self._one(step, results))
            except PanoramaError as error:
                if atomic:
                    raise error.prefixed(
                        f"Step {at} ({step['tool']}): ", suffix=" Nothing of the batch was kept."
                    ) from error
                results.append({"tool": step["tool"], "ok": False, "error": error.told()})
        failed = sum(not result["ok"] for result in results)
        shown = tuple(_shown(result, most) for result in results)
        return BatchResult(results=shown, succeeded=len(results) - failed, failed=failed, atomic=atomic)

    def _checked(self, operations: Sequence[Step], atomic: bool) -> None:
        if not 1 <= len(operations) <= MOST:
            raise InvalidInputError(f"operations has {len(operations)} steps.", hint=f"Give 1 to {MOST}.")
        for at, step in enumerate(operations):
            if (
                not isinstance(step.get("tool"), str)
                or set(step) - {"tool", "args"}
                or not is_object(step.get("args", {}))
            ):
                raise InvalidInputError(f"Step {at} is not an object of `tool` and `args`.", hint=_HINT)
            if step["tool"] == "batch" or (atomic and not self._calls.is_transactional(step["tool"])):
                raise InvalidInputError(
                    f"Step {at}: {step['tool']} cannot be part of {'an atomic' if atomic else 'a'} batch.",
                    hint="Call it by itself, or use atomic=false."
                    if step["tool"] != "batch"
                    else "Put its steps into this one.",
                )

    def _one(self, step: Step, earlier: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        arguments = _filled(step.get("args", {}), earlier)
        answer = self._calls.call_within(step["tool"], arguments)
        return {"tool": step["tool"], "ok": True, **answer, "remark": _remark(arguments, len(earlier))}


def _shown(result: Mapping[str, Any], most: int) -> Mapping[str, Any]:
    """A step's result without what is the same for all, and without data that would not fit."""
    shown = {name: value for name, value in result.items() if name not in ("metadata", "remark")}
    if hints := [*filter(None, (result.get("metadata", {}).get("hint"), result.get("remark")))]:
        shown["hint"] = " ".join(hints)
    size = len(json.dumps(shown.get("data"), ensure_ascii=False))
    if size > max(most, LEAST_CHARS):
        shown["data"] = f"left out: {size:,} characters; call {result['tool']} by itself"
    return shown


def _remark(arguments: Mapping[str, Any], steps: int) -> str:
    """Return what is said of a reference that stands in a longer text, "" if there is none."""
    for match in _WITHIN.finditer(json.dumps(arguments, ensure_ascii=False)):
        if int(match[1]) < steps:
            return f"{match[0]} stands in a longer text and was kept as it is: a reference is an argument of its own."
    return ""


def _filled(value: Any, earlier: Sequence[Mapping[str, Any]]) -> Any:
    """Put earlier results where a text is nothing but a reference to one."""
    if is_object(value):
        return {name: _filled(each, earlier) for name, each in value.items()}
    if is_list(value):
        return [_filled(each, earlier) for each in value]
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return _looked_up(match, earlier) if match else value


def _looked_up(match: re.Match[str], earlier: Sequence[Mapping[str, Any]]) -> Any:
    if int(match[1]) >= len(earlier):
        raise InvalidInputError(f"{match[0]}: there is no earlier step {match[1]}.", hint="Steps are counted from 0.")
    found: Any = earlier[int(match[1])]
    for name in filter(None, match[2].split(".")):
        try:
            found = found[int(name)] if is_list(found) else found[name]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise InvalidInputError(
                f"{match[0]}: the result has no {name!r}.", hint="A result has data, summary and metadata."
            ) from error
    return found
