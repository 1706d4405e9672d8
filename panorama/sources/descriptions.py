"""Describes sources and their functions for people: never the value of a secret."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from panorama.domain.sources.functions import SourceFunction
from panorama.domain.sources.policy import decide, list_rules
from panorama.domain.text.secrets import REDACTED, redact_text
from panorama.domain.text.visible_text import drop_controls
from panorama.sources.config import SourceConfig
from panorama.sources.secrets import is_reference, is_secret_setting

ABOUT_CHARS = 160


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


def format_place(data: Mapping[str, Any]) -> str:
    """Return where a described source is: its command, its address, or its folder."""
    return str(" ".join(data.get("command", ())) or data.get("url") or data.get("options", {}).get("path", ""))


def describe_functions(config: SourceConfig, functions: Sequence[SourceFunction]) -> list[dict[str, Any]]:
    """Return functions for programs and tables, with what happens when a script calls them."""
    rules = list_rules(config.policy)
    return [
        {
            "name": function.name,
            "decision": decide(function, rules),
            "reads_only": function.reads_only,
            "reach": function.reach,
            "description": drop_controls(function.description)[:ABOUT_CHARS],
        }
        for function in functions
    ]


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
