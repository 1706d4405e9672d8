"""Reviewing: what a person decides on scripts. Each decision is bound to the very text that they were shown.

Each method here whose question a person has to answer reads the script once, in that question; what they agreed to is
that text, whatever has become of the file by then.
"""

from contextvars import ContextVar
from typing import Literal

from panorama.domain.library import DRAFT, MOST_PROMOTED, OF_THE_TOOL, Standing, Text, checked_name, visible
from panorama.errors import ConflictError, InvalidInputError
from panorama.services.base import Desk, Service
from panorama.services.library import Kept, Library
from panorama.services.library_views import ScriptReviewed, ScriptView
from panorama.store import library as rows
from panorama.store.engine import Session

Step = Literal["reviewed", "promoted", "retired"]
_SHOWN: ContextVar[Kept | None] = ContextVar("shown", default=None)
"""The script whose text is in the question of the call that runs."""

LISTED = 20


class Reviewing(Service):
    """Decisions on scripts."""

    def __init__(self, desk: Desk, library: Library) -> None:
        super().__init__(desk)
        self._library = library

    # What asks the person.

    def promote(self, script: str, to: Step = "promoted", read_only: bool = False) -> ScriptReviewed:
        """Ask the person to approve a kept script, or to make it a tool of its own, script_<name>.

        Args:
            to: reviewed approves it, or takes its tool away; retired ends its use.
            read_only: Its tool cannot change anything.

        Raises:
            ConflictError: There are 12 tools, or it is so already.
        """
        kept = self._agreed(script)
        with self._writing() as session:
            new = self._moved(session, kept, to, read_only)
            if kept.standing.digest != kept.text.digest or kept.standing.state == "retired":
                verdict = rows.RETIRED if to == "retired" else rows.APPROVED
                self._keep(session, kept.text, verdict)
            return self._stands(session, kept, new)

    def promote_question(self, script: str, to: Step = "promoted", read_only: bool = False) -> str:
        """Return what the person is asked before a script moves."""
        kept = self._show(script)
        view = self._library.view(kept)
        with self._reading() as session:
            self._moved(session, kept, to, read_only)
        if to == "retired":
            deed = f"Take the script {kept.name} out of use?"
        elif to == "promoted":
            limit = ", which will only be able to read" if read_only else ", which can change your data"
            deed = f"Make the script {kept.name} a tool of your assistants{limit}?"
        elif kept.state == "promoted":
            deed = f"Take the tool {kept.tool} away? The script {kept.name} stays reviewed."
        else:
            again = f" It will be the tool {view.again} again." if view.again else ""
            deed = f"Approve the script {kept.name}?{again}"
        return f"{deed}\n{facts(view)}"

    def approve(self, script: str, digest: str) -> ScriptReviewed:
        """Approve a script's text; asked for by a person at a terminal who was shown that text.

        Args:
            digest: That of the text that was shown.

        Raises:
            ConflictError: The text is another one by now.
        """
        kept = self._agreed(script)
        if kept.text.digest != digest:
            raise ConflictError("Another text was agreed to; nothing was approved.", hint="Look at it again.")
        with self._writing() as session:
            if kept.standing.of(kept.text.digest) in ("draft", "retired"):
                self._keep(session, kept.text, rows.APPROVED)
            return self._stands(session, kept, kept.standing.approved(kept.text.digest))

    def approve_question(self, script: str, digest: str) -> str:
        """Return what the person is asked before a text is approved; refused if it is not the one that was shown."""
        kept = self._show(script)
        if kept.text.digest != digest:
            raise ConflictError(
                f"The script {kept.name} was changed since it was shown; nothing was approved.",
                hint=f"Look at it again: panorama scripts review {kept.name}.",
            )
        signature = kept.text.signature
        if not signature.summary:
            raise InvalidInputError(
                f"The script {kept.name} does not say what it does.", hint="Begin it with a docstring."
            )
        return f"Approve the script {kept.name}? Its text has the digest {digest}."

    def rollback(self, script: str, version: int | None = None) -> ScriptReviewed:
        """Put a text back that was approved before; it is reviewed then, and no tool.

        Args:
            version: Its number, as history tells it; else the one before the last.
        """
        del version  # it was looked up for the question
        kept = self._agreed(script)
        with self._writing() as session:
            self._library.shelf.put(kept.name, kept.text.content)
            self._keep(session, kept.text, rows.APPROVED)
            return self._stands(session, kept, Standing(state="reviewed", digest=kept.text.digest))

    def rollback_question(self, script: str, version: int | None = None) -> str:
        """Return what the person is asked before an earlier text is put back."""
        name = checked_name(script.strip())
        with self._reading() as session:
            wanted = version
            if wanted is None:
                approved = sum(each.verdict == rows.APPROVED for each in rows.reviewed(session, name))
                wanted = approved - 1 if approved > 1 else 1
            found = self._library.version(session, name, wanted)
            standing = rows.standing(session, name) or DRAFT
        text = Text(name=name, content=found.text.encode(), digest=found.digest)
        _SHOWN.set(Kept(text=text, state="reviewed", standing=standing, is_ours=False))
        old = self._library.shelf.read(name)
        gone = "" if old is None or old.digest == found.digest else " The text that is there now is overwritten."
        return f"Put version {wanted} of the script {name} back (digest {found.digest})?{gone}"

    # What needs no question.

    def reject(self, script: str, digest: str) -> ScriptReviewed:
        """Keep that a person does not want a text; an assistant cannot propose it again."""
        kept = self._library.kept(script)
        if kept.text.digest != digest:
            raise ConflictError(
                f"The script {kept.name} was changed since it was shown; nothing was decided.", hint="Look at it again."
            )
        with self._writing() as session:
            self._keep(session, kept.text, rows.REJECTED)
            demoted = Standing(read_only=False)
            return self._stands(session, kept, demoted if kept.state != "draft" else kept.standing)

    # How.

    def _show(self, script: str) -> Kept:
        kept = self._library.kept(script)
        _SHOWN.set(kept)
        return kept

    def _agreed(self, script: str) -> Kept:
        """Return the script that was in the question; it is asked in the same call, just before."""
        kept = _SHOWN.get()
        _SHOWN.set(None)
        if kept is None or kept.name != script.strip().removeprefix("script_"):
            raise ConflictError("Nobody was asked; nothing was changed.", hint="A person decides on scripts.")
        return kept

    def _moved(self, session: Session, kept: Kept, to: Step, read_only: bool) -> Standing:
        """Return how a script would stand.

        Raises:
            ConflictError: It cannot.
            InvalidInputError: Its text cannot be approved.
        """
        digest, standing = kept.text.digest, rows.standing(session, kept.name) or DRAFT
        if to == "retired":
            return standing.retired(digest)
        self._check(session, kept)
        if to == "reviewed":
            if kept.state == "promoted":
                return standing.demoted(digest)
            if kept.state == "reviewed":
                raise ConflictError("It is reviewed already.", hint="to=promoted makes it a tool.")
            return standing.approved(digest)
        new = standing.promoted(digest, read_only)
        # Also those whose text was changed: they are tools again when their old text comes back.
        others = [name for name in rows.promoted(session) if name != kept.name and self._library.shelf.holds(name)]
        if len(others) >= MOST_PROMOTED:
            raise ConflictError(
                f"There are {MOST_PROMOTED} tools of scripts already: {', '.join(others)}.",
                hint="Take one away that is used least (to=reviewed, or to=retired if its text was changed); "
                "run_script runs every script.",
            )
        if clash := [each.name for each in kept.text.signature.parameters if each.name in OF_THE_TOOL]:
            raise InvalidInputError(f"Its parameter {clash[0]} is one that each tool has.", hint="Rename it.")
        return new

    def _check(self, session: Session, kept: Kept) -> None:
        if not kept.text.signature.summary:
            raise InvalidInputError(
                f"The script {kept.name} does not say what it does.", hint="Begin it with a docstring of one sentence."
            )
        decided = next((each for each in rows.reviewed(session, kept.name) if each.digest == kept.text.digest), None)
        if decided and decided.verdict == rows.REJECTED and kept.state == "draft":
            raise ConflictError(
                f"The person rejected this text of {kept.name} on {decided.at:%Y-%m-%d}.",
                hint=f"Change it first; they can look again with `panorama scripts review {kept.name}`.",
            )

    def _keep(self, session: Session, text: Text, verdict: str) -> None:
        origin = session.origin
        rows.review(
            session,
            rows.Review(
                name=text.name, at=self._now(), verdict=verdict, digest=text.digest, text=text.source,
                door=origin.actor if origin else "", client=origin.client if origin else "",
            ),
        )  # fmt: skip

    def _stands(self, session: Session, kept: Kept, new: Standing) -> ScriptReviewed:
        rows.stand(session, kept.name, new, self._now())
        session.later.append(self._library.changed)
        state = new.of(kept.text.digest)
        return ScriptReviewed(
            name=kept.name, state=state, tool=f"script_{kept.name}" if state == "promoted" else "",
            read_only=new.read_only, digest=kept.text.digest,
        )  # fmt: skip


def facts(view: ScriptView) -> str:
    """Return what a person should know of a script: what it says is quoted, what it does was found out."""
    last_line = view.text.count("\n") + 1
    did = [f"{name} ({changes(count)})" if count else name for name, count in view.did.items()]
    lines = [
        f"It says of itself: “{view.summary}”",
        f"Its arguments: {view.parameters or 'none'}",
        f"By its text it reads: {_listed(view.reads)}",
        f"By its text it writes: {_listed(view.writes)}",
        *([f"It runs other scripts: {_listed(view.scripts)}"] if view.scripts else []),
        *(["Its text uses the SDK in ways that cannot be told from the text alone."] if view.unclear else []),
        f"Its last runs called: {_listed(tuple(did))}",
        *(f"The sandbox would refuse: {each}" for each in view.findings),
        f"Its text: {last_line} lines, sha256 {view.digest}",
    ]
    return visible("\n".join(lines))


def changes(count: int) -> str:
    """Return how much was changed, in words."""
    return f"{count:,} change{'' if count == 1 else 's'}"


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more if names else "nothing"
