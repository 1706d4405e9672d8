"""The texts of the page in the user's language. English texts are the keys; `translations` has the others."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from panorama.translations import GERMAN

Language = Literal["en", "de"]
LANGUAGES: tuple[Language, ...] = ("en", "de")
_CATALOGUES = {"en": {}, "de": GERMAN}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_GERMAN_SIGNS = str.maketrans(",.", ".,")
Tone = Literal["late", "today", "soon", "plain"]


@dataclass(frozen=True, slots=True)
class Due:
    """A deadline in words."""

    words: str
    tone: Tone
    iso: str


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one language."""

    language: Language

    def __call__(self, text: str, **values: object) -> str:
        """Return a text with its values filled in; English where there is no translation."""
        translated = _CATALOGUES[self.language].get(text, text)
        return translated.format(**values) if values else translated

    def count(self, one: str, many: str, number: int) -> str:
        """Return the text for a number: `one` for 1, else `many`, which has a place for {number}."""
        return self(one if number == 1 else many, number=self.number(number))

    def number(self, value: float) -> str:
        """Return a number with separators of thousands."""
        text = f"{value:,}"
        return text.translate(_GERMAN_SIGNS) if self.language == "de" else text

    def day(self, day: date, *, is_long: bool = False, with_year: bool = False) -> str:
        """Return a day: 24 Nov, or Tuesday, 24 November."""
        month = self(MONTHS[day.month - 1])
        month = month if is_long or len(month) <= 4 else month[:3]
        words = f"{day.day}. {month}" if self.language == "de" else f"{day.day} {month}"
        words = f"{words} {day.year}" if with_year else words
        return f"{self.weekday(day)}, {words}" if is_long else words

    def weekday(self, day: date) -> str:
        """Return the name of a day of the week."""
        return self(WEEKDAYS[day.weekday()])

    def month(self, day: date) -> str:
        """Return the name of a day's month and its year."""
        return f"{self(MONTHS[day.month - 1])} {day.year}"

    def coming(self, iso: str, now: datetime) -> str:
        """Return a day or moment of the calendar in words: Tomorrow 14:00, 3 Dec."""
        day = date.fromisoformat(iso[:10])
        gap = (day - now.date()).days
        words = {0: self("Today"), 1: self("Tomorrow")}.get(gap)
        if words is None:
            words = self.weekday(day) if 0 < gap < 7 else self.day(day, with_year=day.year != now.year)
        return f"{words} {iso[11:16]}".strip()

    def due(self, iso: str, today: date) -> Due | None:
        """Return a deadline in words, with its time if it has one; None if there is none."""
        if not iso:
            return None
        day = date.fromisoformat(iso[:10])
        gap = (day - today).days
        words = {0: self("Today"), 1: self("Tomorrow"), -1: self("Yesterday")}.get(gap)
        if words is None and -14 < gap < 0:
            words = self("{number} days ago", number=-gap)
        if words is None:
            words = self.weekday(day) if 0 < gap < 7 else self.day(day, with_year=day.year != today.year)
        tone: Tone = "late" if gap < 0 else "today" if gap == 0 else "soon" if gap < 4 else "plain"
        return Due(f"{words} {iso[11:16]}".strip(), tone, iso)

    def moment(self, iso: str, now: datetime) -> str:
        """Return a past time in words: 5 min ago, Yesterday 14:20."""
        at = datetime.fromisoformat(iso)
        seconds = (now - at).total_seconds()
        if 0 <= seconds < 60:
            return self("just now")
        if 0 <= seconds < 3600:
            return self("{number} min ago", number=int(seconds // 60))
        gap = (now.date() - at.date()).days
        if gap == 0:
            return f"{at:%H:%M}"
        day = self("Yesterday") if gap == 1 else self.day(at.date(), with_year=at.year != now.year)
        return f"{day} {at:%H:%M}"


def choose_language(accepted: str) -> Language:
    """Return the language to use, given an Accept-Language header."""
    for part in accepted.lower().split(","):
        code = part.partition(";")[0].strip()[:2]
        if code in LANGUAGES:
            return "de" if code == "de" else "en"
    return "en"
