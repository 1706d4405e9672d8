"""Images beside the answers of scripts that return image files, where the settings ask for them."""

import base64
from collections.abc import Iterator
from typing import Any, Literal

import anyio.to_thread
from fastmcp.tools import ToolResult
from mcp.types import ImageContent, TextContent

from panorama.domain.charts.formats import PNG_TYPE, SVG_TYPE, read_description
from panorama.domain.text.json_types import is_object, is_sequence
from panorama.services.items.files import Files

SCRIPT_TOOLS = ("run_code", "run_script")
"""The tools whose answers can have images, beside the scripts that are tools themselves."""

MAX_IMAGES = 3
MAX_IMAGE_BYTES = 500_000
MAX_DEPTH = 4
MODEL_TYPES = (PNG_TYPE, "image/jpeg", "image/gif", "image/webp")
"""The images that models accept."""

Content = TextContent | ImageContent


class ScriptImages:
    """Adds the images that a script returned to its answer."""

    def __init__(self, files: Files, chart_format: Literal["png", "svg"]) -> None:
        self._files = files
        self._types = MODEL_TYPES if chart_format == "png" else (*MODEL_TYPES, SVG_TYPE)

    async def add(self, _: str, result: ToolResult) -> ToolResult:
        """Return a result with its images, each with a description; unchanged if the script returned none."""
        structure = result.structured_content
        if result.is_error or not structure or not is_object(structure.get("data")):
            return result
        images = await anyio.to_thread.run_sync(self._read_images, structure["data"].get("result"))
        if not images:
            return result
        return ToolResult(content=[*result.content, *images], structured_content=structure, meta=result.meta)

    def _read_images(self, returned: Any) -> list[Content]:
        contents: list[Content] = []
        for id_ in dict.fromkeys(_iter_files(returned)):
            image = self._files.find_image(id_, max_bytes=MAX_IMAGE_BYTES)
            if image and image[0].media_type in self._types and len(contents) < 2 * MAX_IMAGES:
                file, content = image
                words = f"Image {file.name}: {read_description(content)}".removesuffix(": ")
                data = base64.b64encode(content).decode()
                contents += [
                    TextContent(type="text", text=words),
                    ImageContent(type="image", data=data, mime_type=file.media_type),
                ]
        return contents


def _iter_files(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the ids of the rows of image files in a returned value."""
    if depth > MAX_DEPTH:
        return
    if is_object(value):
        id_ = value.get("id")
        if isinstance(id_, str) and str(value.get("media_type", "")).startswith("image/"):
            yield id_
        for inner in value.values():
            yield from _iter_files(inner, depth + 1)
    elif is_sequence(value):
        for inner in value:
            yield from _iter_files(inner, depth + 1)
