"""The formats of a picture: SVG for people, PNG for models, which take no SVG."""

import re
import struct
import zlib
from html import escape, unescape

from panorama.domain.charts.picture import Box, Picture, Polyline, Words

SVG_TYPE, PNG_TYPE = "image/svg+xml", "image/png"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
FONT = "system-ui, sans-serif"
DIGITS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71111",
    "8": "75757", "9": "75717", ".": "00002", "-": "00700",
}  # fmt: skip
"""The characters that a PNG can show, 3 by 5 dots each: one digit per row of dots."""

DESCRIPTION = b"Description\0\0\0\0\0"
"""The head of a PNG's text: a keyword of the specification, not compressed, in no named language (PNG 3, 11.3.3.4)."""

_SVG_DESCRIPTION = re.compile(r"<desc>([^<]*)</desc>")
DOT = 2
ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


def render_svg(picture: Picture) -> str:
    """Return a picture as SVG, which loads nothing; its description is inside."""
    size = f"{picture.width:g} {picture.height:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" role="img" font-family="{FONT}" font-size="12">'
        f"<title>{_escape(picture.title)}</title><desc>{_escape(picture.description)}</desc>"
        f'<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<text x="16" y="20" font-size="14" font-weight="600" fill="#1b1c1f">{_escape(picture.title)}</text>'
        f"{''.join(map(_render_shape, picture.shapes))}</svg>"
    )


def _render_shape(shape: Box | Polyline | Words) -> str:
    if isinstance(shape, Box):
        place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}"'
        return f'<rect {place} fill="{shape.color}"/>'
    if isinstance(shape, Polyline):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
        return f'<polyline points="{points}" fill="none" stroke="{shape.color}" stroke-width="{shape.width:g}"/>'
    place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" text-anchor="{shape.anchor}"'
    return f'<text {place} fill="{shape.color}">{_escape(shape.text)}</text>'


def _escape(text: str) -> str:
    """Return a text for XML, without the signs that XML forbids."""
    return escape("".join(sign for sign in text if sign.isprintable() or sign == " "))


def render_png(picture: Picture) -> bytes:
    """Return a picture as PNG with its description inside; the only words to see are numbers, since it has no font."""
    canvas = _Canvas(round(picture.width), round(picture.height))
    for shape in picture.shapes:
        if isinstance(shape, Box):
            canvas.fill(shape.x, shape.y, shape.width, shape.height, shape.color)
        elif isinstance(shape, Polyline):
            for (x1, y1), (x2, y2) in zip(shape.points, shape.points[1:], strict=False):
                canvas.draw_line(x1, y1, x2, y2, shape.color, round(shape.width))
        else:
            canvas.write(shape)
    return canvas.encode(picture.description)


def read_description(content: bytes) -> str:
    """Return the description inside a picture that was rendered here, "" if there is none."""
    if content.startswith(PNG_SIGNATURE):
        before, found, rest = content.partition(b"iTXt" + DESCRIPTION)
        size = struct.unpack(">I", before[-4:])[0] if found else 0
        return rest[: max(0, size - len(DESCRIPTION))].decode(errors="replace")
    match = _SVG_DESCRIPTION.search(content.decode(errors="replace"))
    return unescape(match[1]) if match else ""


class _Canvas:
    """Rows of pixels."""

    def __init__(self, width: int, height: int) -> None:
        self._width = width
        self._rows = [bytearray(b"\xff" * (3 * width)) for _ in range(height)]

    def fill(self, x: float, y: float, width: float, height: float, color: str) -> None:
        """Fill a box, cut at the edges."""
        left, right = max(0, round(x)), min(self._width, round(x + width))
        pixels = bytes.fromhex(color[1:]) * max(0, right - left)
        for row in self._rows[max(0, round(y)) : max(0, round(y + height))]:
            row[3 * left : 3 * left + len(pixels)] = pixels

    def draw_line(self, x1: float, y1: float, x2: float, y2: float, color: str, width: int) -> None:
        """Draw a line by small boxes."""
        steps = max(1, round(max(abs(x2 - x1), abs(y2 - y1))))
        for step in range(steps + 1):
            share = step / steps
            self.fill(x1 + (x2 - x1) * share, y1 + (y2 - y1) * share, width, width, color)

    def write(self, words: Words) -> None:
        """Write a number or a date; other texts are left out."""
        if not words.text or not set(words.text) <= DIGITS.keys():
            return
        left = words.x - ANCHORS[words.anchor] * len(words.text) * 4 * DOT
        for place, sign in enumerate(words.text):
            for row, dots in enumerate(DIGITS[sign]):
                for column in range(3):
                    if int(dots) >> (2 - column) & 1:
                        x, y = left + (4 * place + column) * DOT, words.y - (5 - row) * DOT
                        self.fill(x, y, DOT, DOT, words.color)

    def encode(self, description: str) -> bytes:
        """Return the pixels as PNG."""
        head = struct.pack(">IIBBBBB", self._width, len(self._rows), 8, 2, 0, 0, 0)
        body = zlib.compress(b"".join(b"\0" + row for row in self._rows), 9)
        words = DESCRIPTION + description.encode(errors="replace")
        chunks = ((b"IHDR", head), (b"IDAT", body), (b"iTXt", words), (b"IEND", b""))
        return PNG_SIGNATURE + b"".join(_encode_chunk(name, data) for name, data in chunks)


def _encode_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
