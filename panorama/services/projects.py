"""What one can do with projects."""

from typing import Any, Literal

from panorama.domain import times
from panorama.domain.items import clean, folded, line, optional_line, words
from panorama.domain.projects import Project, ProjectStatus
from panorama.domain.references import ProjectRef
from panorama.domain.results import Page, Slice
from panorama.errors import ConflictError
from panorama.services.base import Service, given
from panorama.services.views import ProjectView
from panorama.store import projects, rows
from panorama.store.engine import Session

COLOR_CHARS = 60


class Projects(Service):
    """Projects: bodies of work with a name of their own."""

    def list(
        self, page: Slice, status: ProjectStatus | Literal["any"] = "any", tag: str | None = None
    ) -> Page[Project]:
        """List projects, favourites first.

        For health and counts of all of them use projects_overview; for one, project_dashboard.
        """
        with self._reading() as session:
            return projects.listed(session, page, status=None if status == "any" else status, tag=tag)

    def get(self, project: ProjectRef) -> ProjectView:
        """Show one project with how much belongs to it.

        It is remembered for 10 minutes: list_tasks, list_notes and project_dashboard without a project are then
        about it.
        """
        with self._reading() as session:
            found: Project = rows.load(session, "project", project)
            return ProjectView.of(found, projects.counts(session, project))

    def create(
        self,
        name: str,
        description: str = "",
        status: ProjectStatus = "active",
        target_date: str = "",
        favorite: bool = False,
        color: str = "",
        tags: tuple[str, ...] = (),
        rank: int = 0,
    ) -> Project:
        """Create a project; its name must be new.

        Look with list_projects first: the person may mean one that exists.

        Args:
            description: Markdown.
            target_date: YYYY-MM-DD.
            rank: Lower comes first.

        Raises:
            ConflictError: A living project has this name.
        """
        now = self._now()
        with self._writing() as session:
            wanted = self._fields(name=name, description=description, target_date=target_date, color=color, tags=tags)
            self._free(session, wanted["name"])
            project = Project(**self._new("project", now), **wanted, status=status, favorite=favorite, rank=rank)
            rows.add(session, project)
            return project

    def update(
        self,
        project: ProjectRef,
        name: str | None = None,
        description: str | None = None,
        status: ProjectStatus | None = None,
        target_date: str | None = None,
        favorite: bool | None = None,
        color: str | None = None,
        tags: tuple[str, ...] | None = None,
        rank: int | None = None,
    ) -> Project:
        """Change fields of a project, archive it or mark it done.

        What is left out stays; "" or [] clears. To remove it use delete_item.

        Raises:
            ConflictError: Another living project has the new name.
        """
        with self._writing() as session:
            old: Project = rows.load(session, "project", project)
            wanted = self._fields(name=name, description=description, target_date=target_date, color=color, tags=tags)
            if folded(wanted.get("name", old.name)) != folded(old.name):
                self._free(session, wanted["name"])
            new = old.changed(self._now(), **wanted, **given(status=status, favorite=favorite, rank=rank))
            rows.save(session, old, new)
            return new

    def _free(self, session: Session, name: str) -> None:
        if taken := projects.named(session, folded(name)):
            known: Project = rows.load(session, "project", taken)
            raise ConflictError(
                f"There is a project “{known.name}” already ({taken}).",
                hint="Use it, or choose another name.",
                candidates=[{"id": taken, "name": known.name}],
            )

    def _fields(self, **fields: Any) -> dict[str, Any]:
        found = given(**fields)
        if "name" in found:
            found["name"] = line(found["name"], "name")
        if "description" in found:
            found["description"] = clean(found["description"], "description")
        if "color" in found:
            found["color"] = optional_line(found["color"], "color", limit=COLOR_CHARS)
        if "tags" in found:
            found["tags"] = words(found["tags"])
        if "target_date" in found:
            day = found["target_date"]
            zone, now = self._desk.zone, self._now()
            found["target_date"] = times.day(day, "target_date", now=now, zone=zone) if day.strip() else None
        return found
