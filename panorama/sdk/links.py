"""Links: addresses worth keeping."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from panorama.sdk.core import wire
from panorama.sdk.core.lookup import delete_item, get_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Link, Project, Removed
from panorama.sdk.core.unset import UNSET

_EMPTY = {"link": None, "project": "", "description": "", "tags": ()}
"""The value that clears each field in an update; sent for None."""

__all__ = ("create", "delete", "get", "list", "update")


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    project: str | Project | None = None, tag: str | None = None, limit: int | None = None
) -> builtins.list[Link]:
    """List links, the newest first.

    Args:
        project: Its id, its name, or its row; all projects if left out.
        tag: Only those with this tag.
        limit: The most rows; all if left out.

    Returns:
        Rows with id, title, url, project (an id), tags, description, created_at.

    Raises:
        NotFoundError: No project has this name.
        InvalidInputError: `limit` is below 1.

    Example:
        print([link.url for link in sdk.links.list()])
    """
    return wire.list_rows("links.list", limit, project="" if project is None else project, tag=tag, detail="full")


@explain_misuse
def get(link: str | Link) -> Link:
    """Show one link.

    Args:
        link: Its id, its title, or its row.

    Returns:
        The link with all its fields.

    Raises:
        NotFoundError: No link has this name; `candidates` are the nearest.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a link.

    Example:
        sdk.links.create("example.org/grout", title="Grout colours")
        print(sdk.links.get("Grout colours").url)
    """
    return get_item("link", link)


@explain_misuse
def create(
    url: str,
    title: str = "",
    project: str | Project | None = None,
    tags: Sequence[str] = (),
    description: str = "",
    idempotency_key: str = "",
) -> Link:
    """Save a link to a page or a mail address (http, https, mailto).

    Args:
        url: Up to 4,000 characters; https is added if no scheme is given.
        title: One line, up to 200 characters; the address if left out.
        project: Its id, its name, or its row; none if left out.
        tags: Words, up to 50 of up to 60 characters each.
        description: Markdown, up to 1,000,000 characters.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new link.

    Raises:
        InvalidInputError: It is not an address of these schemes, or a text is too long.
        NotFoundError: No project has this name.
        ConflictError: The key was used for another call.

    Example:
        link = sdk.links.create("https://example.org/tiles", title="Tiles", project="Kitchen renovation")
        print(link.id)
    """
    return wire.call(
        "links.create", url=url, title=title, project=project, tags=tags, description=description,
        idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def update(
    link: str | Link,
    title: str = UNSET,
    url: str = UNSET,
    project: str | Project | None = UNSET,
    tags: Sequence[str] | None = UNSET,
    description: str | None = UNSET,
) -> Link:
    """Change fields of a link.

    Fields left out do not change; None, "" or [] clears.

    Args:
        link: Its id, its title, or its row.
        title: One line, 1 to 200 characters.
        url: Up to 4,000 characters; https is added if no scheme is given.
        project: Its id, its name, or its row.
        tags: All its tags; they replace those it had.
        description: Markdown, up to 1,000,000 characters.

    Returns:
        The link as it is now.

    Raises:
        NotFoundError: No link or project has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: The url is not an address, a text is empty or too long, or it is not a link.

    Example:
        link = sdk.links.create("example.org/lamps", title="Lamps")
        sdk.links.update(link, project="Kitchen renovation", tags=["light"])
    """
    return wire.call_update(
        "links.update", _EMPTY, link=link, title=title, url=url, project=project, tags=tags, description=description
    )


@explain_misuse
def delete(link: str | Link) -> Removed:
    """Move a link to the trash.

    Undo brings it back.

    Args:
        link: Its id, its title, or its row.

    Returns:
        Its id, kind and label, and `trashed`: how many went to the trash.

    Raises:
        NotFoundError: No link has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a link.

    Example:
        link = sdk.links.create("example.org/old")
        sdk.links.delete(link)
    """
    return delete_item("link", link)
