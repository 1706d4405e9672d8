"""Converts the results of MCP tools to values and files. Pure."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from panorama.domain.sources.functions import SourceFile, SourceResult
from panorama.domain.sources.values import clean_value
from panorama.domain.text.json_types import is_object
from panorama.errors import SourceError

MAX_FILE_BYTES = 8 << 20
MAX_ERROR_CHARS = 2_000
_NOISE = re.compile(r"\n?\s*For further information visit https://errors\.pydantic\.dev/\S+")
_PREFIX = re.compile(r"^(?:MCP error -?\d+: |Error (?:calling|executing) tool '?[\w.-]+'?: )+")


@dataclass(slots=True)
class _Content:
    """The parts of a result's content."""

    texts: list[str] = field(default_factory=list[str])
    files: list[SourceFile] = field(default_factory=list[SourceFile])
    size: int = 0


def convert_result(result: CallToolResult, returns: Mapping[str, Any] | None) -> SourceResult:
    """Return the value of a result: its structure, else JSON in its text, else the text.

    Args:
        returns: The tool's output schema. No JSON is looked for in the texts of a tool that has one.

    Raises:
        SourceError: The result is an error.
    """
    content = _Content()
    for block in result.content:
        _add_block(content, block)
    text = "\n".join(content.texts)
    if result.is_error:
        raise SourceError(clean_error(text))
    structure = result.structured_content
    size = content.size + (len(json.dumps(structure)) if structure is not None and not content.size else 0)
    value: Any = None
    if structure is not None or content.texts or not content.files:
        value = clean_value(_find_value(structure, text, returns))
    if _is_api_error(value):
        raise SourceError(clean_error(f"{value.get('code', value['status'])}: {value.get('message', '')}"))
    return SourceResult(value=value, files=tuple(content.files), size_bytes=size)


def clean_error(text: str) -> str:
    """Return the text of an error without the prefixes and addresses that libraries add."""
    cleaned = _PREFIX.sub("", _NOISE.sub("", text)).strip()
    return cleaned[:MAX_ERROR_CHARS] or "The call failed without a message."


def _add_block(content: _Content, block: ContentBlock) -> None:
    match block:
        case TextContent():
            content.texts.append(block.text)
            content.size += len(block.text)
        case ImageContent() | AudioContent():
            _add_file(content, block.type, block.mime_type, block.data)
        case ResourceLink():
            content.texts.append(f"{block.name}: {block.uri}")  # not fetched: the address is the server's choice
        case EmbeddedResource(resource=BlobResourceContents() as blob):
            _add_file(content, str(blob.uri).rpartition("/")[2], blob.mime_type, blob.blob)
        case EmbeddedResource():
            content.texts.append(getattr(block.resource, "text", ""))
            content.size += len(content.texts[-1])


def _add_file(content: _Content, name: str, media_type: str | None, data: str) -> None:
    if len(data) > MAX_FILE_BYTES * 4 // 3 + 4:
        raise SourceError(f"The result has a file of more than {MAX_FILE_BYTES >> 20} MB.")
    content.size += len(data)
    try:
        decoded = base64.b64decode(data)
    except (binascii.Error, ValueError) as error:
        raise SourceError("The result has a file that cannot be decoded.") from error
    content.files.append(SourceFile(name=name, media_type=media_type or "application/octet-stream", content=decoded))


def _find_value(structure: Any, text: str, returns: Mapping[str, Any] | None) -> Any:
    if is_object(structure):
        fields: Mapping[str, Any] = (returns or {}).get("properties") or {}
        is_wrapped = bool((returns or {}).get("x-fastmcp-wrap-result")) or list(fields) in (["result"], [])
        if list(structure) == ["result"] and is_wrapped:
            return structure["result"]  # FastMCP and the Python SDK wrap what is not an object
        if text and list(structure.values()) == [text]:
            return text  # {"content": "…"} that repeats the text
        return dict(structure)
    if returns is None and text.lstrip()[:1] in ("{", "["):  # "42" stays text: its type must not depend on the content
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _is_api_error(value: Any) -> bool:
    """Return whether a success is the error of a web API: Notion's server returns 401 and 429 like this."""
    return is_object(value) and value.get("object") == "error" and isinstance(value.get("status"), int)
