"""Runs saved scripts: by name, as a tool, from a schedule, and from other scripts.

The text that runs is the text that was checked, because it is read only once.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from panorama.domain.scripts.library import ARGUMENTS_NAME, ScriptText, to_runnable
from panorama.domain.scripts.script_types import Kind
from panorama.domain.time.times import parse_date, parse_datetime
from panorama.errors import ConflictError, ScriptError
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.jobs import progress
from panorama.services.scripts.code import MAX_SECONDS, Code
from panorama.services.scripts.library.library import Library
from panorama.services.scripts.library.saved_script import SavedScript, analyze_script
from panorama.services.scripts.nested_runs import (
    MAX_DEPTH,
    NESTED_RUN_SCOPE,
    NestedRunScope,
    NestedScript,
    ScriptLimits,
)
from panorama.services.scripts.run_results import RunResult
from panorama.services.scripts.script_run import RunOptions


class LibraryRunner(Service):
    """Runs the scripts of the library."""

    def __init__(self, context: ServiceContext, library: Library, code: Code) -> None:
        super().__init__(context)
        self._library = library
        self._code = code

    def run(
        self,
        script: str,
        args: dict[str, Any] | None = None,
        dry_run: bool = False,
        atomic: bool = False,
        timeout: int = MAX_SECONDS,
    ) -> RunResult:
        """Run a saved script by its name; list_scripts shows its arguments.

        It answers like run_code, and says if it is a draft.

        Args:
            args: Its arguments by name.
            dry_run: Change nothing; show what would change.
            atomic: Undo everything if it fails.
            timeout: As for run_code.

        Raises:
            NotFoundError: There is no such script.
            InvalidInputError: It does not take these arguments.
        """
        is_scheduled = progress.is_scheduled()
        saved = self._get_startable(script, reviewed_only=is_scheduled)
        if is_scheduled:
            self._check_reviewed(saved, "A schedule runs")
        return self._run_script(saved, args or {}, RunOptions(dry_run=dry_run, atomic=atomic, state=""), timeout)

    def plan_run(
        self,
        script: str,
        args: dict[str, Any] | None = None,
        dry_run: bool = False,
        timeout: int = MAX_SECONDS,
        **_: object,
    ) -> Plan:
        """Refuse a script that would not even begin; ask the user if it is a draft that confirms in their place.

        A schedule may not run an unreviewed text.
        """
        self._code.validate_timeout(timeout)
        saved = self._get_startable(script)
        self._prepare(saved, args or {})
        if saved.is_reviewed:
            return self._code.plan_source("script", saved.text.source, dry_run=dry_run, digest=saved.text.digest)
        plan = self._code.plan_source(f"draft, {saved.name},", saved.text.source, dry_run=dry_run)
        if self._library.get_saved(script, reviewed_only=True).is_reviewed:
            return plan
        return replace(plan, schedule_refusal=_unreviewed_error(saved, "A schedule runs"))

    def run_tool(self, name: str, args: Mapping[str, Any], *, dry_run: bool = False) -> RunResult:
        """Run a promoted script as its tool: the approved text, with its allowed calls."""
        saved = self._library.get_saved(name, reviewed_only=True)
        if saved.state != "promoted":
            self._library.notify_changed()
            raise ConflictError(
                f"script_{name} is no longer a tool: its text was changed, or its tool was removed.",
                hint="Use run_script, or ask the user to review it with promote_script.",
            )
        limits = ScriptLimits(reads_only=saved.reads_only)
        wish = RunOptions(dry_run=dry_run, atomic=False, state="", limits=limits)
        return self._run_script(saved, args, wish, MAX_SECONDS)

    def call(self, script: str, arguments: dict[str, Any] | None = None) -> Any:
        """Run a script of the library inside this one, and return its result.

        What it writes belongs to this run. Scripts nest three deep, and none runs inside itself.

        Args:
            arguments: Its arguments by name; sdk.scripts.<script>(name=…) is the same.

        Raises:
            NotFoundError: There is no such script.
            InvalidInputError: It does not take these arguments.
            ConflictError: It is nested too deeply, or runs already.
        """
        nest = NESTED_RUN_SCOPE.get()
        saved = self._get_startable(script, reviewed_only=nest is not None and nest.reviewed_only)
        if nest is None:
            wish = RunOptions(dry_run=False, atomic=False, state="")
            return self._unwrap_result(self._run_script(saved, arguments or {}, wish, MAX_SECONDS))
        if saved.name in nest.names:
            path = " → ".join((*nest.names, saved.name))
            raise ConflictError(f"The script {saved.name} is already running: {path}.", hint="Call it from outside.")
        if len(nest.names) >= MAX_DEPTH:
            raise ConflictError(
                f"Scripts nest {MAX_DEPTH} deep: {' → '.join(nest.names)}.", hint=f"Call {saved.name} from the first."
            )
        if nest.reviewed_only:
            self._check_reviewed(saved, f"{nest.names[0]} was reviewed and runs")
        source, inputs = self._prepare(saved, arguments or {})
        limits = _limit(saved, nest, reads_only=bool(saved.tool) and saved.standing.read_only)
        return nest.run(NestedScript(source=source, inputs=inputs, name=saved.name, limits=limits))

    def _unwrap_result(self, ran: RunResult) -> Any:
        if ran.error:
            raise ScriptError(str(ran.error["message"]), hint=f"See `panorama runs show {ran.run_id}`.")
        return ran.result

    def _get_startable(self, script: str, *, reviewed_only: bool = False) -> SavedScript:
        saved = self._library.get_saved(script, reviewed_only=reviewed_only)
        if saved.state == "retired":
            raise ConflictError(
                f"The script {saved.name} is retired.",
                hint=f"Use `panorama scripts review {saved.name}` to approve it again.",
            )
        return saved

    def _check_reviewed(self, saved: SavedScript, who: str) -> None:
        if not saved.is_reviewed:
            raise _unreviewed_error(saved, who)

    def _prepare(self, saved: SavedScript, args: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Return the text to run, and its inputs."""
        signature = analyze_script(saved.text).signature
        arguments = signature.coerce_arguments(args, self._parse_to_iso)
        return to_runnable(saved.text.source, signature, arguments), {ARGUMENTS_NAME: arguments}

    def _run_script(self, saved: SavedScript, args: Mapping[str, Any], wish: RunOptions, timeout: int) -> RunResult:
        source, inputs = self._prepare(saved, args)
        wish = replace(wish, may_confirm=saved.is_reviewed, limits=_limit(saved, wish.limits))
        wish = self._code.with_needed(wish, saved.text.source)
        return self._code.run_saved(
            _with_script(wish, saved.text, saved.state, inputs[ARGUMENTS_NAME]), source, inputs, timeout
        )

    def _parse_to_iso(self, kind: Kind, text: str, name: str) -> str:
        now, zone = self._now(), self._context.zone
        if kind == "day":
            return parse_date(text, name, now=now, zone=zone).isoformat()
        return parse_datetime(text, name, now=now, zone=zone).astimezone(zone).isoformat()


def _unreviewed_error(saved: SavedScript, who: str) -> ConflictError:
    return ConflictError(
        f"{who} reviewed scripts only, and the text of {saved.name} was not reviewed.",
        hint=f"Ask the user to approve it: promote_script, or `panorama scripts review {saved.name}`.",
    )


def _limit(saved: SavedScript, outer: ScriptLimits | NestedRunScope, *, reads_only: bool = False) -> ScriptLimits:
    """Return the limits of a script: those of its review and those of its caller."""
    return ScriptLimits(
        reads_only=outer.reads_only or reads_only,
        reviewed_only=outer.reviewed_only or saved.is_reviewed,
        allowed=saved.allowed_calls,
        digest=saved.text.digest,
    )


def _with_script(wish: RunOptions, text: ScriptText, state: str, args: Mapping[str, Any]) -> RunOptions:
    """Return the run options for a library script; it has its own state."""
    return wish.with_script(text.name, {"script_state": state, "digest": text.digest}, args)
