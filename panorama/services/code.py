"""Scripts: runs them as guests, and tells what they did."""

import keyword
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from panorama.domain.results import Page, Slice
from panorama.domain.scripts import SOURCE_CHARS, Limits, Script
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.ports import Calls, Runner
from panorama.services import progress, run_standing
from panorama.services.base import Desk, Service
from panorama.services.code_run import CodeRun, Wish
from panorama.services.nesting import NEST
from panorama.services.run_page import run_page
from panorama.services.run_views import Ran, RunLine, RunView, call_told
from panorama.services.runs_left import LeftRuns
from panorama.store import calls as call_log
from panorama.store import runs
from panorama.store.blobs import Blobs
from panorama.store.engine import Session
from panorama.store.runs import Run

LONGEST, LONGEST_JOB = 60, 3600
"""Seconds that a script may take: while somebody waits, and in the background."""

STATE_CHARS = 80
SHOWN_CALLS = 200
"""How many calls of a run are shown with it; the others are listed."""


class Code(Service):
    """Runs short Python scripts against the SDK."""

    def __init__(self, desk: Desk, calls: Calls, runner: Runner, blobs: Blobs, left: LeftRuns) -> None:
        super().__init__(desk)
        self._calls = calls
        self._runner = runner
        self._blobs = blobs
        self._left = left

    def run(
        self,
        code: str,
        inputs: dict[str, Any] | None = None,
        dry_run: bool = False,
        atomic: bool = False,
        timeout: int = LONGEST,
        state: str = "",
    ) -> Ran:
        """Run a Python script with `sdk` for joins, bulk changes and analyses; find functions with search_sdk first.

        Plain Python 3; json, re, datetime, collections, csv, statistics… can be imported. No files, no network.
        `sdk.tasks.list(project="Alpha")` lists all rows: task.title, task.deadline. `return` or the last expression is
        the result; keep it small. `undo` with the run's id takes all of it back.

        Args:
            inputs: Become names in the script.
            dry_run: Change nothing; show what would change.
            atomic: If it fails, take back what it wrote.
            timeout: Seconds, 1 to 60; in the background up to 3600.
            state: Runs that name the same state share `sdk.state`.

        Raises:
            InvalidInputError: An argument cannot be used.
            UnavailableError: Scripts cannot be run on this machine.
        """
        wish = Wish(dry_run=dry_run, atomic=atomic, state=_state(state))
        return self._run(code, inputs, wish, timeout)

    def check(
        self,
        code: str,
        inputs: dict[str, Any] | None = None,
        dry_run: bool = False,
        atomic: bool = False,
        timeout: int = LONGEST,
        state: str = "",
    ) -> None:
        """Refuse a script that would not even begin in the background."""
        del dry_run, atomic
        _state(state)
        self._script(code, inputs, _seconds(timeout, LONGEST_JOB))

    def check_scheduled(self, **arguments: Any) -> None:
        """Refuse code that a schedule would run: nobody has reviewed it."""
        del arguments
        raise InvalidInputError(
            "A schedule runs reviewed scripts only, not code.",
            hint="Keep it with save_script, let the person approve it, and schedule run_script with its name.",
        )

    def create(
        self,
        code: str,
        inputs: dict[str, Any] | None = None,
        dry_run: bool = False,
        atomic: bool = False,
        timeout: int = LONGEST,
        state: str = "",
    ) -> Ran:
        """Run a script for a person: as run_code, but a large result is answered whole and not kept as a file."""
        wish = Wish(dry_run=dry_run, atomic=atomic, state=_state(state), is_whole=True)
        return self._run(code, inputs, wish, timeout)

    def _run(self, code: str, inputs: dict[str, Any] | None, wish: Wish, timeout: int) -> Ran:
        seconds = _seconds(timeout, LONGEST_JOB if progress.is_job() else LONGEST)
        return self._done(self._script(code, inputs, seconds), wish)

    def _script(self, code: str, inputs: dict[str, Any] | None, seconds: int) -> Script:
        named, code = _inputs(inputs or {}), _unfenced(code)
        if not code.strip():
            raise InvalidInputError("code is empty.", hint="Send Python; search_sdk shows what it can call.")
        if len(code) > SOURCE_CHARS:
            raise InvalidInputError(
                f"code has {len(code):,} characters; {SOURCE_CHARS:,} is the most.", hint="Split it."
            )
        return self._limited(code, named, seconds)

    def _limited(self, source: str, inputs: Mapping[str, Any], seconds: int) -> Script:
        limits = Limits(wall=timedelta(seconds=seconds))
        if seconds > LONGEST:  # a job may also use the processor for longer, and call more
            more = seconds // LONGEST
            calls, sent = limits.calls * more, limits.sent_bytes * more
            limits = replace(limits, cpu=timedelta(seconds=seconds), calls=calls, sent_bytes=sent)
        return Script(source=source, inputs=inputs, operations=self._calls.scriptable, limits=limits)

    def run_kept(self, wish: Wish, source: str, inputs: Mapping[str, Any], timeout: int) -> Ran:
        """Run the text of a script of the library."""
        seconds = _seconds(timeout, LONGEST_JOB if progress.is_job() else LONGEST)
        return self._done(self._limited(source, inputs, seconds), wish)

    def _done(self, script: Script, wish: Wish) -> Ran:
        if NEST.get() is not None:  # a run of its own would not be tried out, taken back or bounded with the first
            raise ConflictError("A script runs already in this call.", hint="It runs another by sdk.scripts.")
        run = CodeRun(self._desk, self._calls, self._runner, self._blobs, wish, self._left.worker.name)
        self._left.pick_up_once()
        return run.done(script)

    def check_seconds(self, timeout: int) -> None:
        """Refuse a time that no script may take, not even in the background."""
        _seconds(timeout, LONGEST_JOB)

    def list(self, page: Slice, failed: bool = False) -> Page[RunLine]:
        """List runs of scripts, the newest first."""
        with self._reading() as session:
            found = runs.listed(session, page, failed=failed)
        return Page(tuple(RunLine.of(run) for run in found.items), found.keys, None, found.more)

    def get(self, run: str) -> RunView:
        """Show a run: its script, output, first calls and what it changed.

        Raises:
            NotFoundError: There is no such run.
        """
        with self._reading() as session:
            found = _found(session, run)
            made = call_log.of_run(session, found.id, Slice(SHOWN_CALLS))
            return RunView.of(found, run_standing.standing(session, found), made.items, made.total or 0)

    def calls(self, run: str, page: Slice) -> Page[Mapping[str, Any]]:
        """List the calls that a run made, in the order in which they began.

        Raises:
            NotFoundError: There is no such run.
        """
        with self._reading() as session:
            made = call_log.of_run(session, _found(session, run).id, page)
        return Page(tuple(map(call_told, made.items)), made.keys, made.total, made.more)

    def page(self, run: str) -> Mapping[str, str]:
        """Return a run as Markdown: its script, output, first calls and what it changed."""
        return {"markdown": run_page(self.get(run))}


def _found(session: Session, run: str) -> Run:
    if found := runs.found(session, run.strip()):
        return found
    raise NotFoundError(f"There is no run {run[:40]!r}.", hint="`panorama runs` lists them.")


def _unfenced(code: str) -> str:
    """Return a script without the Markdown fence around it; the lines keep their numbers."""
    lines = code.split("\n")
    if not code.lstrip().startswith("```") or code.rstrip().rpartition("\n")[2].strip() != "```":
        return code
    return "\n".join("" if line.strip().startswith("```") else line for line in lines)


def _seconds(timeout: int, most: int) -> int:
    if 1 <= timeout <= most:
        return timeout
    hint = "Split what takes longer." if most > LONGEST else f"With background=true it is up to {LONGEST_JOB:,}."
    raise InvalidInputError(f"timeout is {timeout}; it is 1 to {most:,} seconds.", hint=hint)


def _state(name: str) -> str:
    if len(name) <= STATE_CHARS:
        return name.strip()
    raise InvalidInputError(f"state has {len(name)} characters.", hint=f"Name it with at most {STATE_CHARS}.")


def _inputs(given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_") or name == "sdk":
            raise InvalidInputError(
                f"inputs has {name[:60]!r}, which cannot be a name in a script.",
                hint="Use letters, digits and underscores; not `sdk`, no keyword, no leading underscore.",
            )
    return dict(given)
