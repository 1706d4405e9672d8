"""Runs a script and records the run."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, Self

from panorama.domain.changes import Origin
from panorama.domain.scripts.scripts import (
    MAX_STATE_NAMES,
    SOURCE_CALL,
    Limits,
    RunOutcome,
    Script,
    count_state_bytes,
)
from panorama.domain.scripts.source_calls import reads_private_data
from panorama.errors import InvalidInputError, PanoramaError, ScriptError
from panorama.ports import Answered, Calls, Runner, ScriptSession
from panorama.services.base import ServiceContext
from panorama.services.jobs import progress
from panorama.services.scripts import run_changes, run_log, worker_json
from panorama.services.scripts.nested_runs import (
    NESTED_RUN_SCOPE,
    UNLIMITED,
    NestedRunScope,
    NestedScript,
    ScriptLimits,
)
from panorama.services.scripts.run_log import RunMessages
from panorama.services.scripts.run_results import RunResult
from panorama.services.sources.questions import ASK_USER, NeededGrant
from panorama.services.sources.run_time import RunTime
from panorama.services.sources.scope import ITEMS, SourceLedger, SourceScope, use_source_scope
from panorama.store.backend import ScratchStore
from panorama.store.contents.contents import Contents
from panorama.store.log import runs
from panorama.store.log.runs import OUTSIDE_CALLS, Run

MAX_RESULT_BYTES = 7_000
"""The largest result in an answer; a larger one becomes a file."""

MAX_OUTPUT_CHARS = 6_000
MAX_WHOLE_OUTPUT_CHARS = 1 << 20
EXIT_SECONDS = 0.1
"""After this time the process of a stopped script is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a script is to be run; `limits` are what it may do.

    One that `may_confirm` may confirm for the user, who has reviewed its text; a dry run may, too. With
    `shows_confirms` a user who agreed to the run was shown that it confirms. `needed` are the calls of sources that
    they agreed to, if they were asked. Of a script of the library `name` is its name, `marks` what the log keeps of
    its text, `args` what it was called with.
    """

    dry_run: bool
    atomic: bool
    state: str
    limits: ScriptLimits = UNLIMITED
    may_confirm: bool = False
    shows_confirms: bool = True
    name: str = ""
    needed: Sequence[NeededGrant] = ()
    marks: Mapping[str, str] = field(default_factory=dict[str, str])
    args: Mapping[str, Any] | None = None

    def with_script(self, name: str, marks: Mapping[str, str], args: Mapping[str, Any]) -> Self:
        """Return the options for a library script."""
        return replace(self, name=name, marks=marks, args=args)


class ScriptRun:
    """A run in the current call."""

    def __init__(
        self,
        context: ServiceContext,
        calls: Calls,
        runner: Runner,
        contents: Contents,
        wish: RunOptions,
        worker: str = "",
    ) -> None:
        self._context = context
        self._worker = worker
        self._calls = calls
        self._runner = runner
        self._contents = contents
        self._wish = wish
        self._guest: ScriptSession = calls.open_session(
            may_confirm=wish.may_confirm or wish.dry_run, shows_confirms=wish.shows_confirms
        )
        self._aside: ScratchStore | None = None
        self._stands = True
        self._time = RunTime()
        self._most_calls = 0
        self._source_names: tuple[str, ...] = ()
        self._left_to_send = Limits().sent_bytes
        self._sources = SourceLedger()
        self._ask = ASK_USER.get()
        if wish.dry_run:
            folder = context.home / "dry-runs" / self._guest.run
            self._aside = context.database.create_scratch(folder, self._require_running)

    def run(self, script: Script) -> RunResult:
        """Run the script and return its result; a failing script does not raise.

        Raises:
            UnavailableError: Scripts cannot be run on this machine.
        """
        began, run = time.perf_counter(), self._new_record(script)
        progress.report_progress(0, 0, f"Run {run.id}")
        try:
            run = replace(run, isolation=self._runner.isolation)
            # Runs to undo or with a copy must be logged before they start, in case this process is killed.
            self._guest.record(run, at_once=self._wish.atomic or self._wish.dry_run)
            ran = self._execute(script, run.isolation, began)
            run = run_log.to_log_entry(run, ran.result, ran.ending, len(self._guest.calls))
            if self._sources.effects:
                run = replace(run, options={**run.options, OUTSIDE_CALLS: dict(self._sources.effects)})
            return ran.result
        except BaseException as error:
            run = self._record_interruption(run, error, began)
            raise
        finally:
            self._guest.record(run)
            self._guest.finish(stands=self._stands and not self._aside)
            if self._aside:
                self._aside.close()

    def _record_interruption(self, run: Run, error: BaseException, began: float) -> Run:
        """Return the log entry of an interrupted run; an atomic one is undone."""
        calls, notes = self._guest.calls, RunMessages()
        if calls:
            notes.add(self._settle_changes())
        counts, _ = notes.attempt("The changes are unknown", self._count_changes) or ({}, ())
        message = f"{error.message} {notes.text}" if isinstance(error, PanoramaError) else notes.text
        is_stopped = isinstance(error, KeyboardInterrupt)
        return replace(
            run, status="cancelled" if is_stopped else "failed", calls=len(calls),
            changes={} if self._aside else counts,
            error={"kind": "broken_off", "message": message.strip() or type(error).__name__},
            ms=round((time.perf_counter() - began) * 1000, 1),
        )  # fmt: skip

    def _new_record(self, script: Script) -> Run:
        wish = self._wish
        options = {"dry_run": wish.dry_run, "atomic": wish.atomic, "state": wish.state}
        return Run(
            id=self._guest.run,
            at=self._context.now(),
            client=self._guest.client,
            conversation=self._guest.conversation,
            status="running",
            source=script.source,
            inputs=script.inputs if wish.args is None else wish.args,
            options={**options, "seconds": script.limits.wall.total_seconds(), **wish.marks},
            script=wish.name,
            worker=self._worker,
        )

    def _execute(self, script: Script, isolation: str, began: float) -> "_CompletedRun":
        script = replace(script, state=self._load_state())
        self._time.start(script.limits.wall.total_seconds())
        self._most_calls, self._source_names = script.limits.calls, script.sources
        self._guest.limit_writes(script.limits.sent_bytes)
        if self._calls.was_asked:
            self._sources.granted.update(need.key for need in self._wish.needed)
        names = (self._wish.name,) if self._wish.name else ()
        answered = self._call_handler(names, self._wish.limits)
        ending = self._runner.run(script, answered, _report_progress, progress.SHOULD_STOP.get(), self._time.add)
        failure, notes = ending.failure, RunMessages()
        if failure:
            notes.add(self._settle_changes())
        notes.add(self._sources.describe())
        if not (self._wish.dry_run or self._wish.limits.reads_only or (failure and self._wish.atomic)):
            notes.attempt("sdk.state was not saved", self._save_state, ending.state)
        result, file = notes.attempt("The result is lost", self._parse_result, ending, notes) or (None, None)
        counts, would = notes.attempt("The changes are unknown", self._count_changes) or ({}, ())
        if self._wish.dry_run and len(would) < sum(counts.values()):
            notes.add(f"The first {len(would)} of {sum(counts.values())} changes are shown.")
        result = RunResult(
            run_id=self._guest.run, result=result, result_file=file, stdout=self._truncate_output(ending, notes),
            shape=run_log.describe_result(ending) if result is None else "",
            calls=run_log.summarize_calls(self._guest.calls), changes=counts, would=would,
            error=run_log.error_to_dict(failure), dry_run=self._wish.dry_run, isolation=isolation, note=notes.text,
            script=self._wish.name, script_state=self._wish.marks.get("script_state", ""),
            output_cut=len(ending.output) > self._max_output_chars, untrusted=self._sources.names,
            duration_ms=round((time.perf_counter() - began) * 1000, 1),
            peak_memory_mb=round(ending.peak_bytes / (1 << 20), 1),
        )  # fmt: skip
        return _CompletedRun(result, ending)

    def _count_changes(self) -> tuple[Mapping[str, int], tuple[Mapping[str, Any], ...]]:
        """Return the counts of remaining changes; for a dry run also the changes."""
        with self._open_view(), self._context.database.reading() as session:
            counts = run_changes.count_changes(session, self._guest.run)
            self._stands = self._stands and bool(counts)
            return counts, run_changes.list_changes(
                session, self._guest.run
            ) if self._aside and self._aside.is_written else ()

    def _open_view(self) -> ExitStack:
        """Open the store, or in a dry run its copy."""
        view = ExitStack()
        if self._aside:
            view.enter_context(self._aside.activate())
            view.enter_context(self._contents.use_scratch(self._aside.folder / "files"))
        return view

    def _call_handler(self, names: tuple[str, ...], limits: ScriptLimits) -> Answered:
        """Return the call handler of a nested script, with the names of all running scripts."""
        nest = NestedRunScope(
            names=names, reads_only=limits.reads_only, reviewed_only=limits.reviewed_only,
            run=lambda inner: self._run_nested(inner, names),
        )  # fmt: skip
        call = partial(self._guest.call, reads_only=limits.reads_only, allowed=limits.allowed)

        def handle_call(operation: str, arguments: Mapping[str, Any]) -> bytes:
            self._sources.require_running()
            token = NESTED_RUN_SCOPE.set(nest)
            try:
                if operation == SOURCE_CALL:
                    return self._call_source(call, arguments, limits)
                if reads_private_data(operation):
                    self._sources.private.add(ITEMS)
                if self._aside is None:
                    return call(operation, arguments)
                with self._open_view():
                    return call(operation, arguments)
            finally:
                NESTED_RUN_SCOPE.reset(token)

        return handle_call

    def _call_source(self, call: Callable[..., bytes], arguments: Mapping[str, Any], limits: ScriptLimits) -> bytes:
        """Answer a call of a source, which ends with the run."""
        scope = SourceScope(
            ledger=self._sources, time=self._time, ask=self._ask, conversation=self._guest.conversation,
            digest=limits.digest, reads_only=limits.reads_only, dry_run=self._aside is not None,
            is_at_terminal=self._guest.is_at_terminal,
        )  # fmt: skip
        with use_source_scope(scope), self._open_view():
            return call(SOURCE_CALL, arguments)

    def _run_nested(self, nested: NestedScript, outer_names: tuple[str, ...]) -> bytes:
        """Run another script in its own process, with the remaining time and calls of this run.

        Its result is returned unparsed; the requesting process parses it within its own limits.
        """
        left = timedelta(seconds=max(0.1, self._time.seconds_left))
        calls = max(0, self._most_calls - len(self._guest.calls))
        limits = replace(Limits(), wall=left, cpu=min(left, Limits().cpu), calls=calls, sent_bytes=self._left_to_send)
        inner = Script(
            source=nested.source, inputs=nested.inputs, operations=self._calls.scriptable, limits=limits,
            sources=self._source_names,
        )  # fmt: skip
        answered = self._call_handler((*outer_names, nested.name), nested.limits)
        is_outer_ended = self._time.deadline.is_stopped
        with self._time.discard_new_timers():
            ending = self._runner.run(inner, answered, _ignore_progress, is_outer_ended, self._time.add)
        self._left_to_send = max(0, self._left_to_send - ending.sent_bytes)
        if failure := ending.failure:
            at = f", line {failure.line}" if failure.line else ""
            raise ScriptError(f"{nested.name}{at}: {failure.message}", hint=failure.hint)
        return ending.result

    def _require_running(self) -> None:
        """Stop if the script was stopped; its process is gone by then."""
        if self._time.is_ended:
            time.sleep(EXIT_SECONDS)
            raise ScriptError("The script ended before the copy for its dry run was made.", hint="Give it more time.")

    def _settle_changes(self) -> str:
        """Describe the changes of a failed script, after undoing them if requested."""
        wrote, run = sum(call.wrote for call in self._guest.calls), self._guest.run
        if self._aside or not wrote:
            return "Nothing was changed."
        try:
            with self._context.database.reading() as session:
                wrote = sum(run_changes.count_changes(session, run).values())
            if not wrote:
                return "None of its changes remain."
            if not self._wish.atomic:
                return run_changes.describe_remaining(run, wrote)
            with progress.report_progress_to(progress.ignore_progress):  # it is wanted also if the client is gone
                self._calls.call_within("history.undo", {"unit": run, "skip_conflicts": True, "confirm": True})
            self._stands = False  # nothing that could be undone
            with self._context.database.reading() as session:
                return run_changes.describe_rollback(session, run)
        except PanoramaError as error:
            tried = "taking them back" if self._wish.atomic else "counting them"
            return f"{wrote} changes remain: {tried} failed ({error.message}); try undo {run}."

    @property
    def _state_owner(self) -> str:
        if self._wish.name:
            return f"script:{self._wish.name}"
        return f"name:{self._wish.state}" if self._wish.state else f"conversation:{self._guest.conversation}"

    def _load_state(self) -> dict[str, Any]:
        with self._context.database.reading() as session:
            return runs.get_state(session, self._state_owner)

    def _save_state(self, changed: bytes) -> None:
        if not changed:
            return
        state, removed = worker_json.parse_state(changed)
        with self._context.database.transaction(_STATE_ORIGIN) as session:
            if state:
                _check_state_size({**runs.get_state(session, self._state_owner), **state}, removed)
            runs.save_state(session, self._state_owner, state, removed, self._context.now())

    def _parse_result(self, ending: RunOutcome, notes: "RunMessages") -> tuple[Any, str | None]:
        """Return the result, or the id of its file if it is large."""
        if not ending.result:
            return None, None
        if self._guest.takes_all or len(ending.result) <= MAX_RESULT_BYTES:
            return worker_json.parse_json(ending.result), None
        size = f"The result has {len(ending.result):,} bytes"
        if self._aside or self._wish.limits.reads_only:
            which = "a dry run" if self._aside else "what only reads"
            notes.add(f"{size}; {which} keeps no file, so only its shape is shown.")
            return None, None
        file = self._calls.call_within("files.write", self._file_arguments(ending.result))
        notes.add(f"{size} and was kept as a file; read it with sdk.files.text({file['data']['id']!r}).")
        return None, file["data"]["id"]

    @property
    def _max_output_chars(self) -> int:
        return MAX_WHOLE_OUTPUT_CHARS if self._guest.takes_all else MAX_OUTPUT_CHARS

    def _truncate_output(self, ending: RunOutcome, notes: "RunMessages") -> str:
        """Return the output; a long one is shortened in the middle."""
        text, limit = ending.output, self._max_output_chars
        if len(text) <= limit:
            return text
        head, left = limit * 2 // 3, len(text) - limit
        notes.add(f"{left:,} characters of the output are left out; return the text instead, and it is kept as a file.")
        return f"{text[:head]}\n… {left:,} characters left out …\n{text[head - limit :]}"

    def _file_arguments(self, result: bytes) -> dict[str, str]:
        text = result.decode("utf-8", "replace")
        if text.startswith('"'):
            return {"name": f"{self._guest.run}.txt", "text": str(worker_json.parse_json(result))}
        return {"name": f"{self._guest.run}.json", "text": text}


@dataclass(frozen=True, slots=True)
class _CompletedRun:
    """The result and the outcome of a run."""

    result: RunResult
    ending: RunOutcome


def _check_state_size(state: Mapping[str, Any], removed: Sequence[str]) -> None:
    """Check the size of a merged state; another run may have added names since the script started."""
    removed_names = frozenset(removed)
    left = {name: value for name, value in state.items() if name not in removed_names}
    if len(left) > MAX_STATE_NAMES:
        raise InvalidInputError(f"it has more than {MAX_STATE_NAMES:,} names with what another run saved meanwhile.")
    texts = {name: json.dumps(value, ensure_ascii=False, separators=(",", ":")) for name, value in left.items()}
    if count_state_bytes({name: text.encode() for name, text in texts.items()}) > Limits().state_bytes:
        raise InvalidInputError("it is larger than 256 KB with what another run saved meanwhile.")


_STATE_ORIGIN = Origin(actor="script", client="", conversation="", operation="run_code", call="", unit="")


def _ignore_progress(current: float, total: float, message: str) -> None:
    """Report nothing: the outer script reports its own progress."""


def _report_progress(current: float, total: float, message: str) -> None:
    if progress.SHOULD_STOP.get()():  # the caller notices that soon, and ends it itself
        return
    progress.report_progress(int(current), int(total), message)
