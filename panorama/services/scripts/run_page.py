"""Renders a run of a script as Markdown."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from panorama.services.scripts.run_results import RunView


def render_run_page(run: RunView) -> str:
    """Render a run: its script, output, calls and changes."""
    return "\n\n".join(_iter_parts(run)) + "\n"


def _iter_parts(run: RunView) -> Iterator[str]:
    yield f"# Run {run.id}"
    yield f"{run.status}, {run.at:%Y-%m-%d %H:%M} UTC, {run.client}, {run.ms:g} ms, {run.isolation or 'not started'}"
    if chosen := [f"{name}: {value}" for name, value in run.options.items() if value]:
        yield ", ".join(chosen)
    if run.error:
        yield f"**{run.error.get('message', 'failed')}**" + (
            f" (line {run.error['line']})" if "line" in run.error else ""
        )
    yield _fence(run.source, "python")
    if run.inputs:
        yield "## Inputs"
        yield _fence(_to_json(run.inputs), "json")
    for title, text in (("Output", run.output), ("Result", run.result)):
        if text:
            yield f"## {title}"
            yield _fence(text)
    if run.changes or run.stands:
        yield "## What it would have changed" if run.options.get("dry_run") else "## Changes"
        counted = ", ".join(f"{count} {noun}" for noun, count in run.changes.items())
        yield " ".join(filter(None, (counted and f"{counted}.", run.stands)))
    if run.wrote:
        yield "\n".join(map(_format_change, run.wrote))
    if run.calls:
        yield f"## Calls ({run.called})"
        yield "\n".join(_format_call(call) for call in run.calls)
    if left := run.called - len(run.calls):
        where = _to_json({"unit": run.id, "position": {"gt": len(run.calls)}})
        yield f"and {left:,} more: `query` shows them, with collection `calls`, where `{where}`, sort `position`."


def _format_change(change: Mapping[str, Any]) -> str:
    new = change["action"] == "create"
    fields = (
        f"{name} " + ("" if new else f"`{_to_json(was)}` → ") + f"`{_to_json(is_)}`"
        for name, (was, is_) in change["fields"].items()
    )
    return f"- {change['action']} {change['kind']} “{change['label']}” ({change['item']}): {', '.join(fields)}"


def _format_call(call: Mapping[str, Any]) -> str:
    failed = "" if call["success"] else f", {call['code']}"
    return f"{call['position']}. `{call['name']}` {call['ms']:.1f} ms{failed} `{_to_json(call['arguments'])}`"


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _fence(text: str, language: str = "") -> str:
    """Put text into a code fence that it cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
