"""Shows the user what scripts may call of their sources, and changes it for them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from panorama.domain.changes import PERSON_ACTORS
from panorama.domain.sources.functions import Reach, SourceFunction
from panorama.domain.sources.policy import Decision, decide, list_rules
from panorama.domain.text.visible_text import drop_controls
from panorama.errors import ConflictError, PanoramaError
from panorama.services.base import Service, ServiceContext
from panorama.services.sources.functions import SourceFunctions
from panorama.services.sources.permissions import CONVERSATION, SCRIPT, tie_rules
from panorama.sources.config import SourceConfig, load_sources
from panorama.sources.descriptions import ABOUT_CHARS, describe_source, format_place
from panorama.sources.sources_file import edit_entries, parse_pattern, set_rule
from panorama.store.backend import Session
from panorama.store.log import source_grants

SourceState = Literal["ready", "unread", "disabled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPolicy:
    """A function of a source and what happens when a script calls it.

    `is_by_rule` says that a rule of the user decides, `rule` is the one for this very function, "" if there is none.
    `conversations` and `scripts` count those that may call it because the user agreed.
    """

    name: str
    description: str
    decision: Decision
    is_by_rule: bool
    rule: Decision | Literal[""]
    reads_only: bool
    destructive: bool
    reach: Reach
    conversations: int
    scripts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePolicyView:
    """A source with its rules and functions; `place` is its command, address or folder, without secrets."""

    name: str
    kind: str
    place: str
    state: SourceState
    local: bool
    rules: Mapping[str, Decision]
    functions: tuple[FunctionPolicy, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePolicyList:
    """All configured sources; `problem` says why the configuration cannot be used, "" if it can."""

    sources: tuple[SourcePolicyView, ...]
    problem: str = ""

    def summarize(self) -> str:
        """Return a one-line summary."""
        return self.problem or f"{len(self.sources)} sources"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRule:
    """A rule as it is now."""

    source: str
    pattern: str
    decision: str

    def summarize(self) -> str:
        """Return a one-line summary."""
        return f"{self.source}.{self.pattern}: {self.decision}"


class SourcePolicies(Service):
    """The rules and grants of sources. Only the user sees and changes them."""

    def __init__(self, context: ServiceContext, functions: SourceFunctions) -> None:
        super().__init__(context)
        self._functions = functions

    def describe(self) -> SourcePolicyList:
        """Show all sources with their rules, functions and grants, as last read; no source is started."""
        try:
            configs = load_sources(self._context.home)
            known = {entry.config.name: entry.functions for entry in self._functions.list_known()}
        except PanoramaError as error:
            return SourcePolicyList(sources=(), problem=f"{error.message} {error.hint}")
        with self._reading() as session:
            granted = source_grants.list_granted(session, [CONVERSATION, SCRIPT])
        grants = Counter(
            (function, CONVERSATION if scope.startswith(CONVERSATION) else SCRIPT) for scope, function in granted
        )
        return SourcePolicyList(
            sources=tuple(_to_view(config, list(known.get(config.name, {}).values()), grants) for config in configs)
        )

    def decide(self, pattern: str, decision: Decision | Literal["default"]) -> SourceRule:
        """Write a rule for functions of a source, which allows them as last read; `default` removes it.

        Args:
            pattern: SOURCE.FUNCTION, where * stands for any letters.

        Raises:
            ConflictError: The caller is not the user.
            InvalidInputError: It is not a valid pattern.
            NotFoundError: There is no such source.
        """
        source, functions = parse_pattern(pattern)
        with self._writing() as session:
            _require_person(session)
            with edit_entries(self._context.home) as entries:
                set_rule(entries, source, functions, None if decision == "default" else decision)
            for known in self._functions.list_known() if decision == "allow" else ():
                if known.config.name == source:
                    tie_rules(session, known, functions, self._context.now())
        return SourceRule(source=source, pattern=functions, decision=decision)

    def revoke(self, source: str) -> SourceRule:
        """Revoke what the user agreed to in conversations for a source; approved scripts keep their grants.

        Raises:
            ConflictError: The caller is not the user.
        """
        with self._writing() as session:
            _require_person(session)
            source_grants.delete_grants(session, CONVERSATION, source)
        return SourceRule(source=source, pattern="*", decision="revoked")


def _to_view(
    config: SourceConfig, functions: Sequence[SourceFunction], grants: Mapping[tuple[str, str], int]
) -> SourcePolicyView:
    return SourcePolicyView(
        name=config.name, kind=config.kind, place=format_place(describe_source(config)), local=config.local,
        state="disabled" if config.disabled else "ready" if functions else "unread",
        rules=dict(list_rules(config.policy)),
        functions=tuple(_to_policy(config, function, grants) for function in functions),
    )  # fmt: skip


def _to_policy(config: SourceConfig, function: SourceFunction, grants: Mapping[tuple[str, str], int]) -> FunctionPolicy:
    rules, name = list_rules(config.policy), f"{config.name}.{function.name}"
    return FunctionPolicy(
        name=function.name, description=drop_controls(function.description)[:ABOUT_CHARS],
        decision=decide(function, rules), is_by_rule=any(fnmatchcase(function.name, pattern) for pattern, _ in rules),
        rule=dict(rules).get(function.name, ""), reads_only=function.reads_only, destructive=function.destructive,
        reach=function.reach, conversations=grants.get((name, CONVERSATION), 0), scripts=grants.get((name, SCRIPT), 0),
    )  # fmt: skip


def _require_person(session: Session) -> None:
    if session.origin is None or session.origin.actor not in PERSON_ACTORS:
        raise ConflictError(
            "Only the user decides what sources may do.", hint="Tell them to open Sources with `panorama open sources`."
        )
