"""Attendees of meetings and events: names and e-mail addresses, each once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from panorama.domain.items.item import normalize_name, single_line
from panorama.errors import InvalidInputError

ATTENDEE_CHARS = 700
"""Enough for a full name with an e-mail address."""

MAX_ATTENDEES = 500
_ADDRESSED = re.compile(r"(.*?)\s*<\s*(?:mailto:)?([^\s<>@]+@[^\s<>@]+)\s*>", re.IGNORECASE)
_SCHEME = re.compile(r"\Amailto:\s*(?=\S+@)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Attendee:
    """A person as named in a call; `names` are the texts by which to look for them, the surest first."""

    text: str
    names: tuple[str, ...]

    @property
    def email(self) -> str:
        """The e-mail address, "" if none was given."""
        return next((name for name in self.names if "@" in name), "")

    @property
    def name(self) -> str:
        """The name; of a bare address what is before the @."""
        return next((name for name in self.names if "@" not in name), self.email.partition("@")[0])


def parse_attendees(attendees: Iterable[str]) -> tuple[Attendee, ...]:
    """Return the attendees of a call in order, each once; `Ana <ana@example.org>` has a name and an address.

    Raises:
        InvalidInputError: One is too long, or there are more than 500.
    """
    known: dict[str, Attendee] = {}
    for text in attendees:
        if text.strip():
            line = single_line(text, "attendees", limit=ATTENDEE_CHARS)
            known.setdefault(normalize_name(line), _parse_attendee(line))
    if len(known) > MAX_ATTENDEES:
        raise InvalidInputError(f"attendees has {len(known)} names; the limit is {MAX_ATTENDEES}.", hint="Name fewer.")
    return tuple(known.values())


def _parse_attendee(line: str) -> Attendee:
    if match := _ADDRESSED.fullmatch(line):
        name = match[1].strip(" \"'")
        return Attendee(line, (match[2], *([name] if name else [])))
    address = _SCHEME.sub("", line)
    return Attendee(address, (address,))
