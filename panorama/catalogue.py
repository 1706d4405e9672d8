"""The catalogue: every operation, once."""

from collections.abc import Iterator
from typing import Any

from panorama.domain.jobs import JobKind
from panorama.operation import Operation, read, write
from panorama.operations import graph, people, scripts, sources
from panorama.services import Services
from panorama.services import summaries as say
from panorama.services.statistics import summarize_calls, summarize_tasks


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
    yield from _reminders_and_schedules(do)
    yield from _archive(do)
    yield from _cli_only(do)
    yield from _pages(do)


_MORE = {"toolset": "more"}
SEARCH_ROWS = 10
"""The hits that a model gets at once: lower ones are rarely relevant and cost as much."""


def _items(do: Services) -> Iterator[Operation]:
    """Yield the everyday operations on items."""
    yield read("projects.list", do.projects.list, say.make_list_summary("project"), "list_projects")
    yield read("projects.get", do.projects.get, say.summarize_item, "get_project", recalls="project")
    yield write("projects.create", do.projects.create, say.summarize_create, "create_project")
    yield write(
        "projects.update",
        do.projects.update,
        say.summarize_update,
        "update_project",
        idempotent=True,
        split=do.projects.split_update,
    )

    yield read("tasks.list", do.tasks.list, say.make_list_summary("task"), "list_tasks")
    yield write("tasks.create", do.tasks.create, say.summarize_create, "create_task")
    yield write(
        "tasks.update",
        do.tasks.update,
        say.summarize_update,
        "update_task",
        idempotent=True,
        split=do.tasks.split_update,
    )

    yield read("notes.list", do.notes.list, say.make_list_summary("note"), "list_notes")
    yield read("notes.get", do.notes.get, say.summarize_note_text, "get_note", recalls="note")
    yield write("notes.create", do.notes.create, say.summarize_create, "create_note")
    yield write(
        "notes.update",
        do.notes.update,
        say.summarize_update,
        "update_note",
        idempotent=True,
        split=do.notes.split_update,
    )
    yield write("notes.append", do.notes.append, say.summarize_append, "append_to_note")
    yield write("notes.edit", do.notes.edit, say.summarize_edit, "edit_note", idempotent=True)

    yield write("links.create", do.links.create, say.summarize_create, "create_link")
    yield read("reminders.list", do.reminders.list, say.make_list_summary("reminder"), "list_reminders")
    yield write("reminders.create", do.reminders.create, say.summarize_create, "create_reminder")
    yield write("reminders.update", do.reminders.update, say.summarize_update, "update_reminder", idempotent=True)
    yield write("journal.create", do.journal.create, say.summarize_create, "add_journal_entry")


def _search(do: Services) -> Iterator[Operation]:
    """Yield the search operations."""
    yield read("search", do.search.search, say.summarize_search, "search", rows=SEARCH_ROWS)
    yield read(
        "search.similar",
        do.search.search_similar,
        say.summarize_search,
        "similar",
        sdk="similar",
        recalls="item",
        rows=SEARCH_ROWS,
        **_MORE,
    )
    yield read("query", do.query.query, say.make_list_summary("row"), "query")
    yield read("items.get", do.items.get, say.summarize_item, "get_item", recalls="item")
    yield from graph.list_everyday_operations(do)


def _overviews(do: Services) -> Iterator[Operation]:
    """Yield overviews and batches."""
    yield read(
        "overview.project", do.overview.dashboard, say.summarize_dashboard, "project_dashboard", recalls="project"
    )
    yield read("overview.projects", do.overview.overview, say.summarize_overview, "projects_overview")
    yield read("overview.week", do.overview.weekly_review, say.summarize_weekly_review, "weekly_review")
    yield write(
        "batch",
        do.batch.run,
        say.summarize_batch,
        "batch",
        transactional=False,
        whole_if="atomic",
        only_reads=do.batch.only_reads,
        composed=True,
    )


def _history(do: Services) -> Iterator[Operation]:
    """Yield deletion, undo and status."""
    large: dict[str, Any] = {"plan": do.items.plan_delete, "asks": True, "split": do.items.split_delete}
    yield write("items.delete", do.items.delete, say.summarize_delete, "delete_item", policy="delete", **large)
    yield read("history.list", do.history.list, say.summarize_history, "history", sdk="history")
    yield write(
        "history.undo",
        do.undoing.undo,
        say.summarize_undo,
        "undo",
        plan=do.undoing.plan_undo,
        asks=True,
        sdk="undo",
        split=do.undoing.split_undo,
        scheduled="never",
        job=JobKind(name="undo", resumable=True, pool="undo"),
    )
    yield read("status", do.status.get_status, say.summarize_status, "status", exempt=True)


def _jobs(do: Services) -> Iterator[Operation]:
    """Yield the operations on jobs."""
    jobs: dict[str, Any] = {"sdk": "", "exempt": True}  # a script should not wait for jobs
    waiting: dict[str, Any] = {"transactional": False, "long": True, "waits": ("job", "wait")}
    yield read("jobs.get", do.jobs.show, say.summarize_jobs, "get_job", **waiting, **jobs)
    yield write(
        "jobs.cancel", do.jobs.cancel, say.summarize_job, "cancel_job", transactional=False, idempotent=True, **jobs
    )


def _more(do: Services) -> Iterator[Operation]:
    """Yield the less frequent operations on items."""
    yield read("links.list", do.links.list, say.make_list_summary("link"), "list_links", **_MORE)
    yield write("links.update", do.links.update, say.summarize_update, "update_link", idempotent=True, **_MORE)
    yield read("journal.list", do.journal.list, say.make_list_summary("entry"), "list_journal_entries", **_MORE)
    yield write(
        "journal.update", do.journal.update, say.summarize_update, "update_journal_entry", idempotent=True, **_MORE
    )
    yield read("items.trash", do.items.list_trash, say.make_list_summary("item"), "list_trash", **_MORE)
    yield write(
        "items.restore",
        do.items.restore,
        say.summarize_restore,
        "restore_item",
        split=do.items.split_restore,
        scheduled="never",
        job=JobKind(name="restore_item", resumable=True, pool="undo"),
        **_MORE,
    )


def _files(do: Services) -> Iterator[Operation]:
    """Yield the operations on files."""
    files = {"toolset": "files"}
    writing: dict[str, Any] = files | {"idempotent": True, "split": do.files.split_write}
    yield write("files.write", do.files.write, say.summarize_file_write, "write_file", **writing)
    yield read("files.list", do.files.list, say.make_list_summary("file"), "list_files", **files)
    yield read("files.get", do.files.get, say.summarize_file_text, "get_file", recalls="file", **files)
    yield write("files.update", do.files.update, say.summarize_update, "update_file", idempotent=True, **files)


def _reindex(do: Services) -> Iterator[Operation]:
    """Yield the maintenance of search by meaning."""
    yield write(
        "reindex",
        do.reindexing.reindex,
        say.summarize_reindex,
        "reindex",
        sdk="",
        idempotent=True,
        transactional=False,
        long=True,
        job=JobKind(name="reindex", resumable=True, alone=True),
        plan=do.reindexing.plan_reindex,
        **_MORE,
    )


def _reminders_and_schedules(do: Services) -> Iterator[Operation]:
    """Yield the operations on reminders and schedules."""
    yield read(
        "reminders.waiting",
        do.ringing.list_waiting,
        say.summarize_waiting_reminders,
        "list_waiting_reminders",
        exempt=True,
        **_MORE,
    )
    yield write("reminders.snooze", do.reminders.snooze, say.summarize_snooze, "snooze_reminder", **_MORE)
    done = do.reminders.acknowledge
    yield write(
        "reminders.acknowledge", done, say.summarize_acknowledge, "acknowledge_reminder", idempotent=True, **_MORE
    )
    jobs = do.jobs.list
    yield read("jobs.list", jobs, say.make_list_summary("job"), "list_jobs", toolset="jobs", sdk="", exempt=True)
    timed: dict[str, Any] = {"toolset": "jobs", "sdk": ""}  # operations that cannot be undone are not for scripts
    adding: dict[str, Any] = {"plan": do.schedules.plan_add, "asks": True, **timed}
    yield write("schedules.add", do.schedules.add, say.summarize_schedule, "add_schedule", **adding)
    yield read("schedules.list", do.schedules.list, say.make_list_summary("schedule"), "list_schedules", **timed)
    yield write(
        "schedules.pause", do.schedules.pause, say.summarize_schedule, "pause_schedule", idempotent=True, **timed
    )
    yield write(
        "schedules.resume", do.schedules.resume, say.summarize_schedule, "resume_schedule", idempotent=True, **timed
    )
    yield write(
        "schedules.remove",
        do.schedules.remove,
        say.summarize_schedule_removal,
        "remove_schedule",
        policy="delete",
        plan=do.schedules.plan_remove,
        asks=True,
        **timed,
    )
    yield read("pages.reminders", do.pages.render_reminders, say.summarize_markdown, exempt=True)


def _archive(do: Services) -> Iterator[Operation]:
    """Yield backup, export, restore and purge."""
    lasting: dict[str, Any] = {"sdk": "", "transactional": False, "long": True}

    def job_options(name: str, *, whole: bool = True) -> dict[str, Any]:
        """Make it a job kind that restarts from the beginning and leaves nothing unfinished."""
        return {**lasting, "job": JobKind(name=name, resumable=True, alone=True, whole=whole)}

    backup: dict[str, Any] = {
        "plan": do.backups.plan_create,
        "asks": True,
        **job_options("backup"),
    }
    yield write("backup", do.backups.create, say.summarize_backup, "create_backup", **backup, **_MORE)
    export: dict[str, Any] = {
        "plan": do.exports.plan_create,
        "asks": True,
        **job_options("export"),
    }
    yield write("export", do.exports.create, say.summarize_export, "export_data", **export, **_MORE)
    yield read("backups.list", do.backups.list, say.summarize_backup_list, exempt=True)
    yield write("backups.check", do.backups.check, say.summarize_backup_check, **lasting)
    yield write(
        "restore",
        do.restoring.restore,
        say.summarize_restored_home,
        plan=do.restoring.plan_restore,
        **job_options("restore"),
    )
    purge: dict[str, Any] = {
        "plan": do.purging.plan_purge,
        "asks": True,
        **job_options("purge", whole=False),
    }
    yield write("purge", do.purging.purge, do.purging.summarize_purge, policy="delete", **purge)


def _cli_only(do: Services) -> Iterator[Operation]:
    """Yield the operations of the command line."""
    yield write(
        "import.markdown",
        do.imports.import_markdown,
        do.imports.summarize,
        transactional=False,
        long=True,
        job=JobKind(name="import", resumable=True, alone=True),
        plan=do.imports.plan_import,
    )
    yield read("models.list", do.models.list, do.models.summarize_list, exempt=True)
    yield write(
        "models.remove",
        do.models.remove,
        do.models.summarize_removal,
        policy="delete",
        plan=do.models.plan_remove,
        asks=True,
        transactional=False,
    )
    yield read("items.resolve", do.items.resolve, say.summarize_named_item, exempt=True)
    yield read("items.get_trashed", do.items.get_trashed, say.summarize_item, exempt=True)
    yield read("tags.list", do.tags.list, say.make_list_summary("tag"), exempt=True)
    yield read("tags.get", do.tags.get, say.make_list_summary("item"), exempt=True)
    yield write("tags.rename", do.tags.rename, say.summarize_tag_change, split=do.tags.split_change)
    yield write("tags.delete", do.tags.delete, say.summarize_tag_change, split=do.tags.split_change)
    yield read("files.content", do.files.get_content, say.summarize_file_part, exempt=True)
    yield from scripts.list_user_operations(do)
    yield read("calls.list", do.status.list_calls, say.make_list_summary("call"), exempt=True)
    yield read("statistics.calls", do.statistics.count_calls, summarize_calls, exempt=True)
    yield read("statistics.tasks", do.statistics.count_tasks, summarize_tasks, exempt=True)


def _pages(do: Services) -> Iterator[Operation]:
    """Yield the operations behind resources."""
    yield read("items.complete", do.pages.complete, say.make_list_summary("name"), exempt=True)
    yield read("pages.list", do.pages.list, say.make_list_summary("page"), exempt=True)
    yield read("pages.job", do.jobs.render_page, say.summarize_markdown, exempt=True)
    yield read("pages.run", do.code.render_page, say.summarize_markdown, exempt=True)
    yield read("pages.note", do.pages.render_note, say.summarize_markdown, exempt=True)
    yield read("pages.project", do.pages.render_project, say.summarize_markdown, exempt=True)
    yield read("pages.task", do.pages.render_task, say.summarize_markdown, exempt=True)
    yield read("pages.today", do.pages.render_today, say.summarize_markdown, exempt=True)
