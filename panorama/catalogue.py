"""The catalogue: every operation, once."""

from collections.abc import Iterator
from typing import Any

from panorama.domain.jobs import JobKind
from panorama.operation import Operation, read, write
from panorama.operations import graph, people, scripts, sources, views
from panorama.services import Services
from panorama.services import summaries as say
from panorama.services.search.results import select_line


def build_operations(do: Services) -> Iterator[Operation]:
    """Return every operation, in the order in which tools are listed."""
    yield from _items(do)
    yield from people.list_session_operations(do)
    yield from people.list_event_operations(do)
    yield from _search(do)
    yield from _overviews(do)
    yield from scripts.list_run_operations(do)
    yield from scripts.list_library_operations(do)
    yield from sources.list_operations(do)
    yield from _history(do)
    yield from _jobs(do)
    yield from _more(do)
    yield from _files(do)
    yield from people.list_people_operations(do)
    yield from graph.list_operations(do)
    yield from _reindex(do)
    yield from _reminders(do)
    yield from _schedules(do)
    yield from _archive(do)
    yield from _cli_only(do)
    yield from _pages(do)
    yield from views.list_operations(do)


_MORE = {"toolset": "more"}
_UPDATE: dict[str, Any] = {"summary": say.summarize_update, "idempotent": True}
SEARCH_ROWS = 10
"""The maximum number of hits that a model gets at once: lower ones are rarely relevant and cost as much."""

SEARCH_PAGE_CHARS = 720
"""The characters of their rows: with the first line, the header and the cursor, 900 in all."""

_SEARCH_PAGE: dict[str, Any] = {"rows": SEARCH_ROWS, "page_chars": SEARCH_PAGE_CHARS, "line": select_line}


def _items(do: Services) -> Iterator[Operation]:
    """Yield the everyday operations on items."""
    yield read("projects.list", do.projects.list, "list_projects", summary=say.make_list_summary("project"))
    yield read("projects.get", do.projects.get, "get_project", summary=say.summarize_item, recalls="project")
    yield write("projects.create", do.projects.create, "create_project", summary=say.summarize_create)
    yield write(
        "projects.update",
        do.projects.update,
        "update_project",
        split=do.projects.split_update,
        split_by="name",
        **_UPDATE,
    )

    yield read("tasks.list", do.tasks.list, "list_tasks", summary=say.make_list_summary("task"))
    yield write("tasks.create", do.tasks.create, "create_task", summary=say.summarize_create)
    yield write(
        "tasks.update", do.tasks.update, "update_task", split=do.tasks.split_update, split_by="title", **_UPDATE
    )

    yield read("notes.list", do.notes.list, "list_notes", summary=say.make_list_summary("note"))
    yield read("notes.get", do.notes.get, "get_note", recalls="note")
    yield write("notes.create", do.notes.create, "create_note", summary=say.summarize_create)
    yield write(
        "notes.update", do.notes.update, "update_note", split=do.notes.split_update, split_by="title", **_UPDATE
    )
    yield write("notes.append", do.notes.append, "append_to_note", summary=say.summarize_append)
    yield write("notes.edit", do.notes.edit, "edit_note", summary=say.summarize_edit, idempotent=True)

    yield write("links.create", do.links.create, "create_link", summary=say.summarize_create)
    yield read("reminders.list", do.reminders.list, "list_reminders", summary=say.make_list_summary("reminder"))
    yield write("reminders.create", do.reminders.create, "create_reminder", summary=say.summarize_create)
    yield write("reminders.update", do.reminders.update, "update_reminder", **_UPDATE)
    yield write("journal.create", do.journal.create, "add_journal_entry", summary=say.summarize_create)


def _search(do: Services) -> Iterator[Operation]:
    """Yield the search operations."""
    yield read("search", do.search.search, "search", summary=say.summarize_search, **_SEARCH_PAGE)
    yield read(
        "search.similar",
        do.search.search_similar,
        "similar",
        summary=say.summarize_search,
        sdk="similar",
        recalls="item",
        **_SEARCH_PAGE,
        **_MORE,
    )
    yield read("query", do.query.query, "query", summary=say.make_list_summary("row"))
    yield read("items.get", do.items.get, "get_item", recalls="item")
    yield from graph.list_everyday_operations(do)


def _overviews(do: Services) -> Iterator[Operation]:
    """Yield overviews and batches."""
    yield read("overview.project", do.overview.dashboard, "project_dashboard", recalls="project")
    yield read("overview.projects", do.overview.overview, "projects_overview")
    yield read("overview.week", do.overview.weekly_review, "weekly_review")
    yield write(
        "batch",
        do.batch.run,
        "batch",
        transactional=False,
        whole_if="atomic",
        only_reads=do.batch.only_reads,
        read_early=do.batch.read_early,
        composed=True,
    )


def _history(do: Services) -> Iterator[Operation]:
    """Yield deletion, undo and status."""
    large: dict[str, Any] = {"plan": do.items.plan_delete, "asks": True, "split": do.items.split_delete}
    yield write("items.delete", do.items.delete, "delete_item", policy="delete", **large)
    yield read("history.list", do.history.list, "history", summary=say.summarize_history, sdk="history")
    yield write(
        "history.undo",
        do.undoing.undo,
        "undo",
        plan=do.undoing.plan_undo,
        asks=True,
        sdk="undo",
        split=do.undoing.split_undo,
        scheduled="never",
        job=JobKind(name="undo", resumable=True, pool="undo"),
    )
    yield read("status", do.status.get_status, "status", exempt=True)


def _jobs(do: Services) -> Iterator[Operation]:
    """Yield the operations on jobs."""
    jobs: dict[str, Any] = {"sdk": "", "exempt": True}  # a script should not wait for jobs
    waiting: dict[str, Any] = {"transactional": False, "long": True, "waits": ("job", "wait")}
    yield read("jobs.get", do.jobs.show, "get_job", summary=say.summarize_jobs, **waiting, **jobs)
    yield write("jobs.cancel", do.jobs.cancel, "cancel_job", transactional=False, idempotent=True, **jobs)


def _more(do: Services) -> Iterator[Operation]:
    """Yield the less frequent operations on items."""
    yield read("links.list", do.links.list, "list_links", summary=say.make_list_summary("link"), **_MORE)
    yield write(
        "notes.create_tasks",
        do.note_tasks.create,
        "create_tasks_from_note",
        split=do.note_tasks.split_create,
        **_MORE,
    )
    yield write("links.update", do.links.update, "update_link", **_MORE, **_UPDATE)
    yield read("journal.list", do.journal.list, "list_journal_entries", summary=say.make_list_summary("entry"), **_MORE)
    yield write(
        "journal.update",
        do.journal.update,
        "update_journal_entry",
        summary=say.summarize_update,
        idempotent=True,
        **_MORE,
    )
    yield read("items.trash", do.items.list_trash, "list_trash", summary=say.make_list_summary("item"), **_MORE)
    yield write(
        "items.restore",
        do.items.restore,
        "restore_item",
        summary=say.summarize_restore,
        split=do.items.split_restore,
        scheduled="never",
        job=JobKind(name="restore_item", resumable=True, pool="undo"),
        **_MORE,
    )
    yield read("items.find_source", do.source_refs.find, "find_item_by_source", **_MORE)
    yield write("items.link_source", do.source_refs.link, "link_item_to_source", **_MORE, **_UPDATE)


def _files(do: Services) -> Iterator[Operation]:
    """Yield the operations on files."""
    files = {"toolset": "files"}
    writing: dict[str, Any] = files | {"idempotent": True, "split": do.files.split_write}
    yield write("files.write", do.files.write, "write_file", summary=say.summarize_file_write, **writing)
    yield read("files.list", do.files.list, "list_files", summary=say.make_list_summary("file"), **files)
    yield read("files.get", do.files.get, "get_file", recalls="file", **files)
    yield write("files.update", do.files.update, "update_file", **files, **_UPDATE)


def _reindex(do: Services) -> Iterator[Operation]:
    """Yield the maintenance of search by meaning."""
    yield write(
        "reindex",
        do.reindexing.reindex,
        "reindex",
        sdk="",
        idempotent=True,
        transactional=False,
        long=True,
        job=JobKind(name="reindex", resumable=True, alone=True, local=True),
        plan=do.reindexing.plan_reindex,
        **_MORE,
    )


def _reminders(do: Services) -> Iterator[Operation]:
    """Yield the operations on reminders that wait."""
    waiting: dict[str, Any] = {"summary": say.summarize_waiting_reminders, "exempt": True, **_MORE}
    yield read("reminders.waiting", do.ringing.list_waiting, "list_waiting_reminders", **waiting)
    yield write("reminders.snooze", do.reminders.snooze, "snooze_reminder", summary=say.summarize_snooze, **_MORE)
    ending: dict[str, Any] = {"summary": say.summarize_acknowledge, "idempotent": True, **_MORE}
    yield write("reminders.acknowledge", do.reminders.acknowledge, "acknowledge_reminder", **ending)
    yield read("pages.reminders", do.pages.render_reminders, summary=say.summarize_markdown, exempt=True)


def _schedules(do: Services) -> Iterator[Operation]:
    """Yield the operations on schedules and the list of jobs; they cannot be undone, so scripts have none of them."""
    timed: dict[str, Any] = {"toolset": "jobs", "sdk": ""}
    asking: dict[str, Any] = {"asks": True, **timed}
    schedules = do.schedules
    yield read("jobs.list", do.jobs.list, "list_jobs", summary=say.make_list_summary("job"), exempt=True, **timed)
    yield write("schedules.add", schedules.add, "add_schedule", plan=schedules.plan_add, **asking)
    yield read("schedules.list", schedules.list, "list_schedules", summary=say.make_list_summary("schedule"), **timed)
    yield write("schedules.pause", schedules.pause, "pause_schedule", idempotent=True, **timed)
    resume = schedules.resume
    yield write("schedules.resume", resume, "resume_schedule", plan=schedules.plan_resume, idempotent=True, **asking)
    remove, plan = schedules.remove, schedules.plan_remove
    yield write("schedules.remove", remove, "remove_schedule", policy="delete", plan=plan, **asking)


def _archive(do: Services) -> Iterator[Operation]:
    """Yield backup, export, restore and purge."""
    lasting: dict[str, Any] = {"sdk": "", "transactional": False, "long": True}

    def job_options(name: str, *, whole: bool = True) -> dict[str, Any]:
        """Make it a job kind that restarts from the beginning and leaves nothing unfinished."""
        return {**lasting, "job": JobKind(name=name, resumable=True, alone=True, whole=whole, local=True)}

    backup: dict[str, Any] = {
        "plan": do.backups.plan_create,
        "asks": True,
        **job_options("backup"),
    }
    yield write("backup", do.backups.create, "create_backup", **backup, **_MORE)
    export: dict[str, Any] = {
        "plan": do.exports.plan_create,
        "asks": True,
        **job_options("export"),
    }
    yield write("export", do.exports.create, "export_data", **export, **_MORE)
    yield read("backups.list", do.backups.list, exempt=True)
    yield write("backups.check", do.backups.check, **lasting)
    yield write("restore", do.restoring.restore, plan=do.restoring.plan_restore, **job_options("restore"))
    purge: dict[str, Any] = {
        "plan": do.purging.plan_purge,
        "asks": True,
        **job_options("purge", whole=False),
    }
    yield write("purge", do.purging.purge, policy="delete", **purge)


def _cli_only(do: Services) -> Iterator[Operation]:
    """Yield the operations of the command line."""
    yield write(
        "import.markdown",
        do.imports.import_markdown,
        transactional=False,
        long=True,
        job=JobKind(name="import", resumable=True, alone=True, local=True),
        plan=do.imports.plan_import,
    )
    yield write(
        "import.memory",
        do.memory_imports.import_memory,
        transactional=False,
        long=True,
        job=JobKind(name="import_memory", resumable=True, alone=True, local=True),
        plan=do.memory_imports.plan_import_memory,
    )
    yield read("models.list", do.models.list, summary=do.models.summarize_list, exempt=True)
    yield write(
        "models.remove",
        do.models.remove,
        summary=do.models.summarize_removal,
        policy="delete",
        plan=do.models.plan_remove,
        asks=True,
        transactional=False,
    )
    yield read("items.resolve", do.items.resolve, summary=say.summarize_named_item, exempt=True)
    yield read("items.get_trashed", do.items.get_trashed, exempt=True)
    yield read("tags.list", do.tags.list, summary=say.make_list_summary("tag"), exempt=True)
    yield read("tags.get", do.tags.get, summary=say.make_list_summary("item"), exempt=True)
    yield write("tags.rename", do.tags.rename, split=do.tags.split_change)
    yield write("tags.delete", do.tags.delete, split=do.tags.split_change)
    yield read("files.content", do.files.get_content, exempt=True)
    yield from scripts.list_user_operations(do)
    yield read("daemons.list", do.status.list_daemons, exempt=True)
    yield read("calls.list", do.status.list_calls, summary=say.make_list_summary("call"), exempt=True)
    yield read("statistics.calls", do.statistics.count_calls, exempt=True)
    yield read("statistics.tasks", do.statistics.count_tasks, exempt=True)


def _pages(do: Services) -> Iterator[Operation]:
    """Yield the operations behind resources."""
    yield read("items.complete", do.pages.complete, summary=say.make_list_summary("name"), exempt=True)
    yield read("pages.list", do.pages.list, summary=say.make_list_summary("page"), exempt=True)
    yield read("pages.job", do.jobs.render_page, summary=say.summarize_markdown, exempt=True)
    yield read("pages.run", do.code.render_page, summary=say.summarize_markdown, exempt=True)
    yield read("pages.note", do.pages.render_note, summary=say.summarize_markdown, exempt=True)
    yield read("pages.project", do.pages.render_project, summary=say.summarize_markdown, exempt=True)
    yield read("pages.task", do.pages.render_task, summary=say.summarize_markdown, exempt=True)
    yield read("pages.today", do.pages.render_today, summary=say.summarize_markdown, exempt=True)
