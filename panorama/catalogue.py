"""The catalogue: every operation, once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from panorama.domain.jobs import JobKind
from panorama.services import Services
from panorama.services import summaries as say
from panorama.services.base import LargeCall, Plan
from panorama.services.scripts.sdk_search.reference import summarize_sdk_search as sdk_found

Policy = Literal["read", "write", "delete"]
Workload = Literal["short", "waiting", "script", "maintenance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation, and how each interface offers it.

    - `call` is a bound method: its signature is the input schema, its docstring the description, its return type the
      schema of `data`. `sdk` is its name in scripts, "" if they may not call it.
    - `recalls` is a reference that a read needs; if omitted, the last read item is used.
    - `whole_if` names the argument that decides whether the call is one transaction. `only_reads` takes the same
      arguments and returns whether no write is needed. `split` takes the same arguments and returns a call that is too
      large for one transaction: it runs in several, which are one unit, and as a job if it is long.
    - A `composed` operation works through other calls, each with its own origin. `exempt` ones may be repeated
      endlessly.
    - A `long` operation reports progress, and stops between two steps when the caller has gone. One with a `job` can
      also run in the background as a job of that kind. `waits` names the parameters for the job that a call waits for
      and for how many seconds; doors wait in the event loop before they make the call.
    - `plan` takes the same arguments, changes nothing, and returns what the call would do; if the operation `asks`,
      with a question for the user. `person`: the hint when this client cannot ask the user; such an operation takes no
      `confirm` and cannot be a batch step. `scheduled` says whether a schedule may run it: `reviewed` leaves that to
      the plan.
    """

    name: str
    call: Callable[..., Any]
    summary: Callable[[Any], str]
    policy: Policy = "read"
    tool: str = ""
    toolset: str = "default"
    sdk: str = ""
    recalls: str = ""
    idempotent: bool = False
    rows: int = 0
    transactional: bool = True
    whole_if: str = ""
    only_reads: Callable[..., bool] | None = None
    composed: bool = False
    exempt: bool = False
    long: bool = False
    job: JobKind | None = None
    plan: Callable[..., Plan] | None = None
    asks: bool = False
    person: str = ""
    scheduled: Literal["always", "reviewed", "never"] = "always"
    split: Callable[..., LargeCall | None] | None = None
    waits: tuple[str, str] | None = None

    @property
    def takes_background(self) -> bool:
        """Whether the caller can run it as a job."""
        return self.job is not None and self.split is None

    @property
    def writes(self) -> bool:
        """Whether it may change data."""
        return self.policy != "read"

    @property
    def workload(self) -> Workload:
        """The typical workload of a call."""
        if not self.long:
            return "short"
        return "script" if self.composed else "maintenance" if self.writes else "waiting"


def build_operations(do: Services) -> Iterator[Operation]:
    """Return every operation, in the order in which tools are listed."""
    yield from _items(do)
    yield from _search(do)
    yield from _overviews(do)
    yield from _code(do)
    yield from _library(do)
    yield from _history(do)
    yield from _jobs(do)
    yield from _more(do)
    yield from _files(do)
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
    yield _read("projects.list", do.projects.list, say.make_list_summary("project"), "list_projects")
    yield _read("projects.get", do.projects.get, say.summarize_item, "get_project", recalls="project")
    yield _write("projects.create", do.projects.create, say.summarize_create, "create_project")
    yield _write("projects.update", do.projects.update, say.summarize_update, "update_project", idempotent=True)

    yield _read("tasks.list", do.tasks.list, say.make_list_summary("task"), "list_tasks")
    yield _write("tasks.create", do.tasks.create, say.summarize_create, "create_task")
    yield _write("tasks.update", do.tasks.update, say.summarize_update, "update_task", idempotent=True)

    yield _read("notes.list", do.notes.list, say.make_list_summary("note"), "list_notes")
    yield _read("notes.get", do.notes.get, say.summarize_note_text, "get_note", recalls="note")
    yield _write("notes.create", do.notes.create, say.summarize_create, "create_note")
    yield _write("notes.update", do.notes.update, say.summarize_update, "update_note", idempotent=True)
    yield _write("notes.append", do.notes.append, say.summarize_append, "append_to_note")
    yield _write("notes.edit", do.notes.edit, say.summarize_edit, "edit_note", idempotent=True)

    yield _write("links.create", do.links.create, say.summarize_create, "create_link")
    yield _read("reminders.list", do.reminders.list, say.make_list_summary("reminder"), "list_reminders")
    yield _write("reminders.create", do.reminders.create, say.summarize_create, "create_reminder")
    yield _write("reminders.update", do.reminders.update, say.summarize_update, "update_reminder", idempotent=True)
    yield _write("journal.create", do.journal.create, say.summarize_create, "add_journal_entry")


def _search(do: Services) -> Iterator[Operation]:
    """Yield the search operations."""
    yield _read("search", do.search.search, say.summarize_search, "search", rows=SEARCH_ROWS)
    yield _read(
        "search.similar",
        do.search.search_similar,
        say.summarize_search,
        "similar",
        sdk="similar",
        recalls="item",
        rows=SEARCH_ROWS,
        **_MORE,
    )
    yield _read("query", do.query.query, say.make_list_summary("row"), "query")
    yield _read("items.get", do.items.get, say.summarize_item, "get_item", recalls="item")


def _overviews(do: Services) -> Iterator[Operation]:
    """Yield overviews and batches."""
    yield _read(
        "overview.project", do.overview.dashboard, say.summarize_dashboard, "project_dashboard", recalls="project"
    )
    yield _read("overview.projects", do.overview.overview, say.summarize_overview, "projects_overview")
    yield _read("overview.week", do.overview.weekly_review, say.summarize_weekly_review, "weekly_review")
    yield _write(
        "batch",
        do.batch.run,
        say.summarize_batch,
        "batch",
        transactional=False,
        whole_if="atomic",
        only_reads=do.batch.only_reads,
        composed=True,
    )


def _code(do: Services) -> Iterator[Operation]:
    """Yield the operations on code."""
    yield _read("sdk.search", do.sdk_reference.search, sdk_found, "search_sdk", sdk="", exempt=True)
    yield _write(
        "run_code",
        do.code.run,
        say.summarize_run_result,
        "run_code",
        sdk="",
        transactional=False,
        composed=True,
        long=True,
        job=JobKind(name="run_code", pool="scripts"),
        plan=do.code.plan_run,
        asks=True,
        scheduled="never",
    )


def _library(do: Services) -> Iterator[Operation]:
    """Yield the operations on saved scripts."""
    yield _read("scripts.list", do.library.list, say.summarize_script_list, "list_scripts", sdk="", exempt=True)
    options: dict[str, Any] = {"sdk": "", "transactional": False}
    yield _write(
        "scripts.save",
        do.library.save,
        say.summarize_script_save,
        "save_script",
        idempotent=True,
        plan=do.library.plan_save,
        asks=True,
        person=_OVERWRITE_HINT,
        **options,
    )
    yield _write(
        "run_script",
        do.scripts.run,
        say.summarize_run_result,
        "run_script",
        composed=True,
        long=True,
        job=JobKind(name="run_script", pool="scripts"),
        plan=do.scripts.plan_run,
        asks=True,
        scheduled="reviewed",
        **options,
    )
    yield _write(
        "scripts.promote",
        do.reviewing.promote,
        say.summarize_script_review,
        "promote_script",
        plan=do.reviewing.plan_promote,
        asks=True,
        person=_REVIEW_HINT,
        sdk="",
    )
    more = {"toolset": "more", "sdk": ""}
    yield _read("scripts.get", do.library.get, say.summarize_script, "get_script", **more)
    yield _read("scripts.history", do.library.get_history, say.summarize_script_history, "get_script_history", **more)
    yield _read("scripts.diff", do.library.diff, say.summarize_script_diff, exempt=True)
    yield _read(
        "scripts.call", do.scripts.call, say.summarize_script_call, sdk="scripts.call", transactional=False, long=True
    )


def _history(do: Services) -> Iterator[Operation]:
    """Yield deletion, undo and status."""
    large: dict[str, Any] = {"plan": do.items.plan_delete, "asks": True, "split": do.items.split_delete}
    yield _write("items.delete", do.items.delete, say.summarize_delete, "delete_item", policy="delete", **large)
    yield _read("history.list", do.history.list, say.summarize_history, "history", sdk="history")
    yield _write(
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
    yield _read("status", do.status.get_status, say.summarize_status, "status", exempt=True)


def _jobs(do: Services) -> Iterator[Operation]:
    """Yield the operations on jobs."""
    jobs: dict[str, Any] = {"sdk": "", "exempt": True}  # a script should not wait for jobs
    waiting: dict[str, Any] = {"transactional": False, "long": True, "waits": ("job", "wait")}
    yield _read("jobs.get", do.jobs.show, say.summarize_jobs, "get_job", **waiting, **jobs)
    yield _write(
        "jobs.cancel", do.jobs.cancel, say.summarize_job, "cancel_job", transactional=False, idempotent=True, **jobs
    )


def _more(do: Services) -> Iterator[Operation]:
    """Yield the less frequent operations on items."""
    yield _read("links.list", do.links.list, say.make_list_summary("link"), "list_links", **_MORE)
    yield _write("links.update", do.links.update, say.summarize_update, "update_link", idempotent=True, **_MORE)
    yield _read("journal.list", do.journal.list, say.make_list_summary("entry"), "list_journal_entries", **_MORE)
    yield _write(
        "journal.update", do.journal.update, say.summarize_update, "update_journal_entry", idempotent=True, **_MORE
    )
    yield _read("items.trash", do.items.list_trash, say.make_list_summary("item"), "list_trash", **_MORE)
    yield _write(
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
    yield _write("files.write", do.files.write, say.summarize_file_write, "write_file", **writing)
    yield _read("files.list", do.files.list, say.make_list_summary("file"), "list_files", **files)
    yield _read("files.get", do.files.get, say.summarize_file_text, "get_file", recalls="file", **files)
    yield _write("files.update", do.files.update, say.summarize_update, "update_file", idempotent=True, **files)


def _reindex(do: Services) -> Iterator[Operation]:
    """Yield the maintenance of search by meaning."""
    yield _write(
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
    yield _read(
        "reminders.waiting",
        do.ringing.list_waiting,
        say.summarize_waiting_reminders,
        "list_waiting_reminders",
        exempt=True,
        **_MORE,
    )
    yield _write("reminders.snooze", do.reminders.snooze, say.summarize_snooze, "snooze_reminder", **_MORE)
    done = do.reminders.acknowledge
    yield _write(
        "reminders.acknowledge", done, say.summarize_acknowledge, "acknowledge_reminder", idempotent=True, **_MORE
    )
    jobs = do.jobs.list
    yield _read("jobs.list", jobs, say.make_list_summary("job"), "list_jobs", toolset="jobs", sdk="", exempt=True)
    timed: dict[str, Any] = {"toolset": "jobs", "sdk": ""}  # operations that cannot be undone are not for scripts
    adding: dict[str, Any] = {"plan": do.schedules.plan_add, "asks": True, **timed}
    yield _write("schedules.add", do.schedules.add, say.summarize_schedule, "add_schedule", **adding)
    yield _read("schedules.list", do.schedules.list, say.make_list_summary("schedule"), "list_schedules", **timed)
    yield _write(
        "schedules.pause", do.schedules.pause, say.summarize_schedule, "pause_schedule", idempotent=True, **timed
    )
    yield _write(
        "schedules.resume", do.schedules.resume, say.summarize_schedule, "resume_schedule", idempotent=True, **timed
    )
    yield _write(
        "schedules.remove",
        do.schedules.remove,
        say.summarize_schedule_removal,
        "remove_schedule",
        policy="delete",
        plan=do.schedules.plan_remove,
        asks=True,
        **timed,
    )
    yield _read("pages.reminders", do.pages.render_reminders, say.summarize_markdown, exempt=True)


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
    yield _write("backup", do.backups.create, say.summarize_backup, "create_backup", **backup, **_MORE)
    export: dict[str, Any] = {
        "plan": do.exports.plan_create,
        "asks": True,
        **job_options("export"),
    }
    yield _write("export", do.exports.create, say.summarize_export, "export_data", **export, **_MORE)
    yield _read("backups.list", do.backups.list, say.summarize_backup_list, exempt=True)
    yield _write("backups.check", do.backups.check, say.summarize_backup_check, **lasting)
    yield _write(
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
    yield _write("purge", do.purging.purge, do.purging.summarize_purge, policy="delete", **purge)


def _cli_only(do: Services) -> Iterator[Operation]:
    """Yield the operations of the command line."""
    yield _write(
        "import.markdown",
        do.imports.import_markdown,
        do.imports.summarize,
        transactional=False,
        long=True,
        job=JobKind(name="import", resumable=True, alone=True),
        plan=do.imports.plan_import,
    )
    yield _read("models.list", do.models.list, do.models.summarize_list, exempt=True)
    yield _write(
        "models.remove",
        do.models.remove,
        do.models.summarize_removal,
        policy="delete",
        plan=do.models.plan_remove,
        asks=True,
        transactional=False,
    )
    yield _read("items.resolve", do.items.resolve, say.summarize_named_item, exempt=True)
    yield _read("items.get_trashed", do.items.get_trashed, say.summarize_item, exempt=True)
    yield _read("tags.list", do.tags.list, say.make_list_summary("tag"), exempt=True)
    yield _read("tags.get", do.tags.get, say.make_list_summary("item"), exempt=True)
    yield _write("tags.rename", do.tags.rename, say.summarize_tag_change, split=do.tags.split_change)
    yield _write("tags.delete", do.tags.delete, say.summarize_tag_change, split=do.tags.split_change)
    yield _read("files.content", do.files.get_content, say.summarize_file_part, exempt=True)
    asking: dict[str, Any] = {"asks": True, "person": _REVIEW_HINT}
    review = do.reviewing
    yield _write("scripts.approve", review.approve, say.summarize_script_review, plan=review.plan_approve, **asking)
    yield _write("scripts.keep", do.library.keep, say.summarize_script_history)
    yield _write("scripts.reject", review.reject, say.summarize_script_review)
    yield _write("scripts.rollback", review.rollback, say.summarize_script_review, plan=review.plan_rollback, **asking)
    yield _read("runs.list", do.code.list, say.make_list_summary("run"), exempt=True)
    yield _read("runs.get", do.code.get, say.summarize_run, exempt=True)
    yield _read("runs.calls", do.code.list_calls, say.make_list_summary("call"), exempt=True)
    yield _read("calls.list", do.status.list_calls, say.make_list_summary("call"), exempt=True)


def _pages(do: Services) -> Iterator[Operation]:
    """Yield the operations behind resources."""
    yield _read("items.complete", do.pages.complete, say.make_list_summary("name"), exempt=True)
    yield _read("pages.list", do.pages.list, say.make_list_summary("page"), exempt=True)
    yield _read("pages.job", do.jobs.render_page, say.summarize_markdown, exempt=True)
    yield _read("pages.run", do.code.render_page, say.summarize_markdown, exempt=True)
    yield _read("pages.note", do.pages.render_note, say.summarize_markdown, exempt=True)
    yield _read("pages.project", do.pages.render_project, say.summarize_markdown, exempt=True)
    yield _read("pages.task", do.pages.render_task, say.summarize_markdown, exempt=True)
    yield _read("pages.today", do.pages.render_today, say.summarize_markdown, exempt=True)


_REVIEW_HINT = (
    "Only the user can agree, and their client cannot ask them: tell them to run "
    "`panorama scripts review {script}` in a terminal (and `scripts promote {script}` for a tool)."
)


_OVERWRITE_HINT = (
    "Only the user can agree, and their client cannot ask them: choose another name, or tell them to run "
    "`panorama scripts save {name} FILE --replace` in a terminal."
)


def _read(name: str, call: Callable[..., Any], summary: Callable[[Any], str], tool: str = "", **more: Any) -> Operation:
    return _operation(name, call, summary, tool, **more)


def _write(
    name: str, call: Callable[..., Any], summary: Callable[[Any], str], tool: str = "", **more: Any
) -> Operation:
    more.setdefault("policy", "write")
    return _operation(name, call, summary, tool, **more)


def _operation(name: str, call: Callable[..., Any], summary: Callable[[Any], str], tool: str, **more: Any) -> Operation:
    more.setdefault("sdk", name if tool else "")  # operations of the command line are not for scripts
    return Operation(name=name, call=call, summary=summary, tool=tool, **more)
