"""Decides which calls of sources a script may make, and what the user is asked before."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

from panorama.domain.changes import Origin
from panorama.domain.scripts.source_calls import ScriptCalls, find_source_calls
from panorama.domain.sources.functions import Reach, SourceFunction
from panorama.domain.sources.policy import Decision, decide, decide_by_default, list_rules
from panorama.domain.sources.stubs import format_description
from panorama.errors import ConflictError, PanoramaError
from panorama.services.base import ServiceContext
from panorama.services.sources.functions import KnownSource, SourceFunctions
from panorama.services.sources.questions import (
    NeededGrant,
    declined_error,
    format_call_question,
    refused_error,
    too_many_error,
)
from panorama.services.sources.scope import SourceScope
from panorama.sources.config import SourceConfig
from panorama.sources.source import Deadline
from panorama.store.backend import Session
from panorama.store.log import source_grants as rows

CONVERSATION, SCRIPT = "conversation:", "script:"
GRANT_AGE = timedelta(days=1)
"""How long a conversation's grants are kept."""

READ_SECONDS = 10.0
MAX_QUESTIONS = 8
"""How often a run asks; clients of 2026-07-28 give up after ten rounds of questions to one call."""

_ORIGIN = Origin(actor="sources", client="", conversation="", operation="", call="", unit="")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedFunction:
    """A function that scripts call without a question, as its source described it when the user allowed it."""

    name: str
    reads_only: bool
    reach: Reach
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedFunctions:
    """The functions that a rule allows."""

    functions: tuple[AllowedFunction, ...] = ()

    def summarize(self) -> str:
        """Return a one-line summary."""
        count = len(self.functions)
        return f"{count} {'function is' if count == 1 else 'functions are'} allowed"


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
        lasting = [need.key for need in needed if not need.is_for_one_call]
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

    def renew(self, source: str, functions: str = "*") -> AllowedFunctions:
        """Accept the present definitions of a source's functions for its rules, and return these functions.

        This is for the command that writes the rules and shows the functions to the user.

        Args:
            functions: A pattern of function names; others keep what was allowed.
        """
        with suppress(PanoramaError):  # then they are as they were last read
            self._functions.read(source, Deadline.after(READ_SECONDS))
        known = next((known for known in self._functions.list_known() if known.config.name == source), None)
        if known is None:
            return AllowedFunctions()
        with self._context.database.transaction(_ORIGIN) as session:
            allowed = tie_rules(session, known, functions, self._context.now())
        return AllowedFunctions(functions=tuple(map(_to_allowed, allowed)))

    def check(
        self, scope: SourceScope, config: SourceConfig, function: SourceFunction, arguments: Mapping[str, Any]
    ) -> None:
        """Check that a script may make a call now; ask the user if they are there.

        Raises:
            ConflictError: It may not; the hint says what the user can do.
        """
        name, decision = f"{config.name}.{function.name}", decide(function, list_rules(config.policy))
        if decision == "deny":
            raise ConflictError(f"The user denied calls of {name}.", hint="Do it without this call.")
        sends_private = _may_send(function) and bool(scope.ledger.private - {config.name})
        need = NeededGrant(name, function, sends_private)
        if self._is_allowed(need, decision, scope.conversation, scope.digest) or need.key in scope.ledger.granted:
            return
        with scope.ledger.asking:
            if not self._is_allowed(need, decision, scope.conversation, scope.digest):  # no other call was agreed to
                self._ask(scope, need, decision, arguments)

    def _ask(self, scope: SourceScope, need: NeededGrant, decision: Decision, arguments: Mapping[str, Any]) -> None:
        """Ask the user for a call while the script waits.

        Raises:
            ConflictError: They do not agree, or cannot be asked.
        """
        ledger = scope.ledger
        if need.key in ledger.declined:
            raise declined_error(need.name)
        refusal = refused_error(need, is_by_rule=decision == "allow", is_at_terminal=scope.is_at_terminal)
        if scope.ask is None:
            raise refusal
        if ledger.questions == MAX_QUESTIONS:
            raise too_many_error(need.name, MAX_QUESTIONS)
        ledger.questions += 1
        with scope.time.pause():
            is_agreed = scope.ask(format_call_question(need, arguments), lambda: scope.time.is_ended)
        if is_agreed is None:
            raise refusal
        if not is_agreed:
            ledger.declined.add(need.key)
            raise declined_error(need.name)
        self.grant([need], scope.conversation)

    def _is_allowed(self, need: NeededGrant, decision: Decision, conversation: str, digest: str) -> bool:
        """Return whether a call needs no question: by default, or by a grant for the present definition."""
        if not need.sends_private and decision == "allow" and decide_by_default(need.function) == "allow":
            return True
        name, current = need.key
        scopes = f"{SCRIPT}{digest}", f"{CONVERSATION}{conversation}", rows.LASTING
        with self._context.database.reading() as session:
            grants = rows.list_grants(session, scopes)
        if digest and grants.get((scopes[0], name)) == current:
            return True
        if need.sends_private:
            return False
        is_lasting = decision == "allow" and grants.get((rows.LASTING, name)) == current
        return is_lasting or (bool(conversation) and grants.get((scopes[1], name)) == current)

    def _find_need(self, name: str, calls: ScriptCalls, conversation: str, digest: str) -> NeededGrant | None:
        function = self._find_known(name)
        config = next((config for config in self._functions.list_configs() if name.startswith(f"{config.name}.")), None)
        if function is None or config is None:
            return None  # the call says what is wrong
        decision = decide(function, list_rules(config.policy))
        others = {other for other in calls.functions if not other.startswith(f"{config.name}.")}
        sends_private = _may_send(function) and (calls.reads_items or any(map(self._reads_account, others)))
        need = NeededGrant(name, function, sends_private, calls.show_calls(name))
        return None if decision == "deny" or self._is_allowed(need, decision, conversation, digest) else need

    def _reads_account(self, name: str) -> bool:
        function = self._find_known(name)
        return function is None or function.reach in ("here", "own")

    def _find_known(self, name: str) -> SourceFunction | None:
        """Return a function as it was last read."""
        source, _, function = name.partition(".")
        known = {entry.config.name: entry.functions for entry in self._functions.list_known()}
        return known.get(source, {}).get(function)


def tie_rules(session: Session, known: KnownSource, pattern: str, at: datetime) -> list[SourceFunction]:
    """Let the rules of a source hold for the functions of a pattern as they are known, and return those they allow."""
    rules = list_rules(known.config.policy)
    allowed = [
        function
        for name, function in known.functions.items()
        if fnmatchcase(name, pattern) and decide(function, rules) == "allow"
    ]
    grants = [(f"{known.config.name}.{function.name}", function.digest) for function in allowed]
    rows.add_grants(session, rows.LASTING, grants, at)
    return allowed


def _may_send(function: SourceFunction) -> bool:
    return function.reach in ("others", "anywhere")


def _to_allowed(function: SourceFunction) -> AllowedFunction:
    return AllowedFunction(
        name=function.name, reads_only=function.reads_only, reach=function.reach,
        description=format_description(function),
    )  # fmt: skip
