"""Files: named contents of any type, and which of them are text."""

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
"""So much of a text is read by search; what follows is found by the file's name alone."""

_RESULT_NAME = re.compile(rf"[a-z]_[{BASE32}]{{10}}\.(json|txt)")
"""What a large result of a script is kept as: the run's id, and the ending for its form."""

MEDIA_TYPE_CHARS = 100
TEXT_TYPE, BINARY_TYPE = "text/plain", "application/octet-stream"
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
_JOINERS = "\u200c\u200d"
"""Signs without width that Persian, Indian languages and emoji are written with."""

_TAG = re.compile(r"<[^<>]*>")
_SEARCHABLE_TYPES = frozenset({"application/json", "application/x-ndjson", "application/yaml"})
"""What search reads beside `text/…`."""

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
"""Media types by the ending of a name; the same on every machine, which the system's own table is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File(Item):
    """A content under a name; `size` is in bytes, `sha256` is the content's digest, under which it is kept."""

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
    """A file as it is stored: with the text that search reads of its content."""

    TOGETHER: ClassVar[tuple[str, ...]] = ("media_type", "size", "sha256", "body")

    body: str = ""

    def search_text(self) -> tuple[str, str]:
        """Its name; its text and tags."""
        return self.name, "\n".join((self.body, " ".join(self.tags))) if self.tags else self.body

    def public_view(self) -> File:
        """Return it without the text, which is read from the content."""
        return File(**{field.name: getattr(self, field.name) for field in fields(File)})


def validate_file_name(text: str) -> str:
    """Return a name of a file as it may be stored: one line, usable in any folder.

    Raises:
        InvalidInputError: It is empty, longer than 200 characters, a path, `.` or `..`, or holds hidden signs.
    """
    name = single_line(text, "name")
    if hidden := next((sign for sign in name if unicodedata.category(sign) == "Cf" and sign not in _JOINERS), ""):
        raise InvalidInputError(
            f"name holds a sign that cannot be seen and may hide what the file is: U+{ord(hidden):04X}.",
            hint="Leave out directions of writing and signs without width.",
        )
    if "/" in name or "\\" in name or name in (".", ".."):
        raise InvalidInputError(
            f"name is a path, not the name of a file: {name[:80]!r}.",
            hint="Give the last part alone, such as report.csv; to sort files use projects and tags.",
        )
    return name


def decode_content(text: str | None, base64: str | None) -> bytes:
    """Return the bytes that are said as text or in base64; an empty one stands behind the other.

    Raises:
        InvalidInputError: Neither or both are given, the base64 is none, or it is over 10 MB.
    """
    if text is None and base64 is None:
        raise InvalidInputError("Neither text nor base64 is given.", hint='Give text; text="" makes an empty file.')
    if text and base64:
        raise InvalidInputError("Both text and base64 are given.", hint="Give one of them; base64 for what is no text.")
    data = _decode_base64(base64) if base64 else validate_text(text or "", "text", limit=CONTENT_BYTES).encode()
    if len(data) > CONTENT_BYTES:
        over = f"The content has {len(data):,} bytes; {CONTENT_BYTES:,} is the most."
        raise InvalidInputError(over, hint="Split it into several files.")
    return data


def _decode_base64(base64: str) -> bytes:
    try:
        return b64decode("".join(base64.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInputError("base64 is no valid base64.", hint="Give text as text, without encoding it.") from error


def resolve_media_type(media_type: str, name: str, content: bytes) -> str:
    """Return a media type as it may be stored; where none is said, what name and content look like.

    Raises:
        InvalidInputError: It is not of the form type/subtype.
    """
    if not media_type.strip():
        known = MEDIA_TYPES.get(name.rpartition(".")[2].lower()) if "." in name else None
        return known or (TEXT_TYPE if decode_text(content) is not None else BINARY_TYPE)
    bare = media_type.partition(";")[0].strip().lower()
    if not _MEDIA_TYPE.fullmatch(bare) or len(bare) > MEDIA_TYPE_CHARS:
        raise InvalidInputError(f"media_type is none: {media_type[:80]!r}.", hint="Example: text/csv.")
    return bare


def is_generic_type(kind: str) -> bool:
    """Tell whether a media type says no more than whether a content is text."""
    return kind in (TEXT_TYPE, BINARY_TYPE)


def decode_text(content: bytes) -> str | None:
    """Return a content as text, None if it is no text in UTF-8."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


def is_result_name(name: str) -> bool:
    """Tell whether a file is called as the result of a script is that was too large to be told."""
    return _RESULT_NAME.fullmatch(name) is not None


def extract_text(name: str, kind: str, content: bytes) -> str:
    """Return the text of a content that search reads: the first megabyte; of HTML without its tags.

    Nothing is read of media types that hold no prose, such as images in SVG, of what is not in UTF-8, and of results of
    scripts: most are copies of what the store holds, and would be found before it.
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
