"""Too much in one call: refused before it is worked on, in few words, and nothing changed."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import PanoramaError

pytestmark = pytest.mark.slow  # they write large amounts

Call = Callable[..., Answer]
Rows = Callable[[], dict[str, int]]


@pytest.fixture
def refused(call: Call, rows: Rows) -> Callable[..., PanoramaError]:
    """Calls what must be refused in few words, and checks that nothing changed."""

    def called(tool: str, **arguments: Any) -> PanoramaError:
        before = rows()
        with pytest.raises(PanoramaError) as found:
            call(tool, **arguments)
        assert found.value.code == "invalid_input"
        assert len(found.value.text()) < 2000
        assert rows() == before
        return found.value

    return called


MANY = {
    "a list": {"tags": [1] * 900_000},
    "a list of lists": {"tags": [[1] * 1000] * 900},
    "an object": {"tags": {str(number): 1 for number in range(300_000)}},
    "unknown arguments": {f"x{number}": None for number in range(300_000)},
}


@pytest.mark.parametrize("arguments", MANY.values(), ids=MANY)
def test_a_call_of_very_many_values_is_refused_before_they_are_looked_at(
    refused: Callable[..., PanoramaError], arguments: dict[str, Any]
) -> None:
    error = refused("create_task", title="x", **arguments)

    assert "more than 20,000 values; give fewer at a time, in several calls" in error.message


def test_a_step_of_very_many_values_is_refused(refused: Callable[..., PanoramaError]) -> None:
    step = {"tool": "create_task", "args": {"title": "x", "tags": [1] * 900_000}}

    assert "more than 20,000 values" in refused("batch", operations=[step], atomic=False).message


def test_of_many_problems_the_first_are_told_and_the_others_counted(refused: Callable[..., PanoramaError]) -> None:
    error = refused("create_task", title="x", tags=[1] * 10_000)

    assert "tags.0 must be text, not 1; " in error.message
    assert "tags.4 must be text, not 1; 9,995 more are wrong" in error.message


def test_of_many_unknown_arguments_the_first_are_told(refused: Callable[..., PanoramaError]) -> None:
    error = refused("create_task", title="x", **{f"x{number}" * 500: 1 for number in range(1000)})

    assert "995 more are wrong" in error.message


WHERES = {
    "or": {"or": [{"title": "x"}] * 6000},
    "and": {"and": [{"title": "x"}] * 1000},
    "empty ones": {"or": [{}] * 15_000},
    "ors in ors": {"or": [{"or": [{"title": "x"}] * 30}] * 30},
    "operators": {"or": [{"title": {"ne": "x", "lt": "y", "gt": "z"}}] * 300},
    "lists": {"or": [{"title": {"in": ["x"] * 400}}] * 3},
}


@pytest.mark.parametrize("where", WHERES.values(), ids=WHERES)
def test_a_question_of_very_many_conditions_is_refused(
    refused: Callable[..., PanoramaError], where: dict[str, Any]
) -> None:
    error = refused("query", collection="tasks", where=where)

    assert error.message == "where has more than 1,000 conditions and values."


ALLOWED = {
    "ors": {"or": [{"title": "x"}] * 490},
    "days": {"and": [{"deadline": "2026-05-20"}] * 240},
    "days that are not": {"and": [{"deadline": {"ne": "2026-05-20"}}] * 490},
    "moments": {"or": [{"created_at": {"gte": "2026-05-20"}}] * 490},
    "days of moments": {"and": [{"created_at": "2026-05-20"}] * 240},
    "a list of days": {"deadline": {"in": ["2026-05-20"] * 500}, "status": "todo"},
    "a list": {"not": {"title": {"nin": ["x"] * 500}}, "status": "todo"},
    "tags": {"and": [{"tags": {"contains": "x"}}] * 490},
    "both": {"and": [*[{"deadline": "2026-05-20"}] * 100, {"title": {"in": ["x"] * 500}}]},
}


@pytest.mark.parametrize("where", ALLOWED.values(), ids=ALLOWED)
def test_a_question_of_as_many_conditions_as_there_may_be_is_answered(call: Call, where: dict[str, Any]) -> None:
    assert isinstance(call("query", collection="tasks", where=where).data, list)


def test_a_question_that_sqlite_finds_too_deep_is_refused(refused: Callable[..., PanoramaError]) -> None:
    error = refused("query", collection="tasks", where={"and": [{"created_at": "2026-05-20"}] * 490})

    assert error.message == "where has too many conditions and values."


@pytest.mark.parametrize("part", ["select", "sort", "group_by", "sum"])
def test_a_question_names_so_many_fields_at_most(refused: Callable[..., PanoramaError], part: str) -> None:
    error = refused("query", collection="tasks", **{part: ["rank"] * 3000})

    assert error.message == f"{part} names more than 50 fields."


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 4, "100"])
def test_a_reference_to_a_step_that_cannot_be_is_no_accident(call: Call, number: str) -> None:
    step = {"tool": "create_task", "args": {"title": f"${number}.id"}}

    result = call("batch", operations=[step], atomic=False).data["results"][0]

    assert result["ok"] or result["error"]["code"] == "invalid_input"
