"""Runs scripts, and reports their runs."""

import keyword
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from panorama.domain.paging import Page, PageRequest
from panorama.domain.scripts.confirmed_calls import list_confirmed_calls
from panorama.domain.scripts.scripts import SOURCE_CHARS, Limits, Script
from panorama.domain.text.visible_text import escape_controls
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.ports import Calls, Runner
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.jobs import progress
from panorama.services.scripts import run_changes
from panorama.services.scripts.nested_runs import NESTED_RUN_SCOPE
from panorama.services.scripts.orphaned_runs import OrphanedRuns
from panorama.services.scripts.run_page import render_run_page
from panorama.services.scripts.run_results import RunLine, RunResult, RunView, call_to_dict
from panorama.services.scripts.script_run import RunOptions, ScriptRun
from panorama.services.sources.functions import SourceFunctions
from panorama.services.sources.permissions import SourcePermissions
from panorama.services.sources.questions import format_approval_hint, format_source_question
from panorama.store.backend import Session
from panorama.store.contents.contents import Contents
from panorama.store.log import calls as call_log
from panorama.store.log import runs
from panorama.store.log.runs import Run

MAX_SECONDS, MAX_JOB_SECONDS = 60, 3600
"""The time limits of a script in seconds: for a waiting caller, and in the background."""

MAX_STATE_NAME_CHARS = 80
MAX_SHOWN_CONFIRMS = 10
MAX_SHOWN_CALLS = 200
"""The maximum number of calls shown with a run."""


class Code(Service):
    """Runs short Python scripts against the SDK."""

    def __init__(
        self,
        context: ServiceContext,
        calls: Calls,
        runner: Runner,
        contents: Contents,
        left: OrphanedRuns,
        sources: SourceFunctions,
        permissions: SourcePermissions,
    ) -> None:
        super().__init__(context)
        self._sources = sources
        self._permissions = permissions
        self._calls = calls
        self._runner = runner
        self._contents = contents
        self._left = left

    def run(
        self,
        code: str,
        inputs: dict[str, Any] | None = None,
        dry_run: bool = False,
        atomic: bool = False,
        timeout: int = MAX_SECONDS,
        state: str = "",
    ) -> RunResult:
        """Run a Python script with `sdk` for joins, bulk changes and analyses; find functions with search_sdk first.

        Plain Python 3; json, re, datetime, collections, csv, statistics… can be imported. No files, no network.
        `sdk.tasks.list(project="Alpha")` lists all rows: task.title, task.deadline. `return` or the last expression is
        the result; keep it small. `undo` with the run's id reverts all of it.

        Args:
            inputs: Become variables in the script.
            dry_run: Change nothing; show what would change.
            atomic: Undo everything if it fails.
            timeout: Seconds, 1 to 60; in the background up to 3600.
            state: Runs with the same state share `sdk.state`.

        Raises:
            InvalidInputError: An argument cannot be used.
            UnavailableError: Scripts cannot be run on this machine.
        """
        options = RunOptions(dry_run=dry_run, atomic=atomic, state=_validate_state_name(state))
        seconds = _validate_timeout(timeout, MAX_JOB_SECONDS if progress.is_job() else MAX_SECONDS)
        script = self._prepare_script(code, inputs, seconds)
        return self._execute(script, self.with_needed(options, script.source))

    def plan_run(
        self,
        code: str,
        inputs: dict[str, Any] | None = None,
        dry_run: bool = False,
        timeout: int = MAX_SECONDS,
        state: str = "",
        **_: object,
    ) -> Plan:
        """Refuse a script that would not even begin; ask the user if it confirms in their place."""
        _validate_state_name(state)
        script = self._prepare_script(code, inputs, _validate_timeout(timeout, MAX_JOB_SECONDS))
        return self.plan_source("script", script.source, dry_run=dry_run)

    def plan_source(self, name: str, source: str, *, dry_run: bool, digest: str = "") -> Plan:
        """Return what the user is asked before a text runs: whether it may confirm, and call sources.

        Args:
            digest: That of a reviewed text, which may confirm, and has grants of its own.
        """
        confirming = "" if dry_run or digest else format_confirming_question(name, source)
        conversation = self._calls.conversation_id
        needed = self._permissions.list_needed(source, conversation, digest=digest, dry_run=dry_run)
        if not needed:
            return Plan(confirming)
        question = "\n".join(filter(None, (confirming, format_source_question(needed))))
        facts = "".join(need.function.digest for need in needed)
        return Plan(question, approval=format_approval_hint(needed), facts=facts)

    def with_needed(self, options: RunOptions, source: str) -> RunOptions:
        """Return the options of a run with what a user who was asked agreed to."""
        conversation = self._calls.conversation_id
        needed = self._permissions.list_needed(
            source, conversation, digest=options.limits.digest, dry_run=options.dry_run
        )
        if needed and self._calls.was_asked:
            self._permissions.grant(needed, conversation)
        return replace(options, needed=needed, shows_confirms=bool(list_confirmed_calls(source)))

    def _prepare_script(self, code: str, inputs: dict[str, Any] | None, seconds: int) -> Script:
        named, code = _validate_inputs(inputs or {}), _strip_fence(code)
        if not code.strip():
            raise InvalidInputError("code is empty.", hint="Send Python; search_sdk shows the available functions.")
        if len(code) > SOURCE_CHARS:
            raise InvalidInputError(
                f"code has {len(code):,} characters; the limit is {SOURCE_CHARS:,}.", hint="Split it."
            )
        return self._build_script(code, named, seconds)

    def _build_script(self, source: str, inputs: Mapping[str, Any], seconds: int) -> Script:
        limits = Limits(wall=timedelta(seconds=seconds))
        if seconds > MAX_SECONDS:  # a job may also use more processor time and calls
            more = seconds // MAX_SECONDS
            calls, sent_bytes = limits.calls * more, limits.sent_bytes * more
            limits = replace(limits, cpu=timedelta(seconds=seconds), calls=calls, sent_bytes=sent_bytes)
        operations, sources = self._calls.scriptable, self._sources.names
        return Script(source=source, inputs=inputs, operations=operations, limits=limits, sources=sources)

    def run_saved(self, wish: RunOptions, source: str, inputs: Mapping[str, Any], timeout: int) -> RunResult:
        """Run the text of a library script."""
        seconds = _validate_timeout(timeout, MAX_JOB_SECONDS if progress.is_job() else MAX_SECONDS)
        return self._execute(self._build_script(source, inputs, seconds), wish)

    def _execute(self, script: Script, wish: RunOptions) -> RunResult:
        if (
            NESTED_RUN_SCOPE.get() is not None
        ):  # a separate run would not share the dry run, undo and limits of the first
            raise ConflictError(
                "A script is already running in this call.", hint="Call another one through sdk.scripts."
            )
        run = ScriptRun(self._context, self._calls, self._runner, self._contents, wish, self._left.worker.name)
        self._left.recover_once()
        return run.run(script)

    def validate_timeout(self, timeout: int) -> None:
        """Check that a timeout is allowed at all, in the background."""
        _validate_timeout(timeout, MAX_JOB_SECONDS)

    def list(self, page: PageRequest, failed: bool = False) -> Page[RunLine]:
        """List runs of scripts, the newest first."""
        with self._reading() as session:
            page_of_runs = runs.list_runs(session, page, failed=failed)
        return Page(tuple(RunLine.of(run) for run in page_of_runs.items), page_of_runs.keys, None, page_of_runs.more)

    def get(self, run: str) -> RunView:
        """Show a run: its script, output, first calls and what it changed.

        Raises:
            NotFoundError: There is no such run.
        """
        with self._reading() as session:
            found_run = _get_run(session, run)
            calls = call_log.list_by_run(session, found_run.id, PageRequest(MAX_SHOWN_CALLS))
            return RunView.of(
                found_run, run_changes.load_remaining_changes(session, found_run), calls.items, calls.total or 0
            )

    def list_calls(self, run: str, page: PageRequest) -> Page[Mapping[str, Any]]:
        """List the calls that a run made, in the order in which they began.

        Raises:
            NotFoundError: There is no such run.
        """
        with self._reading() as session:
            calls = call_log.list_by_run(session, _get_run(session, run).id, page)
        return Page(tuple(map(call_to_dict, calls.items)), calls.keys, calls.total, calls.more)

    def render_page(self, run: str) -> Mapping[str, str]:
        """Render a run as Markdown: its script, output, first calls and changes."""
        return {"markdown": render_run_page(self.get(run))}


def format_confirming_question(name: str, source: str) -> str:
    """Return the question before running a script that confirms for the user; "" if it does not."""
    calls = list_confirmed_calls(source)
    if not calls:
        return ""
    more = f"\nand {len(calls) - MAX_SHOWN_CONFIRMS} more" if len(calls) > MAX_SHOWN_CONFIRMS else ""
    listed = "\n".join(calls[:MAX_SHOWN_CONFIRMS])
    count = f"{len(calls)} {'call' if len(calls) == 1 else 'calls'}"
    return escape_controls(f"Run a {name} that confirms {count} on your behalf?\n{listed}{more}")


def _get_run(session: Session, run: str) -> Run:
    if found_run := runs.find(session, run.strip()):
        return found_run
    raise NotFoundError(f"There is no run {run[:40]!r}.", hint="`panorama runs` lists them.")


def _strip_fence(code: str) -> str:
    """Remove the Markdown fence around a script; lines keep their numbers."""
    lines = code.split("\n")
    if not code.lstrip().startswith("```") or code.rstrip().rpartition("\n")[2].strip() != "```":
        return code
    return "\n".join("" if line.strip().startswith("```") else line for line in lines)


def _validate_timeout(timeout: int, limit: int) -> int:
    if 1 <= timeout <= limit:
        return timeout
    raise InvalidInputError(
        f"timeout must be 1 to {MAX_SECONDS} seconds, not {timeout}.",
        hint=f"With background=true it can be up to {MAX_JOB_SECONDS:,}. Split longer work.",
    )


def _validate_state_name(name: str) -> str:
    if len(name) <= MAX_STATE_NAME_CHARS:
        return name.strip()
    raise InvalidInputError(f"state has {len(name)} characters.", hint=f"Name it with at most {MAX_STATE_NAME_CHARS}.")


def _validate_inputs(inputs: Mapping[str, Any]) -> dict[str, Any]:
    for name in inputs:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_") or name == "sdk":
            raise InvalidInputError(
                f"inputs has {name[:60]!r}, which cannot be a name in a script.",
                hint="Use letters, digits and underscores; not `sdk`, no keyword, no leading underscore.",
            )
    return dict(inputs)
