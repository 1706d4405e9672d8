"""Finds the names of people in texts that do not link to them.

A name counts if it is the whole name or an alias, begins with a capital letter (or a letter without case) in the text,
and is not part of a longer word. Short or everyday words and code are ignored. Every function is
linear in the length of the text.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from panorama.domain.items.item import normalize_name
from panorama.domain.items.people import SELF_ALIAS, Person
from panorama.domain.markdown.lines import FILLER, iter_lines, mask_code, mask_comments
from panorama.domain.text.tokens import STOP_WORDS

MIN_LETTERS = 3
"""The shortest single word that is looked for as a name; two letters are as often initials of something else."""

MAX_WORDS = 6
"""The maximum number of words of a name that is looked up from a text; O'Brien are two."""

CHARS_BETWEEN_CHECKS = 1 << 17

_WORD = re.compile(r"[^\W_]+\.?")
_HAN_LETTERS = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text: its position in the prepared text, and as it is written there."""

    start: int
    written: str


def is_distinctive(name: str) -> bool:
    """Return whether a name says enough to be looked for in texts."""
    if " " in name:
        return True
    if "@" in name or any(letter.isdigit() for letter in name):
        return False
    letters = MIN_LETTERS - bool(_HAN_LETTERS.search(name))
    return len(name) >= letters and name.casefold() not in STOP_WORDS and name.casefold() != SELF_ALIAS


def list_names(person: Person) -> list[str]:
    """Return the names by which a person is mentioned: the full name and the aliases that say enough."""
    return [name for name in (person.full_name, *person.aliases) if is_distinctive(name)]


def _noop() -> None:
    """Do nothing: the default check."""


def prepare_text(text: str, check: Callable[[], None] = _noop) -> str:
    """Return a text in which names are found: composed letters, no code or comments.

    Args:
        check: Called before the first line and after each 128 KB; an exception from it ends the work.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    text = mask_comments(text)
    if "`" not in text and "~~~" not in text:
        return text
    lines: list[str] = []
    unchecked = CHARS_BETWEEN_CHECKS
    for line in iter_lines(text):
        unchecked += len(line.text) + 1
        if unchecked >= CHARS_BETWEEN_CHECKS:
            check()
            unchecked = 0
        lines.append(FILLER if line.fence else mask_code(line.text))
    return "\n".join(lines)


def find_mention(prepared: str, names: Iterable[str]) -> Mention | None:
    """Return the first mention of any of some names in a prepared text, None if there is none."""
    spaced = [r"\s+".join(map(re.escape, unicodedata.normalize("NFC", name).split())) for name in names]
    if not spaced:
        return None
    pattern = rf"(?<![\w@-])(?:{'|'.join(sorted(spaced, key=len, reverse=True))})(?![\w@]|-\w)"
    for match in re.finditer(pattern, prepared, re.IGNORECASE):
        if _is_capital(match[0]):
            return Mention(match.start(), match[0])
    return None


def iter_possible_names(prepared: str) -> Iterator[str]:
    """Yield the normalised texts in a prepared text that may be names: one to six words from a capital letter on."""
    words = [(match.start(), match.end()) for match in _WORD.finditer(prepared)]
    for at, (start, _) in enumerate(words):
        if _is_capital(prepared[start]):
            for _, end in words[at : at + MAX_WORDS]:
                written = prepared[start:end]
                if written.count("\n") > 1:
                    break
                yield normalize_name(written)
                if written[-1] == ".":
                    yield normalize_name(written[:-1])


def _is_capital(word: str) -> bool:
    """Return whether a word begins with a capital letter, or a letter of a script without case."""
    return word[0].isalpha() and not word[0].islower()
