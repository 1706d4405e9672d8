"""Charts: bars, lines and heat maps, drawn into files as SVG or PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from panorama.sdk.core import wire
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import File, Project

__all__ = ("bar", "heatmap", "line")


@explain_misuse
def bar(
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    name: str = "",
    project: str | Project | None = None,
    idempotency_key: str = "",
) -> File:
    """Draw bars into a file.

    The values are also in words, in the file's text.

    Args:
        title: What it shows.
        labels: What the bars stand for, up to 400.
        series: Bars of one colour, up to 50: its name, and a number from 0 to 1e12 for each label, in any unit.
        name: Such as chart.svg, or chart.png, which models can see; the title if left out.
        project: Its id, its name, or its row; none if left out.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The file: id, name, media_type, size (bytes). A file of that name gets a new version.

    Raises:
        InvalidInputError: There are no values, or not one for each label.
        NotFoundError: No project has this name.
        ConflictError: Several files there have this name, or the key was used for another call.

    Example:
        projects = sdk.overview.projects().projects
        chart = sdk.charts.bar("Open tasks", [row.name for row in projects], {"Open": [row.open for row in projects]})
        print(chart.id)
    """
    return wire.call(
        "charts.bar", title=title, labels=labels, series=series, name=name, project=project,
        idempotency_key=idempotency_key,
    )  # fmt: skip


@explain_misuse
def line(
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    name: str = "",
    project: str | Project | None = None,
    idempotency_key: str = "",
) -> File:
    """Draw lines into a file.

    The values are also in words, in the file's text.

    Args:
        title: What it shows.
        labels: What the points stand for, up to 400.
        series: Lines, up to 50: its name, and a number from 0 to 1e12 for each label, in any unit.
        name: Such as chart.svg, or chart.png, which models can see; the title if left out.
        project: Its id, its name, or its row; none if left out.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The file: id, name, media_type, size (bytes). A file of that name gets a new version.

    Raises:
        InvalidInputError: There are no values, or not one for each label.
        NotFoundError: No project has this name.
        ConflictError: Several files there have this name, or the key was used for another call.

    Example:
        chart = sdk.charts.line("Open tasks", ["Mon", "Tue", "Wed"], {"House": [5, 3, 4], "Garden": [1, 1, 0]})
        print(chart.name)
    """
    return wire.call(
        "charts.line", title=title, labels=labels, series=series, name=name, project=project,
        idempotency_key=idempotency_key,
    )  # fmt: skip


@explain_misuse
def heatmap(
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    name: str = "",
    project: str | Project | None = None,
    idempotency_key: str = "",
) -> File:
    """Draw a heat map into a file.

    The values are also in words, in the file's text.

    Args:
        title: What it shows.
        labels: Its columns, up to 400.
        series: Its rows, up to 50: its name, and a number from 0 to 1e12 for each label, in any unit.
        name: Such as chart.svg, or chart.png, which models can see; the title if left out.
        project: Its id, its name, or its row; none if left out.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The file: id, name, media_type, size (bytes). A file of that name gets a new version.

    Raises:
        InvalidInputError: There are no values, or not one for each label.
        NotFoundError: No project has this name.
        ConflictError: Several files there have this name, or the key was used for another call.

    Example:
        chart = sdk.charts.heatmap("Work", ["Mon", "Tue"], {"Morning": [3, 1], "Evening": [0, 2]}, name="work.svg")
        print(chart.name)
    """
    return wire.call(
        "charts.heatmap", title=title, labels=labels, series=series, name=name, project=project,
        idempotency_key=idempotency_key,
    )  # fmt: skip
