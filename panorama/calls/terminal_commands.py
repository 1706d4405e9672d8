"""Terminal commands that users can type if their client cannot ask them."""

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any

Values = Mapping[str, Any]
MAX_COMMAND_CHARS = 300
"""The longest command in an error; longer ones, and ones with hidden characters, are left out."""


def format_terminal_command(operation: str, values: Values) -> str:
    """Return the command equivalent to an operation with these values; "" if there is none."""
    build = _COMMANDS.get(operation)
    command = shlex.join(["panorama", *build(values)]) if build else ""
    return command if len(command) <= MAX_COMMAND_CHARS and command.isprintable() and "`" not in command else ""


def _options(**values: Any) -> list[str]:
    """Return the options of a command, without empty ones."""
    options: list[str] = []
    for name, value in values.items():
        if value not in ("", None, False):
            options += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return options


def _inputs(values: Values | None) -> list[str]:
    return [word for name, value in (values or {}).items() for word in ("--input", f"{name}={json.dumps(value)}")]


def _save_options(values: Values) -> list[str]:
    return _options(run=values["run"], summary=values["summary"], replace=values["replace"])


def _undo(values: Values) -> list[str]:
    verb, count = ("redo" if values["redo"] else "undo"), values["count"]
    unit = [values["unit"]] if values["unit"] else []
    return [verb, *unit, *_options(count=count if count > 1 else "", skip_conflicts=values["skip_conflicts"])]


def _review(values: Values) -> list[str]:
    verb = {"promoted": "promote", "demoted": "demote", "retired": "retire"}.get(values["to"], "review")
    return ["scripts", verb, values["script"], *_options(read_only=values["read_only"])]


def _schedule(values: Values) -> list[str]:
    timing = _options(**{name: values[name] for name in ("cron", "every", "at", "zone")})
    name = [values["name"]] if values["name"] else []
    return ["schedule", "add", values["kind"], *name, *timing, *_inputs(values["arguments"])]


def _backup(values: Values) -> list[str]:
    folder = [values["folder"]] if values["folder"] else []
    return ["backup", "create", *folder, *_options(with_secrets=values["with_secrets"])]


_COMMANDS: Mapping[str, Callable[[Values], list[str]]] = {
    "items.delete": lambda it: ["projects", "delete", it["item"], *_options(items=it["items"])],
    "history.undo": _undo,
    "run_code": lambda it: ["run", "FILE", *_options(atomic=it["atomic"], state=it["state"])],
    "run_script": lambda it: ["run", it["script"], *_inputs(it["args"])],
    "scripts.save": lambda it: ["scripts", "save", it["name"], *([] if it["run"] else ["FILE"]), *_save_options(it)],
    "scripts.promote": _review,
    "schedules.add": _schedule,
    "schedules.resume": lambda it: ["schedule", "resume", it["schedule"]],
    "schedules.remove": lambda it: ["schedule", "remove", it["schedule"]],
    "backup": _backup,
    "export": lambda it: ["export", *filter(None, [it["folder"]])],
}
"""The commands of all tools that may ask, by operation."""
