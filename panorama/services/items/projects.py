"""Operations on projects."""

from typing import Any, Literal

from panorama.domain.items.choices import ProjectStatus
from panorama.domain.items.item import normalize_name, normalize_tags, single_line, single_line_or_empty, validate_text
from panorama.domain.items.projects import Project
from panorama.domain.items.references import ProjectRef
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.time import times
from panorama.errors import ConflictError
from panorama.services.base import LargeCall, Service, ServiceContext, drop_none
from panorama.services.graph.link_renames import LinkRenames, rename_own_links
from panorama.services.items.results import ProjectView
from panorama.store.backend import Session
from panorama.store.items import listing, projects, rows

MAX_COLOR_CHARS = 60


class Projects(Service):
    """Projects: bodies of work with a name of their own."""

    def __init__(self, context: ServiceContext) -> None:
        super().__init__(context)
        self._renames = LinkRenames(context)

    def list(
        self, page: PageRequest, status: ProjectStatus | Literal["any"] = "any", tag: str | None = None
    ) -> Page[Project]:
        """List projects, favourites first."""
        with self._reading() as session:
            only = None if status == "any" else status
            return listing.list_items(
                session, "project", page, order=("-favorite", "rank", "key"), status=only, tag=tag
            )

    def get(self, project: ProjectRef) -> ProjectView:
        """Show one project with counts of its items.

        For 10 minutes project="@last" means it, as does project_dashboard without a project.
        """
        with self._reading() as session:
            loaded: Project = rows.load(session, "project", project)
            return ProjectView.of(loaded, projects.count_items(session, project))

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
        area: bool = False,
    ) -> Project:
        """Create a project; its name must be new.

        Check list_projects first: the user may mean an existing one.

        Args:
            description: Markdown.
            area: Never stale.

        Raises:
            ConflictError: A living project has this name.
        """
        now = self._now()
        with self._writing() as session:
            values = self._validate_fields(
                name=name, description=description, target_date=target_date, color=color, tags=tags
            )
            self._check_name(session, values["name"])
            project = Project(
                **self._new_item_fields("project", now),
                **values,
                status=status,
                favorite=favorite,
                rank=rank,
                area=area,
            )
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
        area: bool | None = None,
    ) -> Result[Project]:
        """Change fields of a project, archive it or mark it done.

        Omitted fields stay; "" or [] clears. To remove it use delete_item.

        Raises:
            ConflictError: Another living project has the new name.
        """
        values = self._validate_fields(
            name=name, description=description, target_date=target_date, color=color, tags=tags
        )
        values |= drop_none(status=status, favorite=favorite, rank=rank, area=area)
        renamed = ""
        if "name" in values:
            with self._reading() as session:
                old: Project = rows.load(session, "project", project)
                if normalize_name(values["name"]) != normalize_name(old.name):
                    self._check_name(session, values["name"])
            renamed = self._renames.rename(old, values["name"])
        with self._writing() as session:
            old = rows.load(session, "project", project)
            if normalize_name(values.get("name", old.name)) != normalize_name(old.name):
                self._check_name(session, values["name"])
            new = old.with_changes(self._now(), **rename_own_links(old, values, values.get("name")))
            rows.save(session, old, new)
            return Result(new, hint=renamed, wrote=new is not old)

    def split_update(self, project: ProjectRef, name: str | None = None, **values: Any) -> LargeCall | None:
        """Return an update that changes the links of too many items for one transaction; None for any other."""
        return self._renames.split(project, name, {"project": project, "name": name, **values})

    def _check_name(self, session: Session, name: str) -> None:
        if existing := projects.find_by_name(session, normalize_name(name)):
            known: Project = rows.load(session, "project", existing)
            raise ConflictError(
                f"A project “{known.name}” already exists ({existing}).",
                hint="Use it, or choose another name.",
                candidates=[{"id": existing, "name": known.name}],
            )

    def _validate_fields(self, **fields: Any) -> dict[str, Any]:
        values = drop_none(**fields)
        if "name" in values:
            values["name"] = single_line(values["name"], "name")
        if "description" in values:
            values["description"] = validate_text(values["description"], "description")
        if "color" in values:
            values["color"] = single_line_or_empty(values["color"], "color", limit=MAX_COLOR_CHARS)
        if "tags" in values:
            values["tags"] = normalize_tags(values["tags"])
        if "target_date" in values:
            day = values["target_date"]
            zone, now = self._context.zone, self._now()
            values["target_date"] = times.parse_date(day, "target_date", now=now, zone=zone) if day.strip() else None
        return values
