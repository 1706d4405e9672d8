"""Makes hidden characters in untrusted text visible, and quotes names safely. Pure."""

import json
import re
import unicodedata

QUOTED_CHARS = 80
"""The maximum number of characters of a name shown in a question."""

_ALLOWED_CONTROLS = frozenset("\n\t")
_QUOTATION_MARKS = frozenset('"\\“”„‟«»″‶˝ʺ〃〝〞〟❝❞＂')
_STEERING = frozenset(
    (*range(0x20), *range(0x7F, 0xA0), 0x061C, *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0xFFF9, 0xFFFC))
)
"""C0 and C1 controls, line separators, and direction overrides, embeddings and isolates."""

_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that look like a space."""

_DOUBLE_SPACE = re.compile("(?<= ) ")
_MAX_MARKS = 3
"""The maximum number of combining marks on one letter; more would cover adjacent lines."""


def escape_controls(text: str) -> str:
    """Return a text with controls, direction marks and zero-width characters shown as `<U+202E>`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign if sign in _ALLOWED_CONTROLS or not _is_hidden(sign) else _format_code(sign) for sign in text)


def escape_json(text: str) -> str:
    """Return equivalent JSON that is safe for a terminal: hidden characters in strings become `\\u009b`."""
    hidden = {
        sign for sign in set(text) if sign != "\n" and not sign.isprintable() and unicodedata.category(sign) != "Zs"
    }
    return text.translate({ord(sign): json.dumps(sign)[1:-1] for sign in hidden})


def escape_json_line(text: str) -> str:
    """Return equivalent JSON on one line in which nothing is hidden, written backwards or looks like a space.

    ASCII and letters that are written from left to right stay, other characters become `\\u009b`, and so does every
    space after another one.
    """
    hidden = {sign for sign in set(text) if not _is_plain(sign)}
    return _DOUBLE_SPACE.sub(r"\\u0020", text.translate({ord(sign): json.dumps(sign)[1:-1] for sign in hidden}))


def drop_controls(text: str, *, keep: str = "") -> str:
    """Return a text without terminal controls and unbalanced direction marks."""
    return text.translate({code: None for code in _STEERING if chr(code) not in keep})


def quote_name(name: str, *, limit: int = QUOTED_CHARS) -> str:
    """Return a name in quotation marks, on one line, with hidden characters and quotes escaped, cut if long.

    Args:
        limit: The most characters shown between the quotation marks.
    """
    return f"“{escape_name(name, limit=limit)}”"


def escape_name(name: str, *, limit: int = QUOTED_CHARS) -> str:
    """Return a name as `quote_name` does, without quotation marks around it."""
    shown, marks, length = list[str](), 0, 0
    for sign in " ".join(name[: 64 * limit].split()):
        is_mark = unicodedata.category(sign)[0] == "M"
        marks = marks + 1 if is_mark else 0
        part = _escape_sign(sign, too_many=marks > _MAX_MARKS)
        length += len(part)
        if length > limit:
            return f"{''.join(shown)}…"
        shown.append(part)
    return "".join(shown) + ("…" if len(name) > 64 * limit else "")


def _escape_sign(sign: str, *, too_many: bool) -> str:
    if sign in _QUOTATION_MARKS:
        return f"\\{sign}"
    if too_many or sign in _BLANKS or _is_hidden(sign) or _is_invisible_mark(sign):
        return _format_code(sign)
    return sign


def _is_plain(sign: str) -> bool:
    if sign.isascii():
        return sign.isprintable()
    return sign.isalpha() and unicodedata.bidirectional(sign) == "L" and sign not in _BLANKS


def _is_hidden(sign: str) -> bool:
    return not sign.isprintable() and sign != " "


def _is_invisible_mark(sign: str) -> bool:
    """Return whether a combining mark is invisible: joiners and variation selectors, except those of emoji."""
    return sign == "\u034f" or "\u180b" <= sign <= "\u180f" or "\ufe00" <= sign <= "\ufe0d" or sign >= "\U000e0100"


def _format_code(sign: str) -> str:
    return f"<U+{ord(sign):04X}>"
