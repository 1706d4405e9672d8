"""Charts beside the answers of the dashboard and the weekly review, where the settings ask for them."""

import base64
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Literal

import anyio.to_thread
from fastmcp.tools import ToolResult
from mcp.types import ImageContent, TextContent

from panorama.domain.charts.formats import PNG_TYPE, SVG_TYPE, render_png, render_svg
from panorama.domain.charts.picture import Picture, picture_bars
from panorama.services.statistics import MAX_DAYS, Statistics, TaskStatistics

ChartFormat = Literal["png", "svg"]
PROJECT_DAYS = 28
DRAWN = ("project_dashboard", "weekly_review")
"""The tools whose answers can have a chart."""


class AnswerCharts:
    """Adds charts to answers."""

    def __init__(self, statistics: Statistics, chart_format: ChartFormat, today: Callable[[], date]) -> None:
        self._statistics = statistics
        self._format = chart_format
        self._today = today

    async def add(self, tool: str, result: ToolResult) -> ToolResult:
        """Return a result with its chart and a description of it; unchanged if there is nothing to draw."""
        structure = result.structured_content
        if result.is_error or not structure:
            return result
        picture = await anyio.to_thread.run_sync(self._draw, tool, structure["data"])
        if picture is None:
            return result
        described = TextContent(type="text", text=f"Chart: {picture.description}")
        return ToolResult(
            content=[*result.content, described, self._encode(picture)], structured_content=structure, meta=result.meta
        )

    def _draw(self, tool: str, data: Mapping[str, Any]) -> Picture | None:
        """Return the tasks per day of a project, or of the period of a review that is not too long ago."""
        if tool == "project_dashboard":
            return _draw_days(self._statistics.count_tasks(PROJECT_DAYS, data["project"]["id"]), self._today())
        first, last = date.fromisoformat(data["start"]), date.fromisoformat(data["end"])
        days = (self._today() - first).days + 1
        return _draw_days(self._statistics.count_tasks(days), last) if 1 <= days <= MAX_DAYS else None

    def _encode(self, picture: Picture) -> ImageContent:
        is_png = self._format == "png"
        content = render_png(picture) if is_png else render_svg(picture).encode()
        media_type = PNG_TYPE if is_png else SVG_TYPE
        return ImageContent(type="image", data=base64.b64encode(content).decode(), mime_type=media_type)


def _draw_days(statistics: TaskStatistics, last: date) -> Picture:
    days = [day for day in statistics.days if day.day <= last]
    series = {"Completed": [day.completed for day in days], "Created": [day.created for day in days]}
    return picture_bars("Tasks per day", [f"{day.day:%m-%d}" for day in days], series)
