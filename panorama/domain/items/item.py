"""The fields of every item, and the rules of ids, titles and tags."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Self, TypeVar

from panorama.errors import InvalidInputError
from panorama.kinds import ITEM_KINDS, Kind, name_kind

LETTERS: dict[str, Kind] = {kind.letter: kind.name for kind in ITEM_KINDS}
"""The first letter of an id and the kind it stands for."""

PREFIXES: dict[str, str] = {kind: letter for letter, kind in LETTERS.items()}
KINDS: tuple[Kind, ...] = tuple(LETTERS.values())

FAVORITE_FIELDS: dict[Kind, str] = {"project": "favorite", "note": "pinned"}
"""The field that marks an item of a kind as a favourite."""

BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32, lower case: no i, l, o, u."""

_ID = re.compile(rf"([a-z])_[{BASE32}]{{10}}")
_ID_IN_TEXT = re.compile(r"(?<!\w)[a-z]_[0-9a-tv-z]{10}(?!\w)", re.ASCII | re.IGNORECASE)
_DIGIT_LOOKALIKES = str.maketrans("ilo", "110")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SPACES = re.compile(r"\s+")

_EXTERNAL_REF = re.compile(r"[a-z][a-z0-9_-]*:.*\S", re.IGNORECASE)

TITLE_CHARS = 200
TAG_CHARS = 60
TAGS = 50
ALIASES = 50
SOURCE_REF_CHARS = 500
TEXT_CHARS = 1_000_000
"""The longest text other than a note's content, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """The base of all items; `version` starts at 1 and increases by one with every write.

    `DERIVED` are properties reported with the fields. `TOGETHER` are fields that depend on each other: if one of them
    changes, the change line records all, so that an undo reverts all or none. `COUNTED` are fields that count rows of
    another table, whose changes are recorded instead. `LINKED` is the field whose `[[links]]` are followed.
    """

    KIND: ClassVar[Kind]
    BRIEF: ClassVar[tuple[str, ...]] = ()
    LONG: ClassVar[tuple[str, ...]] = ()
    DERIVED: ClassVar[tuple[str, ...]] = ()
    TOGETHER: ClassVar[tuple[str, ...]] = ()
    COUNTED: ClassVar[tuple[str, ...]] = ()
    LINKED: ClassVar[str] = ""

    id: str
    version: int = 1
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None

    def with_changes(self, now: datetime, **fields: Any) -> Self:
        """Return this item with new field values and the next version; itself if nothing differs."""
        if all(getattr(self, name) == value for name, value in fields.items()):
            return self
        return replace(self, **fields, updated_at=now, version=self.version + 1)

    @property
    def label(self) -> str:
        """The title or name shown to the user."""
        return str(getattr(self, "title", ""))

    def describe(self) -> str:
        """Return its kind, label and id: «task “Tea” (t_7k3q9xv2mh)»."""
        return f"{name_kind(self.KIND)} “{self.label}” ({self.id})"

    @property
    def external_ref(self) -> str:
        """Its name in another system, such as claap:rec_1; "" if it has none."""
        ref = getattr(self, "source_ref", None)
        return ref if ref and kind_of(ref) is None else ""

    def list_other_names(self) -> tuple[str, ...]:
        """Return the names besides the label that refer to the item."""
        return ()

    def list_short_names(self) -> tuple[str, ...]:
        """Return the names that refer to the item if no label or other name does."""
        return ()

    def linked_text(self) -> str:
        """Return the text whose links are followed."""
        return getattr(self, self.LINKED) if self.LINKED else ""

    def search_text(self) -> tuple[str, str]:
        """Return the texts that are indexed for keyword search: the title, and the body."""
        return self.label, ""

    @property
    def has_rows(self) -> bool:
        """Whether search also reads rows of another table."""
        return False

    def search_parts(self) -> tuple[str, ...]:
        """Return the texts that keyword search indexes apart from each other: the body alone, as a rule."""
        return (self.search_text()[1],)

    def to_markdown_line(self) -> str:
        """Return the item as one Markdown line."""
        return self.label

    def public_view(self) -> "Item":
        """Return the public fields, without those that only search reads."""
        return self


AnyItem = TypeVar("AnyItem", bound=Item)


def kind_of(id_: str) -> Kind | None:
    """Return the kind an id stands for, or None if the text is not the id of an item."""
    match = _ID.fullmatch(id_)
    return LETTERS.get(match[1]) if match else None


def extract_ids(text: str) -> tuple[str, ...]:
    """Return the ids in a text in normal form."""
    return tuple(dict.fromkeys(normalize_id(entry) for entry in _ID_IN_TEXT.findall(text)))


def extract_definite_ids(text: str) -> tuple[str, ...]:
    """Return the words of a text that can only be ids, in lower case.

    A word without a digit may be a name, such as n_characters.
    """
    ids = (entry.lower() for entry in _ID_IN_TEXT.findall(text))
    return tuple(dict.fromkeys(entry for entry in ids if any(sign.isdigit() for sign in entry)))


def normalize_id(text: str) -> str:
    """Return an id in normal form: Crockford's base 32 ignores case and reads i and l as 1, o as 0."""
    return text[:2].lower() + text[2:].lower().translate(_DIGIT_LOOKALIKES)


def remove_ids(text: str) -> str:
    """Return a text without its ids."""
    return _ID_IN_TEXT.sub(" ", text)


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id."""
    return bool(_ID_IN_TEXT.fullmatch(text.strip()))


def validate_text(text: str, name: str, *, limit: int = TEXT_CHARS) -> str:
    """Return text that every database and client can store.

    Raises:
        InvalidInputError: The text is longer than `limit` characters, or holds a NUL or a lone surrogate.
    """
    if len(text) > limit:
        raise InvalidInputError(
            f"{name} has {len(text):,} characters; the limit is {limit:,}.", hint=f"Shorten {name}."
        )
    if "\x00" in text:
        raise InvalidInputError(f"{name} contains a NUL byte.", hint=f"Remove it from {name}: it is not text.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        at = f"{name} contains an unpaired surrogate at position {error.start}."
        raise InvalidInputError(at, hint=f"Send {name} as valid Unicode.") from error
    return text


def is_blank(text: str) -> bool:
    """Return whether a text has no visible character: only spaces, controls and byte order marks."""
    return not text[:1].isalnum() and all(unicodedata.category(sign)[0] in "CZ" for sign in text)


def single_line(text: str, name: str = "title", *, limit: int = TITLE_CHARS) -> str:
    """Return text as one line without control characters or outer spaces.

    Raises:
        InvalidInputError: The result is empty, or longer than `limit` characters.
    """
    cleaned = _SPACES.sub(" ", _CONTROLS.sub("", validate_text(text, name))).strip()
    if is_blank(cleaned):
        raise InvalidInputError(f"{name} is empty.", hint=f"Give {name} at least one character.")
    return validate_text(cleaned, name, limit=limit)


def single_line_or_empty(text: str, name: str, *, limit: int = TITLE_CHARS) -> str:
    """Return text as one line, or "" if there is none."""
    return single_line(text, name, limit=limit) if text.strip() else ""


def validate_external_ref(text: str) -> str:
    """Return the name of an item in another system as one line: the system, a colon, and the name there.

    Raises:
        InvalidInputError: It has another form, or more than 500 characters.
    """
    line = single_line(text, "source_ref", limit=SOURCE_REF_CHARS)
    if not _EXTERNAL_REF.fullmatch(line):
        raise InvalidInputError(
            f"source_ref is {line[:80]!r}.", hint="Give the system, a colon, and the name there: claap:rec_1."
        )
    return line


def normalize_tags(tags: Iterable[str], name: str = "tags") -> tuple[str, ...]:
    """Return tags in order, without `#`, with hyphens for spaces, and without duplicates in other spellings."""
    by_name: dict[str, str] = {}
    for tag in tags:
        bare = tag.strip().lstrip("#").strip()
        if bare:
            word = single_line(bare, name, limit=TAG_CHARS).replace(" ", "-")
            by_name.setdefault(normalize_name(word), word)
    if len(by_name) > TAGS:
        raise InvalidInputError(
            f"{name} has {len(by_name)} words; the limit is {TAGS}.", hint="Keep the few that matter."
        )
    return tuple(by_name.values())


def normalize_aliases(aliases: Iterable[str], name: str = "aliases") -> tuple[str, ...]:
    """Return further names of an item in order, without duplicates in other spellings.

    Raises:
        InvalidInputError: There are more than 50, or one of them is too long.
    """
    by_name: dict[str, str] = {}
    for alias in aliases:
        if alias.strip():
            line = single_line(alias, name)
            by_name.setdefault(normalize_name(line), line)
    if len(by_name) > ALIASES:
        raise InvalidInputError(
            f"{name} has {len(by_name):,} names; the limit is {ALIASES}.", hint="Keep those in use."
        )
    return tuple(by_name.values())


def normalize_name(text: str) -> str:
    """Return the form in which names are compared: without case, width and outer spaces."""
    if text.isascii():  # the same, three times as fast
        return " ".join(text.lower().split())
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
