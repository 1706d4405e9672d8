"""Conversations of the daemon's clients, by their ids."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar

from panorama.calls import Conversation

MAX_CONVERSATIONS = 1000
"""Conversations that are remembered, the latest; what they last read is forgotten after ten minutes anyway."""

current: ContextVar[Conversation] = ContextVar("conversation")


class Conversations:
    """The conversations by their ids. Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = threading.Lock()

    def get_or_create(self, id_: str, actor: str, client: str | Callable[[], str]) -> Conversation:
        """Return the conversation with an id, with its working memory if it is known."""
        with self._lock:
            conversation = self._known.pop(id_, None)
            if conversation is None or conversation.actor != actor:
                conversation = Conversation(id_, actor, client)
            conversation.client = client
            self._known[id_] = conversation
            while len(self._known) > MAX_CONVERSATIONS:
                self._known.popitem(last=False)
            return conversation
