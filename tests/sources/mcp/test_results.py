"""What the results of MCP tools become."""

import base64
from typing import Any

import pytest
from mcp_types import CallToolResult

from panorama.domain.sources.functions import SourceFile, SourceResult
from panorama.errors import SourceError
from panorama.sources.mcp.results import MAX_FILE_BYTES, convert_result

WRAPPED = {"type": "object", "properties": {"result": {"type": "array"}}, "x-fastmcp-wrap-result": True}
PNG = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
PNG_FILE = SourceFile(name="image", media_type="image/png", content=base64.b64decode("iVBORw0KGgo="))


def _convert(*content: dict[str, Any] | str, returns: Any = None, **more: Any) -> SourceResult:
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    return convert_result(CallToolResult.model_validate({"content": blocks, **more}), returns)


@pytest.mark.parametrize(
    ("value", "content", "more"),
    [
        ({"a": 1}, ['{"a":1}'], {"structuredContent": {"a": 1}}),
        ([1, 2], [], {"structuredContent": {"result": [1, 2]}, "returns": WRAPPED}),
        ("hello", ["hello"], {"structuredContent": {"content": "hello"}}),
        ([{"id": 1}], ['[{"id": 1}]'], {}),
        ("42", ["42"], {}),
        ("true", ["true"], {}),
        ("[{'a': 1}]", ["[{'a': 1}]"], {}),
        ('{"a": 1}', ['{"a": 1}'], {"returns": {"type": "object"}}),
        ("one\ntwo", ["one", "two"], {}),
        ("", [], {}),
        ("doc: file:///x", [{"type": "resource_link", "name": "doc", "uri": "file:///x"}], {}),
        ("body", [{"type": "resource", "resource": {"uri": "file:///x", "text": "body"}}], {}),
        ("[" * 100_000, ["[" * 100_000], {}),
    ],
)
def test_a_result_becomes_its_structure_or_json_or_text(value: Any, content: list[Any], more: Any) -> None:
    assert _convert(*content, **more).value == value


def test_an_image_becomes_a_file() -> None:
    assert _convert(PNG) == SourceResult(value=None, files=(PNG_FILE,), size_bytes=12)
    assert _convert("the logo", PNG) == SourceResult(value="the logo", files=(PNG_FILE,), size_bytes=20)


def test_an_embedded_file_has_the_name_of_its_address() -> None:
    blob = {"uri": "file:///home/me/report.pdf", "mimeType": "application/pdf", "blob": "JVBERg=="}

    [file] = _convert({"type": "resource", "resource": blob}).files

    assert (file.name, file.media_type, file.content) == ("report.pdf", "application/pdf", b"%PDF")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MCP error -32602: Bad zone", "Bad zone"),
        ("Error executing tool x: Bad zone", "Bad zone"),
        ("Bad.\n    For further information visit https://errors.pydantic.dev/2/v/x", "Bad."),
        ("", "The call failed without a message."),
    ],
)
def test_errors_are_raised_without_the_words_of_libraries(text: str, message: str) -> None:
    with pytest.raises(SourceError) as refused:
        _convert(text, isError=True)

    assert refused.value.message == message


def test_an_api_error_that_is_returned_as_a_success_is_raised() -> None:
    with pytest.raises(SourceError, match="unauthorized: API token is invalid"):
        _convert('{"object":"error","status":401,"code":"unauthorized","message":"API token is invalid."}')


@pytest.mark.parametrize("data", ["x" * (MAX_FILE_BYTES * 4 // 3 + 8), "a"])
def test_a_file_that_is_too_large_or_broken_is_refused(data: str) -> None:
    with pytest.raises(SourceError, match="a file"):
        _convert({**PNG, "data": data})
