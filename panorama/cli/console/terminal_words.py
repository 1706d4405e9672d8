"""Converts hints about tools to hints about terminal commands."""

import re
from collections.abc import Mapping

COMMANDS: Mapping[str, str] = {
    "list_projects": "projects", "get_project": "projects show", "create_project": "projects add",
    "update_project": "projects edit", "project_dashboard": "projects show", "projects_overview": "projects",
    "list_tasks": "tasks", "create_task": "tasks add", "update_task": "tasks edit",
    "list_notes": "notes", "get_note": "notes show", "create_note": "notes add", "update_note": "notes edit",
    "append_to_note": "notes edit", "edit_note": "notes edit", "create_tasks_from_note": "notes tasks",
    "list_links": "links", "create_link": "links add", "update_link": "links edit",
    "list_journal_entries": "journal", "add_journal_entry": "journal add", "update_journal_entry": "journal edit",
    "list_files": "files", "get_file": "files get", "write_file": "files add", "update_file": "files rename",
    "list_people": "people", "create_person": "people add", "update_person": "people edit",
    "merge_person": "people merge", "person_dashboard": "people dashboard",
    "list_teams": "teams", "create_team": "teams add", "update_team": "teams rename",
    "list_relations": "relations", "create_relation": "relations add", "related": "related",
    "graph_components": "related", "graph_context": "related", "graph_paths": "related", "graph_stats": "related",
    "list_reminders": "reminders list", "create_reminder": "reminders add", "update_reminder": "reminders edit",
    "list_waiting_reminders": "reminders", "snooze_reminder": "reminders snooze",
    "acknowledge_reminder": "reminders done",
    "list_sources": "sources", "list_schedules": "schedule", "add_schedule": "schedule add",
    "pause_schedule": "schedule pause",
    "resume_schedule": "schedule resume", "remove_schedule": "schedule remove",
    "list_events": "events", "create_event": "events add", "update_event": "events edit",
    "list_sessions": "sessions", "log_session": "sessions log", "get_session": "sessions show",
    "create_session": "sessions add", "update_session": "sessions edit", "export_session": "sessions export",
    "analyze_session": "sessions analyze",
    "list_jobs": "jobs", "get_job": "jobs show", "cancel_job": "jobs cancel",
    "list_scripts": "scripts", "get_script": "scripts show", "get_script_history": "scripts history",
    "save_script": "scripts save", "promote_script": "scripts promote", "run_script": "run", "run_code": "run",
    "search_sdk": "sdk", "get_item": "search", "delete_item": "tasks delete", "list_trash": "trash",
    "restore_item": "restore", "create_backup": "backup", "export_data": "export", "weekly_review": "run weekly_review",
    "batch": "run", "query": "run", "history": "history", "reindex": "reindex", "search": "search",
    "similar": "similar", "find_item_by_source": "run", "link_item_to_source": "run",
    "status": "status", "undo": "undo",
}  # fmt: skip
"""Tools and the equivalent commands."""

_PHRASES: Mapping[str, str] = {
    'Ask the user, then call again with items="keep" (they stay without it) or items="trash".': (
        "Add --items keep (they stay without it) or --items trash."
    ),
    "Ask the user; if they agree, repeat the call with confirm=true": "Add --yes to agree to it",
    "call again with skip_conflicts=true": "add --skip-conflicts",
    "call again with items=true": "add --items",
    ", more with next_cursor": "; --limit shows more",
    "status=any lists all": "--status any lists all",
    "mode keyword or semantic shows them": "--mode keyword or --mode semantic shows them",
    "list_scripts(suggest=true)": "`panorama scripts --suggest`",
    "history(item)": "`panorama history ITEM`",
    "history()": "`panorama recent`",
    "get_job()": "`panorama jobs`",
    "undo brings it back": "`panorama undo` brings it back",
    "Bring it back with undo, or `panorama restore` in a terminal": "Bring it back with `panorama restore`",
    "with search": "with `panorama search`",
    '"" or [] clears a field; omitted or null fields keep': '"" clears a field; omitted fields keep',
}
"""Whole phrases with a different form at a terminal."""

_NAMES = sorted((name for name in COMMANDS if "_" in name), key=len, reverse=True)
_TOOL = re.compile(rf"(“[^”]*”|`[^`]*`)|\b({'|'.join(_NAMES)})\b")


def to_terminal(text: str) -> str:
    """Replace tools by commands in a hint; quoted text is not changed."""
    for phrase, words in _PHRASES.items():
        text = text.replace(phrase, words)
    return _TOOL.sub(lambda match: match[1] or f"`panorama {COMMANDS[match[2]]}`", text)
