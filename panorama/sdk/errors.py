"""Errors of the SDK.

SdkError
├── InvalidInputError   an argument is wrong; the text says which one, and how to fix it
│   └── LoopError       the same call got the same answer too often
├── NotFoundError       nothing has this id or name; `candidates` are the nearest
├── ConflictError       it changed since it was read, the name is taken, or several items have it
├── ConfirmationError   the user has to agree first; nothing was changed
├── DeclinedError       the user did not agree; nothing was changed
├── UnavailableError    a part does not work; try later
├── SourceError         a source refused the call
└── OutcomeUnknownError a call to a source ended without an answer; it may have been carried out
"""

from collections.abc import Mapping, Sequence
from typing import Any

from panorama.sdk.core.aliases import translate_hint
from panorama.sdk.core.rows import Row

__all__ = (
    "ConfirmationError",
    "ConflictError",
    "DeclinedError",
    "InvalidInputError",
    "LoopError",
    "NotFoundError",
    "OutcomeUnknownError",
    "SdkError",
    "SourceError",
    "UnavailableError",
)


class SdkError(Exception):
    """A call was refused.

    `code` is stable, `message` says what is wrong, `hint` the next step ("" if there is none), and `candidates` are
    the rows that the caller may mean, each with its `id`.
    """

    code: str = "error"

    def __init__(self, message: str, *, hint: str = "", candidates: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.candidates = tuple(Row(candidate) for candidate in candidates)

    def __str__(self) -> str:
        """Return the message, the hint and the candidates."""
        rows = (", ".join(f"{name}: {value}" for name, value in candidate.items()) for candidate in self.candidates)
        return "\n".join([" ".join(filter(None, (self.message, self.hint))), *(f"- {row}" for row in rows)])


class InvalidInputError(SdkError):
    """An argument is wrong, and the caller can fix it."""

    code = "invalid_input"


class LoopError(InvalidInputError):
    """The same call with the same arguments got the same answer too often."""

    code = "loop"


class NotFoundError(SdkError):
    """Nothing has this id or name."""

    code = "not_found"


class ConflictError(SdkError):
    """The item changed since it was read, the name is taken, or several items have it; `candidates` lists them."""

    code = "conflict"


class ConfirmationError(SdkError):
    """The user has to agree first: ask them, then call again with confirm=True."""

    code = "confirmation_needed"


class DeclinedError(SdkError):
    """The user was asked and did not agree."""

    code = "declined"


class UnavailableError(SdkError):
    """A required part does not work; nothing was changed."""

    code = "unavailable"


class SourceError(SdkError):
    """A source was reached and refused the call."""

    code = "source"


class OutcomeUnknownError(SdkError):
    """A call to a source ended without an answer; it may have been carried out, so do not repeat it blindly."""

    code = "outcome_unknown"


_KINDS = (
    InvalidInputError,
    LoopError,
    NotFoundError,
    ConflictError,
    ConfirmationError,
    DeclinedError,
    UnavailableError,
    SourceError,
    OutcomeUnknownError,
)
_BY_CODE: dict[str, type[SdkError]] = {kind.code: kind for kind in _KINDS}


def from_dict(data: Mapping[str, Any]) -> SdkError:
    """Return the error of an answer with code, message, hint and candidates.

    An unknown code becomes an SdkError with that code.
    """
    code = str(data.get("code", SdkError.code))
    error_class = _BY_CODE.get(code, SdkError)
    hint = translate_hint(str(data.get("hint", "")))
    error = error_class(str(data.get("message", "")), hint=hint, candidates=tuple(data.get("candidates", ())))
    error.code = code
    return error
