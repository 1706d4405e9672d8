"""What became of many bad calls, in one look."""

from collections.abc import Callable, Mapping
from typing import Any

from panorama.calls import Answer
from panorama.errors import PanoramaError


def fate(call: Callable[..., Answer], tool: str, **arguments: Any) -> str:
    """Return "done", the code of the refusal, or what was wrong with the refusal."""
    try:
        call(tool, **arguments)
    except PanoramaError as error:
        spoken = f"{error.message} {error.hint}"
        if not error.message or not error.hint or len(spoken) > 2_000:
            return f"not in our voice: {spoken[:100]!r}"
        try:
            spoken.encode()
        except UnicodeEncodeError:
            return "the message cannot be sent"
        return error.code
    except Exception as error:  # every other error is a bug of the product
        return f"crashed: {type(error).__name__}: {str(error)[:60]}"
    return "done"


def other_than(*allowed: str, fates: Mapping[Any, str]) -> dict[str, str]:
    """Return what met another fate than these."""
    return {ascii(what)[:60]: met for what, met in fates.items() if met not in allowed}
