"""Each documented endpoint of the services that we use, and the function of ours that calls it."""

import re
from typing import Any

import pytest

from panorama.sources.services import claap, helpscout, lemlist, notion, wordpress
from tests.sources.conftest import OpenCaller
from tests.sources.documented import (
    answer_as_claap,
    answer_as_helpscout,
    answer_as_lemlist,
    answer_as_notion,
    answer_as_wordpress,
)

PAGE, TEXT = {"page": "page1"}, {"type": "paragraph"}
PERIOD = {"start": "2026-11-01T00:00:00Z", "end": "2026-11-02T00:00:00Z"}
CLAAP = {
    "GET /recordings": ("recordings", {}),
    "GET /recordings/[^/]+": ("recording", {"recording": "rec1"}),
    "GET /recordings/[^/]+/transcript": ("transcript", {"recording": "rec1"}),
    "POST /recordings": ("create_recording", {"author_email": "ada@example.org"}),
    "DELETE /recordings/[^/]+": ("delete_recording", {"recording": "rec1"}),
}
LEMLIST = {
    "GET /campaigns": ("campaigns", {}),
    "GET /campaigns/[^/]+": ("campaign", {"campaign": "cam_1"}),
    "GET /v2/campaigns/[^/]+/stats": ("stats", {"campaign": "cam_1", **PERIOD}),
    "POST /v2/campaigns/stats/batch": ("stats_of_campaigns", {"campaigns": ["cam_1"], **PERIOD}),
    "GET /activities": ("activities", {}),
    "POST /campaigns/[^/]+/leads/[^/]+": ("add_lead", {"campaign": "cam_1", "email": "a@example.org"}),
    "POST /campaigns/[^/]+/pause": ("pause_campaign", {"campaign": "cam_1"}),
    "GET /team": ("team", {}),
    "GET /team/credits": ("team_credits", {}),
    "GET /hooks": ("hooks", {}),
}
NOTION = {
    "POST /search": ("search", {}),
    "GET /databases/[^/]+": ("database", {"database": "db1"}),
    "GET /data_sources/[^/]+": ("data_source", {"data_source": "companies"}),
    "POST /data_sources/[^/]+/query": ("query", {"data_source": "companies"}),
    "POST /pages": ("create_page", {"parent": {"page_id": "page1"}}),
    "GET /pages/[^/]+": ("page", PAGE),
    "PATCH /pages/[^/]+": ("update_page", {**PAGE, "in_trash": True}),
    "GET /pages/[^/]+/properties/[^/]+": ("page_property", {**PAGE, "property": "title"}),
    "GET /pages/[^/]+/markdown": ("markdown", PAGE),
    "PATCH /pages/[^/]+/markdown": ("replace_markdown", {**PAGE, "markdown": "# Hello"}),
    "GET /blocks/[^/]+/children": ("blocks", {"block": "page1"}),
    "PATCH /blocks/[^/]+/children": ("append_blocks", {"block": "page1", "children": [TEXT]}),
    "DELETE /blocks/[^/]+": ("delete_block", {"block": "block1"}),
    "GET /comments": ("comments", {"block": "page1"}),
    "POST /comments": ("create_comment", {**PAGE, "text": "Good."}),
    "GET /users": ("users", {}),
    "GET /users/me": ("me", {}),
}
HELPSCOUT = {
    "GET /conversations": ("conversations", {}),
    "GET /conversations/[^/]+": ("conversation", {"conversation": 1}),
    "GET /conversations/[^/]+/threads": ("threads", {"conversation": 1}),
    "POST /conversations": (
        "create_conversation",
        {"mailbox": 1, "subject": "Tea", "customer_email": "a@example.org", "text": "Hello."},
    ),
}
WORDPRESS = {
    **{
        f"GET /wp-json/wp/v2/{name}": (name, {})
        for name in ("posts", "pages", "media", "comments", "categories", "tags", "users")
    },
}
SERVICES = {
    "claap": (answer_as_claap, CLAAP, claap.ENDPOINTS, ()),
    "lemlist": (answer_as_lemlist, LEMLIST, lemlist.ENDPOINTS, ()),
    "notion": (answer_as_notion, NOTION, notion.ENDPOINTS, ("replace_text", "insert_markdown")),
    "helpscout": (answer_as_helpscout, HELPSCOUT, helpscout.ENDPOINTS, ("reply", "add_note")),
    "wordpress": (answer_as_wordpress, WORDPRESS, wordpress.ENDPOINTS, ("post", "page")),
}
"""The stand-in, the documented endpoints, all functions, and those that share or add an endpoint."""

OPTIONS = {
    "helpscout": {"app_id": "app", "app_secret": "k3y-0123456789abcdef"},
    "wordpress": {"user": "ada", "password": "k3y-0123456789abcdef"},
}
ROWS = [(kind, request) for kind, (_, requests, _, _) in SERVICES.items() for request in requests]


@pytest.mark.parametrize(("kind", "request_"), ROWS, ids=lambda value: str(value))
def test_a_documented_endpoint_has_a_function(open_caller: OpenCaller, kind: str, request_: str) -> None:
    answer, requests, _, _ = SERVICES[kind]
    name, arguments = requests[request_]
    caller = open_caller(kind, answer, options=OPTIONS.get(kind))

    sent: dict[str, Any] = dict(arguments)
    caller.call(name, **sent)

    call = caller.stand_in.calls[-1]
    assert re.fullmatch(request_, f"{call.method} {call.path}")


@pytest.mark.parametrize("kind", SERVICES)
def test_the_table_names_every_function(kind: str) -> None:
    _, requests, endpoints, others = SERVICES[kind]

    assert {name for name, _ in requests.values()} | set(others) == {endpoint.name for endpoint in endpoints}
