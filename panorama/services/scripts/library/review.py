"""Reviews of scripts; each decision is bound to the text that the user was shown.

A method with a question reads the script once, in that question. The user's answer applies to that text, whatever
happens to the file meanwhile.
"""

from contextvars import ContextVar
from typing import Literal

from panorama.domain.scripts.library import (
    DRAFT,
    MAX_PROMOTED,
    TOOL_ARGUMENTS,
    ReviewState,
    ScriptText,
    validate_script_name,
)
from panorama.domain.scripts.sdk_usage import ANYTHING
from panorama.domain.text.visible_text import escape_controls, escape_name, quote_name
from panorama.errors import ConflictError, InvalidInputError
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.scripts.library import script_versions
from panorama.services.scripts.library.library import Library
from panorama.services.scripts.library.results import ScriptReviewResult, ScriptView
from panorama.services.scripts.library.saved_script import SavedScript, analyze_script
from panorama.services.sources.permissions import SourcePermissions
from panorama.store.backend import Session
from panorama.store.log import library as rows

Step = Literal["reviewed", "promoted", "demoted", "retired"]
_SCRIPT_IN_QUESTION: ContextVar[SavedScript | None] = ContextVar("shown", default=None)
"""The script shown in the question of the running call."""

MAX_NAMES, MAX_SUMMARY_CHARS = 20, 300


class ScriptReviews(Service):
    """Decisions on scripts."""

    def __init__(self, context: ServiceContext, library: Library, permissions: SourcePermissions) -> None:
        super().__init__(context)
        self._library = library
        self._permissions = permissions

    # Operations that ask the user.

    def promote(self, script: str, to: Step = "promoted", read_only: bool = False) -> ScriptReviewResult:
        """Ask the user to approve a saved script, or to make it a tool, script_<name>.

        Args:
            to: reviewed approves it, demoted removes its tool, retired disables it.
            read_only: Its tool cannot change anything.

        Raises:
            ConflictError: There are 12 tools, or it is so already.
        """
        saved = self._take_confirmed(script)
        with self._writing() as session:
            new = self._plan_state(session, saved, to, read_only)
            is_decided = saved.standing.digest == saved.text.digest and saved.standing.state != "retired"
            if to != "demoted" and not is_decided:
                verdict = rows.RETIRED if to == "retired" else rows.APPROVED
                self._record_verdict(session, saved.text, verdict)
            return self._set_state(session, saved, new)

    def plan_promote(self, script: str, to: Step = "promoted", read_only: bool = False) -> Plan:
        """Ask the user before a script moves."""
        saved = self._load_for_question(script)
        view = self._library.to_view(saved)
        with self._reading() as session:
            self._plan_state(session, saved, to, read_only)
        if to == "retired":
            deed = f"Retire the script {saved.name}?"
        elif to == "promoted":
            can_write = "" if saved.reads_only else ", which can change your data"
            limit = ", which will only be able to read" if read_only else can_write or ", which only reads"
            deed = f"Make the script {saved.name} a tool for your assistants{limit}?"
        elif to == "demoted":
            deed = f"Remove the tool {saved.tool}? The script {saved.name} stays reviewed."
        else:
            again = f" It will be the tool {view.again} again." if view.again else ""
            deed = f"Approve the script {saved.name}?{again}"
        return Plan(f"{deed}\n{describe_script(view)}")

    def approve(self, script: str, digest: str) -> ScriptReviewResult:
        """Approve a script's text, for a user at a terminal who was shown it.

        Args:
            digest: The digest of the text that was shown.

        Raises:
            ConflictError: The text changed after it was shown.
        """
        saved = self._take_confirmed(script)
        if saved.text.digest != digest:
            raise ConflictError("The text changed after the question; nothing was approved.", hint="Review it again.")
        with self._writing() as session:
            if saved.standing.state_of(saved.text.digest) in ("draft", "retired"):
                self._record_verdict(session, saved.text, rows.APPROVED)
            return self._set_state(session, saved, saved.standing.approve(saved.text.digest, _list_calls(saved.text)))

    def plan_approve(self, script: str, digest: str) -> Plan:
        """Ask the user before a text is approved; refused if it is not the one that was shown."""
        saved = self._load_for_question(script)
        if saved.text.digest != digest:
            raise ConflictError(
                f"The script {saved.name} was changed since it was shown; nothing was approved.",
                hint=f"Look at it again: panorama scripts review {saved.name}.",
            )
        signature = saved.text.signature
        if not signature.summary:
            raise InvalidInputError(f"The script {saved.name} has no description.", hint="Begin it with a docstring.")
        return Plan(f"Approve the script {saved.name}? Its text has the digest {digest}.")

    def rollback(self, script: str, version: int | None = None) -> ScriptReviewResult:
        """Restore an earlier text of a script; it is then reviewed, and not a tool.

        Args:
            version: Its number in the history; by default the previous one.
        """
        del version  # it was resolved for the question
        saved = self._take_confirmed(script)
        with self._writing() as session:
            self._library.versions.write(session, saved.name, saved.text)
            self._record_verdict(session, saved.text, rows.APPROVED)
            return self._set_state(session, saved, DRAFT.approve(saved.text.digest, _list_calls(saved.text)))

    def plan_rollback(self, script: str, version: int | None = None) -> Plan:
        """Ask the user before an earlier text is put back."""
        name = validate_script_name(script.strip())
        with self._reading() as session:
            number = version or script_versions.find_previous_approved(session, name)
            target = script_versions.get_version(session, name, number)
            standing = rows.find_state(session, name) or DRAFT
        text = ScriptText(name=name, content=target.text.encode(), digest=target.digest)
        wanted_script = SavedScript(text=text, state="draft", standing=standing, is_ours=False)
        _SCRIPT_IN_QUESTION.set(wanted_script)
        old = self._library.shelf.read(name)
        warning = "" if old is None or old.digest == target.digest else " The current text is overwritten."
        deed = f"Restore version {number} of the script {name} (digest {target.digest}), as a reviewed script?{warning}"
        return Plan(f"{deed}\n{describe_script(self._library.to_view(wanted_script))}")

    # Operations without a question.

    def reject(self, script: str, digest: str) -> ScriptReviewResult:
        """Record that the user rejects a text; an assistant cannot propose it again."""
        saved = self._library.get_saved(script)
        if saved.text.digest != digest:
            raise ConflictError(
                f"The script {saved.name} was changed since it was shown; nothing was decided.",
                hint="Review it again.",
            )
        with self._writing() as session:
            self._record_verdict(session, saved.text, rows.REJECTED)
            demoted = ReviewState(read_only=False)
            return self._set_state(session, saved, demoted if saved.state != "draft" else saved.standing)

    # Helpers.

    def _load_for_question(self, script: str) -> SavedScript:
        saved = self._library.get_saved(script)
        _SCRIPT_IN_QUESTION.set(saved)
        return saved

    def _take_confirmed(self, script: str) -> SavedScript:
        """Return the script shown in the question of the same call."""
        saved = _SCRIPT_IN_QUESTION.get()
        _SCRIPT_IN_QUESTION.set(None)
        if saved is None or saved.name != script.strip().removeprefix("script_"):
            raise ConflictError("The user was not asked; nothing was changed.", hint="The user decides on scripts.")
        return saved

    def _plan_state(self, session: Session, saved: SavedScript, to: Step, read_only: bool) -> ReviewState:
        """Return the planned state of a script.

        Raises:
            ConflictError: The step is not possible.
            InvalidInputError: Its text cannot be approved.
        """
        digest, standing = saved.text.digest, rows.find_state(session, saved.name) or DRAFT
        if to == "retired":
            return standing.retire(digest)
        if to == "demoted":
            return standing.demote(digest, saved.state)
        self._check_approvable(session, saved)
        if to == "reviewed":
            if saved.state == "promoted":
                raise ConflictError("It is a tool, which is reviewed.", hint="Use to=demoted to remove its tool.")
            if saved.state == "reviewed":
                raise ConflictError("It is already reviewed.", hint="Use to=promoted to make it a tool.")
            return standing.approve(digest, _list_calls(saved.text))
        new = standing.promote(digest, read_only, _list_calls(saved.text))
        # Includes changed scripts: they are tools again when their approved text is restored.
        others = [
            name for name in rows.list_promoted(session) if name != saved.name and self._library.shelf.contains(name)
        ]
        if len(others) >= MAX_PROMOTED:
            raise ConflictError(
                f"There are already {MAX_PROMOTED} script tools: {', '.join(others)}.",
                hint="Remove the least used one (to=demoted); run_script runs every script.",
            )
        if clash := [
            parameter.name for parameter in saved.text.signature.parameters if parameter.name in TOOL_ARGUMENTS
        ]:
            raise InvalidInputError(
                f"Its parameter {clash[0]} is reserved: every tool has one of this name.", hint="Rename it."
            )
        return new

    def _check_approvable(self, session: Session, saved: SavedScript) -> None:
        if not saved.text.signature.summary:
            raise InvalidInputError(
                f"The script {saved.name} has no description.", hint="Begin it with a docstring of one sentence."
            )
        decided = next(
            (review for review in rows.list_reviews(session, saved.name) if review.digest == saved.text.digest), None
        )
        if decided and decided.verdict == rows.REJECTED and saved.state == "draft":
            raise ConflictError(
                f"The user rejected this text of {saved.name} on {decided.at.astimezone(self._context.zone):%Y-%m-%d}.",
                hint=f"Change it first; they can look again with `panorama scripts review {saved.name}`.",
            )

    def _record_verdict(self, session: Session, text: ScriptText, verdict: str) -> None:
        origin = session.origin
        rows.add_review(
            session,
            rows.Review(
                name=text.name, at=self._now(), verdict=verdict, digest=text.digest, text=text.source,
                door=origin.actor if origin else "", client=origin.client if origin else "",
            ),
        )  # fmt: skip

    def _set_state(self, session: Session, saved: SavedScript, new: ReviewState) -> ScriptReviewResult:
        rows.set_state(session, saved.name, new, self._now())
        session.later.append(self._library.notify_changed)
        state = new.state_of(saved.text.digest)
        is_approved = state in ("reviewed", "promoted")
        self._permissions.grant_script(session, saved.text.digest, saved.text.source, is_approved=is_approved)
        return ScriptReviewResult(
            name=saved.name, state=state, tool=f"script_{saved.name}" if state == "promoted" else "",
            read_only=new.read_only, digest=saved.text.digest,
        )  # fmt: skip


def _list_calls(text: ScriptText) -> tuple[str, ...]:
    """Return the calls shown in the review, which are the only ones allowed afterwards."""
    return analyze_script(text).uses.calls


def describe_script(view: ScriptView) -> str:
    """Describe a script for its review; text from the script itself is quoted."""
    last_line = view.text.count("\n") + 1
    did = [f"{name} ({format_changes(count)})" if count else name for name, count in view.did.items()]
    lines = [
        f"Its text writes: {_join_names(view.writes)}",
        *([f"It may call {ANYTHING}: its text does not show every SDK function it uses."] if view.unclear else []),
        *([f"It runs other scripts: {_join_names(view.scripts)}"] if view.scripts else []),
        f"Its text reads: {_join_names(view.reads)}",
        f"Its description: {quote_name(view.summary, limit=MAX_SUMMARY_CHARS)}",
        f"Its arguments: {escape_name(view.parameters, limit=MAX_SUMMARY_CHARS) or 'none'}",
        f"Its last runs called: {_join_names(tuple(did))}",
        *(f"The sandbox would refuse: {escape_name(finding, limit=MAX_SUMMARY_CHARS)}" for finding in view.findings),
        f"Its text: {last_line} lines, sha256 {view.digest}",
    ]
    return escape_controls("\n".join(lines))


def format_changes(count: int) -> str:
    """Format a number of changes."""
    return f"{count:,} change{'' if count == 1 else 's'}"


def _join_names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more if names else "nothing"
