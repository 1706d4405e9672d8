"""Results of session operations that are more than a stored session."""

from dataclasses import dataclass
from typing import Self

from panorama.domain.items.session_lines import SessionLine
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.text.wording import pluralize
from panorama.services.items.results import field_values


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView(LoggedSession):
    """A session and some of its lines; `next_start` is the position to read on from, None at the end."""

    lines: tuple[SessionLine, ...]
    next_start: int | None

    @classmethod
    def of(cls, session: LoggedSession, lines: tuple[SessionLine, ...], next_start: int | None) -> Self:
        """Join a session with its lines."""
        return cls(**field_values(session), lines=lines, next_start=next_start)

    def summarize(self) -> str:
        """Return a one-line summary."""
        shown = f"{pluralize(len(self.lines), 'line')} of {self.line_count:,}"
        onward = f"; read on with start={self.next_start}" if self.next_start else ""
        return f"Session “{self.title}” ({self.id}), {shown}{onward}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionExport:
    """A session as text, or the characters `start` to `end` of its `chars`; both are None if it is whole."""

    id: str
    title: str
    format: str
    chars: int
    start: int | None
    end: int | None
    text: str

    def summarize(self) -> str:
        """Return a one-line summary."""
        if self.start is None or self.end is None:
            return f"Session “{self.title}” ({self.id}) as {self.format}, {self.chars:,} characters"
        onward = f"; read on with start={self.end}" if self.end < self.chars else ""
        shown = f"characters {self.start:,} to {self.end:,} of {self.chars:,}"
        return f"Session “{self.title}” ({self.id}) as {self.format}, {shown}{onward}"
