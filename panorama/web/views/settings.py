"""The settings of `config.toml`, most of them editable, and the signed-in browsers."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from panorama.config import TOOLSETS, Settings, read_settings
from panorama.config_file import SettingValue, remove_setting, write_setting
from panorama.domain.text.json_types import is_sequence
from panorama.errors import InvalidInputError
from panorama.web.view import Context, ViewRequest

EDITABLE = frozenset(
    {
        "timezone", "toolsets", "log_days", "trash_days", "backups_kept", "backup_days", "busy_seconds",
        "linger_seconds", "desktop_notifications", "http_port", "web", "web_port", "index_engine", "charts",
    }
)  # fmt: skip
"""The settings that the page changes; it only shows those that decide where texts are sent or isolate scripts."""

SettingKind = Literal["switch", "number", "choice", "several", "text"]


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting: its value in use, and the one of the file, which is used after the next start."""

    name: str
    description: str
    value: str
    stored: str
    kind: SettingKind
    choices: tuple[str, ...]
    is_set: bool
    is_fixed: bool


def show_settings(request: ViewRequest) -> Context:
    """Show the settings, and the browsers that are signed in."""
    current = request.calls.app.settings
    try:
        stored, problem = read_settings(home=current.home), ""
    except InvalidInputError as error:
        stored, problem = current, f"{error.message} {error.hint}"
    return {
        "settings": [_to_row(name, field, current, stored) for name, field in Settings.model_fields.items()],
        "problem": problem,
        "status": request.calls.get("status"),
    }


def change_setting(home: Path, name: str, values: tuple[str, ...]) -> None:
    """Write a setting to `config.toml` as a form gives it; without a value it is the default again.

    Raises:
        InvalidInputError: There is no such setting on the page, or it cannot have this value.
        UnavailableError: The file cannot be changed.
    """
    if name not in EDITABLE:
        raise InvalidInputError(f"{name[:40]} is not changed here.", hint="Change it in config.toml.")
    if not any(values):
        remove_setting(home, name)
        return
    field = Settings.model_fields[name]
    value = ",".join(filter(None, values)) if name == "toolsets" else values[-1]
    parsed: Any = getattr(read_settings(home=home, **{name: value}), name)
    write_setting(home, name, _to_toml(parsed, field))


def _to_toml(value: Any, field: FieldInfo) -> SettingValue:
    if is_sequence(value):
        return [str(part) for part in value]
    if field.annotation is float:
        return int(value) if value == int(value) else float(value)
    return value if isinstance(value, bool | int) else str(value)


def _to_row(name: str, field: FieldInfo, current: Settings, stored: Settings) -> SettingRow:
    kind, choices = _choose_kind(name, field)
    return SettingRow(
        name, describe_setting(field), _show_value(getattr(current, name)), _show_value(getattr(stored, name)), kind,
        choices, name in stored.model_fields_set - {"home"},
        is_fixed=name not in EDITABLE or f"PANORAMA_{name.upper()}" in os.environ,
    )  # fmt: skip


def describe_setting(field: FieldInfo) -> str:
    """Return the description of a setting without code marks."""
    return (field.description or "").replace("`", "")


def _choose_kind(name: str, field: FieldInfo) -> tuple[SettingKind, tuple[str, ...]]:
    """Return the kind of form field of a setting, and its choices if there are any."""
    if name == "toolsets":
        return "several", tuple(sorted(set(TOOLSETS) - {"default"}))
    if field.annotation is bool:
        return "switch", ("true", "false")
    if get_origin(field.annotation) is Literal:
        return "choice", get_args(field.annotation)
    is_number = field.annotation is int or field.annotation is float
    return "number" if is_number else "text", ()


def _show_value(value: object) -> str:
    if isinstance(value, SecretStr):
        return "••••" if value.get_secret_value() else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(map(str, value)) if is_sequence(value) else str(value)
