"""Builds failures that point to lines of the script."""

from collections.abc import Iterator
from dataclasses import dataclass
from opcode import opmap
from types import FrameType, TracebackType

from panorama.domain.scripts.scripts import Failure, Limits, Reason
from panorama.sandbox.language.advice import advise
from panorama.sandbox.protocol import limits as words
from panorama.sandbox.protocol.outcome import MAX_TRACE_STEPS, MESSAGE_CHARS
from panorama.sdk.core.encode import exact_str
from panorama.sdk.errors import SdkError

SOURCE_CHARS = 200
CAUSE_CHARS = 500
MAX_STEPS = 5000
"""How much of a traceback is looked at; Python ends a recursion long before."""

COROUTINE_HINT = (
    "A coroutine runs where it is called, and its error comes out there: return_exceptions gets none. "
    "Write try: … except: … inside of the coroutine."
)

_RAISE = opmap["RAISE_VARARGS"]

Step = tuple[int, str]


class OutcomeError(Exception):
    """The result or state of a script cannot be sent; reported as its failure."""

    def __init__(self, message: str, *, hint: str = "", reason: Reason = "raised") -> None:
        super().__init__(message)
        self.hint = hint
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTraceback:
    """The source of a script and the names of its compiled frames."""

    source: str
    filename: str
    entry: str

    def build_syntax_failure(self, error: SyntaxError) -> Failure:
        """Return the failure of a text that is no script; a policy's refusal has a hint."""
        hint = getattr(error, "hint", None)
        name = "" if hint else f"{type(error).__name__}: "
        steps = [(error.lineno, "")] if error.lineno else []
        return self._build_failure("syntax" if hint is None else "policy", f"{name}{error.msg}", steps, hint or "")

    def build_exception_failure(self, error: BaseException, limits: Limits) -> Failure:
        """Return the failure of a script that an exception ended."""
        steps = list(self._iter_traceback_steps(error.__traceback__))
        if isinstance(error, OutcomeError):
            return self._build_failure(error.reason, str(error), steps, error.hint)
        if isinstance(error, MemoryError) and not self._is_raised_by_script(error.__traceback__):
            return self._build_failure(
                "memory", words.format_message("memory", limits), steps, words.get_hint("memory")
            )
        described, hint = _describe_with_hint(error)
        return self._build_failure("raised", described, steps, hint or self._find_coroutine_hint(error))

    def _find_coroutine_hint(self, error: BaseException) -> str:
        """Return a hint for a script that expects errors of coroutines later, else ""."""
        is_of_names = isinstance(error, AttributeError | NameError | ImportError)
        return COROUTINE_HINT if "return_exceptions" in self.source and not is_of_names else ""

    def build_stop_failure(self, reason: Reason, message: str, frame: FrameType | None) -> Failure:
        """Return the failure of a script that was stopped where it is."""
        steps: list[Step] = []
        while frame is not None and len(steps) < MAX_STEPS:
            steps += self._iter_script_steps(frame, frame.f_lineno)
            frame = frame.f_back
        return self._build_failure(reason, message, steps[::-1], words.get_hint(reason))

    def build_dump_failure(self, reason: Reason, message: str, line: int, function: str) -> Failure:
        """Return the failure of a script of which only the running line is known."""
        return self._build_failure(
            reason, message, [(line, self._display_name(function))] if line else [], words.get_hint(reason)
        )

    def _iter_traceback_steps(self, traceback: TracebackType | None) -> Iterator[Step]:
        for link in _iter_traceback(traceback):
            yield from self._iter_script_steps(link.tb_frame, link.tb_lineno)

    def _is_raised_by_script(self, traceback: TracebackType | None) -> bool:
        """Return whether the script itself raised an error with `raise`."""
        links = list(_iter_traceback(traceback))
        if not links:
            return False
        code = links[-1].tb_frame.f_code
        return code.co_filename == self.filename and code.co_code[links[-1].tb_lasti] == _RAISE

    def _iter_script_steps(self, frame: FrameType, line: int | None) -> Iterator[Step]:
        if frame.f_code.co_filename == self.filename:
            yield line or 0, self._display_name(frame.f_code.co_name)

    def _display_name(self, function: str) -> str:
        return "" if function in {self.entry, "<module>"} else function[:SOURCE_CHARS]

    def _build_failure(self, reason: Reason, message: str, steps: list[Step], hint: str = "") -> Failure:
        line = steps[-1][0] if steps else 0
        lines = self.source.splitlines() if line else []
        half = MAX_TRACE_STEPS // 2
        return Failure(
            reason=reason,
            message=message[:MESSAGE_CHARS],
            line=line,
            source=lines[line - 1].strip()[:SOURCE_CHARS] if 0 < line <= len(lines) else "",
            hint=hint[:MESSAGE_CHARS],
            trace=tuple(steps if len(steps) <= MAX_TRACE_STEPS else steps[:half] + steps[-half:]),
        )


def _iter_traceback(traceback: TracebackType | None) -> Iterator[TracebackType]:
    for _ in range(MAX_STEPS):
        if traceback is None:
            return
        yield traceback
        traceback = traceback.tb_next


def _describe_with_hint(error: BaseException) -> tuple[str, str]:
    """Return the message of an error and advice; classes of the script may misbehave."""
    described = _describe(error, MESSAGE_CHARS)
    caused = f" (caused by {_describe(cause, CAUSE_CHARS)})" if (cause := error.__cause__) is not None else ""
    try:
        return f"{described}{caused}", str.__str__(advise(error, described))[:MESSAGE_CHARS]
    except BaseException:  # methods of the script's classes may raise anything; the advice is left out
        return f"{described}{caused}", ""


def _describe(error: BaseException, max_chars: int) -> str:
    name = exact_str(type(error).__name__)
    try:
        text = str.__str__(error.message if isinstance(error, SdkError) else str(error))[:max_chars]
    except BaseException:  # `__str__` of a script's class may raise anything; the name is enough
        return name
    return f"{name}: {text}" if text else name
