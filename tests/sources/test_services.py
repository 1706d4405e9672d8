"""Claap, lemlist and Notion: every endpoint, against stand-ins that check each request."""

import pytest

from tests.sources.conftest import Caller, OpenCaller
from tests.sources.documented import answer_as_claap, answer_as_lemlist, answer_as_notion


@pytest.fixture
def claap(open_caller: OpenCaller) -> Caller:
    return open_caller("claap", answer_as_claap)


@pytest.fixture
def lemlist(open_caller: OpenCaller) -> Caller:
    return open_caller("lemlist", answer_as_lemlist)


@pytest.fixture
def notion(open_caller: OpenCaller) -> Caller:
    return open_caller("notion", answer_as_notion)


def test_recordings_are_listed_page_by_page(claap: Caller) -> None:
    rows = claap.list_all("recordings", labels=["product"], created_after="2026-11-01")

    assert (len(rows), len(claap.stand_in.calls)) == (115, 2)
    assert claap.stand_in.calls[0].value("labels") == "product"


def test_a_page_has_no_more_rows_than_the_limit(claap: Caller) -> None:
    page = claap.call_page("recordings", limit=10)

    assert (len(page.value), page.next_cursor, page.size_bytes > 100) == (10, "10", True)


def test_a_recording_and_its_transcript_are_read(claap: Caller) -> None:
    assert claap.call("recording", recording="rec7")["title"] == "Call 7"
    assert claap.call("transcript", recording="rec7", lang="en")["segments"][0]["speaker"] == "Ada"


def test_a_recording_is_created_and_deleted(claap: Caller) -> None:
    made = claap.call("create_recording", author_email="ada@example.org", title="Demo", started_at="2026-11-01T10:00Z")

    assert made["recording"]["title"] == "Demo"
    assert claap.call("delete_recording", recording="rec7") is None


def test_activities_are_listed_until_a_short_page(lemlist: Caller) -> None:
    rows = lemlist.list_all("activities", type="emailsReplied", since="2026-11-01T00:00:00Z")

    assert (len(rows), len(lemlist.stand_in.calls)) == (250, 3)


@pytest.mark.parametrize(
    ("name", "arguments", "place"),
    [
        ("campaign", {"campaign": "cam_1"}, "_id"),
        ("stats", {"campaign": "cam_1", "start": "a", "end": "b", "channels": ["email"], "version": "A"}, "nbLeads"),
        ("stats_of_campaigns", {"campaigns": ["cam_1"], "start": "a", "end": "b", "channels": ["email"]}, "results"),
        ("team", {}, "_id"),
        ("team_credits", {}, "credits"),
        ("add_lead", {"campaign": "cam_1", "email": "ada@example.org", "fields": {"firstName": "Ada"}}, "firstName"),
        ("pause_campaign", {"campaign": "cam_1"}, "status"),
    ],
)
def test_functions_of_lemlist_send_what_is_documented(
    lemlist: Caller, name: str, arguments: dict[str, object], place: str
) -> None:
    assert place in lemlist.call(name, **arguments)


def test_lists_of_lemlist_come_as_lists_or_in_an_object(lemlist: Caller) -> None:
    assert len(lemlist.list_all("campaigns", status="running")) == 7
    assert lemlist.call("hooks") == [{"_id": "hoo_1"}]


def test_pages_of_a_data_source_have_plain_values(notion: Caller) -> None:
    rows = notion.list_all("query", data_source="companies", filter={"property": "Stage"}, properties=["a", "title"])

    assert (len(rows), rows[5]["title"]) == (230, "Company 5")
    assert rows[0]["values"] == {"Name": "Company 0", "Stage": "Won", "Due": "2026-11-01", "Total": 3}
    assert notion.stand_in.calls[0].query["filter_properties"] == ["a", "title"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("database", {"database": "d1"}),
        ("data_source", {"data_source": "s1"}),
        ("page", {"page": "p1"}),
        ("page_property", {"page": "p1", "property": "a"}),
        ("me", {}),
        ("create_page", {"parent": {"data_source_id": "s1"}, "properties": {}, "markdown": "# Hello"}),
        ("update_page", {"page": "p1", "in_trash": False}),
        ("append_blocks", {"block": "b1", "children": [{}], "after": "b0"}),
        ("delete_block", {"block": "b1"}),
        ("create_comment", {"page": "p1", "text": "Hello"}),
    ],
)
def test_functions_of_notion_send_what_is_documented(notion: Caller, name: str, arguments: dict[str, object]) -> None:
    assert notion.call(name, **arguments)["object"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("markdown", {"page": "p1", "include_transcript": True}),
        ("replace_text", {"page": "p1", "updates": [{"old_str": "a", "new_str": "b"}]}),
        ("replace_markdown", {"page": "p1", "markdown": "# Hello"}),
        ("insert_markdown", {"page": "p1", "markdown": "# Hello", "position": "start"}),
    ],
)
def test_the_content_of_a_page_is_markdown(notion: Caller, name: str, arguments: dict[str, object]) -> None:
    assert notion.call(name, **arguments) == "# Hello"


@pytest.mark.parametrize("name", ["search", "users"])
def test_lists_of_notion_are_read_whole(notion: Caller, name: str) -> None:
    assert len(notion.list_all(name)) == 230


@pytest.mark.parametrize("name", ["blocks", "comments"])
def test_lists_in_a_block_are_read_whole(notion: Caller, name: str) -> None:
    assert len(notion.list_all(name, block="b1")) == 230


def test_every_function_is_described_for_scripts_and_policies(claap: Caller, lemlist: Caller, notion: Caller) -> None:
    functions = [function for caller in (claap, lemlist, notion) for function in caller.functions.values()]

    assert all(function.description.endswith(".") and function.signature for function in functions)
    assert {function.reach for function in functions if not function.reads_only} == {"others"}
    assert {function.reach for function in functions if function.reads_only} == {"own"}
    assert claap.functions["transcript"].signature == "(*, recording: str, lang: str = '') -> dict[str, Any]"
    assert claap.functions["transcript"].parameters["properties"]["recording"]["description"] == "Its id."
