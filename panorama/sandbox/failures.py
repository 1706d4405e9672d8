"""Failures: the only place that tells, in a script's own lines, why it ended."""

from collections.abc import Iterator
from dataclasses import dataclass
from opcode import opmap
from types import FrameType, TracebackType

from panorama.domain.scripts import Failure, Limits, Reason
from panorama.sandbox import limits as words
from panorama.sandbox.advice import advice
from panorama.sandbox.endings import FRAMES, MESSAGE_CHARS
from panorama.sdk._plain import exact
from panorama.sdk.errors import SdkError

SOURCE_CHARS = 200
CAUSE_CHARS = 500
STEPS = 5000
"""How much of a traceback is looked at; Python ends a recursion long before."""

CAUGHT_INSIDE = (
    "A coroutine runs where it is called, and its error comes out there: return_exceptions gets none. "
    "Write try: … except: … inside of the coroutine."
)

_RAISE = opmap["RAISE_VARARGS"]

Step = tuple[int, str]


class EndError(Exception):
    """What a script leaves behind cannot be sent: it is told as the script's failure, with a reason and a hint."""

    def __init__(self, message: str, *, hint: str = "", reason: Reason = "raised") -> None:
        super().__init__(message)
        self.hint = hint
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A script's text: the lines that a person reads, and what its frames are called once it is compiled."""

    source: str
    filename: str
    entry: str

    def refused(self, error: SyntaxError) -> Failure:
        """Return the failure of a text that is no script; a policy's refusal has a hint."""
        hint = getattr(error, "hint", None)
        name = "" if hint else f"{type(error).__name__}: "
        steps = [(error.lineno, "")] if error.lineno else []
        return self._at("syntax" if hint is None else "policy", f"{name}{error.msg}", steps, hint or "")

    def failed(self, error: BaseException, limits: Limits) -> Failure:
        """Return the failure of a script that an exception ended."""
        steps = list(self._led(error.__traceback__))
        if isinstance(error, EndError):
            return self._at(error.reason, str(error), steps, error.hint)
        if isinstance(error, MemoryError) and not self._raises(error.__traceback__):
            return self._at("memory", words.message("memory", limits), steps, words.hint("memory"))
        described, hint = _told(error)
        return self._at("raised", described, steps, hint or self._late(error))

    def _late(self, error: BaseException) -> str:
        """Return what to do in a script that expects errors of coroutines later than they come, else ""."""
        is_of_names = isinstance(error, AttributeError | NameError | ImportError)
        return CAUGHT_INSIDE if "return_exceptions" in self.source and not is_of_names else ""

    def stopped(self, reason: Reason, message: str, frame: FrameType | None) -> Failure:
        """Return the failure of a script that was stopped where it is."""
        steps: list[Step] = []
        while frame is not None and len(steps) < STEPS:
            steps += self._own(frame, frame.f_lineno)
            frame = frame.f_back
        return self._at(reason, message, steps[::-1], words.hint(reason))

    def dumped(self, reason: Reason, message: str, line: int, function: str) -> Failure:
        """Return the failure of a script of which only the line is known that was running."""
        return self._at(reason, message, [(line, self._name(function))] if line else [], words.hint(reason))

    def _led(self, traceback: TracebackType | None) -> Iterator[Step]:
        for each in _links(traceback):
            yield from self._own(each.tb_frame, each.tb_lineno)

    def _raises(self, traceback: TracebackType | None) -> bool:
        """Tell whether the script itself raised an error with `raise`; one raised again began somewhere else."""
        links = list(_links(traceback))
        if not links:
            return False
        code = links[-1].tb_frame.f_code
        return code.co_filename == self.filename and code.co_code[links[-1].tb_lasti] == _RAISE

    def _own(self, frame: FrameType, line: int | None) -> Iterator[Step]:
        if frame.f_code.co_filename == self.filename:
            yield line or 0, self._name(frame.f_code.co_name)

    def _name(self, function: str) -> str:
        return "" if function in {self.entry, "<module>"} else function[:SOURCE_CHARS]

    def _at(self, reason: Reason, message: str, steps: list[Step], hint: str = "") -> Failure:
        line = steps[-1][0] if steps else 0
        lines = self.source.splitlines() if line else []
        half = FRAMES // 2
        return Failure(
            reason=reason,
            message=message[:MESSAGE_CHARS],
            line=line,
            source=lines[line - 1].strip()[:SOURCE_CHARS] if 0 < line <= len(lines) else "",
            hint=hint[:MESSAGE_CHARS],
            trace=tuple(steps if len(steps) <= FRAMES else steps[:half] + steps[-half:]),
        )


def _links(traceback: TracebackType | None) -> Iterator[TracebackType]:
    for _ in range(STEPS):
        if traceback is None:
            return
        yield traceback
        traceback = traceback.tb_next


def _told(error: BaseException) -> tuple[str, str]:
    """Return what an error says, and what to do; what the script's own classes say of themselves may be anything."""
    described = _described(error, MESSAGE_CHARS)
    caused = f" (caused by {_described(cause, CAUSE_CHARS)})" if (cause := error.__cause__) is not None else ""
    try:
        return f"{described}{caused}", str.__str__(advice(error, described))[:MESSAGE_CHARS]
    except BaseException:
        return f"{described}{caused}", ""


def _described(error: BaseException, most: int) -> str:
    name = exact(type(error).__name__)
    try:
        said = str.__str__(error.message if isinstance(error, SdkError) else str(error))[:most]
    except BaseException:
        return name
    return f"{name}: {said}" if said else name
