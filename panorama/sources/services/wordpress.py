"""WordPress: posts, pages, media, comments and users of a site. https://developer.wordpress.org/rest-api"""

from pathlib import Path
from typing import Any, Literal

from panorama.sources.config import SourceConfig
from panorama.sources.options import KindOption, Probe, check_options, read_address, read_secret
from panorama.sources.rest.client import RestClient, Service
from panorama.sources.rest.endpoints import Endpoint, read_endpoint
from panorama.sources.rest.messages import build_path, encode_basic
from panorama.sources.rest.paging import Page, page_by_number, parse_page_number
from panorama.sources.rest.session import RestSession, limit_rows
from panorama.sources.rest.source import RestSource
from panorama.sources.secrets import SecretLookup
from panorama.sources.token_bucket import TokenBucket

API_PATH = "/wp-json/wp/v2"
OPTIONS = (
    KindOption(name="user", description="Your user name on the site."),
    KindOption(name="password", description="An application password, from your profile on the site.", is_secret=True),
)

Order = Literal["", "asc", "desc"]


@read_endpoint
def posts(
    session: RestSession,
    *,
    search: str = "",
    after: str = "",
    before: str = "",
    status: str = "",
    order_by: str = "",
    order: Order = "",
    fields: list[str] | None = None,
    limit: int | None = None,
    cursor: str = "",
) -> Page:
    """List posts, the newest first: id, date_gmt, status, link, title.rendered, content.rendered, categories, tags.

    Args:
        search: Words in the post.
        after: ISO time of the first post.
        before: ISO time of the last post.
        status: `publish` by default; also `draft`, `private`, `any`.
        order_by: `date` by default; also `modified`, `title`, `id`.
        order: Ascending or descending.
        fields: Only these fields.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    filters = {"search": search, "after": after, "before": before, "status": status}
    return _list(session, "/posts", limit, cursor, fields, **filters, orderby=order_by, order=order)


@read_endpoint
def pages(
    session: RestSession,
    *,
    search: str = "",
    status: str = "",
    fields: list[str] | None = None,
    limit: int | None = None,
    cursor: str = "",
) -> Page:
    """List pages: id, date_gmt, status, link, title.rendered, content.rendered, parent.

    Args:
        search: Words in the page.
        status: `publish` by default; also `draft`, `private`, `any`.
        fields: Only these fields.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    return _list(session, "/pages", limit, cursor, fields, search=search, status=status)


@read_endpoint
def post(session: RestSession, post: int) -> dict[str, Any]:
    """Get a post.

    Args:
        post: Its id.
    """
    return session.read_object(session.get(build_path("posts", str(post))))


@read_endpoint
def page(session: RestSession, page: int) -> dict[str, Any]:
    """Get a page.

    Args:
        page: Its id.
    """
    return session.read_object(session.get(build_path("pages", str(page))))


@read_endpoint
def media(
    session: RestSession,
    *,
    search: str = "",
    media_type: str = "",
    after: str = "",
    fields: list[str] | None = None,
    limit: int | None = None,
    cursor: str = "",
) -> Page:
    """List uploaded files: id, date_gmt, title.rendered, media_type, mime_type, source_url.

    Args:
        search: Words in the title.
        media_type: Only `image`, `video`, `audio` or `application`.
        after: ISO time of the first upload.
        fields: Only these fields.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    return _list(session, "/media", limit, cursor, fields, search=search, media_type=media_type, after=after)


@read_endpoint
def comments(
    session: RestSession,
    *,
    post: int | None = None,
    search: str = "",
    after: str = "",
    status: str = "",
    fields: list[str] | None = None,
    limit: int | None = None,
    cursor: str = "",
) -> Page:
    """List comments: id, post, author_name, date_gmt, content.rendered, status, link.

    Args:
        post: Only comments on the post with this id.
        search: Words in the comment.
        after: ISO time of the first comment.
        status: `approve` by default; also `hold`, `spam`, `trash`.
        fields: Only these fields.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    return _list(session, "/comments", limit, cursor, fields, post=post, search=search, after=after, status=status)


def _list_endpoint(name: str, text: str) -> Endpoint:
    """Declare a function that lists the rows of a path which can only be searched."""

    def list_rows(session: RestSession, *, search: str = "", limit: int | None = None, cursor: str = "") -> Page:
        return _list(session, f"/{name}", limit, cursor, None, search=search)

    list_rows.__name__ = name
    list_rows.__doc__ = f"""{text}

    Args:
        search: Words in the name.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    return read_endpoint(list_rows)


categories = _list_endpoint("categories", "List categories: id, name, slug, count, parent.")
tags = _list_endpoint("tags", "List tags: id, name, slug, count.")
users = _list_endpoint("users", "List users: id, name, slug, link.")

ENDPOINTS = (posts, pages, post, page, media, comments, categories, tags, users)

PROBE: Probe = ("categories", {"limit": 1})


def open_source(config: SourceConfig, secrets: SecretLookup, log_folder: Path) -> RestSource:  # noqa: ARG001 (kinds share it)
    """Return the source of an entry without connecting; its `url` is the site."""
    check_options(config, OPTIONS)

    def authorize() -> tuple[dict[str, str], list[str]]:
        password = read_secret(config, "password", secrets)
        credentials = encode_basic(str(config.options["user"]), password)
        return {"Authorization": f"Basic {credentials}"}, [password, credentials]

    service = Service(
        title="WordPress",
        source=config.name,
        call_seconds=config.call_seconds,
        base=read_address(config) + API_PATH,
        authorize=authorize,
        bucket=TokenBucket(per_second=5, burst=5),  # WordPress has no limits, its host may
    )
    return RestSource(RestClient(service), ENDPOINTS)


def _list(
    session: RestSession, path: str, limit: int | None, cursor: str, fields: list[str] | None, **filters: Any
) -> Page:
    number, size = parse_page_number(cursor, limit_rows(limit))
    shown = ",".join(fields or ())
    response = session.get_response(path, per_page=size, page=number, _fields=shown, **filters)
    page_count = response.headers.get("x-wp-totalpages", "")
    rows = session.read_rows(response.parse_json(session.title))
    return page_by_number(rows, number, size, int(page_count) if page_count.isdecimal() else 1)
