"""Decides which calls of sources a script may make, and asks the user before it runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from panorama.domain.changes import Origin
from panorama.domain.scripts.source_calls import ScriptCalls, find_source_calls
from panorama.domain.sources.functions import SourceFunction
from panorama.domain.sources.policy import Decision, decide, decide_by_default, list_rules
from panorama.domain.sources.stubs import describe_effect
from panorama.domain.text.visible_text import escape_controls
from panorama.errors import ConflictError
from panorama.services.base import ServiceContext
from panorama.services.sources.functions import SourceFunctions
from panorama.services.sources.scope import SourceScope
from panorama.sources.config import SourceConfig
from panorama.sources.source import Deadline
from panorama.store.backend import Session
from panorama.store.log import source_grants as rows

CONVERSATION, SCRIPT = "conversation:", "script:"
GRANT_AGE = timedelta(days=1)
"""How long a conversation's grants are kept."""

READ_SECONDS = 10.0
MAX_ASKED = 12
_ORIGIN = Origin(actor="sources", client="", conversation="", operation="", call="", unit="")


@dataclass(frozen=True, slots=True)
class NeededGrant:
    """A function that a script calls and the user has to agree to; `sends_private` means that it may send items."""

    name: str
    function: SourceFunction
    sends_private: bool
    calls: Sequence[str]

    @property
    def key(self) -> tuple[str, str]:
        """The function and its definition."""
        return self.name, self.function.digest


class SourcePermissions:
    """Knows what the user allowed. Thread-safe."""

    def __init__(self, context: ServiceContext, functions: SourceFunctions) -> None:
        self._context = context
        self._functions = functions

    def list_needed(
        self, text: str, conversation: str, *, digest: str = "", dry_run: bool = False
    ) -> list[NeededGrant]:
        """Return what a text shows that the user has to agree to before it runs; nothing if there are no sources.

        Args:
            digest: That of a reviewed text, which may have grants of its own.
            dry_run: Only calls that read are made.
        """
        sources = self._functions.names
        calls = find_source_calls(text, sources) if sources else None
        if calls is None or not calls.functions:
            return []
        if self._context.database.writer() is None:  # a server starts, and no other client may wait for it
            for source in dict.fromkeys(name.partition(".")[0] for name in calls.functions):
                self._functions.read_once(source, Deadline.after(READ_SECONDS))
        return [
            needed
            for name in calls.functions
            if (needed := self._find_need(name, calls, conversation, digest)) is not None
            and (needed.function.reads_only or not dry_run)
        ]

    def grant(self, needed: Sequence[NeededGrant], conversation: str) -> None:
        """Remember for a conversation what the user agreed to, except for what is asked each time."""
        lasting = [need.key for need in needed if need.function.reach != "anywhere" and not need.sends_private]
        if lasting and conversation:
            now = self._context.now()
            with self._context.database.transaction(_ORIGIN) as session:
                rows.delete_before(session, CONVERSATION, now - GRANT_AGE)
                rows.add_grants(session, f"{CONVERSATION}{conversation}", lasting, now)

    def grant_script(self, session: Session, digest: str, text: str, *, is_approved: bool) -> None:
        """Remember with a review that this very text may make the calls that it shows; forget it with its approval."""
        rows.delete_scope(session, f"{SCRIPT}{digest}")
        sources = self._functions.names if is_approved else ()
        calls = find_source_calls(text, sources) if sources else None
        if calls is not None:
            keys = [(name, function.digest) for name in calls.functions if (function := self._find_known(name))]
            rows.add_grants(session, f"{SCRIPT}{digest}", keys, self._context.now())

    def renew(self, source: str) -> str:
        """Let the rules of a source hold for its functions as they are now; for the command that writes the rules."""
        with self._context.database.transaction(_ORIGIN) as session:
            rows.delete_source(session, rows.LASTING, source)
        return source

    def check(self, scope: SourceScope, config: SourceConfig, function: SourceFunction) -> None:
        """Check that a script may make a call now.

        Raises:
            ConflictError: It may not; the hint says what the user can do.
        """
        name, decision = f"{config.name}.{function.name}", decide(function, list_rules(config.policy))
        if decision == "deny":
            raise ConflictError(f"The user denied calls of {name}.", hint="Do it without this call.")
        sends_private = _may_send(function) and bool(scope.ledger.private - {config.name})
        if decision == "allow" and not sends_private and not _is_by_rule(function, decision):
            return
        key = (name, function.digest)
        if key in scope.ledger.granted or self._is_granted(key, scope, decision, sends_private=sends_private):
            return
        raise self._refusal(name, function, decision, sends_private=sends_private)

    def _is_granted(self, key: tuple[str, str], scope: SourceScope, decision: Decision, *, sends_private: bool) -> bool:
        """Return whether a grant is stored; the first call under a rule ties the rule to the definition."""
        name, digest = key
        conversation, script = f"{CONVERSATION}{scope.conversation}", f"{SCRIPT}{scope.digest}"
        with self._context.database.reading() as session:
            grants = rows.list_grants(session, [conversation, script, rows.LASTING])
        if scope.digest and grants.get((script, name)) == digest:
            return True
        if sends_private:
            return False
        if decision == "allow":
            if (rows.LASTING, name) not in grants:
                with self._context.database.transaction(_ORIGIN) as session:
                    rows.add_grants(session, rows.LASTING, [key], self._context.now())
                return True
            return grants[rows.LASTING, name] == digest
        return bool(scope.conversation) and grants.get((conversation, name)) == digest

    def _refusal(
        self, name: str, function: SourceFunction, decision: Decision, *, sends_private: bool
    ) -> ConflictError:
        not_made = "The call was not made."
        if sends_private:
            return ConflictError(
                f"The script read private data, and {name} {describe_effect(function)}. {not_made}",
                hint=f"Write the call out as sdk.{name}(…), so that the user is asked before the run. Where they "
                "cannot be asked, save the script and let them review it with `panorama scripts review`.",
            )
        if decision == "allow":
            return ConflictError(
                f"The source changed what it says of {name} since the user allowed it. {not_made}",
                hint=f"Ask the user to look at it and to run `panorama sources allow {name}`.",
            )
        return ConflictError(
            f"The user has not allowed {name}, which {describe_effect(function)}. {not_made}",
            hint=f"Ask the user to run `panorama sources allow {name}`.",
        )

    def _find_need(self, name: str, calls: ScriptCalls, conversation: str, digest: str) -> NeededGrant | None:
        function = self._find_known(name)
        config = next((config for config in self._functions.list_configs() if name.startswith(f"{config.name}.")), None)
        if function is None or config is None:
            return None  # the call says what is wrong
        decision = decide(function, list_rules(config.policy))
        others = {other for other in calls.functions if not other.startswith(f"{config.name}.")}
        sends_private = _may_send(function) and (calls.reads_items or any(map(self._reads_account, others)))
        if decision == "deny" or (decision == "allow" and not sends_private and not _is_by_rule(function, decision)):
            return None
        with self._context.database.reading() as session:
            grants = rows.list_grants(session, [f"{CONVERSATION}{conversation}", f"{SCRIPT}{digest}", rows.LASTING])
        current = function.digest
        is_reviewed = bool(digest) and grants.get((f"{SCRIPT}{digest}", name)) == current
        is_allowed = decision == "allow" and grants.get((rows.LASTING, name), current) == current
        is_granted = decision == "ask" and grants.get((f"{CONVERSATION}{conversation}", name)) == current
        if is_reviewed or (not sends_private and (is_allowed or is_granted)):
            return None
        return NeededGrant(name, function, sends_private, calls.show_calls(name))

    def _reads_account(self, name: str) -> bool:
        function = self._find_known(name)
        return function is None or function.reach in ("here", "own")

    def _find_known(self, name: str) -> SourceFunction | None:
        """Return a function as it was last read."""
        source, _, function = name.partition(".")
        known = {entry.config.name: entry.functions for entry in self._functions.list_known()}
        return known.get(source, {}).get(function)


def format_source_question(needed: Sequence[NeededGrant]) -> str:
    """Return the question before a script runs: which functions it calls, who can see what, and what is sent."""
    lines = ["Let this script call sources?"]
    for need in needed[:MAX_ASKED]:
        private = "; it may send what the script reads of your data" if need.sends_private else ""
        lines += [f"{need.name}: {describe_effect(need.function)}{private}", *(f"  {call}" for call in need.calls)]
    if len(needed) > MAX_ASKED:
        lines.append(f"and {len(needed) - MAX_ASKED} more")
    return escape_controls("\n".join(lines))


def format_approval_hint(needed: Sequence[NeededGrant]) -> str:
    """Return what the user can do where they cannot be asked."""
    if private := [need.name for need in needed if need.sends_private]:
        return (
            f"The script reads private data and may send it by {', '.join(private)}. Save it with save_script and let "
            "the user review it with `panorama scripts review`; confirm does not count here."
        )
    commands = ", ".join(f"`panorama sources allow {need.name}`" for need in needed[:MAX_ASKED])
    return f"Ask the user to run {commands} in a terminal; confirm does not count here."


def _may_send(function: SourceFunction) -> bool:
    return function.reach in ("others", "anywhere")


def _is_by_rule(function: SourceFunction, decision: Decision) -> bool:
    """Return whether only a rule of the user allows a function."""
    return decision == "allow" and decide_by_default(function) != "allow"
