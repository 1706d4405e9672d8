"""One run of a script, from the first line of its log to what is told of it."""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Self, TypeVar

from panorama.domain.changes import Origin
from panorama.domain.scripts import STATE_NAMES, Ending, Limits, Script, state_size
from panorama.errors import InvalidInputError, PanoramaError, ScriptError
from panorama.ports import Answered, Calls, Guest, Runner
from panorama.services import claims, progress, run_standing, run_telling
from panorama.services.base import Desk
from panorama.services.nesting import NEST, Nest
from panorama.services.run_views import Ran
from panorama.store import runs
from panorama.store.aside import Aside
from panorama.store.blobs import Blobs
from panorama.store.runs import Run

T = TypeVar("T")

RESULT_BYTES = 7_000
"""The largest result that is answered; a larger one becomes a file."""

OUTPUT_CHARS = 6_000
WHOLE_CHARS = 1 << 20
GONE_SECONDS = 0.1
"""After so long the process of a script that was told to end is gone."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How a script is to be run; `is_whole` wants a large result in the answer.

    One that `reads_only` cannot write, nor can what it runs; `reviewed_only` lets it run reviewed scripts alone. Of a
    script of the library `name` is its name, `marks` what the log keeps of its text, `args` what it was called with.
    """

    dry_run: bool
    atomic: bool
    state: str
    is_whole: bool = False
    reads_only: bool = False
    reviewed_only: bool = False
    name: str = ""
    marks: Mapping[str, str] = field(default_factory=dict[str, str])
    args: Mapping[str, Any] | None = None

    def of_script(self, name: str, marks: Mapping[str, str], args: Mapping[str, Any]) -> Self:
        """Return the wish for a script of the library."""
        return replace(self, name=name, marks=marks, args=args)


class CodeRun:
    """A run that begins in the call that runs now."""

    def __init__(self, desk: Desk, calls: Calls, runner: Runner, blobs: Blobs, wish: Wish, worker: str = "") -> None:
        self._desk = desk
        self._worker = worker
        self._calls = calls
        self._runner = runner
        self._blobs = blobs
        self._wish = wish
        self._guest: Guest = calls.guest()
        self._aside: Aside | None = None
        self._stands = True
        self._until = 0.0
        self._most_calls = 0
        self._left_to_send = Limits().sent_bytes
        self._ends: list[Callable[[], bool]] = []
        if wish.dry_run:
            folder = desk.database.path.parent / "dry-runs" / self._guest.run
            self._aside = Aside(desk.database, folder, self._still_runs)

    def done(self, script: Script) -> Ran:
        """Run the script and tell how it went; a script that fails is told of, not raised.

        Raises:
            UnavailableError: Scripts cannot be run on this machine.
        """
        began, run = time.perf_counter(), self._begun(script)
        progress.told_to_the_door(0, 0, f"Run {run.id}")
        try:
            run = replace(run, isolation=self._runner.isolation)
            # What is to be taken back, or has a copy, must be known of if this process is killed.
            self._guest.record(run, at_once=self._wish.atomic or self._wish.dry_run)
            ran = self._ran(script, run.isolation, began)
            run = run_telling.logged(run, ran.told, ran.ending, len(self._guest.made))
            return ran.told
        except BaseException as error:
            run = self._broken_off(run, error, began)
            raise
        finally:
            self._guest.record(run)
            self._guest.finish(stands=self._stands and not self._aside)
            if self._aside:
                self._aside.close()

    def _broken_off(self, run: Run, error: BaseException, began: float) -> Run:
        """Return what is logged of a run that nobody could be told the end of; an atomic one is taken back."""
        made, notes = self._guest.made, _Notes()
        if made:
            notes.add(self._what_stands())
        counts, _ = notes.noted("What was changed cannot be told", self._changed) or ({}, ())
        said = f"{error.message} {notes.text}" if isinstance(error, PanoramaError) else notes.text
        is_stopped = isinstance(error, KeyboardInterrupt)
        return replace(
            run, status="cancelled" if is_stopped else "failed", calls=len(made), changes={} if self._aside else counts,
            error={"kind": "broken_off", "message": said.strip() or type(error).__name__},
            ms=round((time.perf_counter() - began) * 1000, 1),
        )  # fmt: skip

    def _begun(self, script: Script) -> Run:
        wish = self._wish
        options = {"dry_run": wish.dry_run, "atomic": wish.atomic, "state": wish.state}
        return Run(
            id=self._guest.run, at=self._desk.now(), client=self._guest.client, conversation=self._guest.conversation,
            status="running", source=script.source, inputs=script.inputs if wish.args is None else wish.args,
            options={**options, "seconds": script.limits.wall.total_seconds(), **wish.marks}, script=wish.name,
            worker=self._worker,
        )  # fmt: skip

    def _ran(self, script: Script, isolation: str, began: float) -> "_Ran":
        script = replace(script, state=self._state())
        self._until = time.monotonic() + script.limits.wall.total_seconds()
        self._most_calls = script.limits.calls
        names = (self._wish.name,) if self._wish.name else ()
        answered = self._answering(names, reads_only=self._wish.reads_only)
        ending = self._runner.run(script, answered, _progressed, progress.LEFT.get(), self._ends.append)
        failure, notes = ending.failure, _Notes()
        if failure:
            notes.add(self._what_stands())
        if not (self._wish.dry_run or self._wish.reads_only or (failure and self._wish.atomic)):
            notes.noted("sdk.state was not kept", self._keep, ending.state)
        result, file = notes.noted("The result is lost", self._result, ending, notes) or (None, None)
        counts, would = notes.noted("What was changed cannot be told", self._changed) or ({}, ())
        if self._wish.dry_run and len(would) < sum(counts.values()):
            notes.add(f"The first {len(would)} of {sum(counts.values())} changes are shown.")
        told = Ran(
            run_id=self._guest.run, result=result, result_file=file, stdout=self._output(ending, notes),
            shape=run_telling.shape(ending) if result is None else "",
            calls=run_telling.listed(self._guest.made), changes=counts, would=would,
            error=run_telling.error(failure), dry_run=self._wish.dry_run, isolation=isolation, note=notes.text,
            script=self._wish.name, script_state=self._wish.marks.get("script_state", ""),
            duration_ms=round((time.perf_counter() - began) * 1000, 1),
            peak_memory_mb=round(ending.peak_bytes / (1 << 20), 1),
        )  # fmt: skip
        return _Ran(told, ending)

    def _changed(self) -> tuple[Mapping[str, int], tuple[Mapping[str, Any], ...]]:
        """Return how much was created, updated and deleted, and stands; of a dry run also what."""
        with self._view(), self._desk.database.reading() as session:
            counts = run_standing.counts(session, self._guest.run)
            self._stands = self._stands and bool(counts)
            return counts, run_standing.diff(session, self._guest.run) if self._aside and self._aside.is_written else ()

    def _view(self) -> ExitStack:
        """Open what the script sees: the store, or what stands in its place in a dry run."""
        view = ExitStack()
        if self._aside:
            view.enter_context(self._aside.entered())
            view.enter_context(self._blobs.aside(self._aside.folder / "files"))
        return view

    def _answering(self, names: tuple[str, ...], *, reads_only: bool) -> Answered:
        """Return what answers the calls of a script that runs inside others, in which it and they are named."""

        def run(source: str, inputs: Mapping[str, Any], name: str, only: bool) -> bytes:
            return self._inside(source, inputs, (*names, name), reads_only=only)

        nest = Nest(names=names, reads_only=reads_only, reviewed_only=self._wish.reviewed_only, run=run)
        call = self._guest.call

        def answered(operation: str, arguments: Mapping[str, Any]) -> bytes:
            token = NEST.set(nest)
            try:
                if self._aside is None:
                    return call(operation, arguments, reads_only=reads_only)
                with self._view():
                    return call(operation, arguments, reads_only=reads_only)
            finally:
                NEST.reset(token)

        return answered

    def _inside(self, source: str, inputs: Mapping[str, Any], names: tuple[str, ...], *, reads_only: bool) -> bytes:
        """Run another script in a process of its own, with the time and the calls that this run has left.

        Its result is returned unread: the process that asked for it reads it, within its own limits.
        """
        left = timedelta(seconds=max(0.1, self._until - time.monotonic()))
        calls = max(0, self._most_calls - len(self._guest.made))
        limits = replace(Limits(), wall=left, cpu=min(left, Limits().cpu), calls=calls, sent_bytes=self._left_to_send)
        inner = Script(source=source, inputs=inputs, operations=self._calls.scriptable, limits=limits)
        answered = self._answering(names, reads_only=reads_only)
        outer = tuple(self._ends)
        try:
            ending = self._runner.run(
                inner, answered, _untold, lambda: any(ends() for ends in outer), self._ends.append
            )
        finally:
            self._ends[:] = outer
        self._left_to_send = max(0, self._left_to_send - ending.sent_bytes)
        if failure := ending.failure:
            at = f", line {failure.line}" if failure.line else ""
            raise ScriptError(f"{names[-1]}{at}: {failure.message}", hint=failure.hint)
        return ending.result

    def _still_runs(self) -> None:
        """Refuse to go on once the script was told to end; its process is gone by then, or it would hear of this."""
        if any(ends() for ends in self._ends):
            time.sleep(GONE_SECONDS)
            raise ScriptError("The script ended before the copy for its dry run was made.", hint="Give it more time.")

    def _what_stands(self) -> str:
        """Say what became of the changes of a script that failed, after taking them back if that was wanted."""
        wrote, run = sum(made.wrote for made in self._guest.made), self._guest.run
        if self._aside or not wrote:
            return "Nothing was changed."
        try:
            with self._desk.database.reading() as session:
                wrote = sum(run_standing.counts(session, run).values())
            if not wrote:
                return "Nothing it wrote stands."
            if not self._wish.atomic:
                return run_standing.left(run, wrote)
            self._calls.call_within("history.undo", {"unit": run, "skip_conflicts": True, "confirm": True})
            self._stands = False  # nothing that an undo could take back
            with self._desk.database.reading() as session:
                return run_standing.after_taking_back(session, run)
        except PanoramaError as error:
            tried = "taking them back" if self._wish.atomic else "counting them"
            return f"{wrote} changes stand: {tried} failed ({error.message}); try undo {run}."

    @property
    def _owner(self) -> str:
        if self._wish.name:
            return f"script:{self._wish.name}"
        return f"name:{self._wish.state}" if self._wish.state else f"conversation:{self._guest.conversation}"

    def _state(self) -> dict[str, Any]:
        with self._desk.database.reading() as session:
            return runs.state(session, self._owner)

    def _keep(self, changed: bytes) -> None:
        if not changed:
            return
        kept, removed = claims.state(changed)
        with self._desk.database.transaction(_NOBODY) as session:
            if kept:
                _check_fits({**runs.state(session, self._owner), **kept}, removed)
            runs.keep(session, self._owner, kept, removed, self._desk.now())

    def _result(self, ending: Ending, notes: "_Notes") -> tuple[Any, str | None]:
        """Return the result, or the id of the file that holds it because it is large."""
        if not ending.result:
            return None, None
        if self._wish.is_whole or len(ending.result) <= RESULT_BYTES:
            return claims.claimed(ending.result), None
        size = f"The result has {len(ending.result):,} bytes"
        if self._aside or self._wish.reads_only:
            which = "a dry run" if self._aside else "what only reads"
            notes.add(f"{size}; {which} keeps no file, so only its shape is shown.")
            return None, None
        kept = self._calls.call_within("files.write", self._file(ending.result))
        notes.add(f"{size} and was kept as a file; read it with sdk.files.text({kept['data']['id']!r}).")
        return None, kept["data"]["id"]

    def _output(self, ending: Ending, notes: "_Notes") -> str:
        """Return what was printed; of much of it the beginning and the end."""
        text, most = ending.output, WHOLE_CHARS if self._wish.is_whole else OUTPUT_CHARS
        if len(text) <= most:
            return text
        head, left = most * 2 // 3, len(text) - most
        notes.add(f"{left:,} characters of the output are left out; return the text instead, and it is kept as a file.")
        return f"{text[:head]}\n… {left:,} characters left out …\n{text[head - most :]}"

    def _file(self, result: bytes) -> dict[str, str]:
        text = result.decode("utf-8", "replace")
        if text.startswith('"'):
            return {"name": f"{self._guest.run}.txt", "text": str(claims.claimed(result))}
        return {"name": f"{self._guest.run}.json", "text": text}


class _Notes:
    """What the reader of an answer should know; once a script has run, nothing that follows may make it a failure."""

    def __init__(self) -> None:
        self._said: list[str] = []

    def add(self, note: str) -> None:
        """Add a sentence."""
        self._said.append(note)

    def noted(self, what: str, step: Callable[..., T], *arguments: Any) -> T | None:
        """Take a step; if it is refused, note what that means and return None."""
        try:
            return step(*arguments)
        except PanoramaError as error:
            self.add(f"{what}: {error.message}")
        except Exception:  # a bug of ours; what the script wrote stands all the same
            _log.exception("after a script: %s", what)
            self.add(f"{what}: Panorama itself failed, its log tells more.")
        return None

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join(self._said)


@dataclass(frozen=True, slots=True)
class _Ran:
    """What is told of a run, and how it ended."""

    told: Ran
    ending: Ending


def _check_fits(state: Mapping[str, Any], removed: Sequence[str]) -> None:
    """Refuse a state that is larger than it may be; the script that changes it knew only what was there before it."""
    gone = frozenset(removed)
    left = {name: value for name, value in state.items() if name not in gone}
    if len(left) > STATE_NAMES:
        raise InvalidInputError(f"it has more than {STATE_NAMES:,} names with what another run kept meanwhile.")
    texts = {name: json.dumps(value, ensure_ascii=False, separators=(",", ":")) for name, value in left.items()}
    if state_size({name: text.encode() for name, text in texts.items()}) > Limits().state_bytes:
        raise InvalidInputError("it is larger than 256 KB with what another run kept meanwhile.")


_NOBODY = Origin(actor="script", client="", conversation="", operation="run_code", call="", unit="")


def _untold(current: float, total: float, message: str) -> None:
    """Tell nobody: the script outside tells how far it is."""


def _progressed(current: float, total: float, message: str) -> None:
    if progress.LEFT.get()():  # who runs it hears of that in a moment, and ends it in its own way
        return
    progress.told_to_the_door(int(current), int(total), message)
