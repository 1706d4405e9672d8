"""Projects: bodies of work with a name of their own."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import date
from typing import Literal

from panorama.sdk.core import wire
from panorama.sdk.core.lookup import delete_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Fate, Project, ProjectCounts, ProjectStatus, Removed
from panorama.sdk.core.unset import UNSET

_EMPTY = {"project": None, "description": "", "target_date": "", "color": "", "tags": ()}
"""The value that clears each field in an update; sent for None."""

__all__ = ("create", "delete", "get", "list", "update")


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    status: ProjectStatus | Literal["any"] = "any", tag: str | None = None, limit: int | None = None
) -> builtins.list[Project]:
    """List projects, favourites first.

    Args:
        status: Only those with this status; "any" is all.
        tag: Only those with this tag.
        limit: The most rows; all if left out.

    Returns:
        Rows with id, name, description, status, target_date, favorite, tags and rank.

    Raises:
        InvalidInputError: There is no such status, or `limit` is below 1.

    Example:
        for project in sdk.projects.list(status="active"):
            print(project.name, project.target_date or "no date")
    """
    return wire.list_rows("projects.list", limit, status=status, tag=tag, detail="full")


@explain_misuse
def get(project: str | Project) -> ProjectCounts:
    """Show one project with counts of its items.

    Args:
        project: Its id, its name, or its row.

    Returns:
        Its fields and the counts `tasks`, `notes` and `links`.

    Raises:
        NotFoundError: No project has this name; `candidates` are the nearest.
        InvalidInputError: It is not a project.

    Example:
        kitchen = sdk.projects.get("Kitchen renovation")
        print(kitchen.id, kitchen.tasks, kitchen.notes)
    """
    return wire.call("projects.get", project=project)


@explain_misuse
def create(
    name: str,
    description: str = "",
    status: ProjectStatus = "active",
    target_date: str | date = "",
    favorite: bool = False,
    color: str = "",
    tags: Sequence[str] = (),
    rank: int = 0,
    area: bool = False,
    idempotency_key: str = "",
) -> Project:
    """Create a project; its name must be new.

    Args:
        name: One line, 1 to 200 characters.
        description: Markdown, up to 1,000,000 characters.
        status: Its status.
        target_date: A day: 2026-05-31, today, +3d, or a date; none if left out.
        favorite: Keep it at the top of lists.
        color: One line, up to 60 characters, as teal or #4c9a8f.
        tags: Words, up to 50 of up to 60 characters each.
        rank: Lower comes first.
        area: A lasting concern: never stale, and without need of a next step.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new project.

    Raises:
        ConflictError: A living project has this name, or the key was used for another call.
        InvalidInputError: The name is empty, a text is too long, or the day has another form.

    Example:
        attic = sdk.projects.create("Attic", target_date="+30d", tags=["house"])
        print(attic.id)
    """
    return wire.call(
        "projects.create", name=name, description=description, status=status, target_date=target_date,
        favorite=favorite, color=color, tags=tags, rank=rank, area=area, idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def update(
    project: str | Project,
    name: str = UNSET,
    description: str | None = UNSET,
    status: ProjectStatus = UNSET,
    target_date: str | date | None = UNSET,
    favorite: bool = UNSET,
    color: str | None = UNSET,
    tags: Sequence[str] | None = UNSET,
    rank: int = UNSET,
    area: bool = UNSET,
) -> Project:
    """Change fields of a project, archive it or mark it done.

    Fields left out do not change; None, "" or [] clears.

    Args:
        project: Its id, its name, or its row.
        name: One line, 1 to 200 characters.
        description: Markdown, up to 1,000,000 characters.
        status: Its status; "archived" hides it from lists.
        target_date: A day: 2026-05-31, today, +3d, or a date.
        favorite: Keep it at the top of lists, or no longer.
        color: One line, up to 60 characters, as teal or #4c9a8f.
        tags: All its tags; they replace those it had.
        rank: Lower comes first.
        area: A lasting concern, or no longer.

    Returns:
        The project as it is now.

    Raises:
        NotFoundError: No project has this name.
        ConflictError: Another living project has the new name.
        InvalidInputError: The name is empty, a text is too long, the day has another form, or it is not a project.

    Example:
        sdk.projects.update("Kitchen renovation", status="blocked", target_date="+60d")
    """
    return wire.call_update(
        "projects.update", _EMPTY, project=project, name=name, description=description, status=status,
        target_date=target_date, favorite=favorite, color=color, tags=tags, rank=rank, area=area,
    )  # fmt: skip


@explain_misuse
def delete(project: str | Project, items: Fate = "", confirm: bool = False) -> Removed:
    """Move a project to the trash.

    Undo brings it back.

    Args:
        project: Its id, its name, or its row.
        items: What becomes of what belongs to it: "keep" (it stays without a project) or "trash".
        confirm: The user has agreed; needed with items="trash".

    Returns:
        Its id, kind and label; the numbers of items moved to the trash (`trashed`) and kept without it (`kept`).

    Raises:
        NotFoundError: No project has this name.
        InvalidInputError: It has items and `items` does not say what becomes of them, or it is not a project.
        ConfirmationError: The user has to agree first.

    Example:
        attic = sdk.projects.create("Old attic")
        print(sdk.projects.delete(attic).trashed)
    """
    return delete_item("project", project, items, confirm)
