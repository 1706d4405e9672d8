"""Teams: the groups that people belong to."""

from __future__ import annotations

import builtins

from panorama.sdk.core import wire
from panorama.sdk.core.lookup import delete_item, get_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Removed, Team
from panorama.sdk.core.unset import UNSET

_EMPTY = {"team": None, "name": None}
"""The value that clears each field in an update; None is refused for the others."""

__all__ = ("create", "delete", "get", "list", "update")


@explain_misuse
def list(limit: int | None = None) -> builtins.list[Team]:  # noqa: A001 (its name in scripts)
    """List teams by name.

    Args:
        limit: The most rows; all if left out.

    Returns:
        Rows with id, name, created_at.

    Raises:
        InvalidInputError: `limit` is below 1.

    Example:
        print([team.name for team in sdk.teams.list()])
    """
    return wire.list_rows("teams.list", limit, detail="full")


@explain_misuse
def get(team: str | Team) -> Team:
    """Show one team.

    Args:
        team: Its id, its name, or its row.

    Returns:
        The team with all its fields.

    Raises:
        NotFoundError: No team has this name; `candidates` are the closest.
        InvalidInputError: It is not a team.

    Example:
        sdk.teams.create("Tiling")
        print(sdk.teams.get("Tiling").id)
    """
    return get_item("team", team)


@explain_misuse
def create(name: str, idempotency_key: str = "") -> Team:
    """Create a team; its name must be new.

    Args:
        name: One line, up to 200 characters.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new team.

    Raises:
        InvalidInputError: The name is empty or too long.
        ConflictError: A team has this name, or the key was used for another call.

    Example:
        team = sdk.teams.create("Tiling")
        print(team.id)
    """
    return wire.call("teams.create", name=name, idempotency_key=idempotency_key or None)


@explain_misuse
def update(team: str | Team, name: str = UNSET) -> Team:
    """Rename a team.

    Args:
        team: Its id, its name, or its row.
        name: One line, 1 to 200 characters.

    Returns:
        The team as it is now.

    Raises:
        NotFoundError: No team has this name.
        ConflictError: Another team has the new name.
        InvalidInputError: The name is empty or too long, or it is not a team.

    Example:
        team = sdk.teams.create("Tiling")
        sdk.teams.update(team, name="Tiles and stone")
    """
    return wire.call_update("teams.update", _EMPTY, team=team, name=name)


@explain_misuse
def delete(team: str | Team) -> Removed:
    """Move a team to the trash.

    Undo brings it back.

    Its members stay.

    Args:
        team: Its id, its name, or its row.

    Returns:
        Its id, kind and label, and `trashed`: how many went to the trash.

    Raises:
        NotFoundError: No team has this name.
        InvalidInputError: It is not a team.

    Example:
        team = sdk.teams.create("Tiling")
        sdk.teams.delete(team)
    """
    return delete_item("team", team)
