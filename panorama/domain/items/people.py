"""People: their names, how to reach them, and where they work."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from panorama.domain.items.item import Item, Kind, single_line
from panorama.domain.time import times
from panorama.errors import InvalidInputError

EMAIL_CHARS = 254
SELF_ALIAS = "me"
"""The alias of the person who uses Panorama."""

_EMAIL = re.compile(r"[^\s@<>]+@[^\s@<>]+")
_YEARLESS = re.compile(r"-{0,2}(\d\d)-(\d\d)")
_LEAP_YEAR = 2000
_SOME_YEARS = timedelta(days=8 * 366 + 3)
"""Long enough that a 29 February lies between, and another weekday."""

_BIRTHDAY_HINT = "Examples: 1990-05-12, 12 May 1990, or 12 May if the year is not known."


@dataclass(frozen=True, slots=True, kw_only=True)
class Person(Item):
    """A person; `birthday` is 1990-05-12, or --05-12 if the year is not known."""

    KIND: ClassVar[Kind] = "person"
    BRIEF: ClassVar[tuple[str, ...]] = (
        "id", "full_name", "aliases", "role", "email", "phone", "birthday", "team", "manager", "left_at",
    )  # fmt: skip
    LONG: ClassVar[tuple[str, ...]] = ("notes",)
    LINKED: ClassVar[str] = "notes"
    DERIVED: ClassVar[tuple[str, ...]] = ("full_name",)
    TOGETHER: ClassVar[tuple[str, ...]] = ("name", "last_name")

    name: str
    last_name: str = ""
    aliases: tuple[str, ...] = ()
    role: str = ""
    email: str = ""
    phone: str = ""
    birthday: str = ""
    team: str | None = None
    manager: str | None = None
    notes: str = ""
    left_at: date | None = None

    @property
    def full_name(self) -> str:
        """First and last name."""
        return f"{self.name} {self.last_name}".strip()

    @property
    def label(self) -> str:
        """The full name."""
        return self.full_name

    def list_other_names(self) -> tuple[str, ...]:
        """Return the aliases and the e-mail address."""
        return (*self.aliases, self.email) if self.email else self.aliases

    def list_short_names(self) -> tuple[str, ...]:
        """Return the first name and the last name."""
        first = self.full_name.split(" ", 1)[0]
        return tuple(part for part in dict.fromkeys((self.name, first, self.last_name)) if part)

    def search_text(self) -> tuple[str, str]:
        """The full name; all other words."""
        return self.full_name, "\n".join((*self.aliases, self.role, self.email, self.phone, self.notes))

    def to_markdown_line(self) -> str:
        """Return the full name, then the role and the addresses."""
        details = ", ".join(filter(None, (self.role, self.email, self.phone)))
        return f"{self.full_name} ({details})" if details else self.full_name

    def next_birthday(self, today: date) -> date | None:
        """Return the next birthday, today included; 29 February is 28 February in other years."""
        if not self.birthday:
            return None
        month, day = (int(part) for part in self.birthday[-5:].split("-"))
        coming = (_day_of_year(today.year + ahead, month, day) for ahead in (0, 1))
        return next(birthday for birthday in coming if birthday >= today)

    def age_on(self, birthday: date) -> int | None:
        """Return the age reached on a birthday; None if the year of birth is not known."""
        return None if self.birthday.startswith("-") else birthday.year - int(self.birthday[:4])


def _day_of_year(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        return date(year, month, day - 1)


def parse_email(text: str) -> str:
    """Return an e-mail address, "" if there is none.

    Raises:
        InvalidInputError: It is not an address.
    """
    if not text.strip():
        return ""
    address = single_line(text.strip().removeprefix("mailto:"), "email", limit=EMAIL_CHARS)
    if not _EMAIL.fullmatch(address):
        raise InvalidInputError(f"email is not an address: {address[:80]!r}.", hint="Example: ana@example.org.")
    return address


def parse_birthday(text: str, *, now: datetime, zone: ZoneInfo) -> str:
    """Return a birthday in stored form: 1990-05-12, --05-12 without a year, "" for none.

    Raises:
        InvalidInputError: It is not a day of the calendar, or it is in the future.
    """
    if not text.strip():
        return ""
    if match := _YEARLESS.fullmatch(text.strip()):
        times.parse_date(f"{_LEAP_YEAR}-{match[1]}-{match[2]}", "birthday", now=now, zone=zone)
        return f"--{match[1]}-{match[2]}"
    day, later = (times.parse_date(text, "birthday", now=at, zone=zone) for at in (now, now + _SOME_YEARS))
    if (day.month, day.day) != (later.month, later.day):
        raise InvalidInputError(f"birthday is not a fixed day: {text[:40]!r}.", hint=_BIRTHDAY_HINT)
    if day.year != later.year:
        return f"--{day:%m-%d}"
    if day > times.today(now, zone):
        raise InvalidInputError(f"birthday is in the future: {day}.", hint=_BIRTHDAY_HINT)
    return day.isoformat()


def merge_fields(kept: Person, duplicate: Person) -> dict[str, Any]:
    """Return the new fields of a person who takes over the names of a duplicate, and what they lacked."""
    named = {name.casefold() for name in (kept.full_name, *kept.list_other_names())}
    names = (*kept.aliases, duplicate.full_name, *duplicate.list_other_names())
    fields: dict[str, Any] = {
        name: getattr(duplicate, name)
        for name in ("role", "email", "phone", "birthday", "team")
        if getattr(duplicate, name) and not getattr(kept, name)
    }
    taken = fields.get("email", "").casefold()
    fields["aliases"] = (*kept.aliases, *(n for n in names if n.casefold() not in named and n.casefold() != taken))
    fields["notes"] = "\n\n".join(filter(None, (kept.notes, duplicate.notes)))
    return fields
