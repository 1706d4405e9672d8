"""Overviews: many items at a glance, counted by the database."""

from __future__ import annotations

from datetime import date

from panorama.sdk.core import wire
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Dashboard, Project, Projects, Week

__all__ = ("project", "projects", "week")


@explain_misuse
def project(project: str | Project, period_days: int = 14) -> Dashboard:
    """Show the state of one project.

    Args:
        project: Its id, its name, or its row.
        period_days: How far back counts as active, 1 to 365 days.

    Returns:
        `project` in numbers (health 0 to 100, open, overdue, due_soon, done …), and the first five of next, overdue,
        recently_done, notes and links.

    Raises:
        NotFoundError: No project has this name.
        InvalidInputError: `period_days` is out of range.

    Example:
        board = sdk.overview.project("Kitchen renovation")
        print(board.project.health, board.project.overdue, [task.title for task in board.next])
    """
    return wire.call("overview.project", project=project, period_days=period_days)


@explain_misuse
def projects(period_days: int = 14) -> Projects:
    """Show all projects side by side, the one that needs attention first.

    Args:
        period_days: How far back counts as active, 1 to 365 days.

    Returns:
        `projects`: at most 30 rows with name, health (0 to 100), open, overdue, due_soon, last_activity and more;
        `unassigned`: open tasks without a project.

    Raises:
        InvalidInputError: `period_days` is out of range.

    Example:
        for each in sdk.overview.projects().projects:
            print(each.name, each.health, each.overdue)
    """
    return wire.call("overview.projects", period_days=period_days)


@explain_misuse
def week(start: str | date = "", end: str | date = "") -> Week:
    """Review a period, by default the last 7 days.

    Args:
        start: First day: 2026-05-31, -14d, or a date; six days before `end` if left out.
        end: Last day: 2026-05-31, -7d, or a date; today if left out.

    Returns:
        completed, created, slipped, notes_written and due_next_week, each with `count` and ["items"] (the first ten,
        with id, title, project, deadline; completed ones also completed_at); `projects` with health and its change.

    Raises:
        InvalidInputError: A day has another form, or the period is not 1 to 366 days.

    Example:
        review = sdk.overview.week()
        print(review.completed.count, [task.title for task in review.slipped["items"]])
    """
    return wire.call("overview.week", start=start, end=end)
