"""Aliases: what to write for names that the SDK does not have but other libraries do."""

import re
from collections.abc import Collection, Mapping

from panorama.kinds import ITEM_KINDS
from panorama.sdk.core import types as _types
from panorama.sdk.core.rows import Row

TOOLS: Mapping[str, str] = {
    **{
        f"{function}_{kind.collection if function == 'list' else kind.name}": f"{kind.collection}.{function}"
        for kind in ITEM_KINDS
        for function in kind.functions
    },
    "add_journal_entry": "journal.create", "append_to_note": "notes.append",
    "create_tasks_from_note": "notes.create_tasks", "delete_item": "items.delete",
    "find_item_by_source": "items.find_source", "link_item_to_source": "items.link_source",
    "get_item": "items.get", "graph_components": "graph.components", "graph_context": "graph.context",
    "graph_paths": "graph.paths", "graph_stats": "graph.stats",
    "list_journal_entries": "journal.list", "list_trash": "items.trash",
    "list_waiting_reminders": "reminders.waiting", "person_dashboard": "people.dashboard",
    "project_dashboard": "overview.project",
    "projects_overview": "overview.projects", "restore_item": "items.restore", "update_journal_entry": "journal.update",
    "weekly_review": "overview.week",
}  # fmt: skip
"""The functions of scripts for tools with another name."""

TOOL_ONLY = (
    "add_schedule", "cancel_job", "create_backup", "export_data", "get_job", "get_script", "get_script_history",
    "list_jobs", "list_schedules", "list_scripts", "list_sources", "pause_schedule", "promote_script",
    "remove_schedule", "resume_schedule", "run_code", "run_script", "save_script", "search_sdk",
)  # fmt: skip
"""Tools without a counterpart in scripts."""

_TOOL = re.compile(rf"(?<!tool )(?<![.`])\b({'|'.join((*TOOLS, *TOOL_ONLY))})\b")

KINDS: Mapping[str, str] = {kind.collection: kind.name for kind in ITEM_KINDS}
"""The nouns in the plural and the singular."""

_VERB_SYNONYMS = {
    **dict.fromkeys(("add", "new", "insert", "make", "log", "append", "write", "create"), ("create", "write")),
    **dict.fromkeys(("read", "open", "load", "content", "body", "fetch", "show"), ("text", "get")),
    **dict.fromkeys(("edit", "set", "save", "modify", "change", "patch", "rename", "move", "tag"), ("update",)),
    **dict.fromkeys(("remove", "trash", "destroy"), ("delete",)),
    **dict.fromkeys(("all", "ls", "iter"), ("list",)),
}
"""Other names of functions, with the functions that they may mean; the first that exists is suggested."""

_STATUS_VERBS = {
    **dict.fromkeys(("complete", "finish", "close", "done", "mark_done", "check", "resolve"), "done"),
    **dict.fromkeys(("cancel", "drop"), "cancelled"), **dict.fromkeys(("reopen", "uncomplete"), "todo"),
    "start": "in_progress", "park": "idea", "archive": "archived",
}  # fmt: skip
_WITH_STATUS = ("task", "project")
_ANY_ITEM_TOOLS = {
    **dict.fromkeys(("get", "read", "show", "open"), "get_item"),
    **dict.fromkeys(("delete", "remove", "trash"), "delete_item"), "restore": "restore_item",
}  # fmt: skip
"""The tools that take an item of any kind."""

_VIEWS = ("overdue", "today", "this_week", "urgent", "important", "no_deadline", "in_progress", "recently_done")
_RUN_ARGUMENTS = ("dry_run", "atomic", "background", "timeout")
_ADVICE = {
    "inputs": 'Inputs are names in the script, and entries of `inputs`: inputs={"limit": 5} makes `limit`.',
    **{name: f"`{name}` is an argument of run_code, beside the code." for name in _RUN_ARGUMENTS},
    **dict.fromkeys(("now", "today", "date", "time"), "Write sdk.status().now or sdk.status().today."),
    **dict.fromkeys(("log", "print"), "Write print(…); it shows up in the answer."),
    **dict.fromkeys(("find", "lookup"), 'Write sdk.search("…").'),
    "connect": "`sdk` is connected already: leave out `connect`: its import, and `with connect() as sdk:`.",
    "get": "Write sdk.items.get(item), or the get of its noun.",
    "dashboard": "Write sdk.overview.project(project), or sdk.overview.projects() for all.",
    "delete": "Write sdk.items.delete(item), or the delete of its noun.",
}  # fmt: skip
TYPES = frozenset(name for name, value in vars(_types).items() if isinstance(value, type) and issubclass(value, Row))
"""The types of rows in signatures; of these, scripts have only `Row`."""


def suggest_replacement(owner: str, name: str, known: Collection[str]) -> str:
    """Return a sentence with the replacement of a name unknown to `sdk` or a noun, "" if there is none."""
    noun = owner.removeprefix("sdk.")
    if owner == "sdk":
        return suggest_top_level(name) or _ADVICE.get(name, "")
    if noun not in KINDS:
        return ""
    if name in _STATUS_VERBS and KINDS[noun] in _WITH_STATUS:
        return f'Write sdk.{noun}.update({KINDS[noun]}, status="{_STATUS_VERBS[name]}").'
    if noun == "tasks" and name in _VIEWS:
        return f'Write sdk.tasks.list(view="{name}").'
    if name in ("search", "find", "lookup"):
        return f'Write sdk.search("…", kinds=["{KINDS[noun]}"]).'
    if name in ("count", "query", "where", "filter"):
        return f'Write sdk.query("{noun}", {"count=True" if name == "count" else "where={…}"}), or sdk.{noun}.list(…).'
    verb = next((synonym for synonym in _VERB_SYNONYMS.get(name, ()) if synonym in known), "")
    return f"Write sdk.{noun}.{verb}(…)." if verb else ""


def suggest_tool(name: str) -> str:
    """Return a sentence with the tool that a name such as `complete_task` or `read_link` means, or ""."""
    verb, _, noun = name.rpartition("_")
    if noun in _WITH_STATUS and verb in _STATUS_VERBS:
        return f'Call update_{noun} with status="{_STATUS_VERBS[verb]}".'
    return f"Call {_ANY_ITEM_TOOLS[verb]}." if noun in KINDS.values() and verb in _ANY_ITEM_TOOLS else ""


def translate_hint(hint: str) -> str:
    """Return a hint with the names of tools replaced by those of SDK functions.

    A hint that asks «Did you mean …?» quotes the caller and is not changed.
    """
    return hint if "Did you mean" in hint else _TOOL.sub(_script_name, hint)


def _script_name(tool: re.Match[str]) -> str:
    before, name = tool.string[: tool.start()].rstrip(), tool[1]
    if name in TOOLS:
        return f"sdk.{TOOLS[name]}"
    return f"{'The' if before[-1:] in ('', '.') else 'the'} tool {name}"


def suggest_top_level(name: str) -> str:
    """Return a sentence with the replacement of a bare name (of a tool, a type or an input of the run), or ""."""
    if name in TOOLS:
        return f"Write sdk.{TOOLS[name]}(…): tools have other names in scripts."
    if name in TYPES:
        return f"{name} is what signatures call a kind of row, for reading: annotations may say it without an import."
    return _ADVICE[name] if name in ("inputs", "connect", *_RUN_ARGUMENTS) else ""
