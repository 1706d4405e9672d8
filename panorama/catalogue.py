"""The catalogue: every operation, once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from panorama.services import Services
from panorama.services.summaries import (
    appended,
    batch_ran,
    created,
    dashboard,
    edited,
    got,
    history,
    listed,
    overview,
    removed,
    restored,
    review,
    searched,
    shown,
    status,
    text_read,
    undone,
    updated,
)  # fmt: skip

Policy = Literal["read", "write", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing that can be done, and how each door may offer it.

    `call` is a bound method: its signature is the input schema, its docstring the description, its return type the
    schema of `data`. `binds` are references that may come from what was read before; `remembers` is the kind that a
    read puts there. `whole_if` names the argument that decides whether the call is one transaction. `exempt`
    operations may be repeated without end.
    """

    name: str
    call: Callable[..., Any]
    summary: Callable[[Any], str]
    policy: Policy = "read"
    tool: str = ""
    toolset: str = "default"
    binds: tuple[str, ...] = ()
    remembers: str = ""
    idempotent: bool = False
    transactional: bool = True
    whole_if: str = ""
    exempt: bool = False

    @property
    def writes(self) -> bool:
        """Whether it may change data."""
        return self.policy != "read"


def operations(do: Services) -> Iterator[Operation]:
    """Return every operation, in the order in which tools are listed."""
    yield Operation(name="projects.list", call=do.projects.list, tool="list_projects", summary=listed("project"))
    yield Operation(
        name="projects.get",
        call=do.projects.get,
        tool="get_project",
        summary=got,
        binds=("project",),
        remembers="project",
    )
    yield Operation(
        name="projects.create", call=do.projects.create, tool="create_project", summary=created, policy="write"
    )
    yield Operation(
        name="projects.update",
        call=do.projects.update,
        tool="update_project",
        summary=updated,
        policy="write",
        idempotent=True,
    )

    yield Operation(
        name="tasks.list", call=do.tasks.list, tool="list_tasks", summary=listed("task"), binds=("project",)
    )
    yield Operation(name="tasks.create", call=do.tasks.create, tool="create_task", summary=created, policy="write")
    yield Operation(
        name="tasks.update", call=do.tasks.update, tool="update_task", summary=updated, policy="write", idempotent=True
    )

    yield Operation(
        name="notes.list", call=do.notes.list, tool="list_notes", summary=listed("note"), binds=("project",)
    )
    yield Operation(
        name="notes.get", call=do.notes.get, tool="get_note", summary=text_read, binds=("note",), remembers="note"
    )
    yield Operation(name="notes.create", call=do.notes.create, tool="create_note", summary=created, policy="write")
    yield Operation(
        name="notes.update", call=do.notes.update, tool="update_note", summary=updated, policy="write", idempotent=True
    )
    yield Operation(name="notes.append", call=do.notes.append, tool="append_to_note", summary=appended, policy="write")
    yield Operation(
        name="notes.edit", call=do.notes.edit, tool="edit_note", summary=edited, policy="write", idempotent=True
    )

    yield Operation(name="links.create", call=do.links.create, tool="create_link", summary=created, policy="write")
    yield Operation(
        name="reminders.create", call=do.reminders.create, tool="create_reminder", summary=created, policy="write"
    )
    yield Operation(
        name="journal.create", call=do.journal.create, tool="add_journal_entry", summary=created, policy="write"
    )

    yield Operation(name="search", call=do.search.search, tool="search", summary=searched)
    yield Operation(name="query", call=do.query.query, tool="query", summary=listed("row"))
    yield Operation(name="items.get", call=do.items.get, tool="get_item", summary=got)

    yield Operation(
        name="overview.project",
        call=do.overview.dashboard,
        tool="project_dashboard",
        summary=dashboard,
        binds=("project",),
    )
    yield Operation(name="overview.projects", call=do.overview.overview, tool="projects_overview", summary=overview)
    yield Operation(name="overview.week", call=do.overview.weekly_review, tool="weekly_review", summary=review)
    yield Operation(
        name="batch",
        call=do.batch.run,
        tool="batch",
        summary=batch_ran,
        policy="write",
        transactional=False,
        whole_if="atomic",
    )

    yield Operation(name="items.delete", call=do.items.delete, tool="delete_item", summary=removed, policy="delete")
    yield Operation(name="history.list", call=do.history.list, tool="history", summary=history)
    yield Operation(name="history.undo", call=do.history.undo, tool="undo", summary=undone, policy="write")
    yield Operation(name="status", call=do.status.status, tool="status", summary=status, exempt=True)

    more: dict[str, Any] = {"toolset": "more"}
    yield Operation(
        name="links.list", call=do.links.list, tool="list_links", summary=listed("link"), binds=("project",), **more
    )
    yield Operation(
        name="links.update",
        call=do.links.update,
        tool="update_link",
        summary=updated,
        policy="write",
        idempotent=True,
        **more,
    )
    yield Operation(
        name="reminders.list", call=do.reminders.list, tool="list_reminders", summary=listed("reminder"), **more
    )
    yield Operation(
        name="reminders.update",
        call=do.reminders.update,
        tool="update_reminder",
        summary=updated,
        policy="write",
        idempotent=True,
        **more,
    )
    yield Operation(
        name="journal.list", call=do.journal.list, tool="list_journal_entries", summary=listed("entry"), **more
    )
    yield Operation(
        name="journal.update",
        call=do.journal.update,
        tool="update_journal_entry",
        summary=updated,
        policy="write",
        idempotent=True,
        **more,
    )
    yield Operation(name="items.trash", call=do.items.trash, tool="list_trash", summary=listed("item"), **more)
    yield Operation(
        name="items.restore", call=do.items.restore, tool="restore_item", summary=restored, policy="write", **more
    )

    yield Operation(
        name="import.markdown", call=do.imports.markdown, summary=do.imports.told, policy="write", transactional=False
    )
    yield Operation(name="calls.list", call=do.status.calls, summary=listed("call"), exempt=True)
    yield Operation(name="items.complete", call=do.pages.complete, summary=listed("name"), exempt=True)
    yield Operation(name="pages.note", call=do.pages.note, summary=shown, exempt=True)
    yield Operation(name="pages.project", call=do.pages.project, summary=shown, exempt=True)
    yield Operation(name="pages.task", call=do.pages.task, summary=shown, exempt=True)
    yield Operation(name="pages.today", call=do.pages.today, summary=shown, exempt=True)
