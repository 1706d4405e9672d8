"""The client: the one place where the command line reaches Panorama.

It runs in this process; a later version will talk to a daemon over a socket here, and nowhere else.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from panorama.calls import Answer

MOST_ROWS = 500
"""The most rows that one call gives."""

CONVERSATION = "cli"
"""All commands are one conversation, so that `panorama undo` takes back what the command before it wrote."""

Progress = Callable[[int, int, str], None]
_COUNT = re.compile(r"^\d+")


class Client:
    """A conversation with Panorama, open inside a `with`."""

    def __enter__(self) -> Self:
        """Open the store.

        Raises:
            UnavailableError: The data directory or the database cannot be used.
            InvalidInputError: A setting has a value that cannot be used.
        """
        from panorama.app import opened  # half a second
        from panorama.calls import Conversation
        from panorama.config import read_settings

        with ExitStack() as stack:
            self._app = stack.enter_context(opened(read_settings()))
            self._conversation = Conversation(CONVERSATION, actor="cli", client="panorama")
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self._open.__exit__(kind, error, trace)

    @property
    def now(self) -> datetime:
        """This moment in the person's time zone."""
        return self._app.desk.now().astimezone(self._app.settings.zone)

    def call(self, name: str, arguments: Mapping[str, Any], progress: Progress | None = None) -> "Answer":
        """Call an operation; arguments that are None are not sent.

        Args:
            progress: Is told how far a long operation is: done, total, what it is at.

        Raises:
            PanoramaError: It was refused.
        """
        sent = {key: value for key, value in arguments.items() if value is not None}
        if progress is None:
            return self._app.calls.call(name, sent, self._conversation)
        from panorama.services.imports import PROGRESS

        token = PROGRESS.set(progress)
        try:
            return self._app.calls.call(name, sent, self._conversation)
        finally:
            PROGRESS.reset(token)

    def rows(self, name: str, arguments: Mapping[str, Any], limit: int) -> "Answer":
        """Call an operation that lists, page after page until there are `limit` rows, and join the pages."""
        answer = self.call(name, {**arguments, "limit": min(limit, MOST_ROWS)})
        while (cursor := answer.metadata.get("next_cursor")) and len(answer.data) < limit:
            left = min(limit - len(answer.data), MOST_ROWS)
            answer = _joined(answer, self.call(name, {**arguments, "limit": left, "cursor": cursor}))
        return answer


def _joined(first: "Answer", second: "Answer") -> "Answer":
    data = [*first.data, *second.data]
    names = {**first.metadata.get("names", {}), **second.metadata.get("names", {})}
    metadata = {**second.metadata, "names": names} if names else second.metadata
    return replace(second, data=data, summary=_COUNT.sub(str(len(data)), second.summary), metadata=metadata)
