"""The catalogue: every operation, once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from panorama.domain.jobs import Kind
from panorama.services import Services
from panorama.services import summaries as say
from panorama.services.sdk_reference import told as sdk_found

Policy = Literal["read", "write", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing that can be done, and how each door may offer it.

    `call` is a bound method: its signature is the input schema, its docstring the description, its return type the
    schema of `data`. `binds` are references that may come from what was read before; `remembers` is the kind that a
    read puts there. `whole_if` names the argument that decides whether the call is one transaction. What a `composed`
    one does is done by other calls, each with an origin of its own. `exempt` operations may be repeated without end.
    `sdk` is its name in scripts, "" if they may not call it. A `long` one tells its progress, and ends between two
    steps when nobody waits for it any more. One with a `job` may also run in the background, as a job of that kind;
    `check` takes the same arguments, and refuses what can be refused before it begins. `question` takes the same
    arguments and tells, changing nothing, what the person is asked before the call is made, "" if they need not be.
    Where only the person's own answer counts, `person` says what to do if they cannot be asked here; then there is no
    `confirm`, and it is no step of a batch. `scheduled` takes the same arguments, and refuses what no schedule may run.
    """

    name: str
    call: Callable[..., Any]
    summary: Callable[[Any], str]
    policy: Policy = "read"
    tool: str = ""
    toolset: str = "default"
    sdk: str = ""
    binds: tuple[str, ...] = ()
    remembers: str = ""
    idempotent: bool = False
    transactional: bool = True
    whole_if: str = ""
    composed: bool = False
    exempt: bool = False
    long: bool = False
    job: Kind | None = None
    check: Callable[..., None] | None = None
    question: Callable[..., str] | None = None
    person: str = ""
    scheduled: Callable[..., None] | None = None

    @property
    def writes(self) -> bool:
        """Whether it may change data."""
        return self.policy != "read"


def operations(do: Services) -> Iterator[Operation]:
    """Return every operation, in the order in which tools are listed."""
    yield from _items(do)
    yield from _finding(do)
    yield from _overviews(do)
    yield from _code(do)
    yield from _library(do)
    yield from _safety(do)
    yield from _jobs(do)
    yield from _more(do)
    yield from _files(do)
    yield from _reindexing(do)
    yield from _timing(do)
    yield from _keeping(do)
    yield from _own(do)
    yield from _pages(do)


_MORE = {"toolset": "more"}


def _items(do: Services) -> Iterator[Operation]:
    """Return what is done with items every day."""
    yield _read("projects.list", do.projects.list, say.listed("project"), "list_projects")
    yield _read("projects.get", do.projects.get, say.got, "get_project", binds=("project",), remembers="project")
    yield _write("projects.create", do.projects.create, say.created, "create_project")
    yield _write("projects.update", do.projects.update, say.updated, "update_project", idempotent=True)

    yield _read("tasks.list", do.tasks.list, say.listed("task"), "list_tasks", binds=("project",))
    yield _write("tasks.create", do.tasks.create, say.created, "create_task")
    yield _write("tasks.update", do.tasks.update, say.updated, "update_task", idempotent=True)

    yield _read("notes.list", do.notes.list, say.listed("note"), "list_notes", binds=("project",))
    yield _read("notes.get", do.notes.get, say.text_read, "get_note", binds=("note",), remembers="note")
    yield _write("notes.create", do.notes.create, say.created, "create_note")
    yield _write("notes.update", do.notes.update, say.updated, "update_note", idempotent=True)
    yield _write("notes.append", do.notes.append, say.appended, "append_to_note")
    yield _write("notes.edit", do.notes.edit, say.edited, "edit_note", idempotent=True)

    yield _write("links.create", do.links.create, say.created, "create_link")
    yield _write("reminders.create", do.reminders.create, say.created, "create_reminder")
    yield _write("journal.create", do.journal.create, say.created, "add_journal_entry")


def _finding(do: Services) -> Iterator[Operation]:
    """Return how things are found."""
    yield _read("search", do.search.search, say.searched, "search")
    yield _read("search.similar", do.search.similar, say.searched, "similar", sdk="similar", **_MORE)
    yield _read("query", do.query.query, say.listed("row"), "query")
    yield _read("items.get", do.items.get, say.got, "get_item")


def _overviews(do: Services) -> Iterator[Operation]:
    """Return what looks at many items, or does several things, at once."""
    yield _read("overview.project", do.overview.dashboard, say.dashboard, "project_dashboard", binds=("project",))
    yield _read("overview.projects", do.overview.overview, say.overview, "projects_overview")
    yield _read("overview.week", do.overview.weekly_review, say.review, "weekly_review")
    yield _write("batch", do.batch.run, say.batch_ran, "batch", transactional=False, whole_if="atomic", composed=True)


def _code(do: Services) -> Iterator[Operation]:
    """Return what models do with code."""
    yield _read("sdk.search", do.sdk_reference.search, sdk_found, "search_sdk", sdk="", exempt=True)
    yield _write(
        "run_code",
        do.code.run,
        say.ran,
        "run_code",
        sdk="",
        transactional=False,
        composed=True,
        long=True,
        job=Kind(name="run_code"),
        check=do.code.check,
        scheduled=do.code.check_scheduled,
    )


def _library(do: Services) -> Iterator[Operation]:
    """Return what can be done with scripts that are kept."""
    yield _read("scripts.list", do.library.list, say.scripts_listed, "list_scripts", sdk="", exempt=True)
    kept: dict[str, Any] = {"sdk": "", "transactional": False}
    yield _write("scripts.save", do.library.save, say.script_saved, "save_script", idempotent=True, **kept)
    yield _write(
        "run_script",
        do.scripts.run,
        say.ran,
        "run_script",
        composed=True,
        long=True,
        job=Kind(name="run_script"),
        check=do.scripts.check,
        scheduled=do.scripts.check_scheduled,
        **kept,
    )
    asked = do.reviewing.promote_question
    yield _write(
        "scripts.promote", do.reviewing.promote, say.decided, "promote_script", question=asked, person=_PERSON, sdk=""
    )
    more = {"toolset": "more", "sdk": ""}
    yield _read("scripts.get", do.library.get, say.script_shown, "get_script", **more)
    yield _read("scripts.history", do.library.history, say.script_history, "get_script_history", **more)
    yield _read("scripts.diff", do.library.diff, say.script_diff, exempt=True)
    yield _read("scripts.call", do.scripts.call, say.script_called, sdk="scripts.call", transactional=False, long=True)


def _safety(do: Services) -> Iterator[Operation]:
    """Return what deletes, takes back, and tells how things are."""
    asking = do.items.delete_question
    yield _write("items.delete", do.items.delete, say.removed, "delete_item", policy="delete", question=asking)
    yield _read("history.list", do.history.list, say.history, "history", sdk="history")
    yield _write("history.undo", do.history.undo, say.undone, "undo", question=do.history.undo_question, sdk="undo")
    yield _read("status", do.status.status, say.status, "status", exempt=True)


def _jobs(do: Services) -> Iterator[Operation]:
    """Return what is done with jobs."""
    jobs: dict[str, Any] = {"sdk": "", "exempt": True}  # a script is no place to wait in
    yield _read("jobs.list", do.jobs.list, say.listed("job"), "list_jobs", **jobs)
    yield _read("jobs.get", do.jobs.get, say.job_shown, "get_job", transactional=False, long=True, **jobs)
    yield _write(
        "jobs.cancel", do.jobs.cancel, say.job_shown, "cancel_job", transactional=False, idempotent=True, **jobs
    )


def _more(do: Services) -> Iterator[Operation]:
    """Return what is done with items less often."""
    yield _read("links.list", do.links.list, say.listed("link"), "list_links", binds=("project",), **_MORE)
    yield _write("links.update", do.links.update, say.updated, "update_link", idempotent=True, **_MORE)
    yield _read("reminders.list", do.reminders.list, say.listed("reminder"), "list_reminders", **_MORE)
    yield _write("reminders.update", do.reminders.update, say.updated, "update_reminder", idempotent=True, **_MORE)
    yield _read("journal.list", do.journal.list, say.listed("entry"), "list_journal_entries", **_MORE)
    yield _write("journal.update", do.journal.update, say.updated, "update_journal_entry", idempotent=True, **_MORE)
    yield _read("items.trash", do.items.trash, say.listed("item"), "list_trash", **_MORE)
    yield _write("items.restore", do.items.restore, say.restored, "restore_item", **_MORE)


def _files(do: Services) -> Iterator[Operation]:
    """Return what is done with files."""
    files = {"toolset": "files"}
    yield _write("files.write", do.files.write, say.file_written, "write_file", idempotent=True, **files)
    yield _read("files.list", do.files.list, say.listed("file"), "list_files", binds=("project",), **files)
    yield _read("files.get", do.files.get, say.file_read, "get_file", **files)
    yield _write("files.update", do.files.update, say.updated, "update_file", idempotent=True, **files)


def _reindexing(do: Services) -> Iterator[Operation]:
    """Return what brings search by meaning up to date."""
    yield _write(
        "reindex",
        do.reindexing.reindex,
        say.reindexed,
        "reindex",
        sdk="",
        idempotent=True,
        transactional=False,
        long=True,
        job=Kind(name="reindex", resumable=True, alone=True),
        check=do.reindexing.check,
        **_MORE,
    )


def _timing(do: Services) -> Iterator[Operation]:
    """Return what rings, and what runs by itself."""
    yield _read("reminders.waiting", do.ringing.waiting, say.waiting, "list_waiting_reminders", exempt=True, **_MORE)
    yield _write("reminders.snooze", do.reminders.snooze, say.snoozed, "snooze_reminder", **_MORE)
    done = do.reminders.acknowledge
    yield _write("reminders.acknowledge", done, say.acknowledged, "acknowledge_reminder", idempotent=True, **_MORE)
    timed: dict[str, Any] = {"toolset": "jobs", "sdk": ""}  # what undo cannot take back is not for scripts
    may = do.schedules.add_question
    yield _write("schedules.add", do.schedules.add, say.scheduled, "add_schedule", question=may, **timed)
    yield _read("schedules.list", do.schedules.list, say.listed("schedule"), "list_schedules", **timed)
    yield _write("schedules.pause", do.schedules.pause, say.scheduled, "pause_schedule", idempotent=True, **timed)
    yield _write("schedules.resume", do.schedules.resume, say.scheduled, "resume_schedule", idempotent=True, **timed)
    sure = do.schedules.remove_question
    yield _write(
        "schedules.remove", do.schedules.remove, say.unscheduled, "remove_schedule", policy="delete", question=sure,
        **timed,
    )  # fmt: skip
    yield _read("pages.reminders", do.pages.reminders, say.shown, exempt=True)


def _keeping(do: Services) -> Iterator[Operation]:
    """Return what copies, brings back and forgets everything."""
    lasting: dict[str, Any] = {"sdk": "", "transactional": False, "long": True}

    def kept(name: str, *, whole: bool = True) -> dict[str, Any]:
        """Say that it may be a job; one that is begun again begins from the start, and leaves nothing half."""
        return {**lasting, "job": Kind(name=name, resumable=True, alone=True, whole=whole)}

    backup: dict[str, Any] = {
        "question": do.backups.create_question,
        "check": do.backups.create_check,
        **kept("backup"),
    }
    yield _write("backup", do.backups.create, say.backed_up, "create_backup", **backup, **_MORE)
    export: dict[str, Any] = {
        "question": do.exports.create_question,
        "check": do.exports.create_check,
        **kept("export"),
    }
    yield _write("export", do.exports.create, say.exported, "export_data", **export, **_MORE)
    yield _read("backups.list", do.backups.list, say.backups, exempt=True)
    yield _write("backups.check", do.backups.check, say.checked, **lasting)
    yield _write("restore", do.restoring.restore, say.brought_back, check=do.restoring.check, **kept("restore"))
    purge: dict[str, Any] = {
        "question": do.purging.purge_question,
        "check": do.purging.purge_check,
        **kept("purge", whole=False),
    }
    yield _write("purge", do.purging.purge, do.purging.purged, policy="delete", **purge)


def _own(do: Services) -> Iterator[Operation]:
    """Return what only the command line does."""
    yield _write(
        "import.markdown",
        do.imports.markdown,
        do.imports.told,
        transactional=False,
        long=True,
        job=Kind(name="import", resumable=True, alone=True),
        check=do.imports.check,
    )
    yield _read("models.list", do.models.list, do.models.listed, exempt=True)
    asked = do.models.remove_question
    yield _write(
        "models.remove", do.models.remove, do.models.removed, policy="delete", question=asked, transactional=False
    )
    yield _read("files.content", do.files.content, say.part_read, exempt=True)
    yield _write("runs.create", do.code.create, say.ran, transactional=False, composed=True, long=True)
    yield _write("scripts.run", do.scripts.create, say.ran, transactional=False, composed=True, long=True)
    asked = do.reviewing.approve_question
    yield _write("scripts.approve", do.reviewing.approve, say.decided, question=asked, person=_PERSON)
    yield _write("scripts.reject", do.reviewing.reject, say.decided)
    asked = do.reviewing.rollback_question
    yield _write("scripts.rollback", do.reviewing.rollback, say.decided, question=asked, person=_PERSON)
    yield _read("runs.list", do.code.list, say.listed("run"), exempt=True)
    yield _read("runs.get", do.code.get, say.run_shown, exempt=True)
    yield _read("runs.calls", do.code.calls, say.listed("call"), exempt=True)
    yield _read("calls.list", do.status.calls, say.listed("call"), exempt=True)


def _pages(do: Services) -> Iterator[Operation]:
    """Return what resources are made of."""
    yield _read("items.complete", do.pages.complete, say.listed("name"), exempt=True)
    yield _read("pages.list", do.pages.list, say.listed("page"), exempt=True)
    yield _read("pages.job", do.jobs.page, say.shown, exempt=True)
    yield _read("pages.run", do.code.page, say.shown, exempt=True)
    yield _read("pages.note", do.pages.note, say.shown, exempt=True)
    yield _read("pages.project", do.pages.project, say.shown, exempt=True)
    yield _read("pages.task", do.pages.task, say.shown, exempt=True)
    yield _read("pages.today", do.pages.today, say.shown, exempt=True)


_PERSON = (
    "Only the person can agree, and their client cannot ask them: tell them to run "
    "`panorama scripts review {script}` in a terminal (and `scripts promote {script}` for a tool)."
)


def _read(name: str, call: Callable[..., Any], summary: Callable[[Any], str], tool: str = "", **more: Any) -> Operation:
    return _operation(name, call, summary, tool, **more)


def _write(
    name: str, call: Callable[..., Any], summary: Callable[[Any], str], tool: str = "", **more: Any
) -> Operation:
    more.setdefault("policy", "write")
    return _operation(name, call, summary, tool, **more)


def _operation(name: str, call: Callable[..., Any], summary: Callable[[Any], str], tool: str, **more: Any) -> Operation:
    more.setdefault("sdk", name if tool else "")  # what only the command line does is not for scripts
    return Operation(name=name, call=call, summary=summary, tool=tool, **more)
