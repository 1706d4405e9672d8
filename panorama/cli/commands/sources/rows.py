"""What `panorama sources` shows of an entry: never the value of a secret."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from rich.text import Text

from panorama.cli.console.tables import Column, TextTable, safe_line
from panorama.domain.sources.functions import SourceFunction
from panorama.domain.sources.policy import Rule, decide
from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.secrets import REDACTED, redact_text
from panorama.domain.text.visible_text import drop_controls
from panorama.sources.config import SourceConfig
from panorama.sources.secrets import is_reference, is_secret_setting

_DECISION_STYLES = {"allow": "green", "ask": "yellow", "deny": "red"}
_REACH_WORDS = {
    "here": "this machine", "own": "your own account", "others": "other people", "anywhere": "any address",
}  # fmt: skip


def describe_source(config: SourceConfig) -> dict[str, Any]:
    """Return a source for programs and tables, with secrets hidden."""
    policy = {"allow": config.policy.allow, "ask": config.policy.ask, "deny": config.policy.deny}
    fields = {
        "command": [config.command, *map(_hide_argument, config.args)] if config.command else None,
        "cwd": config.cwd,
        "url": _hide_in_address(config.url),
        "type": config.transport,
        "auth": "oauth" if config.oauth else "",
        "env": _hide_values(config.env),
        "headers": _hide_values(config.headers),
        "options": _hide_values(config.options),
        **{decision: list(patterns) for decision, patterns in policy.items()},
        "local": config.local,
        "disabled": config.disabled,
    }
    return {"name": config.name, "kind": config.kind, **{key: value for key, value in fields.items() if value}}


def format_source(data: Mapping[str, Any]) -> list[Text]:
    """Format a source, one line for each of its keys."""
    return [safe_line(f"{key}: {_format_value(value)}") for key, value in data.items() if value]


def sources_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build the table of sources."""
    columns = (Column("source"), Column("kind"), Column("at", fold=True), Column("rules", fold=True, drop=1))
    return TextTable(columns, tuple(_source_row(row) for row in rows))


def functions_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build the table of a source's functions."""
    about = Column("about", flexible=True, drop=2)
    columns = (Column("function"), Column(""), Column("reads"), Column("seen by", drop=1), about)
    cells = tuple(
        (
            safe_line(row["name"]),
            safe_line(row["decision"], _DECISION_STYLES[row["decision"]]),
            safe_line("yes" if row["reads_only"] else "no"),
            safe_line(_REACH_WORDS[row["reach"]]),
            safe_line(row["description"], "dim"),
        )
        for row in rows
    )
    return TextTable(columns, cells)


def describe_functions(config: SourceConfig, functions: Sequence[SourceFunction]) -> list[dict[str, Any]]:
    """Return functions for programs and tables, with what happens when a script calls them."""
    rules = list_rules(config)
    return [
        {
            "name": function.name,
            "decision": decide(function, rules),
            "reads_only": function.reads_only,
            "reach": function.reach,
            "description": drop_controls(function.description)[:160],
        }
        for function in functions
    ]


def list_rules(config: SourceConfig) -> list[Rule]:
    """Return the user's rules for a source."""
    policy = config.policy
    return [
        *((pattern, "allow") for pattern in policy.allow),
        *((pattern, "ask") for pattern in policy.ask),
        *((pattern, "deny") for pattern in policy.deny),
    ]


def _source_row(row: Mapping[str, Any]) -> tuple[Any, ...]:
    place = " ".join(row.get("command", ())) or row.get("url") or row.get("options", {}).get("path", "")
    rules = "; ".join(f"{key} {', '.join(row[key])}" for key in _DECISION_STYLES if key in row)
    style = "dim" if row.get("disabled") else ""
    return safe_line(row["name"], style or "bold"), safe_line(row["kind"]), safe_line(place, style), safe_line(rules)


def _format_value(value: Any) -> str:
    if is_object(value):
        return ", ".join(f"{name}={part}" for name, part in value.items())
    return " ".join(map(str, value)) if is_list(value) else str(value)


def _hide_values(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _hide_value(name, value) for name, value in values.items()}


def _hide_value(name: str, value: Any) -> Any:
    if not isinstance(value, str) or is_reference(value):
        return value
    return REDACTED if is_secret_setting(name) else redact_text(value)


def _hide_argument(argument: str) -> str:
    name, separator, _ = argument.partition("=")
    return f"{name}={REDACTED}" if separator and is_secret_setting(name) else redact_text(argument)


def _hide_in_address(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query=REDACTED if parts.query else "").geturl()
