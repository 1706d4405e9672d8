"""The documented forms of Claap, lemlist and Notion, as answers of stand-ins."""

import re
from typing import Any

from tests.sources.stand_ins import KEY, Call, Reply, allow, read_basic, require


def answer_as_claap(call: Call) -> Reply:
    """Answer as Claap: 230 recordings, two labels."""
    if call.headers.get("x-claap-key") != KEY:
        return Reply(status=401, body={"error": {"type": "unauthorized", "message": "API key is not valid"}})
    if call.path == "/recordings" and call.method == "GET":
        return _list_recordings(call)
    if call.path == "/recordings" and call.method == "POST":
        allow(call.body, "authorEmail", "title", "downloadUrl", "channelId", "meeting", "deal", "source", "transcript")
        require("authorEmail" in call.body, "authorEmail is missing")
        return Reply(status=201, body={"result": {"recording": {"id": "new", "title": call.body.get("title")}}})
    if found := re.fullmatch(r"/recordings/(rec\d+)(/transcript)?", call.path):
        if call.method == "DELETE":
            return Reply(status=204)
        if found[2]:
            allow(call.query, "lang", "format")
            row = {"startedAt": 0, "endedAt": 2, "speaker": "Ada", "text": "Hello"}
            return Reply(body={"result": {"segments": [row], "languageCode": call.value("lang", "en")}})
        return Reply(body={"result": {"recording": _recording(int(found[1][3:]))}})
    return Reply(status=404, body={"error": {"type": "not_found", "message": "Recording not found"}})


def _list_recordings(call: Call) -> Reply:
    allow(
        call.query, "limit", "cursor", "sort", "channelId", "createdAfter", "createdBefore", "labels", "recorderEmail",
        "recorderId",
    )  # fmt: skip
    limit, at = int(call.value("limit", "20")), int(call.value("cursor", "0"))
    require(1 <= limit <= 100, "limit is 1 to 100")
    labels = call.value("labels").split(",") if call.value("labels") else []
    rows = [row for row in map(_recording, range(230)) if not labels or set(labels) & set(row["labels"])]
    following = str(at + limit) if at + limit < len(rows) else None
    pagination = {"nextCursor": following, "totalCount": len(rows)}
    return Reply(body={"result": {"recordings": rows[at : at + limit], "pagination": pagination}})


def _recording(number: int) -> dict[str, Any]:
    return {"id": f"rec{number}", "title": f"Call {number}", "labels": ["product"] if number % 2 else []}


def answer_as_lemlist(call: Call) -> Reply:
    """Answer as lemlist: 7 campaigns, 250 activities; errors are words."""
    if read_basic(call) != f":{KEY}":
        return Reply(status=401, body="Unauthorized")
    require("access_token" not in call.query, "the key is in the address")
    if call.path == "/campaigns":
        allow(call.query, "version", "limit", "offset", "page", "sortBy", "sortOrder", "status")
        rows = [{"_id": f"cam_{number}", "name": f"Campaign {number}", "status": "running"} for number in range(7)]
        return Reply(body={"campaigns": _cut(call, rows)})
    if call.path == "/activities":
        return _list_activities(call)
    if re.fullmatch(r"/v2/campaigns/cam_\d+/stats", call.path):
        allow(call.query, "startDate", "endDate", "sendUser", "ABSelected", "channels")
        require({"startDate", "endDate"} <= set(call.query), "startDate and endDate are mandatory")
        return Reply(body={"nbLeads": 12, "messagesSent": 30, "channels": call.value("channels")})
    if call.path == "/v2/campaigns/stats/batch" and call.method == "POST":
        allow(call.body, "campaignIds", "startDate", "endDate", "sendUser", "ABSelected", "channels")
        require(len(call.body["campaignIds"]) <= 100, "at most 100 campaigns")
        return Reply(body={"results": [{"campaignId": row} for row in call.body["campaignIds"]], "errors": []})
    if call.method == "POST" and re.fullmatch(r"/campaigns/cam_\d+/leads/[^/]+@[^/]+", call.path):
        return Reply(body={"_id": "lea_1", "email": call.path.rpartition("/")[2], **call.body})
    if call.method == "POST" and re.fullmatch(r"/campaigns/cam_\d+/pause", call.path):
        return Reply(body={"_id": call.path.split("/")[2], "status": "paused"})
    single = {"/team": {"_id": "tea_1"}, "/team/credits": {"credits": 5}, "/campaigns/cam_1": {"_id": "cam_1"}}
    if call.path in single:
        return Reply(body=single[call.path])
    return Reply(body=[{"_id": "hoo_1"}]) if call.path == "/hooks" else Reply(status=404, body="Not found")


def _list_activities(call: Call) -> Reply:
    allow(
        call.query, "version", "type", "campaignId", "leadId", "isFirst", "minDate", "maxDate", "limit", "offset",
    )  # fmt: skip
    require(call.value("version") == "v2", "version=v2 is mandatory")
    kinds = ("emailsSent", "emailsOpened", "emailsReplied")
    rows = [{"_id": f"act_{number}", "type": kinds[number % 3]} for number in range(750)]
    return Reply(body=_cut(call, [row for row in rows if call.value("type") in ("", row["type"])]))


def _cut(call: Call, rows: list[Any]) -> list[Any]:
    limit, offset = int(call.value("limit", "100")), int(call.value("offset", "0"))
    require(limit <= 100, "limit is at most 100")
    return rows[offset : offset + limit]


def answer_as_notion(call: Call) -> Reply:
    """Answer as Notion: a data source of 230 pages; lists, pages, comments and blocks."""
    if call.headers.get("authorization") != f"Bearer {KEY}":
        return _notion_error(401, "unauthorized", "API token is invalid.")
    require(call.headers.get("notion-version") == "2026-03-11", "Notion-Version is missing")
    for pattern, method, known, build in _NOTION_ROUTES:
        if call.method == method and re.fullmatch(pattern, call.path):
            allow(call.body if method in ("POST", "PATCH") else call.query, *known)
            return build(call)
    return _notion_error(404, "object_not_found", f"Could not find {call.path}.")


def _notion_error(status: int, code: str, message: str) -> Reply:
    return Reply(status=status, body={"object": "error", "status": status, "code": code, "message": message})


def _notion_list(call: Call) -> Reply:
    source = call.body if call.method == "POST" else {name: call.value(name) for name in call.query}
    at, size = int(source.get("start_cursor") or 0), int(source.get("page_size") or 100)
    require(size <= 100, "page_size is at most 100")
    rows = [_notion_page(number) for number in range(230)][at : at + size]
    following = str(at + size) if at + size < 230 else None
    return Reply(body={"object": "list", "results": rows, "has_more": bool(following), "next_cursor": following})


def _notion_page(number: int) -> dict[str, Any]:
    properties = {
        "Name": {"id": "title", "type": "title", "title": [{"plain_text": f"Company {number}"}]},
        "Stage": {"id": "a", "type": "status", "status": {"name": "Won"}},
        "Due": {"id": "b", "type": "date", "date": {"start": "2026-11-01", "end": None}},
        "Total": {"id": "c", "type": "formula", "formula": {"type": "number", "number": 3}},
    }
    return {"object": "page", "id": f"page{number}", "in_trash": False, "properties": properties}


def _notion_single(call: Call) -> Reply:
    return Reply(body=_notion_page(1) if "/pages" in call.path else {"object": "x", "path": call.path, **call.body})


def _notion_markdown(call: Call) -> Reply:
    if call.method == "PATCH":
        require(call.body["type"] in call.body, "the command has no content")
    return Reply(body={"object": "page_markdown", "markdown": "# Hello", "truncated": False})


_LISTS = ("start_cursor", "page_size")
_NOTION_ROUTES = (
    ("/search", "POST", (*_LISTS, "query", "filter", "sort"), _notion_list),
    ("/data_sources/[^/]+/query", "POST", (*_LISTS, "filter", "sorts", "in_trash"), _notion_list),
    ("/(databases|data_sources|pages)/[^/]+", "GET", (), _notion_single),
    ("/pages/[^/]+/properties/[^/]+", "GET", _LISTS, _notion_single),
    ("/pages/[^/]+/markdown", "GET", ("include_transcript",), _notion_markdown),
    (
        "/pages/[^/]+/markdown", "PATCH", ("type", "update_content", "replace_content", "insert_content"),
        _notion_markdown,
    ),
    ("/pages", "POST", ("parent", "properties", "children", "markdown"), _notion_single),
    ("/pages/[^/]+", "PATCH", ("properties", "in_trash", "icon", "cover"), _notion_single),
    ("/blocks/[^/]+/children", "GET", _LISTS, _notion_list),
    ("/blocks/[^/]+/children", "PATCH", ("children", "position"), _notion_single),
    ("/blocks/[^/]+", "DELETE", (), _notion_single),
    ("/comments", "GET", (*_LISTS, "block_id"), _notion_list),
    ("/comments", "POST", ("parent", "rich_text"), _notion_single),
    ("/users", "GET", _LISTS, _notion_list),
    ("/users/me", "GET", (), _notion_single),
)  # fmt: skip


def answer_as_wordpress(call: Call) -> Reply:
    """Answer as WordPress: 230 rows of everything; a page too far is an error."""
    if read_basic(call) != f"ada:{KEY}":
        return Reply(status=401, body={"code": "rest_cannot_read", "message": "Sorry.", "data": {"status": 401}})
    prefix, _, path = call.path.partition("/wp/v2/")
    require(prefix == "/wp-json", "the API is at /wp-json/wp/v2")
    if re.fullmatch(r"(posts|pages)/\d+", path):
        return Reply(body={"id": int(path.partition("/")[2])})
    if path not in ("posts", "pages", "media", "comments", "categories", "tags", "users"):
        return Reply(status=404, body={"code": "rest_no_route", "message": "No route", "data": {"status": 404}})
    allow(
        call.query, "per_page", "page", "search", "after", "before", "status", "orderby", "order", "_fields", "post",
        "media_type",
    )  # fmt: skip
    number, size, total = int(call.value("page", "1")), int(call.value("per_page", "10")), 230
    require(size <= 100, "per_page is at most 100")
    if (number - 1) * size >= total:
        error = {"code": "rest_post_invalid_page_number", "message": "Too far", "data": {"status": 400}}
        return Reply(status=400, body=error)
    rows = [{"id": row} for row in range(total)][(number - 1) * size : number * size]
    return Reply(body=rows, headers={"X-WP-Total": str(total), "X-WP-TotalPages": str(-(-total // size))})


def answer_as_helpscout(call: Call) -> Reply:
    """Answer as Help Scout: 60 rows of everything in pages of 25, behind a token."""
    if call.path == "/oauth2/token":
        expected = {"grant_type": "client_credentials", "client_id": "app", "client_secret": KEY}
        if call.body != expected:
            return Reply(status=401, body={"error": "invalid_client", "error_description": "no"})
        return Reply(body={"token_type": "bearer", "access_token": "t0k3n-0123456789", "expires_in": 172_800})
    if call.headers.get("authorization") != "Bearer t0k3n-0123456789":
        return Reply(status=401, body={"error": "invalid_token", "error_description": "Access token expired"})
    if call.method == "POST":
        return _create_at_helpscout(call)
    if call.path == "/conversations/7":
        allow(call.query, "embed")
        return Reply(body={"id": 7, "subject": "Hello", "token": "t0k3n-0123456789"})
    allow(
        call.query, "page", "mailbox", "status", "tag", "query", "modifiedSince", "sortField", "sortOrder", "embed",
    )  # fmt: skip
    number = int(call.value("page", "1"))
    rows = [{"id": row} for row in range(60)][(number - 1) * 25 : number * 25]
    page = {"size": 25, "totalElements": 60, "totalPages": 3, "number": number}
    return Reply(body={"_embedded": {call.path.rpartition("/")[2]: rows}, "page": page})


def _create_at_helpscout(call: Call) -> Reply:
    known = {
        "/conversations": ("mailboxId", "subject", "customer", "type", "status", "threads", "tags"),
        "/conversations/7/reply": ("customer", "text", "draft"),
        "/conversations/7/notes": ("text",),
    }
    allow(call.body, *known[call.path])
    return Reply(status=201, headers={"Resource-ID": "42"})
