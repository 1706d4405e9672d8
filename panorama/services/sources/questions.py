"""Questions to the user about source calls, before a script runs and while it waits, and the errors without a yes."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from panorama.domain.sources.functions import SourceFunction
from panorama.domain.sources.stubs import describe_effect
from panorama.domain.text.visible_text import escape_controls
from panorama.errors import ConflictError

AskUser = Callable[[str, Callable[[], bool]], bool | None]
"""Asks a question and waits for the answer: None if the user cannot be asked or does not answer.

The second argument returns True when the answer is no longer needed.
"""

ASK_USER: ContextVar[AskUser | None] = ContextVar("ask_user", default=None)
"""Asks the user of the client that made the running call; None where no user can be asked, as in jobs."""

MAX_ASKED = 12
MAX_SHOWN_ARGUMENTS = 20
MAX_VALUE_CHARS = 400


@dataclass(frozen=True, slots=True)
class NeededGrant:
    """A function that a script calls and the user has to agree to; `sends_private` means that it may send items."""

    name: str
    function: SourceFunction
    sends_private: bool
    calls: Sequence[str] = ()

    @property
    def key(self) -> tuple[str, str]:
        """The function and its definition."""
        return self.name, self.function.digest

    @property
    def is_for_one_call(self) -> bool:
        """Whether a yes counts once: the arguments decide who receives something, or may hold private data."""
        return self.sends_private or self.function.reach == "anywhere"


def format_source_question(needed: Sequence[NeededGrant]) -> str:
    """Return the question before a script runs: the functions it calls, who can see which data, and the arguments."""
    lines = ["Let this script call sources?"]
    for need in needed[:MAX_ASKED]:
        private = "; it may send what the script reads of your data" if need.sends_private else ""
        lines += [f"{need.name}: {describe_effect(need.function)}{private}", *(f"  {call}" for call in need.calls)]
    if len(needed) > MAX_ASKED:
        lines.append(f"and {len(needed) - MAX_ASKED} more")
    return escape_controls("\n".join(lines))


def format_call_question(need: NeededGrant, arguments: Mapping[str, Any]) -> str:
    """Return the question while a script waits: the effect and the arguments of the call."""
    private = ", and the script has read your data" if need.sends_private else ""
    lasts = "this call" if need.is_for_one_call else "such calls in this conversation"
    lines = [f"Let a script call {need.name}? It {describe_effect(need.function)}{private}.", "It sends:"]
    lines += [f"  {name}: {_show_value(value)}" for name, value in list(arguments.items())[:MAX_SHOWN_ARGUMENTS]]
    if len(arguments) > MAX_SHOWN_ARGUMENTS:
        lines.append(f"  and {len(arguments) - MAX_SHOWN_ARGUMENTS} more arguments")
    return escape_controls("\n".join([*(lines if arguments else lines[:1]), f"A yes applies to {lasts}."]))


def format_approval_hint(needed: Sequence[NeededGrant]) -> str:
    """Return the hint for a client that cannot ask the user."""
    if private := [need.name for need in needed if need.sends_private]:
        return (
            f"The script reads private data and may send it by {', '.join(private)}. Save it with save_script and let "
            "the user review it with `panorama scripts review`; confirm does not count here."
        )
    commands = ", ".join(f"`panorama sources allow {need.name}`" for need in needed[:MAX_ASKED])
    return f"Ask the user to run {commands} in a terminal; confirm does not count here."


def declined_error(name: str) -> ConflictError:
    """Return the error after the user did not agree to a call."""
    return ConflictError(
        f"The user was asked and did not agree to {name}. The call was not made.",
        hint="Do it without this call, and do not repeat it unless they ask for it.",
    )


def refused_error(need: NeededGrant, *, is_by_rule: bool, is_at_terminal: bool) -> ConflictError:
    """Return the error for a call that no user could approve.

    Args:
        is_by_rule: A rule allows the function, but not its present definition.
        is_at_terminal: The user reads the error.
    """
    name, effect, not_made = need.name, describe_effect(need.function), "The call was not made."
    command = f"`panorama sources allow {name}`"
    if need.sends_private:
        seen = f"Write the call out as sdk.{name}(…), so that"
        return ConflictError(
            f"The script read private data, and {name} {effect}. {not_made}",
            hint=f"{seen} the script shows it: what you run at a terminal may make the calls in its text."
            if is_at_terminal
            else f"{seen} the user is asked before the run. Where they cannot be asked, save the script and let them "
            "review it with `panorama scripts review`.",
        )
    if is_by_rule:
        who = "you" if is_at_terminal else "the user"
        return ConflictError(
            f"{name} is not as it was when {who} allowed it, or {who} never saw it. {not_made}",
            hint=f"Run {command}, which shows it." if is_at_terminal else f"Ask the user to look at it: {command}.",
        )
    who = "You have" if is_at_terminal else "The user has"
    return ConflictError(
        f"{who} not allowed {name}, which {effect}. {not_made}",
        hint=f"Run {command}." if is_at_terminal else f"Ask the user to run {command}.",
    )


def too_many_error(name: str, count: int) -> ConflictError:
    """Return the error for a call after a run has asked enough."""
    return ConflictError(
        f"This run has asked the user {count} questions; {name} was not called.",
        hint=f"Write the calls out as sdk.{name}(…), so that the user is asked once, before the run.",
    )


def _show_value(value: Any) -> str:
    """Return a value in one line; of a long one the beginning and its length."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = " ".join(text.split())
    if len(line) <= MAX_VALUE_CHARS:
        return line
    return f"{line[:MAX_VALUE_CHARS]}… ({len(text):,} characters)"
