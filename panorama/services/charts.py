"""Charts as files: bars, lines and heat maps, as SVG or PNG with the values in words."""

import math
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence

from panorama.domain.charts.formats import PNG_TYPE, SVG_TYPE, render_png, render_svg
from panorama.domain.charts.picture import Picture, picture_bars, picture_heatmap, picture_lines
from panorama.domain.items.files import File
from panorama.domain.items.references import ProjectRef
from panorama.domain.paging import Result
from panorama.errors import InvalidInputError
from panorama.services.items.files import Files

MAX_LABELS, MAX_SERIES = 400, 50
MAX_VALUE = 1e12
TITLE_CHARS = 200
_UNFIT = re.compile(r"[^\w .()-]+")

Series = Mapping[str, tuple[float, ...]]


class Charts:
    """Draws charts into files."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def bar(
        self, title: str, labels: tuple[str, ...], series: Series, name: str = "", project: ProjectRef | None = None
    ) -> Result[File]:
        """Draw bars into a file.

        Args:
            series: {"Done": [3, 1]}, a value of 0 or more for each label.
            name: Such as chart.svg, or .png for models; the title if left out.

        Raises:
            InvalidInputError: There are no values, or not one for each label.
        """
        return self._draw(picture_bars, title, labels, series, name, project)

    def line(
        self, title: str, labels: tuple[str, ...], series: Series, name: str = "", project: ProjectRef | None = None
    ) -> Result[File]:
        """Draw lines into a file.

        Args:
            series: {"Open": [3, 1]}, a value of 0 or more for each label.
            name: Such as chart.svg, or .png for models; the title if left out.

        Raises:
            InvalidInputError: There are no values, or not one for each label.
        """
        return self._draw(picture_lines, title, labels, series, name, project)

    def heatmap(
        self, title: str, labels: tuple[str, ...], series: Series, name: str = "", project: ProjectRef | None = None
    ) -> Result[File]:
        """Draw a heat map into a file.

        Args:
            series: Its rows: {"Mon": [3, 1]}, a value of 0 or more for each label.
            name: Such as chart.svg, or .png for models; the title if left out.

        Raises:
            InvalidInputError: There are no values, or not one for each label.
        """
        return self._draw(picture_heatmap, title, labels, series, name, project)

    def _draw(
        self,
        picture: Callable[[str, Sequence[str], Mapping[str, Sequence[float]]], Picture],
        title: str,
        labels: tuple[str, ...],
        series: Series,
        name: str,
        project: ProjectRef | None,
    ) -> Result[File]:
        _validate(title, labels, series)
        called = name or f"{_UNFIT.sub('-', title)[:100].strip(' .') or 'chart'}.svg"
        if not called.endswith((".svg", ".png")):
            raise InvalidInputError(
                f"name is {called[:60]!r}, but a chart is SVG or PNG.", hint="Give a name such as chart.svg."
            )
        chart = picture(title, labels, series)
        if called.endswith(".png"):
            content = b64encode(render_png(chart)).decode()
            return self._files.write(called, base64=content, media_type=PNG_TYPE, project=project)
        return self._files.write(called, text=render_svg(chart), media_type=SVG_TYPE, project=project)


def _validate(title: str, labels: tuple[str, ...], series: Series) -> None:
    if not 1 <= len(title.strip()) <= TITLE_CHARS:
        raise InvalidInputError("title is empty or too long.", hint=f"Give 1 to {TITLE_CHARS} characters.")
    if not 1 <= len(labels) <= MAX_LABELS or not 1 <= len(series) <= MAX_SERIES:
        hint = f"Give 1 to {MAX_LABELS} labels and 1 to {MAX_SERIES} series."
        raise InvalidInputError(f"There are {len(labels)} labels and {len(series)} series.", hint=hint)
    for called, values in series.items():
        if len(values) != len(labels):
            raise InvalidInputError(
                f"The series {called[:60]!r} has {len(values)} values for {len(labels)} labels.",
                hint="Give one value for each label.",
            )
        if not all(math.isfinite(value) and 0 <= value <= MAX_VALUE for value in values):
            raise InvalidInputError(
                f"The series {called[:60]!r} has a value below 0 or too large.",
                hint=f"Give values from 0 to {MAX_VALUE:g}.",
            )
