"""Conversations: who talks to the daemon, known again when they come back."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar

from fastmcp.server.dependencies import get_http_headers

from panorama.calls import Conversation
from panorama.mcp.tools import client_name

KEPT = 1000
"""Conversations that are remembered, the latest; what they last read is forgotten after ten minutes anyway."""

current: ContextVar[Conversation] = ContextVar("conversation")


class Conversations:
    """The conversations by their ids. Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, id_: str, actor: str, client: str | Callable[[], str]) -> Conversation:
        """Return the conversation of this id, with its working memory if it was here before."""
        with self._lock:
            found = self._known.pop(id_, None)
            if found is None or found.actor != actor:
                found = Conversation(id_, actor, client)
            found.client = client
            self._known[id_] = found
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
            return found

    def over_http(self) -> Conversation:
        """Return the conversation of the HTTP request that is served: its session's, else its program's."""
        name = client_name()
        session = get_http_headers().get("mcp-session-id", name)
        return self.of(f"h_{session}"[:40], "tool", name)
