"""Operations on links."""

from collections.abc import Sequence
from typing import Any

from panorama.domain.items.item import normalize_tags, single_line, validate_text
from panorama.domain.items.links import Link, check_not_swapped, normalize_url
from panorama.domain.items.references import LinkRef, ProjectRef
from panorama.domain.paging import Page, PageRequest, Result
from panorama.services.base import Service, drop_none
from panorama.store.items import listing, rows

MAX_NAMED = 2
"""The maximum number of duplicates listed."""


class Links(Service):
    """Links: addresses worth keeping."""

    def list(self, page: PageRequest, project: ProjectRef | None = None, tag: str | None = None) -> Page[Link]:
        """List links, the newest first.

        To find one by its words use search.

        Args:
            project: "@last" for the one read last.
        """
        with self._reading() as session:
            return listing.list_items(session, "link", page, project=project or None, tag=tag)

    def create(
        self,
        url: str,
        title: str = "",
        project: ProjectRef | None = None,
        tags: tuple[str, ...] = (),
        description: str = "",
    ) -> Result[Link]:
        """Save a link to a page or a mail address (http, https, mailto).

        A bookmark.

        Args:
            url: https is added if no scheme is given.
            title: The address if left out.
        """
        now = self._now()
        with self._writing() as session:
            check_not_swapped(url, title)
            whole = normalize_url(url)
            named = {"title": title if title.strip() else whole[:200], "tags": tags, "description": description}
            link = Link(
                **self._new_item_fields("link", now), **_validate_fields(url=whole, **named), project=project or None
            )
            known = listing.list_items(session, "link", PageRequest(limit=MAX_NAMED, counts=False), url=link.url).items
            rows.add(session, link)
            return Result(link, hint=_duplicate_hint(known))

    def update(
        self,
        link: LinkRef,
        title: str | None = None,
        url: str | None = None,
        project: ProjectRef | None = None,
        tags: tuple[str, ...] | None = None,
        description: str | None = None,
    ) -> Result[Link]:
        """Change fields of a link.

        Omitted fields stay; "" or [] clears. To remove it use delete_item.
        """
        with self._writing() as session:
            old: Link = rows.load(session, "link", link)
            values = _validate_fields(title=title, url=url, tags=tags, description=description)
            if project is not None:
                values["project"] = project or None
            new = old.with_changes(self._now(), **values)
            rows.save(session, old, new)
            return Result(new, wrote=new is not old)


def _validate_fields(**fields: Any) -> dict[str, Any]:
    values = drop_none(**fields)
    if "title" in values:
        values["title"] = single_line(values["title"])
    if "url" in values:
        values["url"] = normalize_url(values["url"])
    if "tags" in values:
        values["tags"] = normalize_tags(values["tags"])
    if "description" in values:
        values["description"] = validate_text(values["description"], "description")
    return values


def _duplicate_hint(known: Sequence[Link]) -> str:
    """Return a hint on links with the same address, "" if there are none."""
    named = ", ".join(f"{link.id} “{link.label}”" for link in known)
    return f"Possible duplicate: {named} has this address." if named else ""
