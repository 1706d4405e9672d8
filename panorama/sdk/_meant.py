"""Meant: the only place that knows what to write for names that the SDK does not have, and others say."""

import re
from collections.abc import Collection, Mapping

from panorama.sdk import _types
from panorama.sdk._rows import Row

TOOLS: Mapping[str, str] = {
    "acknowledge_reminder": "reminders.acknowledge", "add_journal_entry": "journal.create",
    "append_to_note": "notes.append", "create_link": "links.create", "create_note": "notes.create",
    "create_project": "projects.create", "create_reminder": "reminders.create", "create_task": "tasks.create",
    "delete_item": "items.delete", "edit_note": "notes.edit", "get_file": "files.get", "get_item": "items.get",
    "get_note": "notes.get", "get_project": "projects.get", "list_files": "files.list",
    "list_journal_entries": "journal.list", "list_links": "links.list", "list_notes": "notes.list",
    "list_projects": "projects.list", "list_reminders": "reminders.list", "list_tasks": "tasks.list",
    "list_trash": "items.trash", "list_waiting_reminders": "reminders.waiting",
    "project_dashboard": "overview.project", "projects_overview": "overview.projects", "restore_item": "items.restore",
    "snooze_reminder": "reminders.snooze", "update_file": "files.update",
    "update_journal_entry": "journal.update", "update_link": "links.update", "update_note": "notes.update",
    "update_project": "projects.update", "update_reminder": "reminders.update", "update_task": "tasks.update",
    "weekly_review": "overview.week", "write_file": "files.write",
}  # fmt: skip
"""The functions that do in scripts what tools of another name do."""

ALONE = (
    "add_schedule", "cancel_job", "create_backup", "export_data", "get_job", "get_script", "get_script_history",
    "list_jobs", "list_schedules", "list_scripts", "pause_schedule", "promote_script", "remove_schedule",
    "resume_schedule", "run_code", "run_script", "save_script", "search_sdk",
)  # fmt: skip
"""Tools that scripts have nothing for."""

_TOOL = re.compile(rf"(?<!tool )(?<![.`])\b({'|'.join((*TOOLS, *ALONE))})\b")

KINDS = {
    "projects": "project", "tasks": "task", "notes": "note", "links": "link", "reminders": "reminder",
    "journal": "journal", "files": "file",
}  # fmt: skip
"""The nouns, and what one of each is called."""

_VERBS = {
    **dict.fromkeys(("add", "new", "insert", "make", "log", "append", "write", "create"), ("create", "write")),
    **dict.fromkeys(("read", "open", "load", "content", "body", "fetch", "show"), ("text", "get")),
    **dict.fromkeys(("edit", "set", "save", "modify", "change", "patch", "rename", "move", "tag"), ("update",)),
    **dict.fromkeys(("remove", "trash", "destroy"), ("delete",)),
    **dict.fromkeys(("all", "ls", "iter"), ("list",)),
}
"""What others call the functions of a noun, with those of ours that may be meant; the first that there is."""

_STATES = {
    **dict.fromkeys(("complete", "finish", "close", "done", "mark_done", "check", "resolve"), "done"),
    **dict.fromkeys(("cancel", "drop"), "cancelled"), **dict.fromkeys(("reopen", "uncomplete"), "todo"),
    "start": "in_progress", "park": "idea", "archive": "archived",
}  # fmt: skip
_WITH_STATUS = ("task", "project")
_OF_ALL = {
    **dict.fromkeys(("get", "read", "show", "open"), "get_item"),
    **dict.fromkeys(("delete", "remove", "trash"), "delete_item"), "restore": "restore_item",
}  # fmt: skip
"""The tools that take an item of any kind."""

_VIEWS = ("overdue", "today", "this_week", "urgent", "important", "no_deadline", "in_progress", "recently_done")
_RUN = ("dry_run", "atomic", "background", "timeout")
_SAID = {
    "inputs": 'Inputs are names in the script, and entries of `inputs`: inputs={"limit": 5} makes `limit`.',
    **{name: f"`{name}` is an argument of run_code, beside the code." for name in _RUN},
    **dict.fromkeys(("now", "today", "date", "time"), "Write sdk.status().now or sdk.status().today."),
    **dict.fromkeys(("log", "print"), "Write print(…); it shows up in the answer."),
    **dict.fromkeys(("find", "lookup"), 'Write sdk.search("…").'),
    "connect": "`sdk` is connected already: leave out `connect`: its import, and `with connect() as sdk:`.",
    "get": "Write sdk.items.get(item), or get of the noun that is meant.",
    "dashboard": "Write sdk.overview.project(project), or sdk.overview.projects() for all.",
    "delete": "Write sdk.items.delete(item), or delete of the noun that is meant.",
}  # fmt: skip
TYPES = frozenset(name for name, value in vars(_types).items() if isinstance(value, type) and issubclass(value, Row))
"""What signatures call rows; of these, scripts have `Row` alone."""


def instead(owner: str, name: str, known: Collection[str]) -> str:
    """Return what to write for a name that `sdk` or a noun of it does not have, as a sentence; "" if nobody knows."""
    noun = owner.removeprefix("sdk.")
    if owner == "sdk":
        return at_top(name) or _SAID.get(name, "")
    if noun not in KINDS:
        return ""
    if name in _STATES and KINDS[noun] in _WITH_STATUS:
        return f'Write sdk.{noun}.update({KINDS[noun]}, status="{_STATES[name]}").'
    if noun == "tasks" and name in _VIEWS:
        return f'Write sdk.tasks.list(view="{name}").'
    if name in ("search", "find", "lookup"):
        return f'Write sdk.search("…", kinds=["{KINDS[noun]}"]).'
    if name in ("count", "query", "where", "filter"):
        return f'Write sdk.query("{noun}", {"count=True" if name == "count" else "where={…}"}), or sdk.{noun}.list(…).'
    verb = next((each for each in _VERBS.get(name, ()) if each in known), "")
    return f"Write sdk.{noun}.{verb}(…)." if verb else ""


def of_tools(name: str) -> str:
    """Return which tool does what a name such as `complete_task` or `read_link` says, as a sentence, or ""."""
    verb, _, thing = name.rpartition("_")
    if thing in _WITH_STATUS and verb in _STATES:
        return f'Call update_{thing} with status="{_STATES[verb]}".'
    return f"Call {_OF_ALL[verb]}." if thing in KINDS.values() and verb in _OF_ALL else ""


def in_scripts(hint: str) -> str:
    """Return a hint that names tools as one that names what a script calls in their place.

    Where it asks what was meant, it names what somebody said, and stays.
    """
    return hint if "Did you mean" in hint else _TOOL.sub(_called, hint)


def _called(tool: re.Match[str]) -> str:
    before, name = tool.string[: tool.start()].rstrip(), tool[1]
    if name in TOOLS:
        return f"sdk.{TOOLS[name]}"
    return f"{'The' if before[-1:] in ('', '.') else 'the'} tool {name}"


def at_top(name: str) -> str:
    """Return what to write for a bare name: a tool's, a type's, an argument of the run; "" if it is none."""
    if name in TOOLS:
        return f"Write sdk.{TOOLS[name]}(…): tools go by other names in scripts."
    if name in TYPES:
        return f"{name} is what signatures call a kind of row, for reading: annotations may say it without an import."
    return _SAID[name] if name in ("inputs", "connect", *_RUN) else ""
