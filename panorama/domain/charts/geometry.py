"""Charts as data: the page's templates and the pictures draw them as SVG, which needs no script and prints sharply."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

WIDTH, HEIGHT, TOP, FLOOR = 640, 200, 8, 192
MAX_BAR_WIDTH = 18.0
BAR_GAP = 2.0
_STEPS = (1, 2, 2.5, 5, 10)
Label = TypeVar("Label")
"""The label of a value: a day on the page, a text in a script's chart."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar on the base line: its path, its position and its series."""

    path: str
    series: int
    x: float
    height: float
    width: float


@dataclass(frozen=True, slots=True)
class BarDay(Generic[Label]):
    """One day of a chart: its values, their bars, and where its area begins."""

    day: Label
    values: tuple[float, ...]
    bars: tuple[Bar, ...]
    left: float
    width: float
    is_labelled: bool


@dataclass(frozen=True, slots=True)
class BarChart(Generic[Label]):
    """Some bars per day; `lines` are the values of the scale and their heights."""

    days: tuple[BarDay[Label], ...]
    lines: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve: its points, these as a path, and the area below it."""

    path: str
    area: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class LineChart(Generic[Label]):
    """Curves over the same days; `lines` are the values of the scale and their heights."""

    days: tuple[tuple[Label, tuple[float, ...]], ...]
    curves: tuple[Curve, ...]
    lines: tuple[tuple[float, float], ...]


def list_ticks(largest: float, count: int = 4) -> list[float]:
    """Return round values from 0 to at least the largest."""
    raw = max(largest, 1) / count
    scale = 1.0
    while scale * 10 <= raw:
        scale *= 10
    step = max(1.0, next(scale * factor for factor in _STEPS if scale * factor >= raw))
    step = float(round(step)) if largest <= 10 else step
    values = [0.0]
    while values[-1] < max(largest, 1):
        values.append(values[-1] + step)
    return values


def draw_bars(rows: Sequence[tuple[Label, tuple[float, ...]]]) -> BarChart[Label]:
    """Draw a bar for each of the values of each day."""
    ticks = list_ticks(max([1, *(value for _, values in rows for value in values)]))
    scale, slot = (FLOOR - TOP) / ticks[-1], WIDTH / max(1, len(rows))
    series_count = max([1, *(len(values) for _, values in rows)])
    width = min(MAX_BAR_WIDTH, slot * 0.64 / series_count)
    every = -(-len(rows) // 10)
    days: list[BarDay[Label]] = []
    for number, (day, values) in enumerate(rows):
        left = slot * (number + 0.5) - (series_count * (width + BAR_GAP) - BAR_GAP) / 2
        places = [(value * scale, left + series * (width + BAR_GAP)) for series, value in enumerate(values)]
        bars = tuple(
            Bar(_bar_path(x, height, width), series, x, height, width)
            for series, (height, x) in enumerate(places)
            if height
        )
        is_labelled = (len(rows) - 1 - number) % every == 0
        days.append(BarDay(day, values, bars, slot * number, slot, is_labelled))
    return BarChart(tuple(days), tuple((tick, FLOOR - tick * scale) for tick in ticks))


def draw_lines(rows: Sequence[tuple[Label, tuple[float, ...]]]) -> LineChart[Label]:
    """Draw one curve for each of the values of the days, at equal distances."""
    ticks = list_ticks(max([1, *(value for _, values in rows for value in values)]))
    scale, step = (FLOOR - TOP) / ticks[-1], WIDTH / max(1, len(rows) - 1)
    curves = tuple(
        _draw_curve([(number * step, FLOOR - value * scale) for number, value in enumerate(values)])
        for values in zip(*(values for _, values in rows), strict=True)
    )
    return LineChart(tuple(rows), curves, tuple((tick, FLOOR - tick * scale) for tick in ticks))


def _draw_curve(points: Sequence[tuple[float, float]]) -> Curve:
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return Curve(path, f"{path}L{points[-1][0]:.1f} {FLOOR}L0 {FLOOR}z", tuple(points))


def _bar_path(x: float, height: float, width: float) -> str:
    radius = min(4.0, width / 2, height)
    return (
        f"M{x:.1f} {FLOOR:.1f}v{-(height - radius):.1f}q0 {-radius:.1f} {radius:.1f} {-radius:.1f}"
        f"h{width - 2 * radius:.1f}q{radius:.1f} 0 {radius:.1f} {radius:.1f}v{height - radius:.1f}z"
    )
