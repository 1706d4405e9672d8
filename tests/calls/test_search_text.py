"""The text of a search for a model: short rows, and no more of them than it is worth."""

from collections.abc import Callable

import pytest

from panorama.calls import Answer

Call = Callable[..., Answer]
LONG = "Minutes of the meeting about the lemon harvest in the southern valley, volume {}, with all of its appendices"


@pytest.fixture
def notes(call: Call) -> None:
    """Twelve notes with long titles that all hold the same words."""
    for number in range(12):
        call("create_note", title=LONG.format(number), content="The lemon harvest began late. " * 20)


def test_an_answer_has_at_most_900_characters(call: Call, notes: None) -> None:
    answer = call("search", query="lemon harvest")

    assert len(answer.text) <= 900
    assert 1 < len(answer.data) < 10
    assert "more with next_cursor" in answer.summary


def test_the_rest_follows_with_the_cursor(call: Call, notes: None) -> None:
    first = call("search", query="lemon harvest")
    rest = call("search", query="lemon harvest", limit=12, cursor=first.metadata["next_cursor"])

    assert len({row["id"] for row in (*first.data, *rest.data)}) == 12


def test_a_limit_gives_so_many_rows_however_long(call: Call, notes: None) -> None:
    assert len(call("search", query="lemon harvest", limit=10).data) == 10


def test_the_text_leaves_out_what_the_order_and_the_ids_say(call: Call, notes: None) -> None:
    answer = call("search", query="lemon harvest", limit=2)

    assert answer.text.splitlines()[1] == "id | title | snippet"
    assert {"score", "why", "updated_at", "kind"} <= answer.data[0].keys()


def test_the_text_says_why_an_item_that_the_query_names_is_first(call: Call) -> None:
    call("create_note", title="Lemons", content="Yellow.")

    assert "| title" in call("search", query="Lemons").text.splitlines()[2]
