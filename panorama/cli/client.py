"""The client: the one way from the command line to Panorama, through its daemon or in this process."""

import re
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Protocol, Self
from zoneinfo import ZoneInfo

from panorama.errors import UnavailableError, from_dict
from panorama.transport.address import (
    Address,
    UnreachableError,
    data_directory,
    hello_message,
    is_in_process,
    settings_warning,
)
from panorama.transport.launch import connect_or_launch
from panorama.transport.rpc_client import ProgressCallback, RpcClient, RpcError

MAX_PAGE_ROWS = 500
"""The maximum number of rows of one call."""

CONVERSATION = "cli"
"""All commands share one conversation, so that `panorama undo` undoes the previous command."""

_COUNT = re.compile(r"^\d+")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call as plain data."""

    data: Any
    summary: str
    metadata: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer for programs."""
        return {"data": self.data, "summary": self.summary, "metadata": dict(self.metadata)}


class _Transport(Protocol):
    """A connection to the operations."""

    zone: ZoneInfo

    def call(
        self, operation: str, arguments: Mapping[str, Any], progress: ProgressCallback | None, agreed: str, whole: bool
    ) -> Mapping[str, Any]:
        """Call an operation and return data, summary and metadata."""
        ...


class Client:
    """A conversation with Panorama, used as a context manager."""

    def __enter__(self) -> Self:
        """Connect to Panorama.

        Raises:
            UnavailableError: The daemon cannot be started, or the data directory or the database cannot be used.
            InvalidInputError: A setting has a value that cannot be used.
        """
        with ExitStack() as stack:
            self._line = stack.enter_context(_open_in_process() if is_in_process() else _open_daemon())
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect."""
        self._open.__exit__(kind, error, trace)

    @property
    def now(self) -> datetime:
        """The current time in the user's time zone."""
        return datetime.now(UTC).astimezone(self._line.zone)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        progress: ProgressCallback | None = None,
        agreed: str = "",
        *,
        whole: bool = False,
    ) -> Answer:
        """Call an operation; arguments that are None are not sent.

        Args:
            progress: Called with the progress of a long operation: done, total, current step.
            agreed: The agreement of the ConfirmationError whose question the user confirmed.
            whole: Return the answer uncut.

        Raises:
            PanoramaError: The call failed.
        """
        sent_arguments = {key: value for key, value in arguments.items() if value is not None}
        return Answer(**self._line.call(name, sent_arguments, progress, agreed, whole))

    def list_rows(self, name: str, arguments: Mapping[str, Any], limit: int) -> Answer:
        """Call a list operation page by page until there are `limit` rows, and join the pages."""
        answer = self.call(name, {**arguments, "limit": min(limit, MAX_PAGE_ROWS)})
        while (cursor := answer.metadata.get("next_cursor")) and len(answer.data) < limit:
            left = min(limit - len(answer.data), MAX_PAGE_ROWS)
            answer = _join_pages(answer, self.call(name, {**arguments, "limit": left, "cursor": cursor}))
        return answer


class _DaemonTransport:
    """The daemon of the data directory."""

    def __init__(self, direct: RpcClient) -> None:
        self._direct = direct
        self.zone = ZoneInfo(direct.reply["timezone"])

    def call(
        self, operation: str, arguments: Mapping[str, Any], progress: ProgressCallback | None, agreed: str, whole: bool
    ) -> Mapping[str, Any]:
        """Call an operation of the daemon."""
        with translate_errors():
            return self._direct.call(operation, arguments, progress, agreed, whole=whole)


@contextmanager
def _open_daemon() -> Generator[_Transport]:
    address = Address(data_directory())
    with translate_errors():
        greeted = connect_or_launch(address, hello_message(address, "calls", CONVERSATION))
    sys.stderr.write(settings_warning(address, greeted.reply))
    with RpcClient(address, greeted) as direct:
        yield _DaemonTransport(direct)


class _InProcessTransport:
    """The product in this process."""

    def __init__(
        self,
        app: Any,
        conversation: Any,
        report_progress: Callable[[ProgressCallback], AbstractContextManager[None]],
        readers: tuple[Any, Any],
    ) -> None:
        self._app = app
        self._cut, self._whole = readers
        self._conversation = conversation
        self._report_progress = report_progress
        self.zone: ZoneInfo = app.settings.zone

    def call(
        self, operation: str, arguments: Mapping[str, Any], progress: ProgressCallback | None, agreed: str, whole: bool
    ) -> Mapping[str, Any]:
        """Call an operation of this process."""
        with self._report_progress(progress) if progress else ExitStack():
            reader = self._whole if whole else self._cut
            return self._app.calls.call(operation, arguments, self._conversation, agreed, reader).to_dict()


@contextmanager
def _open_in_process() -> Generator[_Transport]:
    from panorama.app import open_app  # half a second
    from panorama.calls import MODEL, SCRIPT, Conversation
    from panorama.config import read_settings
    from panorama.domain.changes import CLI_ACTOR
    from panorama.services.jobs.progress import report_progress_to

    with open_app(read_settings()) as app:
        app.orphaned_runs.recover_once()
        yield _InProcessTransport(
            app, Conversation(CONVERSATION, actor=CLI_ACTOR, client="panorama"), report_progress_to, (MODEL, SCRIPT)
        )


@contextmanager
def translate_errors() -> Generator[None]:
    """Translate errors of the daemon connection to ours."""
    try:
        yield
    except RpcError as error:
        raise from_dict(error.data) from error
    except UnreachableError as error:
        raise UnavailableError(error.message, hint=error.hint) from error


def _join_pages(first: Answer, second: Answer) -> Answer:
    data = [*first.data, *second.data]
    names = {**first.metadata.get("names", {}), **second.metadata.get("names", {})}
    metadata = {**second.metadata, "names": names} if names else second.metadata
    return replace(second, data=data, summary=_COUNT.sub(str(len(data)), second.summary), metadata=metadata)
