"""The errors of Panorama, in terms that the user can act on.

PanoramaError
├── InvalidInputError   the caller can fix the input
│   └── LoopError       the same call returned the same answer too often
├── NotFoundError       nothing has this id or name
├── ConflictError       the item changed since it was read, or a name is in use
├── ConfirmationError   the user has to agree first
├── DeclinedError       the user was asked and did not agree
├── UnavailableError    the disk, the database or another part fails; retry later
├── SourceError         a source refused a call
├── OutcomeUnknownError a call to a source ended without an answer; it may have been carried out
└── ScriptError         the script stopped
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class PanoramaError(Exception):
    """An error that a user or a model can act on.

    `code` is stable and meant for programs, `hint` is the next step in one sentence, and `candidates` are possible
    matches (each a small mapping with an `id`).
    """

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "", candidates: Sequence[Mapping[str, object]] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.candidates = tuple(dict(candidate) for candidate in candidates)

    def to_dict(self) -> dict[str, object]:
        """Return the error for programs: code, message, and hint and candidates if any."""
        data = {"code": self.code, "message": self.message, "hint": self.hint, "candidates": list(self.candidates)}
        return {name: value for name, value in data.items() if value}

    def text(self) -> str:
        """Return the error as text for models."""
        lines = [f"[{self.code}] {self.message}", *([f"hint: {self.hint}"] if self.hint else [])]
        rows = (", ".join(f"{name}: {value}" for name, value in row.items()) for row in self.candidates)
        return "\n".join([*lines, *(f"- {row}" for row in rows)])

    def with_prefix(self, prefix: str, *, suffix: str = "") -> "PanoramaError":
        """Return the same error with text before and after its message."""
        return type(self)(f"{prefix}{self.message}{suffix}", hint=self.hint, candidates=self.candidates)


class InvalidInputError(PanoramaError):
    """The caller can fix the input."""

    code = "invalid_input"


class LoopError(InvalidInputError):
    """The same call returned the same answer too often."""

    code = "loop"


class NotFoundError(PanoramaError):
    """Nothing has this id or name."""

    code = "not_found"


class ConflictError(PanoramaError):
    """The item changed since it was read, or a name is in use."""

    code = "conflict"


class ConfirmationError(PanoramaError):
    """The user has to agree first; nothing was changed.

    `question` is the text of the question, "" inside a batch, whose steps are confirmed separately. `agreement`
    identifies the call and the facts in the question. `command` is an equivalent terminal command, "" if there is
    none.
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
        """Return the error for programs, with the question for clients that can ask it."""
        return super().to_dict() | ({"question": self.question} if self.question else {})

    def with_prefix(self, prefix: str, *, suffix: str = "") -> "ConfirmationError":
        """Return the error of the batch with this call as a step."""
        within = "Ask the user; if they agree, repeat the batch with confirm=true among the args of this step."
        return ConfirmationError(f"{prefix}{self.question or self.message}{suffix}", hint=within)


class DeclinedError(PanoramaError):
    """The user was asked and did not agree; nothing was changed."""

    code = "declined"


class UnavailableError(PanoramaError):
    """A required part fails; nothing was changed."""

    code = "unavailable"


class SourceError(PanoramaError):
    """A source was reached and refused the call."""

    code = "source"


class OutcomeUnknownError(PanoramaError):
    """A call to a source ended without an answer; it may have been carried out."""

    code = "outcome_unknown"


class ScriptError(PanoramaError):
    """The script stopped before its end."""

    code = "script"


def from_dict(data: Mapping[str, Any]) -> PanoramaError:
    """Return the error from the `to_dict()` form of another process."""
    error_class = _classes_by_code(PanoramaError).get(str(data.get("code")), PanoramaError)
    more = {name: data[name] for name in ("question", "agreement") if name in data}
    candidates = data.get("candidates", ())
    return error_class(str(data.get("message", "")), hint=str(data.get("hint", "")), candidates=candidates, **more)


def _classes_by_code(kind: type[PanoramaError]) -> dict[str, type[PanoramaError]]:
    by_code = {kind.code: kind}
    for below in kind.__subclasses__():
        by_code |= _classes_by_code(below)
    return by_code
