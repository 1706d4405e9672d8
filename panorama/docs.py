"""Prints the reference of catalogue and SDK into `docs/`: `python -m panorama.docs`, `--check` to compare only."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from panorama.app import semantic_config, wire_calls
from panorama.calls.arguments import Arguments
from panorama.calls.call_log import CallLogWriter
from panorama.calls.schemas import input_schema
from panorama.config import TOOLSETS, Settings, read_settings
from panorama.databases import open_backend
from panorama.domain.text.wording import join_words
from panorama.sandbox.runner import ForkServer
from panorama.sdk import SURFACE
from panorama.sdk.reference import GUIDE, entries, fields
from panorama.services.base import ServiceContext
from panorama.services.jobs.jobs import Jobs
from panorama.services.search.semantic import SemanticSearch

DOCS = Path(__file__).resolve().parent.parent / "docs"
_GENERATED_NOTICE = "<!-- Printed from the catalogue by `uv run poe docs`; do not edit. -->"
_PURPOSE = "Print the reference of catalogue, settings and SDK into docs/: tools.md, settings.md and sdk.md."


def render_tools() -> str:
    """Return the reference of all operations."""
    offered = _list_arguments()
    not_steps = join_words([f"`{name}`" for name in _list_tools_outside_batches(offered)])
    lines = ["# Tools and operations", "", _GENERATED_NOTICE, "", _INTRODUCTION.format(not_steps=not_steps)]
    for toolset in TOOLSETS:
        lines += ["", "## Default tools" if toolset == "default" else f"## Toolset `{toolset}`"]
        for operation in offered:
            if operation.operation.tool and operation.operation.toolset == toolset:
                lines += _render_operation(operation)
    lines += ["", "## Operations without a tool", "", "The command line and the resources use these."]
    for operation in offered:
        if not operation.operation.tool:
            lines += _render_operation(operation)
    return "\n".join(lines) + "\n"


_INTRODUCTION = """\
Each tool is one operation. Arguments that name an item accept its id or a unique name. `*` marks required ones. Writes
accept `idempotency_key`; lists accept `limit`, `cursor` and mostly `detail` (`brief` or `full`); operations that may
ask the user first accept `confirm`. Every tool, listed or not, can be a step of `batch`, except {not_steps}."""


def render_settings() -> str:
    """Return the reference of all settings."""
    lines = [
        "# Settings",
        "",
        _GENERATED_NOTICE,
        "",
        "In the environment, or in `config.toml` in the data directory. The environment wins.",
    ]
    lines += ["", "| `config.toml` | environment | default | meaning |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = _render_default(name, field.default)
        lines.append(f"| `{name}` | `PANORAMA_{name.upper()}` | {default} | {field.description} |")
    return "\n".join(lines) + "\n"


def render_sdk() -> str:
    """Return the reference of the SDK: what `search_sdk` finds, whole."""
    lines = ["# The SDK", "", _GENERATED_NOTICE, "", GUIDE, "", "How scripts run: [scripts](scripts.md)."]
    group = None
    for entry in entries(SURFACE):
        if entry.group != group:
            group = entry.group
            lines += ["", f"## {group.capitalize() or 'Top level'}"]
        lines += ["", "```python", entry.full, "```"]
    kinds = fields({name: None for entry in entries(SURFACE) for name in entry.rows})
    lines += ["", "## What rows hold", "", *(f"- `{kind}`" for kind in kinds)]
    return "\n".join(lines) + "\n"


def _render_default(name: str, value: Any) -> str:
    known = {
        "home": "the platform's folder for user data",
        "timezone": "this machine's",
        "embedder": "`duo`; `static` where ONNX Runtime is missing",
        "database_url": "none: SQLite",
        "qdrant_url": "none",
        "qdrant_key": "none",
        "files_url": "none: in the data directory or database",
        "files_endpoint": "none",
        "files_key_id": "none",
        "files_key": "none",
    }
    return known.get(name) or f"`{','.join(value) if isinstance(value, tuple) else value}`"  # pyright: ignore[reportUnknownArgumentType] (a default is of any type)


def _list_tools_outside_batches(offered: Sequence[Arguments]) -> list[str]:
    """Return the tools that cannot be steps of a batch: the batch itself, and those that ask the user at a terminal."""
    operations = (arguments.operation for arguments in offered)
    tools = [operation for operation in operations if operation.tool]
    return [operation.tool for operation in tools if operation.tool == "batch" or operation.person]


def _list_arguments() -> tuple[Arguments, ...]:
    """Join everything over a database that is never opened."""
    chosen = read_settings(home=Path("unused"), timezone="UTC")
    database = open_backend(chosen).open()
    context = ServiceContext(database, chosen.zone, chosen.home)
    recorder, meaning = CallLogWriter(database, keep=chosen.log_age), SemanticSearch(context, semantic_config(chosen))
    return wire_calls(chosen, context, recorder, meaning, ForkServer(), Jobs(context)).operation_arguments


def _render_operation(arguments: Arguments) -> Iterator[str]:
    operation = arguments.operation
    yield from ("", f"### `{operation.tool or operation.name}`", "", arguments.description, "")
    kind = {"read": "reads", "write": "writes", "delete": "deletes"}[operation.policy]
    traits = [kind, *(["idempotent"] if operation.idempotent else [])]
    if operation.recalls:
        traits.append(f"without `{operation.recalls}`: the last one read")
    yield f"`{operation.name}` · {' · '.join(traits)}"
    schema = input_schema(arguments)
    if schema["properties"]:
        yield from ("", "| argument | type | meaning |", "|---|---|---|")
        required = schema.get("required", [])
        for name, part in schema["properties"].items():
            yield f"| `{name}`{'*' if name in required else ''} | {_render_type(part)} | {_render_cell(part)} |"


def _render_type(part: dict[str, Any]) -> str:
    if "enum" in part:
        return " ".join(f"`{value}`" if value else '`""`' for value in part["enum"])
    if part.get("type") == "array":
        return f"list of {_render_type(part.get('items', {})) or 'objects'}"
    return {"string": "text", "integer": "number", "boolean": "yes or no", "object": "object"}.get(
        part.get("type", ""), ""
    )


def _render_cell(part: dict[str, Any]) -> str:
    default = f" Default `{part['default']}`." if "default" in part else ""
    return (part.get("description", "") + default).replace("|", "\\|").strip()


def main(arguments: list[str]) -> int:
    """Write the pages, or tell which are stale.

    Raises:
        SystemExit: Help was asked for, or there is no such argument; nothing is written.
    """
    parser = ArgumentParser(prog="python -m panorama.docs", description=_PURPOSE, allow_abbrev=False)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is stale")
    only_looks = parser.parse_args(arguments).check
    pages = {DOCS / "tools.md": render_tools(), DOCS / "settings.md": render_settings(), DOCS / "sdk.md": render_sdk()}
    if not only_looks:
        DOCS.mkdir(exist_ok=True)
        for path, text in pages.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path.name for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if stale:
        sys.stderr.write(f"docs/{stale[0]} is stale: run `uv run poe docs`\n")
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
