"""Charts that scripts draw: files with the values in words, which can be undone."""

from collections.abc import Callable
from xml.etree.ElementTree import fromstring

import pytest

from panorama.calls import Answer

SERIES = {"Open": [3, 1], "Done": [0, 2.5]}


@pytest.mark.parametrize("kind", ["bar", "line", "heatmap"])
def test_a_script_draws_a_chart_into_a_file(call: Callable[..., Answer], kind: str) -> None:
    code = f"return sdk.charts.{kind}('Tasks / week', ['Mon', 'Tue'], {SERIES}).id"

    ran = call("run_code", code=code).data

    file = call("get_file", file=ran["result"]).data
    assert (file["name"], file["media_type"]) == ("Tasks - week.svg", "image/svg+xml")
    assert "Tasks / week: Mon Open 3, Done 0; Tue Open 1, Done 2.5" in file["text"]
    assert fromstring(file["text"]).tag.endswith("svg")
    call("undo", unit=ran["run_id"])
    assert call("list_files").data == []


def test_a_chart_of_the_same_name_is_its_next_version(call: Callable[..., Answer]) -> None:
    code = "return sdk.charts.bar('Tea', ['Mon'], {'cups': [number]}, name='tea.svg').id"
    ids = {
        call("run_code", code=code, inputs={"number": number}).data["result"] for number in (1, 2)
    }  # fmt: skip

    assert len(ids) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'', ['a'], {'x': [1]}", "title"),
        ("'T', [], {'x': []}", "0 labels"),
        ("'T', ['a'], {}", "0 series"),
        ("'T', ['a', 'b'], {'x': [1]}", "1 values for 2 labels"),
        ("'T', ['a'], {'x': [-1]}", "below 0"),
        ("'T', ['a'], {'x': [float('nan')]}", "below 0"),
        ("'T', ['a'], {'x': [1]}, name='tea.gif'", "tea.gif"),
        ("'T', ['a'], {'x': [1]}, name='../tea.svg'", "path"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Callable[..., Answer], arguments: str, message: str) -> None:
    error = call("run_code", code=f"sdk.charts.line({arguments})").data["error"]

    assert message in error["message"]
    assert call("list_files").data == []
