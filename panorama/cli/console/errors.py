"""Prints errors on standard error, and returns their exit codes."""

import os
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

from panorama.cli.console import console
from panorama.cli.console.terminal_words import to_terminal
from panorama.domain.text.visible_text import escape_controls
from panorama.errors import InvalidInputError, PanoramaError, UnavailableError

EXIT_REFUSED, EXIT_USAGE, EXIT_UNAVAILABLE = 1, 2, 3


@runtime_checkable
class _UsageError(Protocol):
    """Typer's errors, now separate from Click's; both have this method."""

    def format_message(self) -> str: ...


def report_error(error: Exception, words: Sequence[str]) -> int:
    """Print an error and return the exit code; as JSON if `--json` is among the arguments."""
    if os.environ.get("PANORAMA_DEBUG") == "1":
        console.print_traceback(error)
    failure = _describe(error)
    options = words[: words.index("--")] if "--" in words else words
    if "--json" in options:
        console.print_error_json({"error": failure})
    else:
        console.print_error(failure["message"], failure["hint"], failure["candidates"])
    return _exit_code(error)


def _exit_code(error: Exception) -> int:
    if isinstance(error, PanoramaError):
        return {InvalidInputError.code: EXIT_USAGE, UnavailableError.code: EXIT_UNAVAILABLE}.get(
            error.code, EXIT_REFUSED
        )
    return EXIT_USAGE if isinstance(error, _UsageError) else EXIT_REFUSED


def _describe(error: Exception) -> dict[str, Any]:
    if isinstance(error, PanoramaError):
        return _failure(error.code, to_terminal(error.message), to_terminal(error.hint), error.candidates)
    if isinstance(error, _UsageError):
        path = getattr(getattr(error, "ctx", None), "command_path", "panorama")
        return _failure("usage", error.format_message().replace("Value error, ", ""), f"See `{path} --help`.")
    return _failure("internal", f"Internal error: {type(error).__name__}: {error}", _write_crash_log(error))


def _failure(code: str, message: str, hint: str, candidates: Sequence[Mapping[str, object]] = ()) -> dict[str, Any]:
    return {"code": code, "message": message, "hint": hint, "candidates": list(candidates)}


def _write_crash_log(error: Exception) -> str:
    """Write the traceback to the data directory, if there is one, and return its path."""
    again = "run it again with PANORAMA_DEBUG=1 to see them here."
    with suppress(Exception):  # a second error, such as a full disk, must not hide the first
        from panorama.config import data_directory

        path = data_directory() / "crash.log"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(escape_controls("".join(traceback.format_exception(error))))
        return f"Details are in {path}; or {again}"
    return f"For details {again}"
