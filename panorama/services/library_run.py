"""Running what is kept: by name, as a tool, by a schedule, and by another script. The text that runs is the text that
was looked at: it is read once."""

from collections.abc import Mapping
from typing import Any

from panorama.domain.library import ARGUMENTS, Text, runnable
from panorama.domain.script_types import Kind
from panorama.domain.times import day, moment
from panorama.errors import ConflictError, ScriptError
from panorama.services import progress
from panorama.services.base import Desk, Service
from panorama.services.code import LONGEST, Code
from panorama.services.code_run import Wish
from panorama.services.library import Kept, Library, told_of
from panorama.services.nesting import DEEPEST, NEST
from panorama.services.run_views import Ran

_REVIEWED = ("reviewed", "promoted")


class KeptScripts(Service):
    """Runs the scripts of the library."""

    def __init__(self, desk: Desk, library: Library, code: Code) -> None:
        super().__init__(desk)
        self._library = library
        self._code = code

    def run(
        self,
        script: str,
        args: dict[str, Any] | None = None,
        dry_run: bool = False,
        atomic: bool = False,
        timeout: int = LONGEST,
    ) -> Ran:
        """Run a kept script by its name; list_scripts tells what each takes.

        It answers like run_code, and says if it is a draft.

        Args:
            args: Its arguments by name.
            dry_run: Change nothing; show what would change.
            atomic: If it fails, take back what it wrote.
            timeout: As of run_code.

        Raises:
            NotFoundError: There is no such script.
            InvalidInputError: It does not take these arguments.
        """
        kept = self._startable(script)
        strict = progress.asked_by_a_schedule()
        if strict:
            self._check_reviewed(kept, "A schedule runs")
        return self._ran(
            kept, args or {}, Wish(dry_run=dry_run, atomic=atomic, state="", reviewed_only=strict), timeout
        )

    def check(
        self,
        script: str,
        args: dict[str, Any] | None = None,
        dry_run: bool = False,
        atomic: bool = False,
        timeout: int = LONGEST,
    ) -> None:
        """Refuse a script that would not even begin in the background."""
        del dry_run, atomic
        self._code.check_seconds(timeout)
        self._prepared(self._startable(script), args or {})

    def check_scheduled(
        self,
        script: str,
        args: dict[str, Any] | None = None,
        dry_run: bool = False,
        atomic: bool = False,
        timeout: int = LONGEST,
    ) -> None:
        """Refuse what a schedule may not run: a text that nobody has reviewed."""
        self.check(script, args, dry_run, atomic, timeout)
        self._check_reviewed(self._startable(script), "A schedule runs")

    def create(
        self,
        script: str,
        args: dict[str, Any] | None = None,
        dry_run: bool = False,
        atomic: bool = False,
        timeout: int = LONGEST,
    ) -> Ran:
        """Run a kept script for a person: as run_script, but a large result is answered whole, not kept as a file."""
        wish = Wish(dry_run=dry_run, atomic=atomic, state="", is_whole=True)
        return self._ran(self._startable(script), args or {}, wish, timeout)

    def run_tool(self, name: str, args: Mapping[str, Any], *, dry_run: bool = False) -> Ran:
        """Run a promoted script as its tool: the text that was approved, with what it may do."""
        kept = self._library.kept(name)
        if kept.state != "promoted":
            self._library.changed()
            raise ConflictError(
                f"script_{name} is no tool any more: its text was changed, or its tool was taken away.",
                hint="run_script runs it; the person can review it with promote_script.",
            )
        wish = Wish(
            dry_run=dry_run, atomic=False, state="", reads_only=kept.standing.read_only, reviewed_only=True,
        )  # fmt: skip
        return self._ran(kept, args, wish, LONGEST)

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
        kept, nest = self._startable(script), NEST.get()
        if nest is None:
            wish = Wish(dry_run=False, atomic=False, state="", is_whole=True)  # a program reads the result
            return self._result(self._ran(kept, arguments or {}, wish, LONGEST))
        if kept.name in nest.names:
            path = " → ".join((*nest.names, kept.name))
            raise ConflictError(f"The script {kept.name} runs already: {path}.", hint="Call it from outside.")
        if len(nest.names) >= DEEPEST:
            raise ConflictError(
                f"Scripts nest {DEEPEST} deep: {' → '.join(nest.names)}.", hint=f"Call {kept.name} from the first."
            )
        if nest.reviewed_only:
            self._check_reviewed(kept, f"{nest.names[0]} was reviewed and runs")
        source, inputs = self._prepared(kept, arguments or {})
        reads_only = nest.reads_only or (kept.state == "promoted" and kept.standing.read_only)
        return nest.run(source, inputs, kept.name, reads_only)

    def _result(self, ran: Ran) -> Any:
        if ran.error:
            raise ScriptError(str(ran.error["message"]), hint=f"`panorama runs show {ran.run_id}` tells more.")
        return ran.result

    def _startable(self, script: str) -> Kept:
        kept = self._library.kept(script)
        if kept.state == "retired":
            raise ConflictError(
                f"The script {kept.name} is retired.", hint=f"`panorama scripts review {kept.name}` takes it into use."
            )
        return kept

    def _check_reviewed(self, kept: Kept, who: str) -> None:
        if kept.state not in _REVIEWED:
            raise ConflictError(
                f"{who} reviewed scripts only, and the text of {kept.name} was not reviewed.",
                hint=f"The person approves it: promote_script, or `panorama scripts review {kept.name}`.",
            )

    def _prepared(self, kept: Kept, args: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Return the text to run, and its inputs."""
        signature = told_of(kept.text).signature
        given = signature.arguments(args, self._dated)
        return runnable(kept.text.source, signature, given), {ARGUMENTS: given}

    def _ran(self, kept: Kept, args: Mapping[str, Any], wish: Wish, timeout: int) -> Ran:
        source, inputs = self._prepared(kept, args)
        return self._code.run_kept(_named(wish, kept.text, kept.state, inputs[ARGUMENTS]), source, inputs, timeout)

    def _dated(self, kind: Kind, text: str, name: str) -> str:
        now, zone = self._now(), self._desk.zone
        if kind == "day":
            return day(text, name, now=now, zone=zone).isoformat()
        return moment(text, name, now=now, zone=zone).astimezone(zone).isoformat()


def _named(wish: Wish, text: Text, state: str, args: Mapping[str, Any]) -> Wish:
    """Return a wish that tells whose run it is; its state is the script's own."""
    return wish.of_script(text.name, {"script_state": state, "digest": text.digest}, args)
