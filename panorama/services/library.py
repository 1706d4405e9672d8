"""What one can do with the scripts that are kept: list them, show one, save a draft, compare and look back.

A script is a file; what a person decided on it is bound to the digest of the text that they were shown. So its state
is never stored with it: it follows, at each use, from the text that is there.
"""

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from panorama.domain import wrapping
from panorama.domain.library import DRAFT, TOOL_PREFIX, Signature, Standing, State, Text, checked_name, parsed, visible
from panorama.domain.results import Noted, Page, Slice
from panorama.domain.sdk_uses import Uses, uses
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError
from panorama.services.base import Desk, Service
from panorama.services.library_views import (
    ScriptDiff,
    ScriptHistory,
    ScriptLine,
    ScriptSaved,
    ScriptStatistics,
    ScriptVersion,
    ScriptView,
)
from panorama.services.shelf import Shelf
from panorama.services.suggesting import Suggesting
from panorama.store import library as rows
from panorama.store import runs
from panorama.store.engine import Session
from panorama.store.hearing import Ears

RUNS = 200
"""The runs of a script that its statistics look at."""

LATELY = 20
"""The runs whose calls tell what it does."""

OURS, YOURS = "Panorama", "you"
Wanted = Literal["draft", "reviewed", "promoted", "retired", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One script at one moment: its text, read once, and how that text stands."""

    text: Text
    state: State
    standing: Standing
    is_ours: bool

    @property
    def name(self) -> str:
        """What it is called."""
        return self.text.name

    @property
    def by(self) -> str:
        """Who stands for it: whoever reviewed it."""
        return "" if self.state == "draft" else OURS if self.is_ours else YOURS

    @property
    def tool(self) -> str:
        """The name of its tool, "" if it is none."""
        return f"{TOOL_PREFIX}{self.name}" if self.state == "promoted" else ""


class Library(Service):
    """The scripts of a person, and those that came with the program."""

    def __init__(
        self, desk: Desk, shelf: Shelf, taken: Callable[[], Collection[str]], findings: Callable[[str], Sequence[str]]
    ) -> None:
        """Make a library.

        Args:
            taken: Returns the names that no script may have: tools, nouns of the SDK, sources.
            findings: Returns what the sandbox would refuse in a text.
        """
        super().__init__(desk)
        self.shelf = shelf
        self._taken = taken
        self._findings = findings
        self._suggesting = Suggesting(desk)
        self._ears = Ears[[]]()

    # What others ask.

    def kept(self, name: str, *, glance: bool = False) -> Kept:
        """Return a script as it is now.

        Args:
            glance: What is remembered of its file will do; nothing may be run or decided on that.

        Raises:
            NotFoundError: There is none of this name.
            InvalidInputError: The name, or what stands in its place, cannot be a script.
        """
        plain = name.strip().removeprefix(TOOL_PREFIX)
        if plain in self._taken_for(plain):
            raise NotFoundError(f"There is no script {plain!r}: that is the name of something else.", hint="Rename it.")
        try:
            text = (self.shelf.glance if glance else self.shelf.read)(plain)
        except InvalidInputError:
            checked_name(plain)
            raise
        if text is None:
            raise self._unknown(plain)
        with self._reading() as session:
            return self._standing(text, rows.standing(session, plain))

    def promoted(self, name: str | None = None) -> list[Kept]:
        """Return the scripts that are tools now, or the one of a name: their text is the one that was approved."""
        with self._reading() as session:
            standings = rows.promoted(session, name)
        found: list[Kept] = []
        for name, standing in standings.items():
            try:
                text = self.shelf.glance(name)
            except PanoramaError:  # it is no plain file any more
                continue
            if text and standing.of(text.digest) == "promoted":
                found.append(Kept(text=text, state="promoted", standing=standing, is_ours=text.is_shipped))
        return found

    def tell(self, ear: Callable[[], None]) -> Callable[[], None]:
        """Tell somebody when tools come or go; return how to stop that."""
        return self._ears.add(ear)

    def changed(self) -> None:
        """Tell those who want to hear that the tools may be others now."""
        self._ears.tell()

    def _taken_for(self, name: str) -> Collection[str]:
        """Return the names that are something else; a shipped script may be called like a tool, and its copies too."""
        taken = self._taken()
        return () if name not in taken or self.shelf.is_shipped(name) else taken

    def _unknown(self, name: str) -> NotFoundError:
        near = difflib.get_close_matches(name, self.shelf.names(), 3, 0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else "list_scripts shows what there is."
        return NotFoundError(f"There is no script {visible(name[:60])!r}.", hint=hint)

    def _standing(self, text: Text, standing: Standing | None) -> Kept:
        found = standing or DRAFT
        state = found.of(text.digest)
        shipped = text if text.is_shipped else self.shelf.shipped(text.name)
        is_ours = bool(shipped and shipped.digest == text.digest)
        return Kept(
            text=text, state="reviewed" if state == "draft" and is_ours else state, standing=found, is_ours=is_ours
        )

    # What people and models do.

    def list(self, page: Slice, state: Wanted = "all", suggest: bool = False) -> Page[ScriptLine]:
        """List kept scripts: state, and arguments for run_script. Drafts were not approved by the person.

        Args:
            suggest: List what was done often and is worth a script instead; save_script takes its `run`.
        """
        if suggest:
            lines = tuple(self._suggesting.found())
            return Page(lines, tuple((str(at),) for at, _ in enumerate(lines)), len(lines), more=False)
        with self._reading() as session:
            standings, counts = rows.standings(session), rows.counts(session)
        after = (page.begins(str) or ("",))[0]
        names = [name for name in self.shelf.names() if name not in self._taken_for(name)]
        lines = [self._line(name, standings.get(name), counts.get(name)) for name in names]
        found = [each for each in lines if state in ("all", each.state)]
        left = [each for each in found if each.name > after]
        shown = tuple(left[: page.limit])
        hint = "" if shown else "save_script keeps a script; list_scripts(suggest=true) tells what is worth one."
        return Page(shown, tuple((each.name,) for each in shown), len(found), len(left) > len(shown), hint=hint)

    def _line(self, name: str, standing: Standing | None, count: tuple[int, int] | None) -> ScriptLine:
        try:
            text = self.shelf.glance(name)
            if text is None:
                return ScriptLine(name=name, state="draft", summary="", problem="Its file is gone.")
            kept = self._standing(text, standing)
            told = told_of(text)
        except PanoramaError as error:
            return ScriptLine(name=name, state="draft", summary="", problem=visible(error.message))
        return ScriptLine(
            name=name, state=kept.state, summary=told.signature.summary, parameters=_called(told.signature),
            writes=told.uses.writes, by=kept.by, tool=kept.tool, runs=count[0] if count else None,
            succeeded=count[1] if count else None,
        )  # fmt: skip

    def get(self, script: str) -> ScriptView:
        """Show a kept script: its text, its state, what it reads and writes, and how its runs went.

        Raises:
            NotFoundError: There is no such script.
        """
        return self.view(self.kept(script))

    def view(self, kept: Kept) -> ScriptView:
        """Return all that a person wants to know of a script before they decide on it."""
        source, uses_ = kept.text.source, Uses(unclear=True)
        problems: list[str] = []
        signature = Signature(summary="", description="")
        try:
            uses_ = uses(parsed(source))
            signature = kept.text.signature
        except InvalidInputError as error:
            problems.append(f"{error.message} {error.hint}")
        with self._reading() as session:
            reviews = rows.reviewed(session, kept.name)
            ran = rows.ran(session, kept.name, RUNS)
            did = rows.called(session, [each.id for each in ran[:LATELY]])
            tried = (each for each in ran if each.options.get("dry_run") and each.options["digest"] == kept.text.digest)
            dry = rows.wrote(session, next((each.id for each in tried), ""), LATELY)
        approved = next((each.text for each in reviews if each.verdict == rows.APPROVED), "")
        shipped = self.shelf.shipped(kept.name)
        latest = next((each for each in reviews if each.digest == kept.text.digest), None)
        return ScriptView(
            name=kept.name, state=kept.state, by=kept.by, summary=signature.summary, description=signature.description,
            parameters=_called(signature), schema=signature.schema(), reads=uses_.reads, writes=uses_.writes,
            scripts=uses_.scripts, unclear=uses_.unclear, read_only=kept.standing.read_only and bool(kept.tool),
            tool=kept.tool, did=did, dry_run=tuple(dry), findings=(*problems, *self._findings(source)),
            digest=kept.text.digest, path=str(self.shelf.path(kept.name)), statistics=_statistics(ran), text=source,
            reviewed=approved or (shipped.source if shipped else ""),
            rejected=latest is not None and latest.verdict == rows.REJECTED,
            again=f"{TOOL_PREFIX}{kept.name}" if not kept.tool and kept.standing.state == "promoted" else "",
        )  # fmt: skip

    def save(
        self, name: str, code: str = "", run: str = "", summary: str = "", replace: bool = False
    ) -> Noted[ScriptSaved]:
        """Keep a script as a draft: a docstring, then `def main(…)` with typed parameters.

        promote_script asks the person to approve it.

        Args:
            name: Such as late_tasks.
            code: Without main it is wrapped.
            run: Or a run whose code to keep; its inputs become parameters.
            summary: One sentence, if there is no docstring.
            replace: Overwrite the one of this name.

        Raises:
            InvalidInputError: The name or the text cannot be a script.
            ConflictError: There is another script of this name.
        """
        checked_name(name, self._taken_for(name))
        text = self._meant(code, run, summary)
        content = text.encode()
        told = _Told.of(Text(name=name, content=content, digest=""))
        old = self.shelf.read(name)
        if old and old.content == content:
            return Noted(self._saved(name, told, old), hint="It was kept already.", wrote=False)
        if old and not replace:
            raise ConflictError(
                f"There is a script {name} with another text.", hint="Choose another name, or replace it: replace=true."
            )
        before = self.kept(name).state if old else "draft"
        new = self.shelf.put(name, content)
        self.changed()
        gone = {"promoted": " Its tool is gone until the person approves the new text."}.get(before, "")
        hint = f"It is a draft: try it with run_script and dry_run; promote_script asks the person to approve it.{gone}"
        return Noted(self._saved(name, told, new), hint=hint)

    def _meant(self, code: str, run: str, summary: str) -> str:
        if bool(code.strip()) == bool(run.strip()):
            raise InvalidInputError("save_script needs one of code and run.", hint="Give the code, or the id of a run.")
        inputs: Mapping[str, Any] = {}
        if run.strip():
            with self._reading() as session:
                found = runs.found(session, run.strip())
            if found is None or found.script:
                raise NotFoundError(f"There is no run of code {run[:40]!r}.", hint="Give the run_id of a run_code.")
            code, inputs = found.source, found.inputs
        if len(code) > wrapping.MOST_CHARS:
            raise InvalidInputError(f"The script has {len(code):,} characters.", hint="262,144 are the most.")
        return wrapping.script_of(code, inputs, summary)

    def _saved(self, name: str, told: "_Told", text: Text) -> ScriptSaved:
        with self._reading() as session:
            kept = self._standing(text, rows.standing(session, name))
        return ScriptSaved(
            name=name, state=kept.state, summary=told.signature.summary, parameters=_called(told.signature),
            reads=told.uses.reads, writes=told.uses.writes, digest=text.digest,
        )  # fmt: skip

    def history(self, script: str) -> ScriptHistory:
        """Tell what was decided on a script, the newest first."""
        name = checked_name(script.strip().removeprefix(TOOL_PREFIX))
        with self._reading() as session:
            found, standing = rows.reviewed(session, name), rows.standing(session, name) or DRAFT
        if not found and self.shelf.read(name) is None:
            raise self._unknown(name)
        approved = sum(each.verdict == rows.APPROVED for each in found)
        versions: list[ScriptVersion] = []
        for each in found:
            is_approved = each.verdict == rows.APPROVED
            versions.append(
                ScriptVersion(
                    version=approved if is_approved else None, at=each.at, verdict=each.verdict, digest=each.digest,
                    by=each.door, lines=each.text.count("\n"), current=is_approved and each.digest == standing.digest,
                )
            )  # fmt: skip
            approved -= is_approved
        return ScriptHistory(name=name, versions=tuple(versions))

    def diff(self, script: str, old: int | None = None, new: int | None = None) -> ScriptDiff:
        """Compare two texts of a script: by default the one approved last with the one on the disk.

        Args:
            old: The number of a version, as history tells it.
            new: Another one; else the text on the disk.
        """
        name = checked_name(script.strip().removeprefix(TOOL_PREFIX))
        with self._reading() as session:
            one = self.version(session, name, old)
            other = self.version(session, name, new) if new is not None else None
        shown = other.text if other else self.kept(name).text.source
        labels = f"version {old or 'approved last'}", f"version {new}" if new is not None else "on the disk"
        return ScriptDiff(name=name, old=labels[0], new=labels[1], diff=unified(one.text, shown, *labels))

    def version(self, session: Session, name: str, number: int | None) -> rows.Review:
        """Return an approved text of a script: one by its number, or the last.

        Raises:
            NotFoundError: There is none.
        """
        approved = [each for each in rows.reviewed(session, name) if each.verdict == rows.APPROVED][::-1]
        if approved and number is None:
            return approved[-1]
        if number is not None and 1 <= number <= len(approved):
            return approved[number - 1]
        which = f"version {number}" if number is not None else "approved version"
        there = f"There are 1 to {len(approved)}." if approved else "Nothing was approved yet."
        raise NotFoundError(f"The script {name} has no {which}.", hint=there)

    def remark(self) -> str:
        """Return in one sentence what is worth a script, "" if nothing is."""
        return self._suggesting.remark()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What a text tells of itself."""

    signature: Signature
    uses: Uses

    @classmethod
    def of(cls, text: Text) -> "_Told":
        """Read a text."""
        return cls(signature=text.signature, uses=uses(parsed(text.source)))


_TOLD: dict[str, _Told] = {}
_MOST_TOLD = 2000


def told_of(text: Text) -> _Told:
    """Return what a text tells of itself; each text is read but once."""
    found = _TOLD.get(text.digest)
    if found is None:
        if len(_TOLD) >= _MOST_TOLD:
            _TOLD.clear()
        found = _TOLD[text.digest] = _Told.of(text)
    return found


def unified(old: str, new: str, before: str, after: str) -> str:
    """Return how two texts differ, nothing in it hidden."""
    lines = difflib.unified_diff(old.split("\n"), new.split("\n"), before, after, lineterm="")
    return visible("\n".join(lines))


def _called(signature: Signature) -> str:
    parts = (
        f"{each.name}{'' if each.required else '=' + (repr(each.default) if each.default is not None else '…')}"
        for each in signature.parameters
    )
    return visible(", ".join(parts))


def _statistics(ran: Sequence[rows.Ran]) -> ScriptStatistics:
    """Return the figures of runs, the newest first; dry runs count too, and those that still run do not."""
    ended = [each for each in ran if each.status != "running"]
    if not ended:
        return ScriptStatistics(runs=0)
    good = [each for each in ended if each.status == "succeeded"]
    failed = next((each for each in ended if each.status == "failed"), None)
    return ScriptStatistics(
        runs=len(ended), success_percent=round(100 * len(good) / len(ended)),
        median_ms=round(median(each.ms for each in ended), 1), median_calls=median(each.calls for each in ended),
        tokens=sum(each.tokens for each in ended), last_at=ended[0].at,
        last_error=visible(str(failed.error.get("message", ""))[:300]) if failed else "",
    )  # fmt: skip
