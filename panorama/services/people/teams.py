"""Operations on teams."""

from panorama.domain.items.item import normalize_name, single_line
from panorama.domain.items.references import TeamRef
from panorama.domain.items.teams import Team
from panorama.domain.paging import Page, PageRequest, Result
from panorama.errors import ConflictError
from panorama.services.base import Service, ServiceContext
from panorama.services.graph.link_renames import LinkRenames
from panorama.store.backend import Session
from panorama.store.items import listing, lookup, rows


class Teams(Service):
    """Teams: the groups that people belong to."""

    def __init__(self, context: ServiceContext) -> None:
        super().__init__(context)
        self._renames = LinkRenames(context)

    def list(self, page: PageRequest) -> Page[Team]:
        """List teams by name.

        For the members of one use list_people.
        """
        with self._reading() as session:
            return listing.list_items(session, "team", page, order=("key",))

    def create(self, name: str) -> Team:
        """Create a team; its name must be new.

        Members are added with create_person or update_person.

        Raises:
            ConflictError: A living team has this name.
        """
        with self._writing() as session:
            team = Team(**self._new_item_fields("team", self._now()), name=single_line(name, "name"))
            _check_name(session, team.name)
            rows.add(session, team)
            return team

    def update(self, team: TeamRef, name: str | None = None) -> Result[Team]:
        """Rename a team.

        To remove it use delete_item.

        Raises:
            ConflictError: Another living team has the new name.
        """
        with self._writing() as session:
            old: Team = rows.load(session, "team", team)
            new = old if name is None else old.with_changes(self._now(), name=single_line(name, "name"))
            if normalize_name(new.name) != normalize_name(old.name):
                _check_name(session, new.name)
            renamed = self._renames.rename(old, new.name)
            rows.save(session, old, new)
            return Result(new, hint=renamed, wrote=new is not old)


def _check_name(session: Session, name: str) -> None:
    for _, id_, label in lookup.list_exact(session, ["team"], normalize_name(name)):
        raise ConflictError(
            f"A team “{label}” already exists ({id_}).",
            hint="Use it, or choose another name.",
            candidates=[{"id": id_, "name": label}],
        )
