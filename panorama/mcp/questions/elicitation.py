"""Confirmation: shows an operation's question to the user, in either protocol era, if their client can show it.

Until 2025-11-25 the server asks while the call waits. Since 2026-07-28 the call ends with what has to be asked, and the
client repeats it with the answer and with our state, which the SDK seals.
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Self

import anyio
from fastmcp import Context
from fastmcp.server.dependencies import get_context
from fastmcp.tools import InputRequiredToolResult, ToolResult
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from panorama.calls.agreements import ANSWER_SECONDS
from panorama.errors import ConfirmationError, ConflictError, DeclinedError
from panorama.mcp.cancellation import ProgressReporter
from panorama.mcp.questions.waiting_calls import WaitingCall, ask_by_elicitation, waiting_calls
from panorama.services.sources.questions import ASK_USER

READING_SECONDS = 1.0
"""How long a person takes at least to read a question: a refusal that comes sooner is the client's own."""

MAX_QUESTIONS = 3
"""How often one call asks again because what it would do has changed in the meantime."""

ToolCall = Callable[[str], Awaitable[ToolResult]]
"""Makes the call; takes the agreement that the user gave to it, "" if none."""

ScriptCall = Callable[[str], Coroutine[Any, Any, ToolResult]]
"""The same for a script, which may go on after the request that began it."""

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


async def call_with_questions(call: ScriptCall, reporter: ProgressReporter) -> ToolResult:
    """Make the call of a script, asking the user before it runs and while it waits, if it needs their agreement.

    Raises:
        ConfirmationError: Their client cannot show the question, or failed to.
        DeclinedError: They did not agree before it ran.
        ConflictError: The call that the answer belongs to waits no longer.
    """
    context = get_context()
    if context.request_context and context.request_context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return await _call_or_resume(context, call, reporter)
    if not _can_show_forms(context):
        return await _call_and_elicit(context, call)
    token = ASK_USER.set(ask_by_elicitation(partial(_elicit_while_running, context)))
    try:
        return await _call_and_elicit(context, call)
    finally:
        ASK_USER.reset(token)


async def _call_or_resume(context: Context, call: ScriptCall, reporter: ProgressReporter) -> ToolResult:
    """Begin the call, or take up the one that waits for this answer; end with its next question."""
    asked = _Question.from_state(context.request_state) if context.request_state else None
    answer = (context.input_responses or {}).get(_ANSWER)
    given = answer if isinstance(answer, ElicitResult) else None
    if asked and asked.waiting:
        waiting = waiting_calls().take(asked.waiting)
        if waiting is None:
            raise _no_longer_waiting_error()
        waiting.resume(given and asked.get_answer(given, time.time()))
    else:
        agreed = asked.get_agreement(given, time.time()) if asked and given else ""
        if not _can_show_forms(context):
            return await call(agreed)
        waiting = WaitingCall(reporter)
        waiting.start(call(agreed))
    try:
        result = await waiting.wait()
    except ConfirmationError as error:
        if not _can_ask(context, error):
            raise
        return _request_input(error.question, _Question.of(error))
    if isinstance(result, ToolResult):
        return result
    waiting_calls().add(waiting)
    return _request_input(result, _Question.while_running(result, waiting.id))


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
        return _request_input(error.question, _Question.of(error))


def _request_input(question: str, asked: "_Question") -> InputRequiredToolResult:
    form = ElicitRequestFormParams(message=question, requested_schema=_FORM)
    asking = InputRequiredResult(input_requests={_ANSWER: ElicitRequest(params=form)}, request_state=asked.to_state())
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
    except Exception as failure:  # the client failed: the question can still be asked in the chat
        _log.info("the client could not ask the user: %s", failure)
        raise error from failure
    return asked.get_agreement(answer, time.time())


async def _elicit_while_running(context: Context, question: str) -> bool | None:
    """Ask while a script waits; None if the user did not answer."""
    asked = _Question.while_running(question, "")
    try:
        with anyio.fail_after(ANSWER_SECONDS):
            answer = await context.session.elicit(question, _FORM, context.request_id)
    except Exception as failure:  # the client failed: the caller treats None as no answer
        _log.info("the client could not ask the user: %s", failure)
        return None
    return asked.get_answer(answer, time.time())


def _can_ask(context: Context, error: ConfirmationError) -> bool:
    """Return whether a question can be shown."""
    return bool(error.question) and _can_show_forms(context)


def _can_show_forms(context: Context) -> bool:
    """Return whether the client shows questions; one that names no mode means forms."""
    declared = context.session.client_capabilities
    ways = declared.elicitation if declared else None
    return ways is not None and (ways.form is not None or ways.url is None)


def _no_longer_waiting_error() -> ConflictError:
    return ConflictError(
        "The script no longer waits for this answer: it ended, or was already answered.",
        hint="list_runs shows what it did. Call it again only if that is wanted.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question to the user: what a yes agrees to, when it was asked, and the terminal command to use instead.

    `waiting` is the call that waits for the answer, "" if the answer comes before the call.
    """

    agreement: str
    asked_at: float
    text: str
    command: str
    waiting: str = ""

    @classmethod
    def of(cls, error: ConfirmationError) -> Self:
        """Return the question of an error, asked now."""
        first_line = error.question.partition("\n")[0]
        return cls(agreement=error.agreement, asked_at=time.time(), text=first_line, command=error.command)

    @classmethod
    def while_running(cls, question: str, waiting: str) -> Self:
        """Return a question of a call that is running, asked now."""
        return cls(agreement="", asked_at=time.time(), text=question.partition("\n")[0], command="", waiting=waiting)

    @classmethod
    def from_state(cls, state: str) -> Self:
        """Return the question in a state; the SDK has verified that it is ours."""
        return cls(**json.loads(state))

    def to_state(self) -> str:
        """Return the question as text, which the SDK encrypts."""
        return json.dumps(asdict(self))

    def get_answer(self, answer: ElicitResult, now: float) -> bool | None:
        """Return whether the user agreed; None if their client answered for them."""
        if answer.action == "accept":
            return (answer.content or {}).get("value") is True
        return None if now - self.asked_at < READING_SECONDS else False

    def get_agreement(self, answer: ElicitResult, now: float) -> str:
        """Return the answer that the user agreed to.

        Raises:
            DeclinedError: They did not agree, or their client answered for them.
        """
        if answer.action == "accept" and (answer.content or {}).get("value") is True:
            return self.agreement
        if answer.action != "accept" and now - self.asked_at < READING_SECONDS:
            terminal = f" at a terminal: `{self.command}`" if self.command else ", or to try another client"
            raise DeclinedError(
                f"The client refused the question before a person could read it; nothing was changed. "
                f"The question was: {self.text}",
                hint=f"Tell the user what was asked. Clients that cannot ask users leave it to them{terminal}.",
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
