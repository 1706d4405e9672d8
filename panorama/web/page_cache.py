"""Rendered pages, kept until an item or a script changes, and for a minute at most."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from panorama.web.texts import Language

MAX_PAGES = 32
MAX_BYTES = 8 << 20
"""The maximum number of bytes of all kept pages; a page of 300 tasks has 400 KB."""


@dataclass(frozen=True, slots=True)
class DataState:
    """The state that pages of items depend on beside the request: the last change, scripts, and the time in minutes.

    The minute covers what depends on the clock: a new day, a deadline with a time that passes, "5 min ago".
    """

    change_number: int
    script_changes: int
    minute: datetime


@dataclass(frozen=True, slots=True)
class PageKey:
    """The request for a page. The token is that of the session, whose forms carry it."""

    path: str
    query: str
    language: Language
    token: str
    is_read_only: bool


class PageCache:
    """The pages of one state of the data; the first page of another state removes them. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: DataState | None = None
        self._pages: dict[PageKey, bytes] = {}
        self._size = 0
        self._rendering: dict[tuple[DataState, PageKey], threading.Lock] = {}

    def get(self, state: DataState, key: PageKey, render: Callable[[], bytes]) -> bytes:
        """Return a page, and render it if necessary: once, also if many tabs request it at the same time."""
        if page := self.find(state, key):
            return page
        with self._lock:
            turn = self._rendering.setdefault((state, key), threading.Lock())
        try:
            with turn:
                if not (page := self.find(state, key)):
                    page = render()
                    self.add(state, key, page)
        finally:
            with self._lock:
                self._rendering.pop((state, key), None)
        return page

    def find(self, state: DataState, key: PageKey) -> bytes | None:
        """Return a page, None if it has to be rendered."""
        with self._lock:
            if state != self._state:
                self._state, self._pages, self._size = state, {}, 0
            return self._pages.get(key)

    def add(self, state: DataState, key: PageKey, page: bytes) -> None:
        """Keep a page unless the data changed while it was rendered; the oldest pages make room."""
        with self._lock:
            if state != self._state or len(page) > MAX_BYTES:
                return
            self._size += len(page) - len(self._pages.pop(key, b""))
            self._pages[key] = page
            while len(self._pages) > MAX_PAGES or self._size > MAX_BYTES:
                self._size -= len(self._pages.pop(next(iter(self._pages))))
