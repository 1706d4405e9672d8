"""Bad words: each is refused in the product's voice or kept to the letter, and a refusal changes nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError, PanoramaError
from tests.bad_input.fates import fate, other_than

Call = Callable[..., Answer]
Rows = Callable[[], dict[str, int]]
MEGABYTES = 10 * 1024 * 1024

TEXT_FIELDS: list[tuple[str, dict[str, Any], str]] = [
    ("create_project", {}, "name"),
    ("create_project", {"name": "x"}, "description"),
    ("create_project", {"name": "x"}, "tags"),
    ("create_task", {}, "title"),
    ("create_task", {"title": "x"}, "notes"),
    ("create_task", {"title": "x"}, "tags"),
    ("create_note", {}, "title"),
    ("create_note", {"title": "x"}, "content"),
    ("create_note", {"title": "x"}, "tags"),
    ("create_link", {"url": "example.org"}, "title"),
    ("create_link", {"url": "example.org"}, "description"),
    ("create_reminder", {"at": "2026-06-01T09:00"}, "title"),
    ("add_journal_entry", {}, "text"),
    ("write_file", {"name": "x", "text": "x"}, "tags"),
]
REFERENCES: list[tuple[str, dict[str, Any], str]] = [
    ("create_task", {"title": "x"}, "project"),
    ("create_task", {"title": "x"}, "parent"),
    ("get_project", {}, "project"),
    ("get_note", {}, "note"),
    ("update_task", {"title": "x"}, "task"),
    ("delete_item", {}, "item"),
    ("get_item", {}, "item"),
    ("history", {}, "item"),
    ("undo", {}, "unit"),
    ("create_reminder", {"title": "x", "at": "2026-06-01T09:00"}, "item"),
    ("list_tasks", {}, "project"),
    ("write_file", {"name": "x", "text": "x"}, "project"),
    ("get_file", {}, "file"),
    ("update_file", {"name": "x"}, "file"),
    ("create_task", {"title": "x"}, "deadline"),
    ("create_task", {"title": "x"}, "recurrence"),
    ("weekly_review", {}, "start"),
    ("list_tasks", {}, "cursor"),
    ("get_note", {"note": "Plan"}, "heading"),
    ("append_to_note", {"note": "Plan", "block": "x"}, "after_marker"),
    ("edit_note", {"note": "Plan", "new_text": "x"}, "old_text"),
    ("query", {"collection": "tasks"}, "sort"),
    ("query", {"collection": "tasks"}, "group_by"),
]
INJECTIONS = [
    "'; DROP TABLE tasks; --",
    '" OR 1=1 --',
    "x' UNION SELECT * FROM notes --",
    "%_\\",
    "NEAR(a b)",
    "a AND OR NOT",
    "*",
    "{title}: ^x",
    "$0.data.id",
    "[[x]]",
    "<script>alert(1)</script>",
    "{0}%s%n",
    "\\u0000",
    "🙂👩‍👩‍👧",
    "\u202egnp.exe",
    "a\u0301",
]


NO_TEXT = ["a\x00b", "\x00", "a\ud800b", "\udfff", "\ud83d"]


def bare(tag: str) -> str:
    """Return a tag as far as spaces and # do not matter in it."""
    return tag.replace("-", " ").strip("# ")


def put(name: str, value: str) -> object:
    """Return a text as the field takes it."""
    return [value] if name in ("tags", "sort", "group_by") else value


def call_refused(call: Call, tool: str, **arguments: Any) -> PanoramaError:
    """Call what must be refused, and check the voice."""
    with pytest.raises(PanoramaError) as found:
        call(tool, **arguments)
    assert found.value.message
    assert found.value.hint
    assert len(found.value.message) < 1_000
    found.value.message.encode()
    found.value.hint.encode()
    return found.value


@pytest.fixture(autouse=True)
def plan(call: Call) -> None:
    """A note and a task that must survive."""
    call("create_note", title="Plan", content="intact")
    call("create_task", title="Survivor")


@pytest.mark.parametrize(("tool", "arguments", "field"), TEXT_FIELDS)
def test_syntax_in_a_text_is_only_text(call: Call, tool: str, arguments: dict[str, Any], field: str) -> None:
    lost: dict[str, object] = {}

    for number, text in enumerate(INJECTIONS):
        named = {name: f"{value} {number}" if name == "name" else value for name, value in arguments.items()}
        made = call(tool, **named, **{field: put(field, text)})
        item = call("get_item", item=made.data["id"]).data["item"]
        if (bare(item[field][0]) if field == "tags" else item[field]) != (bare(text) if field == "tags" else text):
            lost[text] = item[field]

    assert lost == {}


@pytest.mark.parametrize(("tool", "arguments", "field"), REFERENCES)
def test_syntax_where_a_name_is_meant_is_refused(
    call: Call, rows: Rows, tool: str, arguments: dict[str, Any], field: str
) -> None:
    before = rows()

    fates = {text: fate(call, tool, **arguments, **{field: put(field, text)}) for text in INJECTIONS}

    assert other_than("invalid_input", "not_found", fates=fates) == {}
    assert rows() == before


@pytest.mark.parametrize(("tool", "arguments", "field"), [*TEXT_FIELDS, *REFERENCES])
def test_what_is_no_text_is_refused_wherever_it_stands(
    call: Call, rows: Rows, tool: str, arguments: dict[str, Any], field: str
) -> None:
    before = rows()

    fates = {text: fate(call, tool, **arguments, **{field: put(field, text)}) for text in NO_TEXT}

    assert other_than("invalid_input", "not_found", fates=fates) == {}
    assert rows() == before


def test_what_is_no_text_in_a_question_is_no_accident(call: Call) -> None:
    wheres = [
        where
        for text in NO_TEXT
        for where in (
            {"title": text},
            {"title": {"contains": text}},
            {"title": {"in": [text]}},
            {text: 1},
            {"title": {text: 1}},
        )
    ]

    fates = {str(where): fate(call, "query", collection="tasks", where=where) for where in wheres}

    assert other_than("invalid_input", "done", fates=fates) == {}


def test_what_is_no_text_in_a_search_is_no_accident(call: Call) -> None:
    fates = {text: fate(call, "search", query=text) for text in NO_TEXT}

    assert other_than("invalid_input", "done", fates=fates) == {}


@pytest.mark.parametrize(
    ("tool", "arguments", "field"), [field for field in TEXT_FIELDS if field[2] in ("name", "title", "text")]
)
def test_an_empty_or_huge_title_is_refused(
    call: Call, rows: Rows, tool: str, arguments: dict[str, Any], field: str
) -> None:
    before = rows()
    texts = ["\u200b", "\x07", "x" * 1_000_000, *(["", " ", "\n\t", "\u00a0"] if tool != "create_link" else [])]

    fates = {text[:20]: fate(call, tool, **arguments, **{field: text}) for text in texts}

    assert other_than("invalid_input", fates=fates) == {}
    assert rows() == before


@pytest.mark.parametrize(
    ("tool", "arguments", "field"), [reference for reference in REFERENCES if reference[0] != "query"]
)
def test_a_huge_text_where_a_name_is_meant_is_refused_shortly(
    call: Call, rows: Rows, tool: str, arguments: dict[str, Any], field: str
) -> None:
    before = rows()

    met = fate(call, tool, **arguments, **{field: "x" * 1_000_000})

    assert met in ("invalid_input", "not_found")
    assert rows() == before


def test_a_line_break_in_a_title_becomes_a_space(call: Call) -> None:
    assert call("create_note", title="Green\r\n tea\tleaf").data["title"] == "Green tea leaf"


def test_a_note_of_ten_megabytes_is_stored_and_served_in_ranges(call: Call) -> None:
    made = call("create_note", title="Huge", content="0123456789abcdef" * (MEGABYTES // 16))

    part = call("get_note", note="Huge", start=MEGABYTES - 20, chars=100)

    assert part.data["content"] == "cdef0123456789abcdef"
    assert made.data["chars"] == MEGABYTES


@pytest.mark.parametrize("unit", ["x", "ä", "東"])
def test_a_note_of_ten_megabytes_and_a_byte_is_refused(call: Call, rows: Rows, unit: str) -> None:
    before, size = rows(), len(unit.encode())

    error = call_refused(
        call, "create_note", title="Huge", content=unit * (MEGABYTES // size) + "x" * (MEGABYTES % size + 1)
    )

    assert error.code == "invalid_input"
    assert "content" in error.message
    assert rows() == before


def test_an_append_beyond_ten_megabytes_is_refused(call: Call, rows: Rows) -> None:
    call("create_note", title="Huge", content="x" * MEGABYTES)
    before = rows()

    call_refused(call, "append_to_note", note="Huge", block="y")

    assert rows() == before


def test_an_edit_beyond_ten_megabytes_is_refused(call: Call, rows: Rows) -> None:
    call("create_note", title="Huge", content="a" + "x" * (MEGABYTES - 1))
    before = rows()

    call_refused(call, "edit_note", note="Huge", old_text="ax", new_text="bbbbb")

    assert rows() == before


def test_a_hundred_thousand_tags_are_refused(call: Call, rows: Rows) -> None:
    before = rows()

    call_refused(call, "create_task", title="x", tags=[f"tag{n}" for n in range(100_000)])

    assert rows() == before


def test_an_error_names_a_parameter_that_is_no_text_safely(call: Call) -> None:
    error = call_refused(call, "create_task", **{"title": "x", "\ud800": 1})

    assert isinstance(error, InvalidInputError)
