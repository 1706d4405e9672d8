"""File items: named contents of any type, and which of them are text."""

import binascii
import codecs
import html
import re
import unicodedata
from base64 import b64decode
from dataclasses import dataclass, fields
from typing import ClassVar

from panorama.domain.items.item import BASE32, Item, Kind, single_line, validate_text
from panorama.errors import InvalidInputError

CONTENT_BYTES = 10 * 1024 * 1024
"""The longest content, in bytes."""

SEARCHABLE_BYTES = 1_000_000
"""Search reads this many bytes of a text; beyond that, only the file's name is found."""

_RESULT_NAME = re.compile(rf"[a-z]_[{BASE32}]{{10}}\.(json|txt)")
"""The file name of a large script result: the run's id and a suffix for its format."""

MEDIA_TYPE_CHARS = 100
TEXT_TYPE, BINARY_TYPE = "text/plain", "application/octet-stream"
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
_JOINERS = "\u200c\u200d"
"""Zero-width characters used in Persian, Indian languages and emoji."""

_TAG = re.compile(r"<[^<>]*>")
_SEARCHABLE_TYPES = frozenset({"application/json", "application/x-ndjson", "application/yaml"})
"""Media types that search reads besides `text/…`."""

MEDIA_TYPES = {
    "txt": TEXT_TYPE, "log": TEXT_TYPE, "md": "text/markdown", "markdown": "text/markdown", "csv": "text/csv",
    "tsv": "text/tab-separated-values", "html": "text/html", "htm": "text/html", "css": "text/css",
    "ics": "text/calendar", "vcf": "text/vcard", "js": "text/javascript", "py": "text/x-python",
    "json": "application/json", "jsonl": "application/x-ndjson", "ndjson": "application/x-ndjson",
    "yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml", "xml": "application/xml",
    "sql": "application/sql", "pdf": "application/pdf", "rtf": "application/rtf", "epub": "application/epub+zip",
    "doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "svg": "image/svg+xml", "bmp": "image/bmp", "tiff": "image/tiff", "heic": "image/heic",
    "mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "wav": "audio/wav", "flac": "audio/flac",
    "mp4": "video/mp4", "mov": "video/quicktime", "webm": "video/webm",
    "zip": "application/zip", "gz": "application/gzip", "tar": "application/x-tar",
    "sqlite": "application/vnd.sqlite3", "parquet": "application/vnd.apache.parquet",
}  # fmt: skip
"""Media types by file suffix; unlike the system's own table, the same on every machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File(Item):
    """A named content; `size` is in bytes, and the content is stored under its `sha256`."""

    KIND: ClassVar[Kind] = "file"
    BRIEF: ClassVar[tuple[str, ...]] = (
        "id", "name", "media_type", "size", "project", "tags", "version", "updated_at"
    )  # fmt: skip

    name: str
    media_type: str
    size: int
    sha256: str
    project: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its name."""
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile(File):
    """A stored file, with the text of its content that search reads."""

    TOGETHER: ClassVar[tuple[str, ...]] = ("media_type", "size", "sha256", "body")

    body: str = ""

    def search_text(self) -> tuple[str, str]:
        """Its name; its text and tags."""
        return self.name, "\n".join((self.body, " ".join(self.tags))) if self.tags else self.body

    def public_view(self) -> File:
        """Return the public fields, without the extracted text."""
        return File(**{field.name: getattr(self, field.name) for field in fields(File)})


def validate_file_name(text: str) -> str:
    """Return a valid file name: one line, usable in any folder.

    Raises:
        InvalidInputError: The name is empty, longer than 200 characters, a path, `.` or `..`, or holds hidden
            characters.
    """
    name = single_line(text, "name")
    if hidden := next((sign for sign in name if unicodedata.category(sign) == "Cf" and sign not in _JOINERS), ""):
        raise InvalidInputError(
            f"name contains an invisible character that may hide the file's type: U+{ord(hidden):04X}.",
            hint="Remove direction controls and zero-width characters.",
        )
    if "/" in name or "\\" in name or name in (".", ".."):
        raise InvalidInputError(
            f"name is a path, not the name of a file: {name[:80]!r}.",
            hint="Give only the last part, such as report.csv; use projects and tags to organise files.",
        )
    return name


def decode_content(text: str | None, base64: str | None) -> bytes:
    """Return the bytes given as text or base64; if both are given and one is empty, the other is used.

    Raises:
        InvalidInputError: Neither or both are given, the base64 is none, or it is over 10 MB.
    """
    if text is None and base64 is None:
        raise InvalidInputError("Neither text nor base64 is given.", hint='Give text; text="" makes an empty file.')
    if text and base64:
        raise InvalidInputError(
            "Both text and base64 are given.", hint="Give one of them; use base64 for binary content."
        )
    data = _decode_base64(base64) if base64 else validate_text(text or "", "text", limit=CONTENT_BYTES).encode()
    if len(data) > CONTENT_BYTES:
        over = f"The content has {len(data):,} bytes; the limit is {CONTENT_BYTES:,}."
        raise InvalidInputError(over, hint="Split it into several files.")
    return data


def _decode_base64(base64: str) -> bytes:
    try:
        return b64decode("".join(base64.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInputError(
            "base64 is not valid base64.", hint="Give text as text, without encoding it."
        ) from error


def resolve_media_type(media_type: str, name: str, content: bytes) -> str:
    """Return a valid media type, or guess one from the name and content if none is given.

    Raises:
        InvalidInputError: It is not of the form type/subtype.
    """
    if not media_type.strip():
        known = MEDIA_TYPES.get(name.rpartition(".")[2].lower()) if "." in name else None
        return known or (TEXT_TYPE if decode_text(content) is not None else BINARY_TYPE)
    bare = media_type.partition(";")[0].strip().lower()
    if not _MEDIA_TYPE.fullmatch(bare) or len(bare) > MEDIA_TYPE_CHARS:
        raise InvalidInputError(f"media_type is not a media type: {media_type[:80]!r}.", hint="Example: text/csv.")
    return bare


def is_generic_type(kind: str) -> bool:
    """Return whether a media type only says whether the content is text."""
    return kind in (TEXT_TYPE, BINARY_TYPE)


def decode_text(content: bytes) -> str | None:
    """Return the content as text, or None if it is not UTF-8 text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


def is_result_name(name: str) -> bool:
    """Return whether a file has the name of a stored script result."""
    return _RESULT_NAME.fullmatch(name) is not None


def extract_text(name: str, kind: str, content: bytes) -> str:
    """Return the text that search indexes: the first megabyte, and of HTML without tags.

    Media types without prose (such as SVG images), content that is not UTF-8, and stored script results have no text:
    most results are copies of stored items and would rank above them.
    """
    if is_result_name(name) or not (kind.startswith("text/") or kind in _SEARCHABLE_TYPES):
        return ""
    head = content[:SEARCHABLE_BYTES]
    try:  # a character that the end cuts in two is left out
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head, len(head) == len(content))
    except UnicodeDecodeError:
        return ""
    if "\x00" in text:
        return ""
    return html.unescape(_TAG.sub(" ", text)) if kind == "text/html" else text
