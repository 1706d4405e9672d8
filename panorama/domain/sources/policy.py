"""Decides whether a function of a source may be called. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from panorama.domain.sources.functions import SourceFunction

Decision = Literal["allow", "ask", "deny"]
DECISIONS: tuple[Decision, ...] = ("allow", "ask", "deny")
Rule = tuple[str, Decision]
"""A pattern of function names, such as `delete_*`, and what the user decided for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePolicy:
    """Patterns of function names, such as `add_lead` or `delete_*`, by what the user decided."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


_STRICTEST_FIRST: tuple[Decision, ...] = ("deny", "ask", "allow")


def decide(function: SourceFunction, rules: Sequence[Rule]) -> Decision:
    """Return the decision of the user's rules on a function: the longest pattern wins, deny before ask before allow."""
    matching = [rule for rule in rules if fnmatchcase(function.name, rule[0])]
    if not matching:
        return decide_by_default(function)
    return min(matching, key=lambda rule: (-len(rule[0]), _STRICTEST_FIRST.index(rule[1])))[1]


def decide_by_default(function: SourceFunction) -> Decision:
    """Return the decision on a function without a rule of the user.

    A script can always reach what the user stores and what strangers wrote, so what counts is who can see what a call
    sends. A reading call in the user's own account sends nothing to others; an address carries what is sent.
    """
    reads = function.reads_only and function.hint_origin == "declared"
    return "allow" if reads and function.reach in ("here", "own") else "ask"


def list_rules(policy: SourcePolicy) -> list[Rule]:
    """Return the rules of a source."""
    return [
        *((pattern, "deny") for pattern in policy.deny),
        *((pattern, "ask") for pattern in policy.ask),
        *((pattern, "allow") for pattern in policy.allow),
    ]
