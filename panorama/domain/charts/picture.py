"""Charts as pictures: boxes, lines and words at their places, and a description for those who do not see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from panorama.domain.charts.geometry import FLOOR, WIDTH, draw_bars, draw_lines

COLORS = ("#2f52c4", "#8793ba", "#1a6b41", "#8a4b00")
"""The colours of the series, as on the page; further series repeat them."""

INK, GRID = "#595b63", "#d4d3cf"
LEFT, HEAD, FOOT, RIGHT = 56.0, 48.0, 32.0, 16.0
LABEL_CHARS, LABEL_CHAR_WIDTH = 14, 8.5
MAX_DESCRIBED = 40
"""The maximum number of values that a description lists; for more, it gives the sum and the peak of each series."""

Series = Mapping[str, Sequence[float]]
"""The values of each series, by its name."""


@dataclass(frozen=True, slots=True)
class Box:
    """A filled box."""

    x: float
    y: float
    width: float
    height: float
    color: str


@dataclass(frozen=True, slots=True)
class Polyline:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    color: str
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Words:
    """A short text; `anchor` says which end of it is at `x`."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    color: str = INK


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart with its description in words."""

    title: str
    description: str
    width: float
    height: float
    shapes: tuple[Box | Polyline | Words, ...]


def picture_bars(title: str, labels: Sequence[str], series: Series) -> Picture:
    """Return bars side by side for each label."""
    chart = draw_bars(list(zip(labels, zip(*series.values(), strict=True), strict=True)))
    boxes = [
        Box(LEFT + bar.x, HEAD + FLOOR - bar.height, bar.width, bar.height, _color(bar.series))
        for day in chart.days
        for bar in day.bars
    ]
    places = [LEFT + day.left + day.width / 2 for day in chart.days]
    return _make_plot(title, labels, series, chart.lines, boxes, places)


def picture_lines(title: str, labels: Sequence[str], series: Series) -> Picture:
    """Return a line for each series."""
    chart = draw_lines(list(zip(labels, zip(*series.values(), strict=True), strict=True)))
    lines = [
        Polyline(tuple((LEFT + x, HEAD + y) for x, y in curve.points), _color(number), 2.0)
        for number, curve in enumerate(chart.curves)
    ]
    step = WIDTH / max(1, len(labels) - 1)
    return _make_plot(
        title, labels, series, chart.lines, lines, [LEFT + number * step for number in range(len(labels))]
    )


def picture_heatmap(title: str, labels: Sequence[str], series: Series) -> Picture:
    """Return a row of cells for each series, the darker the larger its value."""
    largest = max([1e-9, *(value for values in series.values() for value in values)])
    wide, tall = WIDTH / len(labels), min(28.0, 400 / len(series))
    shapes: list[Box | Polyline | Words] = []
    for row, (name, values) in enumerate(series.items()):
        top = HEAD + row * tall
        shapes.append(Words(LEFT - 6, top + tall / 2 + 4, _shorten(name, 8), "end"))
        shapes += [
            Box(LEFT + column * wide + 1, top + 1, max(1.0, wide - 2), tall - 2, _shade(value / largest))
            for column, value in enumerate(values)
        ]
    floor = HEAD + len(series) * tall
    places = [LEFT + wide * (number + 0.5) for number in range(len(labels))]
    return Picture(
        title=title, description=_describe(title, labels, series), width=LEFT + WIDTH + RIGHT, height=floor + FOOT,
        shapes=(*shapes, *_list_labels(labels, places, floor)),
    )  # fmt: skip


def _make_plot(
    title: str,
    labels: Sequence[str],
    series: Series,
    scale: Sequence[tuple[float, float]],
    drawn: Sequence[Box | Polyline],
    places: Sequence[float],
) -> Picture:
    """Return the drawing with its scale, the labels below and the names of the series above."""
    grid: list[Box | Polyline | Words] = []
    for value, y in scale:
        grid.append(Polyline(((LEFT, HEAD + y), (LEFT + WIDTH, HEAD + y)), GRID))
        grid.append(Words(LEFT - 6, HEAD + y + 4, f"{value:g}", "end"))
    for number, name in enumerate(series):
        x = LEFT + 160 * (number % 4)
        grid += [Box(x, HEAD - 18, 10, 10, _color(number)), Words(x + 16, HEAD - 9, _shorten(name, 20))]
    return Picture(
        title=title, description=_describe(title, labels, series), width=LEFT + WIDTH + RIGHT,
        height=HEAD + FLOOR + FOOT, shapes=(*grid, *drawn, *_list_labels(labels, places, HEAD + FLOOR)),
    )  # fmt: skip


def _list_labels(labels: Sequence[str], places: Sequence[float], floor: float) -> list[Words]:
    """Return as many labels as fit beside each other."""
    texts = [_shorten(label, LABEL_CHARS) for label in labels]
    room = max(1, int(WIDTH / (LABEL_CHAR_WIDTH * (max(map(len, texts)) + 1))))
    every = -(-len(labels) // room)
    shown = list(zip(texts, places, strict=True))[::every]
    return [Words(place, floor + 18, text, "middle") for text, place in shown]


def _describe(title: str, labels: Sequence[str], series: Series) -> str:
    """Return the values in words; of many their sums and peaks."""
    if len(labels) * len(series) <= MAX_DESCRIBED:
        parts = [
            f"{label} " + ", ".join(f"{name} {values[number]:g}" for name, values in series.items())
            for number, label in enumerate(labels)
        ]
        return f"{title}: {'; '.join(parts)}"
    peaks = [
        f"{name} {sum(values):g} in all, most {max(values):g} ({labels[list(values).index(max(values))]})"
        for name, values in series.items()
    ]
    return f"{title}, {labels[0]} to {labels[-1]}: {'; '.join(peaks)}"


def _color(number: int) -> str:
    return COLORS[number % len(COLORS)]


def _shade(share: float) -> str:
    """Return a shade between the lightest and the darkest of a heat map."""
    light, dark = (238, 238, 235), (47, 82, 196)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(light, dark, strict=True))


def _shorten(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1] + "…"
