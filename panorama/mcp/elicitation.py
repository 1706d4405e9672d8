"""Confirmation: shows an operation's question to the user, in either protocol era, if their client can show it.

Until 2025-11-25 the server asks while the call waits. Since 2026-07-28 the call ends with what has to be asked, and the
client repeats it with the answer and with our state, which the SDK seals.
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any, Self

import anyio
from fastmcp import Context
from fastmcp.server.dependencies import get_context
from fastmcp.tools import InputRequiredToolResult, ToolResult
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from panorama.calls.agreements import ANSWER_SECONDS
from panorama.errors import ConfirmationError, DeclinedError

READING_SECONDS = 1.0
"""How long a person takes at least to read a question: a refusal that comes sooner is the client's own."""

MAX_QUESTIONS = 3
"""How often one call asks again because what it would do has changed in the meantime."""

ToolCall = Callable[[str], Awaitable[ToolResult]]
"""Makes the call; takes the agreement that the user gave to it, "" if none."""

_ANSWER = "confirmation"
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"value": {"type": "boolean", "title": "Yes, do it", "default": True}},
    "required": ["value"],
}
"""Only `true` in this box is a yes; an accepted form that holds anything else is none."""

_log = logging.getLogger(__name__)


async def call_with_confirmation(call: ToolCall) -> ToolResult:
    """Make a call, asking the user first if they have to agree; they agree to exactly what was shown.

    Raises:
        ConfirmationError: Their client cannot show the question, or failed to.
        DeclinedError: They did not agree.
    """
    context = get_context()
    if context.request_context and context.request_context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return await _call_or_request_input(context, call)
    return await _call_and_elicit(context, call)


async def _call_or_request_input(context: Context, call: ToolCall) -> ToolResult:
    """Make the call with the answer that was sent along, or end with the open question."""
    answer = (context.input_responses or {}).get(_ANSWER)
    asked = _Question.from_state(context.request_state) if context.request_state else None
    agreed = asked.get_agreement(answer, time.time()) if asked and isinstance(answer, ElicitResult) else ""
    try:
        return await call(agreed)
    except ConfirmationError as error:
        if not _can_ask(context, error):
            raise
        form = ElicitRequestFormParams(message=error.question, requested_schema=_FORM)
        asking = InputRequiredResult(
            input_requests={_ANSWER: ElicitRequest(params=form)}, request_state=_Question.of(error).to_state()
        )
        return InputRequiredToolResult(asking)


async def _call_and_elicit(context: Context, call: ToolCall) -> ToolResult:
    """Make the call, ask while it waits, then make it again."""
    agreed = ""
    for _ in range(MAX_QUESTIONS):
        try:
            return await call(agreed)
        except ConfirmationError as error:
            if not _can_ask(context, error):
                raise
            agreed = await _elicit(context, error)
    return await call(agreed)


async def _elicit(context: Context, error: ConfirmationError) -> str:
    asked = _Question.of(error)
    try:
        with anyio.fail_after(ANSWER_SECONDS):
            answer = await context.session.elicit(error.question, _FORM, context.request_id)
    except Exception as failure:  # of the client: the question can still be asked in the chat
        _log.info("the client could not put a question: %s", failure)
        raise error from failure
    return asked.get_agreement(answer, time.time())


def _can_ask(context: Context, error: ConfirmationError) -> bool:
    """Return whether a question can be shown; a client that names no mode means forms."""
    declared = context.session.client_capabilities
    ways = declared.elicitation if declared else None
    return bool(error.question) and ways is not None and (ways.form is not None or ways.url is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question that was asked: what a yes agrees to, when it was asked, and the terminal command to use instead."""

    agreement: str
    asked_at: float
    text: str
    command: str

    @classmethod
    def of(cls, error: ConfirmationError) -> Self:
        """Return the question of an error, asked now."""
        first_line = error.question.partition("\n")[0]
        return cls(agreement=error.agreement, asked_at=time.time(), text=first_line, command=error.command)

    @classmethod
    def from_state(cls, state: str) -> Self:
        """Return the question in a state; the SDK has verified that it is ours."""
        return cls(**json.loads(state))

    def to_state(self) -> str:
        """Return the question as text, which the SDK encrypts."""
        return json.dumps(asdict(self))

    def get_agreement(self, answer: ElicitResult, now: float) -> str:
        """Return what the user agreed to.

        Raises:
            DeclinedError: They did not agree, or their client answered for them.
        """
        if answer.action == "accept" and (answer.content or {}).get("value") is True:
            return self.agreement
        if answer.action != "accept" and now - self.asked_at < READING_SECONDS:
            terminal = f" at a terminal: `{self.command}`" if self.command else ", or to try another client"
            raise DeclinedError(
                f"The client refused the question sooner than a person can read it; nothing was changed. "
                f"The question was: {self.text}",
                hint=f"Tell the user what was asked; a client that cannot ask leaves it to them{terminal}.",
            )
        if answer.action == "cancel":
            raise DeclinedError(
                "The user closed the question without an answer; nothing was changed.",
                hint="Ask them what they want before you call this again.",
            )
        raise DeclinedError(
            "The user was asked and did not agree; nothing was changed.",
            hint="Leave it as it is, and do not repeat the call unless they ask for it.",
        )
