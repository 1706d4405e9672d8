"""Operations on saved scripts: list, show, save, compare and show their history.

A script is a file; the user's decision on it is bound to the digest of the reviewed text. So its state is never stored
with it, but derived from the current text at each use.
"""

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.scripts import wrap
from panorama.domain.scripts.library import (
    DRAFT,
    TOOL_PREFIX,
    ReviewState,
    ScriptText,
    Signature,
    digest_of,
    parse_source,
    validate_script_name,
)
from panorama.domain.scripts.sdk_usage import ANYTHING, SdkUsage, analyze_usage, is_writing
from panorama.domain.text.visible_text import escape_controls
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.scripts.library import script_versions
from panorama.services.scripts.library.results import (
    ScriptDiff,
    ScriptHistory,
    ScriptLine,
    ScriptSaveResult,
    ScriptStatistics,
    ScriptView,
)
from panorama.services.scripts.library.saved_script import SavedScript, ScriptFacts, analyze_script, format_parameters
from panorama.services.scripts.library.script_files import ScriptFiles
from panorama.services.scripts.library.suggestions import Suggestions
from panorama.store.log import library as rows
from panorama.store.log import runs
from panorama.store.signals import Signal

STATISTICS_RUNS = 200
"""The maximum number of runs used for statistics."""

RECENT_RUNS = 20
"""The recent runs whose calls are shown."""

StateFilter = Literal["draft", "reviewed", "promoted", "retired", "all"]


class Library(Service):
    """The user's scripts, and those shipped with the program."""

    def __init__(
        self,
        context: ServiceContext,
        shelf: ScriptFiles,
        taken: Callable[[], Collection[str]],
        findings: Callable[[str], Sequence[str]],
    ) -> None:
        """Make a library.

        Args:
            taken: Returns the reserved names: tools, nouns of the SDK, sources.
            findings: Returns the violations that the sandbox would report for a text.
        """
        super().__init__(context)
        self.shelf = shelf
        self.versions = script_versions.ScriptVersions(context, shelf)
        self._taken = taken
        self._findings = findings
        self._suggesting = Suggestions(context)
        self._ears = Signal[[]]()
        context.database.subscribe_to_others("scripts", lambda _: self._ears.notify())

    # For other services.

    def get_saved(self, name: str, *, glance: bool = False, reviewed_only: bool = False) -> SavedScript:
        """Return a script.

        Args:
            glance: Allow a cached text; it must not be run or reviewed.
            reviewed_only: Prefer the approved text to a draft of this machine.

        Raises:
            NotFoundError: There is no such script.
            InvalidInputError: The name is invalid, or its file is not a script.
        """
        plain = name.strip().removeprefix(TOOL_PREFIX)
        if plain in self._reserved_names(plain):
            raise NotFoundError(
                f"There is no script {plain!r}: that name is used by something else.", hint="Rename it."
            )
        try:
            text = (self.shelf.read_cached if glance else self.shelf.read)(plain)
        except InvalidInputError:
            validate_script_name(plain)
            raise
        if reviewed_only:
            text = self.shelf.find_approved(plain) or text
        if text is None:
            raise self._not_found_error(plain)
        with self._reading() as session:
            return self._build_saved(text, rows.find_state(session, plain))

    def list_promoted(self, name: str | None = None) -> list[SavedScript]:
        """Return the promoted scripts whose text is the approved one, or the one with a name."""
        with self._reading() as session:
            standings = rows.list_promoted(session, name)
        scripts: list[SavedScript] = []
        for name, standing in standings.items():
            try:
                digest = standing.approved_digest
                text = self.shelf.find_approved(name, digest) or self.shelf.read_cached(name, digest)
            except PanoramaError:  # it is no longer a regular file
                continue
            if text and standing.state_of(text.digest) == "promoted":
                scripts.append(SavedScript(text=text, state="promoted", standing=standing, is_ours=text.is_shipped))
        return scripts

    def subscribe(self, ear: Callable[[], None]) -> Callable[[], None]:
        """Call a listener when script tools change; return how to unsubscribe."""
        return self._ears.subscribe(ear)

    def notify_changed(self) -> None:
        """Notify the listeners, also those of other processes, that script tools may have changed."""
        self._ears.notify()
        self._context.database.announce("scripts")

    def _reserved_names(self, name: str) -> Collection[str]:
        """Return the reserved names; shipped scripts and their copies may have the name of a tool."""
        reserved = self._taken()
        return () if name not in reserved or self.shelf.is_bundled(name) else reserved

    def _not_found_error(self, name: str) -> NotFoundError:
        near = difflib.get_close_matches(name, self.shelf.list_names(), 3, 0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else "list_scripts lists them."
        return NotFoundError(f"There is no script {escape_controls(name[:60])!r}.", hint=hint)

    def _build_saved(self, text: ScriptText, standing: ReviewState | None) -> SavedScript:
        found = standing or DRAFT
        state = found.state_of(text.digest)
        shipped = text if text.is_shipped else self.shelf.read_bundled(text.name)
        is_ours = bool(shipped and shipped.digest == text.digest)
        return SavedScript(
            text=text, state="reviewed" if state == "draft" and is_ours else state, standing=found, is_ours=is_ours
        )

    # Operations.

    def list(self, page: PageRequest, state: StateFilter = "all", suggest: bool = False) -> Page[ScriptLine]:
        """List saved scripts: state, and arguments for run_script. Drafts were not approved by the user.

        Args:
            suggest: List repeated work that is worth a script instead; save_script takes its `run`.
        """
        if suggest:
            lines = tuple(self._suggesting.list_suggestions())
            return Page(lines, tuple((str(at),) for at, _ in enumerate(lines)), len(lines), more=False)
        with self._reading() as session:
            standings, counts = rows.list_states(session), rows.count_runs(session)
        after = (page.get_start_key(str) or ("",))[0]
        names = [name for name in self.shelf.list_names() if name not in self._reserved_names(name)]
        lines = [self._build_line(name, standings.get(name), counts.get(name)) for name in names]
        matching = [line for line in lines if state in ("all", line.state)]
        left = [line for line in matching if line.name > after]
        shown = tuple(left[: page.limit])
        hint = "" if shown else "save_script saves a script; list_scripts(suggest=true) suggests some."
        return Page(shown, tuple((line.name,) for line in shown), len(matching), len(left) > len(shown), hint=hint)

    def _build_line(self, name: str, standing: ReviewState | None, count: tuple[int, int] | None) -> ScriptLine:
        try:
            text = self.shelf.read_cached(name, standing.approved_digest if standing else "")
            if text is None:
                return ScriptLine(name=name, state="draft", summary="", problem="Its file is missing.")
            script = self._build_saved(text, standing)
            facts = analyze_script(text)
        except PanoramaError as error:
            return ScriptLine(name=name, state="draft", summary="", problem=escape_controls(error.message))
        return ScriptLine(
            name=name, state=script.state, summary=facts.signature.summary,
            parameters=format_parameters(facts.signature),
            writes=facts.uses.writes, by=script.by, tool=script.tool, runs=count[0] if count else None,
            succeeded=count[1] if count else None,
        )  # fmt: skip

    def get(self, script: str) -> ScriptView:
        """Show a saved script: its text, its state, what it reads and writes, and figures of its runs.

        Raises:
            NotFoundError: There is no such script.
        """
        return self.to_view(self.get_saved(script))

    def to_view(self, script: SavedScript) -> ScriptView:
        """Return everything that the user needs to review a script."""
        source, usage = script.text.source, SdkUsage(unclear=True)
        nested: dict[str, None] = {}
        problems: list[str] = []
        signature = Signature(summary="", description="")
        try:
            usage = analyze_usage(parse_source(source))
            nested = dict.fromkeys(self._iter_nested_calls(script.name, usage))
            signature = script.text.signature
        except InvalidInputError as error:
            problems.append(f"{error.message} {error.hint}")
        return ScriptView(
            name=script.name, state=script.state, by=script.by,
            summary=signature.summary, description=signature.description,
            parameters=format_parameters(signature), schema=signature.to_json_schema(),
            reads=(*usage.reads, *(name for name in nested if not is_writing(name))),
            writes=(*usage.writes, *(name for name in nested if is_writing(name))),
            scripts=usage.scripts, unclear=usage.unclear, findings=(*problems, *self._findings(source)),
            read_only=bool(script.tool) and script.reads_only, tool=script.tool,
            again=f"{TOOL_PREFIX}{script.name}" if not script.tool and script.standing.state == "promoted" else "",
            digest=script.text.digest, path=str(self.shelf.path(script.name)), text=source,
            **self._read_log(script),
        )  # fmt: skip

    def _read_log(self, script: SavedScript) -> dict[str, Any]:
        """Return the fields of a view that come from earlier reviews and runs."""
        with self._reading() as session:
            reviews = rows.list_reviews(session, script.name)
            ran = rows.list_runs(session, script.name, STATISTICS_RUNS)
            counts = rows.count_changes_by_operation(session, [run.id for run in ran[:RECENT_RUNS]])
            tried = (run for run in ran if run.options.get("dry_run") and run.options["digest"] == script.text.digest)
            calls = rows.list_changing_calls(session, next((run.id for run in tried), ""), RECENT_RUNS)
        approved = next((review.text for review in reviews if review.verdict == rows.APPROVED), "")
        shipped = self.shelf.read_bundled(script.name)
        latest = next((review for review in reviews if review.digest == script.text.digest), None)
        return {
            "did": counts,
            "dry_run": tuple(calls),
            "statistics": ScriptStatistics.of(ran),
            "reviewed": approved or (shipped.source if shipped else ""),
            "rejected": latest is not None and latest.verdict == rows.REJECTED,
        }

    def _iter_nested_calls(self, name: str, uses: SdkUsage) -> Iterator[str]:
        """Yield the possible calls of nested scripts, as `tasks.update in plan_day`."""
        names, seen = [*uses.scripts], {name, ANYTHING}
        for inner_name in names:
            if inner_name in seen:
                continue
            seen.add(inner_name)
            with suppress(PanoramaError):  # a missing script cannot run, and is reviewed before it can
                inner = self.get_saved(inner_name, glance=True)
                yield from (f"{call} in {inner_name}" for call in inner.calls if not call.startswith("scripts"))
                names += analyze_script(inner.text).uses.scripts

    def save(
        self, name: str, code: str = "", run: str = "", summary: str = "", replace: bool = False
    ) -> Result[ScriptSaveResult]:
        """Save a script as a draft: a docstring, then `def main(…)` with typed parameters.

        It stays a draft until the user approves it.

        Args:
            name: Such as late_tasks.
            code: Without main it is wrapped.
            run: Or a run whose code to save; its inputs become parameters.
            summary: One sentence, if there is no docstring.
            replace: Overwrite an existing one.

        Raises:
            InvalidInputError: The name or the text cannot be a script.
            ConflictError: There is another script of this name.
        """
        validate_script_name(name, self._reserved_names(name))
        text = self._resolve_text(code, run, summary)
        content = text.encode()
        facts = ScriptFacts.of(ScriptText(name=name, content=content, digest=""))
        old = self.shelf.read(name)
        if old and old.content == content:
            return Result(self._build_save_result(name, facts, old), hint="It was already saved.", wrote=False)
        if old and not replace:
            raise ConflictError(
                f"A script {name} with another text already exists.",
                hint="Choose another name, or replace it: replace=true.",
            )
        before = self.get_saved(name).state if old else "draft"
        new = ScriptText(name=name, content=content, digest=digest_of(content))
        with self._writing() as session:
            self.versions.write(session, name, new)
        self.notify_changed()
        note = {"promoted": " Its tool is removed until the user approves the new text."}.get(before, "")
        hint = f"It is a draft: try it with run_script and dry_run; promote_script asks the user to approve it.{note}"
        hint += " The previous text is kept as a version; undo restores it." if old else ""
        return Result(self._build_save_result(name, facts, new), hint=hint)

    def plan_save(self, name: str, code: str = "", run: str = "", summary: str = "", replace: bool = False) -> Plan:
        """Ask the user before a draft that they wrote themselves is overwritten."""
        name = validate_script_name(name, self._reserved_names(name))
        old = self.shelf.read(name) if replace else None
        if old is None or old.content == self._resolve_text(code, run, summary).encode():
            return Plan()
        return Plan(self.get_overwrite_question(name))

    def get_overwrite_question(self, name: str) -> str:
        """Return the question before overwriting a script's file, if the user wrote it."""
        old = self.shelf.read(name)
        if old is None or old.is_shipped or self.get_saved(name).state != "draft":
            return ""
        with self._reading() as session:
            if script_versions.is_by_assistant(session, old):
                return ""
        lines = old.content.count(b"\n")
        return f"Overwrite your own draft {name} ({lines:,} lines)? Its text is kept as a version."

    def keep(self, script: str) -> ScriptHistory:
        """Store the text of a script as a version, before the user edits its file."""
        text = self.get_saved(script).text
        with self._writing() as session:
            script_versions.store_version(session, text, rows.WRITTEN, self._now())
        return self.get_history(text.name)

    def _resolve_text(self, code: str, run: str, summary: str) -> str:
        if bool(code.strip()) == bool(run.strip()):
            raise InvalidInputError("save_script needs either code or run.", hint="Give the code, or the id of a run.")
        inputs: Mapping[str, Any] = {}
        if run.strip():
            with self._reading() as session:
                found_run = runs.find(session, run.strip())
            if found_run is None or found_run.script:
                raise NotFoundError(f"There is no run of code {run[:40]!r}.", hint="Give the run_id of a run_code.")
            code, inputs = found_run.source, found_run.inputs
        if len(code) > wrap.MAX_CODE_CHARS:
            raise InvalidInputError(f"The script has {len(code):,} characters.", hint="The limit is 262,144.")
        return wrap.wrap_code(code, inputs, summary)

    def _build_save_result(self, name: str, facts: ScriptFacts, text: ScriptText) -> ScriptSaveResult:
        with self._reading() as session:
            script = self._build_saved(text, rows.find_state(session, name))
        return ScriptSaveResult(
            name=name, state=script.state, summary=facts.signature.summary,
            parameters=format_parameters(facts.signature),
            reads=facts.uses.reads, writes=facts.uses.writes, digest=text.digest,
        )  # fmt: skip

    def get_history(self, script: str) -> ScriptHistory:
        """List the versions of a script and the decisions on them, the newest first."""
        name = validate_script_name(script.strip().removeprefix(TOOL_PREFIX))
        with self._reading() as session:
            versions = tuple(script_versions.iter_history(session, name))
        if not versions and self.shelf.read(name) is None:
            raise self._not_found_error(name)
        return ScriptHistory(name=name, versions=versions)

    def diff(self, script: str, old: int | None = None, new: int | None = None) -> ScriptDiff:
        """Compare two texts of a script: by default the last approved one with the file.

        Args:
            old: The number of a version, from the history.
            new: Another version; by default the file.
        """
        name = validate_script_name(script.strip().removeprefix(TOOL_PREFIX))
        with self._reading() as session:
            one = script_versions.get_version(session, name, old)
            other = script_versions.get_version(session, name, new) if new is not None else None
        shown = other.text if other else self.get_saved(name).text.source
        labels = f"version {old or 'approved last'}", f"version {new}" if new is not None else "on the disk"
        return ScriptDiff(name=name, old=labels[0], new=labels[1], diff=unified_diff(one.text, shown, *labels))

    def suggestion_hint(self) -> str:
        """Return a suggestion for a new script in one sentence, "" if there is none."""
        return self._suggesting.describe_top()


def unified_diff(old: str, new: str, before: str, after: str) -> str:
    """Return the unified diff of two texts, with hidden characters shown."""
    lines = difflib.unified_diff(old.split("\n"), new.split("\n"), before, after, lineterm="")
    return escape_controls("\n".join(lines))
