"""Sessions: meetings and chains of thoughts."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from panorama.domain.items.item import Item, Kind
from panorama.errors import InvalidInputError

SessionKind = Literal["meeting", "thinking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSession(Item):
    """A meeting, or a chain of thoughts; its lines have a table of their own, and `line_count` is their number.

    `attendees` are names or e-mail addresses, `people` the ids of those who are known. `source_ref` is its name in
    another system.
    """

    KIND: ClassVar[Kind] = "session"
    BRIEF: ClassVar[tuple[str, ...]] = (
        "id", "title", "kind", "project", "started_at", "ended_at", "attendees", "line_count",
        "source_ref",
    )  # fmt: skip
    LONG: ClassVar[tuple[str, ...]] = ("summary",)
    LINKED: ClassVar[str] = "summary"
    COUNTED: ClassVar[tuple[str, ...]] = ("line_count",)

    title: str
    kind: SessionKind = "meeting"
    project: str | None = None
    started_at: datetime
    ended_at: datetime | None = None
    attendees: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    location: str = ""
    summary: str = ""
    line_count: int = 0
    source_ref: str | None = None

    @property
    def has_rows(self) -> bool:
        """Whether it has lines."""
        return self.line_count > 0

    def search_text(self) -> tuple[str, str]:
        """Its title; its summary, attendees and place. A transcript has the lines too."""
        return self.title, "\n".join(filter(None, (self.summary, ", ".join(self.attendees), self.location)))

    def to_markdown_line(self) -> str:
        """Return its day, title and attendees."""
        return f"{self.started_at:%Y-%m-%d} {self.title}" + (f" ({', '.join(self.attendees)})" * bool(self.attendees))


def check_times(started_at: datetime, ended_at: datetime | None) -> None:
    """Check the order of two moments.

    Raises:
        InvalidInputError: The end is before the start.
    """
    if ended_at is not None and ended_at < started_at:
        raise InvalidInputError("The session ends before it begins.", hint="Give ended_at after started_at.")
