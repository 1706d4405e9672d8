"""Failures: what went wrong, as words on standard error and as an exit code."""

import os
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

from panorama.cli import show
from panorama.errors import InvalidInputError, PanoramaError, UnavailableError

NO, USAGE, UNAVAILABLE = 1, 2, 3

_OUR_WORDS = {
    "call again with skip_conflicts=true": "add --skip-conflicts",
    "Ask the person; if they agree, repeat the call with confirm=true": "Add --yes to say yes to it",
    "history(item)": "`panorama history ITEM`",
    "Find the item with search": "Find it with `panorama search`",
    "with search,": "with `panorama search`,",
}
"""Hints are written for tools; here is what they mean on the command line."""


@runtime_checkable
class _UsageError(Protocol):
    """Typer's own errors; it took them from Click once and brings its own now: this method they have in common."""

    def format_message(self) -> str: ...


def told(error: Exception, words: Sequence[str]) -> int:
    """Say what went wrong and return the exit code; with `--json` among the words as JSON."""
    if os.environ.get("PANORAMA_DEBUG") == "1":
        show.trace(error)
    failure = _described(error)
    options = words[: words.index("--")] if "--" in words else words
    if "--json" in options:
        show.failure_data({"error": failure})
    else:
        show.failure(failure["message"], failure["hint"], failure["candidates"])
    return _exit_code(error)


def _exit_code(error: Exception) -> int:
    if isinstance(error, PanoramaError):
        return {InvalidInputError.code: USAGE, UnavailableError.code: UNAVAILABLE}.get(error.code, NO)
    return USAGE if isinstance(error, _UsageError) else NO


def _described(error: Exception) -> dict[str, Any]:
    if isinstance(error, PanoramaError):
        return _failure(error.code, error.message, _hint(error.hint), error.candidates)
    if isinstance(error, _UsageError):
        path = getattr(getattr(error, "ctx", None), "command_path", "panorama")
        return _failure("usage", error.format_message().replace("Value error, ", ""), f"See `{path} --help`.")
    return _failure("internal", f"Panorama itself failed: {type(error).__name__}: {error}", _kept(error))


def _failure(code: str, message: str, hint: str, candidates: Sequence[Mapping[str, object]] = ()) -> dict[str, Any]:
    return {"code": code, "message": message, "hint": hint, "candidates": list(candidates)}


def _hint(words: str) -> str:
    for tool, verb in _OUR_WORDS.items():
        words = words.replace(tool, verb)
    return words


def _kept(error: Exception) -> str:
    """Write the trace into the data directory, if there is one, and return where it can be read."""
    again = "run it again with PANORAMA_DEBUG=1 to see them here."
    with suppress(Exception):
        from panorama.config import data_directory

        path = data_directory() / "crash.log"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write("".join(traceback.format_exception(error)))
        return f"Details are in {path}; or {again}"
    return f"For details {again}"
