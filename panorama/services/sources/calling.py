"""The one way in which scripts call sources."""

from base64 import b64encode
from collections.abc import Mapping
from mimetypes import guess_extension
from typing import Any

from panorama.domain.sources.arguments import drop_absent, find_mistakes
from panorama.domain.sources.functions import SourceFile, SourceFunction, SourceResult
from panorama.domain.sources.stubs import format_call
from panorama.domain.text.json_types import is_object
from panorama.errors import ConflictError, InvalidInputError
from panorama.ports import Calls
from panorama.services.sources.functions import SourceFunctions
from panorama.services.sources.permissions import SourcePermissions
from panorama.services.sources.scope import SOURCE_SCOPE, SourceScope
from panorama.sources.config import SourceConfig
from panorama.sources.source import Source

MAX_FILE_NAME_CHARS = 60


class SourceCalls:
    """Calls functions of sources for scripts."""

    def __init__(self, functions: SourceFunctions, permissions: SourcePermissions, calls: Calls) -> None:
        self._functions = functions
        self._permissions = permissions
        self._calls = calls

    def call(self, source: str, function: str, arguments: dict[str, Any] | None = None) -> Any:
        """Call a function of a source, and return its result.

        Args:
            arguments: By name; sdk.<source>.<function>(name=…) is the same.

        Raises:
            NotFoundError: There is no such source or function.
            InvalidInputError: The function does not take these arguments.
            ConflictError: The user has not allowed the call.
            SourceError: The source refuses the call.
            UnavailableError: The source cannot be reached; nothing was done.
            OutcomeUnknownError: The call ended without an answer and may have been carried out.
        """
        scope = SOURCE_SCOPE.get()
        if scope is None:
            raise ConflictError("Only scripts call sources.", hint="Call it in run_code.")
        config, opened, known = self._functions.find(source, function, scope.deadline)
        values = drop_absent(arguments or {}, known.parameters)
        _check_arguments(config, known, values)
        name = f"{config.name}.{known.name}"
        self._check_scope(scope, name, known)
        self._permissions.check(scope, config, known, values)
        if known.reach in ("here", "own"):
            scope.ledger.private.add(config.name)
        result = _call_once(scope, name, opened, known, values)
        if result.next_cursor:
            return _join_pages(scope, name, opened, known, values, result)
        return self._add_files(scope, config, result.value, result.files) if result.files else result.value

    def _check_scope(self, scope: SourceScope, name: str, function: SourceFunction) -> None:
        if function.reads_only:
            return
        if scope.reads_only:
            raise InvalidInputError(
                f"{name} may change something, but this script was promoted as read-only.",
                hint="The user can promote it with write access.",
            )
        if scope.dry_run:
            scope.ledger.stopped_at = name
            scope.ledger.require_running()

    def _add_files(self, scope: SourceScope, config: SourceConfig, value: Any, files: tuple[SourceFile, ...]) -> Any:
        """Store the files of a result as file items; return their ids, beside the value if there is one."""
        if scope.reads_only:
            ids: list[str] = []
        else:
            ids = [self._store_file(config, file) for file in files]
        if value is None:
            return ids[0] if len(ids) == 1 else ids
        return {**value, "files": ids} if is_object(value) else {"text": value, "files": ids}

    def _store_file(self, config: SourceConfig, file: SourceFile) -> str:
        arguments = {
            "name": _name_file(config.name, file),
            "base64": b64encode(file.content).decode(),
            "media_type": file.media_type,
        }
        return str(self._calls.call_within("files.write", arguments)["data"]["id"])


def _call_once(
    scope: SourceScope, name: str, source: Source, function: SourceFunction, values: Mapping[str, Any]
) -> SourceResult:
    scope.ledger.count_call(name, reads_only=function.reads_only)
    result = source.call(function, values, scope.deadline)
    scope.ledger.add_bytes(result.size_bytes)
    return result


def _join_pages(
    scope: SourceScope,
    name: str,
    source: Source,
    function: SourceFunction,
    values: Mapping[str, Any],
    page: SourceResult,
) -> list[Any]:
    """Return the rows of a page and of those that follow, or the first `limit`; each page counts as a call."""
    rows: list[Any] = [*page.value]
    limit = values.get("limit")
    while page.next_cursor and (limit is None or len(rows) < limit):
        rest = {} if limit is None else {"limit": limit - len(rows)}
        page = _call_once(scope, name, source, function, {**values, **rest, "cursor": page.next_cursor})
        rows += page.value
    return rows[:limit]


def _check_arguments(config: SourceConfig, function: SourceFunction, values: Mapping[str, Any]) -> None:
    if mistakes := find_mistakes(values, function.parameters):
        raise InvalidInputError(
            f"{config.name}.{function.name}: {' '.join(mistakes)}", hint=format_call(config.name, function)
        )


def _name_file(source: str, file: SourceFile) -> str:
    """Return a name without a path, with an ending that fits the type."""
    plain = "".join(sign if sign.isalnum() or sign in "-_. " else "_" for sign in file.name).strip(". ")
    plain = plain[-MAX_FILE_NAME_CHARS:] or "file"
    return f"{source}-{plain}" + ("" if "." in plain else guess_extension(file.media_type) or "")
