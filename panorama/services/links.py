"""What one can do with links."""

from typing import Any

from panorama.domain.items import clean, line, words
from panorama.domain.links import Link, address, check_order
from panorama.domain.references import LinkRef, ProjectRef
from panorama.domain.results import Noted, Page, Slice
from panorama.services.base import Service, given
from panorama.store import rows, small


class Links(Service):
    """Links: addresses worth keeping."""

    def list(self, page: Slice, project: ProjectRef | None = None, tag: str | None = None) -> Page[Link]:
        """List links, the newest first.

        To find one by its words use search.

        Args:
            project: "" for all, also after get_project.
        """
        with self._reading() as session:
            return small.listed_links(session, page, project=project or None, tag=tag)

    def create(
        self,
        url: str,
        title: str = "",
        project: ProjectRef | None = None,
        tags: tuple[str, ...] = (),
        description: str = "",
    ) -> Link:
        """Keep a link to a page or a mail address (http, https, mailto).

        For a longer text about it use create_note.

        Args:
            url: https is added if no scheme is given.
            title: The address if left out.
        """
        now = self._now()
        with self._writing() as session:
            check_order(url, title)
            whole = address(url)
            named = {"title": title if title.strip() else whole[:200], "tags": tags, "description": description}
            link = Link(**self._new("link", now), **_fields(url=whole, **named), project=project or None)
            rows.add(session, link)
            return link

    def update(
        self,
        link: LinkRef,
        title: str | None = None,
        url: str | None = None,
        project: ProjectRef | None = None,
        tags: tuple[str, ...] | None = None,
        description: str | None = None,
    ) -> Noted[Link]:
        """Change fields of a link.

        What is left out stays; "" or [] clears. To remove it use delete_item.
        """
        with self._writing() as session:
            old: Link = rows.load(session, "link", link)
            wanted = _fields(title=title, url=url, tags=tags, description=description)
            if project is not None:
                wanted["project"] = project or None
            new = old.changed(self._now(), **wanted)
            rows.save(session, old, new)
            return Noted(new, wrote=new is not old)


def _fields(**fields: Any) -> dict[str, Any]:
    found = given(**fields)
    if "title" in found:
        found["title"] = line(found["title"])
    if "url" in found:
        found["url"] = address(found["url"])
    if "tags" in found:
        found["tags"] = words(found["tags"])
    if "description" in found:
        found["description"] = clean(found["description"], "description")
    return found
