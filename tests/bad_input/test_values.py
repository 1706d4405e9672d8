"""Bad values: dates that do not exist, circles, cursors, limits, nesting; each refused, and nothing changed."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import PanoramaError
from tests.bad_input.fates import fate, other_than

Call = Callable[..., Answer]
Rows = Callable[[], dict[str, int]]
LABELS = {"create_task": "title", "create_project": "name", "create_reminder": "title"}


@pytest.fixture
def refused(call: Call, rows: Rows) -> Callable[..., PanoramaError]:
    """Calls what must be refused, and checks that nothing changed and that the voice is ours."""

    def called(tool: str, **arguments: Any) -> PanoramaError:
        before = rows()
        with pytest.raises(PanoramaError) as found:
            call(tool, **arguments)
        assert found.value.message
        assert found.value.hint
        assert rows() == before
        return found.value

    return called


NO_DAYS = [
    "2026-02-29",
    "2026-02-30",
    "2026-13-01",
    "2026-00-10",
    "2026-04-31",
    "26-05-20",
    "05/04/2026",
    "soon",
    "0000-01-01",
    "9999-99-99",
    "2026-05-20T25:00",
    "2026-05-20T10:61",
    "2026-05-20T10:00+99:00",
    "+3",
    "+99999d",
    "-1",
    "1e3",
    "２０２６-05-20",
    "2026-05-20T10:00:00[Mars/Base]",
    "today tomorrow",
    "10000-01-01",
    "1899-12-31",
]


@pytest.mark.parametrize(
    ("tool", "field"),
    [
        ("create_task", "deadline"),
        ("create_task", "scheduled_at"),
        ("create_project", "target_date"),
        ("create_reminder", "at"),
    ],
)
def test_a_date_that_does_not_exist_is_refused(call: Call, rows: Rows, tool: str, field: str) -> None:
    before = rows()

    fates = {day: fate(call, tool, **{LABELS[tool]: f"x {day}", field: day}) for day in NO_DAYS}

    assert other_than("invalid_input", fates=fates) == {}
    assert rows() == before


def test_an_hour_that_the_clocks_skip_is_told_as_one_that_exists(call: Call) -> None:
    made = call("create_task", title="x", deadline="2026-03-29T02:30")

    assert made.data["deadline"] in ("2026-03-29T03:30+02:00", "2026-03-29T01:30+01:00")


def test_a_task_is_not_its_own_parent(call: Call, refused: Callable[..., PanoramaError]) -> None:
    made = call("create_task", title="a").data["id"]

    error = refused("update_task", task=made, parent=made)

    assert error.code in ("invalid_input", "conflict")


@pytest.mark.parametrize("length", [2, 3, 30])
def test_parents_make_no_circle(call: Call, refused: Callable[..., PanoramaError], length: int) -> None:
    chain = [call("create_task", title="first").data["id"]]
    for n in range(length - 1):
        chain.append(call("create_task", title=f"task {n}", parent=chain[-1]).data["id"])

    error = refused("update_task", task=chain[0], parent=chain[-1])

    assert error.code in ("invalid_input", "conflict")


def test_a_circle_is_not_made_by_undo(call: Call, refused: Callable[..., PanoramaError]) -> None:
    a = call("create_task", title="a").data["id"]
    b = call("create_task", title="b", parent=a).data["id"]
    freed = call("update_task", task=b, parent="")
    call("update_task", task=a, parent=b)

    error = refused("undo", unit=freed.metadata["undo"])

    assert error.code == "conflict"


@pytest.mark.parametrize("tool", ["list_tasks", "list_notes", "list_projects"])
def test_a_limit_is_one_to_five_hundred(call: Call, tool: str) -> None:
    limits: list[Any] = [0, -1, -(2**63), 501, 2**31, 2**64, 10**40, "many", 1.5, [], {}]

    fates = {str(limit): fate(call, tool, limit=limit) for limit in limits}

    assert other_than("invalid_input", fates=fates) == {}


def forged(*values: object) -> str:
    """Make a cursor as an attacker would."""
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


LISTS: list[tuple[str, dict[str, Any]]] = [
    ("list_tasks", {}),
    ("list_notes", {}),
    ("list_projects", {}),
    ("query", {"collection": "tasks", "sort": ["deadline"]}),
    ("search", {"query": "task"}),
    ("history", {"item": "task 0"}),
]
NO_CURSORS = [
    "garbage",
    "====",
    "AAAA",
    "é",
    "W10",
    forged(),
    forged("x"),
    forged("x", 1, 2),
    forged(None),
    forged({}),
    forged([[]]),
    forged(1e400),
    "x" * 100_000,
    "WyJ4Il0" * 1000,
    base64.b64encode(b"[" * 50_000).decode(),
    "../../etc/passwd",
    "' OR 1=1",
    "\x00",
    "\ud800",
    "🙂",
]
NO_KEYS: list[list[Any]] = [
    [],
    [1],
    ["x"] * 30,
    [{"t": "never"}],
    [{"t": "2026-01-01"}],
    [{"d": "x"}],
    [{}],
    [None] * 6,
    [[1]],
    ["a", "b", "c", "d", "e"],
    [True],
    [1e999],
    [10**30],
    [{"t": 5}],
    [{"d": "2026-01-01"}] * 5,
    ["a\ud800"],
    [1, "x"],
    ["x", 1],
    [1, 2, 3, 4, 5],
]


@pytest.fixture
def three(call: Call) -> None:
    """Three of each."""
    for n in range(3):
        call("create_task", title=f"task {n}")
        call("create_note", title=f"task note {n}")
        call("create_project", name=f"project {n}")
    call("update_task", task="task 0", urgent=True)


@pytest.mark.parametrize(("tool", "arguments"), LISTS)
def test_a_cursor_that_is_garbage_is_refused(call: Call, three: None, tool: str, arguments: dict[str, Any]) -> None:
    fates = {cursor[:40]: fate(call, tool, **arguments, cursor=cursor) for cursor in NO_CURSORS}

    assert other_than("invalid_input", fates=fates) == {}


@pytest.mark.parametrize(("tool", "arguments"), LISTS)
def test_a_cursor_forged_for_the_right_question_is_refused_or_harmless(
    call: Call, three: None, tool: str, arguments: dict[str, Any]
) -> None:
    real = call(tool, **arguments, limit=1).metadata["next_cursor"]
    question = json.loads(base64.urlsafe_b64decode(real + "=" * (-len(real) % 4)))[0]

    fates = {str(key): fate(call, tool, **arguments, limit=1, cursor=forged(question, *key)) for key in NO_KEYS}

    assert other_than("invalid_input", "done", fates=fates) == {}


def nested(depth: int, kind: str) -> Any:
    """Return a deeply nested value."""
    value: Any = "x"
    for _ in range(depth):
        value = [value] if kind == "list" else {"not": value}
    return value


@pytest.mark.parametrize("depth", [13, 150, 900])
@pytest.mark.parametrize("kind", ["list", "object"])
@pytest.mark.parametrize(
    ("tool", "name", "others"),
    [
        ("query", "where", {"collection": "tasks"}),
        ("create_task", "title", {}),
        ("create_task", "tags", {"title": "x"}),
    ],
)
def test_deep_nesting_is_refused(
    refused: Callable[..., PanoramaError], tool: str, name: str, others: dict[str, Any], kind: str, depth: int
) -> None:
    error = refused(tool, **others, **{name: nested(depth, kind)})

    assert error.code == "invalid_input"
    assert len(error.message) < 1_000


@pytest.mark.parametrize("depth", [50, 900])
def test_deep_nesting_in_a_batch_is_refused(refused: Callable[..., PanoramaError], depth: int) -> None:
    refused("batch", operations=[{"tool": "query", "args": {"collection": "tasks", "where": nested(depth, "object")}}])


@pytest.mark.parametrize("field", ["rank", "scheduled_minutes"])
def test_a_number_that_fits_nowhere_is_refused(call: Call, rows: Rows, field: str) -> None:
    before = rows()
    numbers: list[Any] = [2**63, -(2**63) - 1, 10**30, 1.5, "x", float("nan"), float("inf"), [], {}]

    fates = {str(number): fate(call, "create_task", title=f"x {number}", **{field: number}) for number in numbers}

    assert other_than("invalid_input", fates=fates) == {}
    assert rows() == before


@pytest.mark.parametrize("minutes", [-1, -60, 10**9])
def test_a_length_of_work_is_reasonable(refused: Callable[..., PanoramaError], minutes: int) -> None:
    assert "scheduled_minutes" in refused("create_task", title="x", scheduled_minutes=minutes).message


@pytest.mark.parametrize("operator", ["eq", "lt", "in"])
def test_a_number_too_large_in_a_question_is_no_accident(call: Call, operator: str) -> None:
    asked = {number: [number] if operator == "in" else number for number in (2**63, 10**30, float("nan"))}

    fates = {
        n: fate(call, "query", collection="tasks", where={"rank": {operator: value}}) for n, value in asked.items()
    }

    assert other_than("invalid_input", "done", fates=fates) == {}


def test_a_range_outside_a_note_is_no_accident(call: Call) -> None:
    call("create_note", title="Plan", content="0123456789")
    ranges = [(-1, 10), (0, 0), (0, -5), (0, 10**9), (10**12, 10), (2**70, 10), (0, 2**70)]

    fates = {str(range_): fate(call, "get_note", note="Plan", start=range_[0], chars=range_[1]) for range_ in ranges}

    assert other_than("invalid_input", "done", fates=fates) == {}


@pytest.mark.parametrize("version", [0, -1, 99, 2**70])
def test_a_version_that_never_was_is_a_conflict(
    call: Call, refused: Callable[..., PanoramaError], version: int
) -> None:
    call("create_note", title="Plan", content="x")

    assert refused("update_note", note="Plan", content="y", expected_version=version).code in (
        "conflict",
        "invalid_input",
    )


@pytest.mark.parametrize("days", [0, -1, 366, 10**12, 2**70])
def test_a_period_outside_a_year_is_refused(call: Call, refused: Callable[..., PanoramaError], days: int) -> None:
    assert "period_days" in refused("projects_overview", period_days=days).message


def test_a_week_at_the_edge_of_time_is_no_accident(call: Call) -> None:
    weeks = [("2026-05-20", "2026-05-19"), ("1900-01-01", "2199-12-31"), ("x", ""), ("", "2026-02-30")]
    edges = [("2199-12-31", "2199-12-31"), ("1900-01-01", "1900-01-01")]

    fates = {str(week): fate(call, "weekly_review", start=week[0], end=week[1]) for week in (*weeks, *edges)}

    assert other_than("invalid_input", "done", fates=fates) == {}


WILD_RULES = [
    "FREQ=SECONDLY",
    "FREQ=MINUTELY",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=DAILY;" * 2000,
    "FREQ=DAILY;UNTIL=garbage",
    "FREQ=DAILY;BYSETPOS=400",
    "DTSTART:20200101\nRRULE:FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=99999999999",
]


@pytest.mark.parametrize("rule", WILD_RULES, ids=lambda rule: rule[:40])
def test_a_rule_that_runs_wild_is_stopped(call: Call, rule: str) -> None:
    made = fate(call, "create_task", title="x", deadline="today", recurrence=rule)

    done = fate(call, "update_task", task="x", status="done") if made == "done" else made

    assert done in ("done", "invalid_input")


@pytest.mark.parametrize(
    "url",
    [
        "http://[",
        "http://a b",
        "https://" + "x" * 1_000_000,
        "mailto:",
        "//x",
        "https://\x00",
        "https://user:pass@",
        "data:text/html,x",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
    ],
)
def test_an_address_that_is_none_is_refused(refused: Callable[..., PanoramaError], url: str) -> None:
    assert refused("create_link", url=url, title="x").code == "invalid_input"


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("update_task", "task"),
        ("update_note", "note"),
        ("update_project", "project"),
        ("get_item", "item"),
        ("delete_item", "item"),
        ("history", "item"),
        ("undo", "unit"),
    ],
)
def test_an_unknown_id_is_not_found(call: Call, tool: str, name: str) -> None:
    ids = ["t_0000000000", "n_zzzzzzzzzz", "p_ilou00000u", "x_1234567890", "t_short", "t_", "T_0000000001"]

    fates = {id_: fate(call, tool, **{name: id_}) for id_ in ids}

    assert other_than("not_found", "invalid_input", fates=fates) == {}
