"""The errors of Panorama: what can go wrong, in words its user can act on.

PanoramaError
├── InvalidInputError   the caller's words are wrong; the caller can mend them
│   └── LoopError       the same call came back with the same answer too often
├── NotFoundError       nothing has this id or name
├── ConflictError       the thing changed since it was read, or is taken by another
├── ConfirmationError   the person has to agree first
├── DeclinedError       the person was asked and did not agree
├── UnavailableError    the disk, the database or another part is out of order; try later
└── ScriptError         the script stopped
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class PanoramaError(Exception):
    """An error that a person or a model can act on.

    `code` is stable and meant for programs, `hint` is the next step in one sentence, and
    `candidates` are things the caller may have meant (each a small mapping with an `id`).
    """

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "", candidates: Sequence[Mapping[str, object]] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.candidates = tuple(dict(candidate) for candidate in candidates)

    def to_dict(self) -> dict[str, object]:
        """Return the error as programs read it: code, message, and hint and candidates if there are any."""
        data = {"code": self.code, "message": self.message, "hint": self.hint, "candidates": list(self.candidates)}
        return {name: value for name, value in data.items() if value}

    def text(self) -> str:
        """Return the error as a model reads it."""
        lines = [f"[{self.code}] {self.message}", *([f"hint: {self.hint}"] if self.hint else [])]
        rows = (", ".join(f"{name}: {value}" for name, value in row.items()) for row in self.candidates)
        return "\n".join([*lines, *(f"- {row}" for row in rows)])

    def with_prefix(self, prefix: str, *, suffix: str = "") -> "PanoramaError":
        """Return the same error with words before and after its message."""
        return type(self)(f"{prefix}{self.message}{suffix}", hint=self.hint, candidates=self.candidates)


class InvalidInputError(PanoramaError):
    """The caller's words are wrong; the caller can mend them."""

    code = "invalid_input"


class LoopError(InvalidInputError):
    """The same call with the same arguments gave the same answer too often."""

    code = "loop"


class NotFoundError(PanoramaError):
    """Nothing has this id or name."""

    code = "not_found"


class ConflictError(PanoramaError):
    """The thing changed since it was read, or is taken by another."""

    code = "conflict"


class ConfirmationError(PanoramaError):
    """The person has to agree first; nothing was changed.

    `question` is what they are asked, "" inside a batch, whose steps say for themselves that they agreed. `agreement`
    stands for the call and the facts in the question: it is what a yes is worth. `command` is what the person can type
    at a terminal instead, "" if there is nothing.
    """

    code = "confirmation_needed"

    def __init__(
        self,
        message: str,
        *,
        hint: str,
        candidates: Sequence[Mapping[str, object]] = (),
        question: str = "",
        agreement: str = "",
        command: str = "",
    ) -> None:
        super().__init__(message, hint=hint, candidates=candidates)
        self.question = question
        self.agreement = agreement
        self.command = command

    def to_dict(self) -> dict[str, object]:
        """Return the error as programs read it, with the question for those that can put it."""
        return super().to_dict() | ({"question": self.question} if self.question else {})

    def with_prefix(self, prefix: str, *, suffix: str = "") -> "ConfirmationError":
        """Return the error of the batch that the call was a step of."""
        within = "Ask the person; if they agree, repeat the batch with confirm=true among the args of this step."
        return ConfirmationError(f"{prefix}{self.question or self.message}{suffix}", hint=within)


class DeclinedError(PanoramaError):
    """The person was asked and did not agree; nothing was changed."""

    code = "declined"


class UnavailableError(PanoramaError):
    """A part that is needed is out of order; nothing was changed."""

    code = "unavailable"


class ScriptError(PanoramaError):
    """The script stopped before its end."""

    code = "script"


def from_dict(data: Mapping[str, Any]) -> PanoramaError:
    """Return the error that another process told of, in the words of `told()`."""
    error_class = _classes_by_code(PanoramaError).get(str(data.get("code")), PanoramaError)
    more = {name: data[name] for name in ("question", "agreement") if name in data}
    candidates = data.get("candidates", ())
    return error_class(str(data.get("message", "")), hint=str(data.get("hint", "")), candidates=candidates, **more)


def _classes_by_code(kind: type[PanoramaError]) -> dict[str, type[PanoramaError]]:
    by_code = {kind.code: kind}
    for below in kind.__subclasses__():
        by_code |= _classes_by_code(below)
    return by_code
