"""Errors of tools, which are text alone: their parts."""

import re
from collections.abc import Mapping
from typing import Any

_ERROR = re.compile(
    r"\[(?P<code>\w+)\] (?P<message>.+?)(?:\nhint: (?P<hint>.+?))?(?P<candidates>(?:\n- \w+: [^\n]*)*)", re.DOTALL
)
_FIELD = re.compile(r"(\w+): (.*?)(?=, \w+: |$)")


def parse_error(text: str) -> dict[str, Any]:
    """Return code, message, hint and candidates of an error."""
    error = _ERROR.fullmatch(text)
    assert error, f"this is no error of ours: {text}"
    candidates = [dict(_FIELD.findall(line)) for line in error["candidates"].splitlines() if line]
    return {**error.groupdict(""), "candidates": candidates}


def read_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's result from the wire: its structure, or `error` with the parts of its text."""
    if result.get("isError"):
        return {"error": parse_error(result["content"][0]["text"])}
    return dict(result["structuredContent"])
