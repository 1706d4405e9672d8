"""Notion: pages, databases and their data sources, blocks, comments. https://developers.notion.com/reference"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from panorama.sources.config import SourceConfig
from panorama.sources.options import KindOption, Probe, check_options, read_address, read_secret
from panorama.sources.rest.client import RestClient, Service
from panorama.sources.rest.endpoints import read_endpoint, write_endpoint
from panorama.sources.rest.messages import build_path
from panorama.sources.rest.paging import Page, Rows, page_by_cursor
from panorama.sources.rest.session import RestSession, drop_empty, limit_rows
from panorama.sources.rest.source import RestSource
from panorama.sources.secrets import SecretLookup
from panorama.sources.services.notion_properties import find_title, simplify_properties
from panorama.sources.token_bucket import TokenBucket

ADDRESS = "https://api.notion.com/v1"
VERSION = "2026-03-11"
OPTIONS = (KindOption(name="key", description="The token of a Notion connection (ntn_…).", is_secret=True),)


@read_endpoint
def search(
    session: RestSession,
    *,
    query: str = "",
    object: Literal["", "page", "data_source"] = "",
    limit: int | None = None,
    cursor: str = "",
) -> Page:
    """Search the titles of pages and data sources that the connection can see, the last edited first.

    Pages have `values`, their properties as plain values by name, and `title`.

    Args:
        query: Words of the title; all by default.
        object: Only pages, or only data sources.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    body = {
        "query": query,
        "filter": {"property": "object", "value": object} if object else None,
        "sort": {"timestamp": "last_edited_time", "direction": "descending"},
    }
    return _search_page(session, "/search", body, limit, cursor)


@read_endpoint
def database(session: RestSession, database: str) -> dict[str, Any]:
    """Get a database: title, and data_sources with id and name.

    Args:
        database: Its id.
    """
    return session.read_object(session.get(build_path("databases", database)))


@read_endpoint
def data_source(session: RestSession, data_source: str) -> dict[str, Any]:
    """Get a data source: title, and its properties with their types.

    Args:
        data_source: Its id, from `database` or `search`.
    """
    return session.read_object(session.get(build_path("data_sources", data_source)))


@read_endpoint
def query(
    session: RestSession,
    data_source: str,
    *,
    filter: dict[str, Any] | None = None,
    sorts: list[dict[str, Any]] | None = None,
    properties: list[str] | None = None,
    in_trash: bool = False,
    limit: int | None = None,
    cursor: str = "",
) -> Page:
    """List the pages of a data source: id, url, created_time, last_edited_time, title, properties, and `values`, its
    properties as plain values by name.

    Args:
        data_source: Its id, from `database` or `search`.
        filter: Notion's filter, such as `{"property": "Stage", "status": {"equals": "Won"}}`.
        sorts: Notion's sorts, such as `[{"property": "Name", "direction": "ascending"}]`.
        properties: Only these properties, by id or name.
        in_trash: Only pages in the trash.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    body = {"filter": filter, "sorts": sorts, "in_trash": in_trash or None}
    path = build_path("data_sources", data_source, "query")
    return _search_page(session, path, body, limit, cursor, filter_properties=properties)


@read_endpoint
def page(session: RestSession, page: str) -> dict[str, Any]:
    """Get a page without its content: id, url, title, properties, and `values` as in `query`.

    Args:
        page: Its id.
    """
    return _simplify_page(session.read_object(session.get(build_path("pages", page))))


@read_endpoint
def page_property(session: RestSession, page: str, property: str, *, cursor: str = "") -> dict[str, Any]:
    """Get one property of a page, also if it has more than 25 entries: the value, or a list of results.

    Args:
        page: Id of the page.
        property: Id of the property.
        cursor: `next_cursor` of the list before.
    """
    return session.read_object(session.get(build_path("pages", page, "properties", property), start_cursor=cursor))


@read_endpoint
def markdown(session: RestSession, page: str, *, include_transcript: bool = False) -> str:
    """Get the content of a page as Markdown.

    Args:
        page: Its id.
        include_transcript: Include the transcripts of meeting notes.
    """
    answer = session.get(build_path("pages", page, "markdown"), include_transcript=include_transcript or None)
    return str(session.read_object(answer).get("markdown", ""))


@read_endpoint
def blocks(session: RestSession, block: str, *, limit: int | None = None, cursor: str = "") -> Page:
    """List the blocks in a page or block: id, type, has_children, and the content by type.

    Args:
        block: Id of a page or block.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    return _get_page(session, build_path("blocks", block, "children"), limit, cursor)


@read_endpoint
def comments(session: RestSession, block: str, *, limit: int | None = None, cursor: str = "") -> Page:
    """List the open comments on a page or block: id, discussion_id, created_time, created_by, rich_text.

    Args:
        block: Id of a page or block.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    return _get_page(session, "/comments", limit, cursor, block_id=block)


@read_endpoint
def users(session: RestSession, *, limit: int | None = None, cursor: str = "") -> Page:
    """List the people and bots of the workspace: id, type, name, person.email.

    Args:
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    return _get_page(session, "/users", limit, cursor)


@read_endpoint
def me(session: RestSession) -> dict[str, Any]:
    """Get the bot of the connection, and its workspace."""
    return session.read_object(session.get("/users/me"))


@write_endpoint("others")
def create_page(
    session: RestSession,
    parent: dict[str, Any],
    *,
    properties: dict[str, Any] | None = None,
    markdown: str = "",
    children: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Create a page, which everyone who sees its parent can read.

    Args:
        parent: `{"page_id": …}` or `{"data_source_id": …}`.
        properties: The properties in Notion's form.
        markdown: The content as Markdown.
        children: The content as blocks, at most 100; not together with markdown.
    """
    content = drop_empty({"markdown": markdown, "children": children})
    body = {"parent": parent, "properties": properties or {}, **content}
    return _simplify_page(session.read_object(session.change("POST", "/pages", body)))


@write_endpoint("others")
def update_page(
    session: RestSession, page: str, *, properties: dict[str, Any] | None = None, in_trash: bool | None = None
) -> dict[str, Any]:
    """Change the properties of a page, or move it to the trash or back.

    Args:
        page: Its id.
        properties: The properties that change, in Notion's form.
        in_trash: Whether it is in the trash.
    """
    body = {**drop_empty({"properties": properties}), **({} if in_trash is None else {"in_trash": in_trash})}
    return _simplify_page(session.read_object(session.change("PATCH", build_path("pages", page), body)))


@write_endpoint("others")
def replace_text(session: RestSession, page: str, updates: list[dict[str, Any]]) -> str:
    """Replace texts in a page, and return its content as Markdown.

    Args:
        page: Its id.
        updates: Rows of `old_str` and `new_str`, and `replace_all_matches` if there may be several.
    """
    return _change_markdown(session, page, "update_content", {"content_updates": updates})


@write_endpoint("others", destructive=True)
def replace_markdown(session: RestSession, page: str, markdown: str) -> str:
    """Replace the whole content of a page, and return it as Markdown.

    Args:
        page: Its id.
        markdown: The new content.
    """
    return _change_markdown(session, page, "replace_content", {"new_str": markdown})


@write_endpoint("others")
def insert_markdown(
    session: RestSession, page: str, markdown: str, *, position: Literal["start", "end"] = "end"
) -> str:
    """Insert Markdown into a page, and return its content.

    Args:
        page: Its id.
        markdown: What to insert.
        position: At the start or the end.
    """
    return _change_markdown(session, page, "insert_content", {"content": markdown, "position": {"type": position}})


@write_endpoint("others")
def append_blocks(
    session: RestSession, block: str, children: list[dict[str, Any]], *, after: str = ""
) -> dict[str, Any]:
    """Append up to 100 blocks to a page or block.

    Args:
        block: Id of a page or block.
        children: The blocks in Notion's form.
        after: Id of the block that they follow; at the end by default.
    """
    position = {"position": {"type": "after_block", "after_block": {"id": after}}} if after else {}
    path = build_path("blocks", block, "children")
    return session.read_object(session.change("PATCH", path, {"children": children, **position}))


@write_endpoint("others", destructive=True)
def delete_block(session: RestSession, block: str) -> dict[str, Any]:
    """Move a block or page to the trash.

    Args:
        block: Its id.
    """
    return session.read_object(session.change("DELETE", build_path("blocks", block)))


@write_endpoint("others")
def create_comment(session: RestSession, page: str, text: str) -> dict[str, Any]:
    """Comment on a page; people who follow it are notified.

    Args:
        page: Its id.
        text: The comment, at most 2,000 characters.
    """
    body = {"parent": {"page_id": page}, "rich_text": [{"type": "text", "text": {"content": text}}]}
    return session.read_object(session.change("POST", "/comments", body))


ENDPOINTS = (
    search, database, data_source, query, page, page_property, markdown, blocks, comments, users, me,
    create_page, update_page, replace_text, replace_markdown, insert_markdown, append_blocks, delete_block,
    create_comment,
)  # fmt: skip

PROBE: Probe = ("me", {})


def open_source(config: SourceConfig, secrets: SecretLookup, log_folder: Path) -> RestSource:  # noqa: ARG001 (kinds share it)
    """Return the source of an entry without connecting."""
    check_options(config, OPTIONS)

    def authorize() -> tuple[dict[str, str], list[str]]:
        key = read_secret(config, "key", secrets)
        return {"Authorization": f"Bearer {key}", "Notion-Version": VERSION}, [key]

    service = Service(
        title="Notion",
        source=config.name,
        call_seconds=config.call_seconds,
        base=read_address(config, ADDRESS),
        authorize=authorize,
        bucket=TokenBucket(per_second=3, burst=6),  # an average of 3 a second for each connection
    )
    return RestSource(RestClient(service), ENDPOINTS)


def _search_page(
    session: RestSession, path: str, body: Mapping[str, Any], limit: int | None, cursor: str, **params: Any
) -> Page:
    sent = {**drop_empty({**body, "start_cursor": cursor}), "page_size": limit_rows(limit)}
    return _read_page(session, session.search(path, sent, **params), cursor)


def _get_page(session: RestSession, path: str, limit: int | None, cursor: str, **params: Any) -> Page:
    return _read_page(session, session.get(path, page_size=limit_rows(limit), start_cursor=cursor, **params), cursor)


def _read_page(session: RestSession, answer: Any, cursor: str) -> Page:
    rows: Rows = [_simplify_page(row) for row in session.read_rows(answer, "results")]
    return page_by_cursor(rows, cursor, answer.get("next_cursor") if answer.get("has_more") else None)


def _simplify_page(row: dict[str, Any]) -> dict[str, Any]:
    """Return a page with its title and its properties as plain values; other objects as they are."""
    if row.get("object") != "page":
        return row
    properties = row.get("properties")
    return {**row, "title": find_title(properties), "values": simplify_properties(properties)}


def _change_markdown(session: RestSession, page: str, command: str, content: Mapping[str, Any]) -> str:
    body = {"type": command, command: content}
    answer = session.change("PATCH", build_path("pages", page, "markdown"), body)
    return str(session.read_object(answer).get("markdown", ""))
