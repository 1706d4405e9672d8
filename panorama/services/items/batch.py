"""Runs several operations in one call, by default all or nothing."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.lenient_json import fit_to_schema, strip_client_prefix
from panorama.errors import InvalidInputError, NotFoundError, PanoramaError
from panorama.ports import Calls
from panorama.services.items.results import BatchResult
from panorama.services.jobs import progress

MAX_STEPS = 100
MAX_TOTAL_CHARS = 30_000
MIN_RESULT_CHARS = 300
MAX_REFERENCED_CHARS = 32 << 20
"""The maximum number of characters that references may insert into the arguments of one step."""

_REFERENCE = re.compile(r"\$(\d{1,3})((?:\.[A-Za-z0-9_]+)*)")
_EMBEDDED_REFERENCE = re.compile(r"(?<!\$)\$(\d{1,3})\.(?:data|metadata|summary)\b(?:\.[A-Za-z0-9_]+)*")
_ESCAPED_REFERENCE = re.compile(r"\$\$(?=\d{1,3}(?:\.|$))")
_HINT = (
    'Example: [{"tool": "create_task", "args": {"title": "…"}}, {"tool": "get_item", "args": {"item": "$0.data.id"}}].'
)

_STEP_NAMES = {"name": "tool", "tool_name": "tool", **dict.fromkeys(("arguments", "parameters", "input"), "args")}
"""Names that clients use for the parts of a step."""

Step = Mapping[str, Any]


def normalize_step(step: Step) -> Step:
    """Return a step as `tool` and `args`, normalising the client's names and tool prefixes."""
    known = {name: value for name, value in step.items() if name not in _STEP_NAMES}
    named = {_STEP_NAMES[name]: value for name, value in step.items() if name in _STEP_NAMES} | known
    if isinstance(name := named.get("tool"), str):
        named["tool"] = strip_client_prefix(name)
    arguments = named.get("args")
    return {**named, "args": fit_to_schema({} if arguments is None else arguments, {"type": "object"})}


class Batch:
    """Runs several operations as one call."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def run(self, operations: tuple[Step, ...], atomic: bool = True) -> BatchResult:
        """Run up to 100 operations in order, all or nothing; one undo reverts all.

        Any tool except batch, save_script and promote_script, also those that are not listed: list_links, update_link,
        list_journal_entries, update_journal_entry, list_trash, restore_item, similar, write_file, list_files, get_file,
        add_schedule, list_schedules, create_backup, export_data; get_item("tool:NAME") shows the arguments of one.
        "$0.data.id" in an argument is a value of an earlier result.

        Args:
            operations: [{"tool": "create_task", "args": {…}}]
            atomic: false: each step alone.

        Raises:
            InvalidInputError: The list is empty or too long, or a step is not allowed in it.
        """
        operations = tuple(map(normalize_step, operations))
        self._validate(operations, atomic)
        limit = MAX_TOTAL_CHARS // len(operations)
        results = self._run_steps(operations, list(self._calls.early_results), atomic)
        failed = sum(not result["ok"] for result in results)
        shown = tuple(_trim_result(result, limit) for result in results)
        left_out = sum(new.get("data") is not old.get("data") for new, old in zip(shown, results, strict=True))
        return BatchResult(
            results=shown, succeeded=len(results) - failed, failed=failed, atomic=atomic, left_out=left_out
        )

    def read_early(self, operations: tuple[Step, ...], atomic: bool = True) -> Sequence[Mapping[str, Any]]:
        """Run the first steps of an atomic batch, up to the first that writes, and return their results.

        Raises:
            InvalidInputError: The list is empty or too long, or a step is not allowed in it.
        """
        operations = tuple(map(normalize_step, operations))
        self._validate(operations, atomic)
        return self._run_steps(tuple(takewhile(self._is_reading, operations)), [], atomic)

    def only_reads(self, operations: tuple[Step, ...], atomic: bool = True) -> bool:
        """Return whether no step writes, so that the batch needs no write transaction."""
        del atomic
        return all(self._is_reading(normalize_step(step)) for step in operations)

    def find_problem(self, tool: str) -> str:
        """Return why a tool cannot be a step of an atomic batch, "" if it can."""
        try:
            is_possible = tool != "batch" and self._calls.is_transactional(tool)
        except NotFoundError as error:
            return error.message
        return "" if is_possible else f"{tool} cannot be part of an atomic batch."

    def _is_reading(self, step: Step) -> bool:
        return not self._calls.is_writing(step.get("tool"))

    def _validate(self, operations: Sequence[Step], atomic: bool) -> None:
        if not 1 <= len(operations) <= MAX_STEPS:
            raise InvalidInputError(f"operations has {len(operations)} steps.", hint=f"Give 1 to {MAX_STEPS}.")
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
                    hint="Call it outside the batch, or use atomic=false."
                    if step["tool"] != "batch"
                    else "Put its steps into this one.",
                )
            _refuse_embedded_reference(at, step["args"], count=len(operations))

    def _run_steps(
        self, operations: Sequence[Step], results: list[Mapping[str, Any]], atomic: bool
    ) -> list[Mapping[str, Any]]:
        """Run the steps that have no result yet; return the results of all."""
        for at, step in enumerate(operations[len(results) :], len(results)):
            if progress.SHOULD_STOP.get()():
                raise progress.StoppedError
            try:
                results.append(self._run_step(step, results))
            except PanoramaError as error:
                if atomic:
                    raise error.with_prefix(
                        f"Step {at} ({step['tool']}): ", suffix=" No step of the batch was kept."
                    ) from error
                results.append({"tool": step["tool"], "ok": False, "error": error.to_dict()})
        return results

    def _run_step(self, step: Step, earlier: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        arguments = _References(earlier).resolve(step.get("args", {}))
        answer = self._calls.call_within(step["tool"], arguments)
        return {"tool": step["tool"], "ok": True, **answer}


def _trim_result(result: Mapping[str, Any], limit: int) -> Mapping[str, Any]:
    """Return a step's result without common fields, and without data that does not fit."""
    shown = {name: value for name, value in result.items() if name != "metadata"}
    if hint := result.get("metadata", {}).get("hint"):
        shown["hint"] = hint
    size = len(json.dumps(shown.get("data"), ensure_ascii=False))
    if size > max(limit, MIN_RESULT_CHARS):
        shown["data"] = f"left out: {size:,} characters; call {result['tool']} separately"
    return shown


def _refuse_embedded_reference(at: int, value: Any, *, count: int) -> None:
    """Refuse a reference to any of `count` steps inside a longer text: it would be kept as it is.

    Raises:
        InvalidInputError: There is one.
    """
    if is_object(value) or is_list(value):
        for entry in value.values() if is_object(value) else value:
            _refuse_embedded_reference(at, entry, count=count)
    elif isinstance(value, str) and "$" in value and not _REFERENCE.fullmatch(value):
        match = _EMBEDDED_REFERENCE.search(value)
        if match and int(match[1]) < count:
            raise InvalidInputError(
                f"Step {at}: {match[0]} is inside a longer text. Nothing was run.",
                hint=f"A reference must be a whole argument; write ${match[0]} to keep the text as it is.",
            )


class _References:
    """Replaces the references in the arguments of one step by earlier results."""

    def __init__(self, earlier: Sequence[Mapping[str, Any]]) -> None:
        self._earlier = earlier
        self._values: dict[str, tuple[Any, int]] = {}
        self._left_chars = MAX_REFERENCED_CHARS

    def resolve(self, value: Any) -> Any:
        """Return a value with its references replaced by results.

        Raises:
            InvalidInputError: A reference is invalid, or the results are too large.
        """
        if is_object(value):
            return {name: self.resolve(item) for name, item in value.items()}
        if is_list(value):
            return [self.resolve(entry) for entry in value]
        if not isinstance(value, str) or "$" not in value:
            return value
        match = _REFERENCE.fullmatch(value)
        return self._find(match) if match else _ESCAPED_REFERENCE.sub("$", value)

    def _find(self, match: re.Match[str]) -> Any:
        if match[0] not in self._values:
            target = _resolve_reference(match, self._earlier)
            self._values[match[0]] = target, len(json.dumps(target, default=str))
        target, size = self._values[match[0]]
        self._left_chars -= size
        if self._left_chars < 0:
            raise InvalidInputError(
                f"{match[0]}: the references of this step stand for more than {MAX_REFERENCED_CHARS:,} characters.",
                hint="Refer to fewer or smaller values; a script can join them.",
            )
        return target


def _resolve_reference(match: re.Match[str], earlier: Sequence[Mapping[str, Any]]) -> Any:
    if int(match[1]) >= len(earlier):
        raise InvalidInputError(f"{match[0]}: there is no earlier step {match[1]}.", hint="Steps are counted from 0.")
    target: Any = earlier[int(match[1])]
    for name in filter(None, match[2].split(".")):
        try:
            target = target[int(name)] if is_list(target) else target[name]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise InvalidInputError(
                f"{match[0]}: the result has no {name!r}.", hint="A result has data, summary and metadata."
            ) from error
    return target
