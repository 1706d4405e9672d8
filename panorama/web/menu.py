"""The frame of every page: the menu with its counts, and names and colours of projects."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from panorama.web.page_cache import DataState
from panorama.web.page_calls import PageCalls
from panorama.web.view import View
from panorama.web.views import SECTIONS, VIEWS

PROJECT_HUES = 7


@dataclass(frozen=True, slots=True)
class MenuLink:
    """A view in the menu; `count` is shown beside it in a tone, 0 for none."""

    view: View
    is_current: bool
    count: int = 0
    tone: str = ""


class Menu:
    """Builds what every page shows. Projects and counts are read again only after a change."""

    def __init__(self, calls: PageCalls) -> None:
        self._calls = calls
        self._projects: tuple[int, Mapping[str, Mapping[str, Any]]] = (-1, {})
        self._counts: tuple[DataState | None, Mapping[str, tuple[int, str]]] = (None, {})

    def list_projects(self, change_number: int) -> Mapping[str, Mapping[str, Any]]:
        """Return name, hue and status of each project by its id; hues are given in the order of creation.

        Args:
            change_number: That of the last change, read before.
        """
        number, projects = self._projects
        if number != change_number:
            rows = self._calls.list_all("projects.list", detail="full")
            created = sorted(rows, key=lambda row: row["created_at"])
            hues = {row["id"]: place % PROJECT_HUES for place, row in enumerate(created)}
            projects = {
                row["id"]: {"name": row["name"], "hue": hues[row["id"]], "status": row["status"]} for row in rows
            }
            self._projects = change_number, projects
        return projects

    def build(self, current: View | None, state: DataState) -> list[tuple[str, list[MenuLink]]]:
        """Return the sections of the menu with their links."""
        counts = self._count(state)
        here = (current.within or current.name) if current else ""
        return [
            (
                section,
                [
                    MenuLink(view, view.name == here, *counts.get(view.name, (0, "")))
                    for view in VIEWS
                    if view.section == section
                ],
            )
            for section in SECTIONS
        ]

    def _count(self, state: DataState) -> Mapping[str, tuple[int, str]]:
        """Return the counts of views and their tones."""
        counted_at, counts = self._counts
        if counted_at != state:
            late = self._calls.call("tasks.list", view="overdue", limit=1).metadata.get("total") or 0
            drafts = len(self._calls.get("scripts.list", state="draft", limit=100))
            counts = {"today": (late, "late"), "scripts": (drafts, "hot")}
            self._counts = state, counts
        return counts
