"""Hints: what a script is told that does what is usual elsewhere, from the whole of a run."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.errors import InvalidInputError
from panorama.sdk import errors

Call = Callable[..., Answer]


def failed(call: Call, code: str, **more: Any) -> str:
    """Run a script that fails, and return all that its error says."""
    error = call("run_code", code=code, **more).data["error"]
    return f"{error['message']} {error.get('hint', '')}"


def test_a_row_that_was_kept_in_the_state_is_a_row_in_the_next_run(call: Call) -> None:
    kept = 'sdk.state["t"] = sdk.tasks.create("Tea")\nsdk.state["all"] = {"few": sdk.tasks.list()[:1]}'
    call("run_code", code=kept, state="tea")
    read = 'task = sdk.state["t"]\nreturn [task.title, sdk.state["all"]["few"][0]["id"][:2], sdk.tasks.get(task).title]'

    again = [call("run_code", code=read, state="tea").data["result"] for _ in range(2)]

    assert again == [["Tea", "t_", "Tea"]] * 2


def test_a_dict_that_was_kept_in_the_state_stays_one_and_says_so(call: Call) -> None:
    call("run_code", code='sdk.state["mine"] = {"id": "x1", "title": "Tea"}', state="tea")

    assert call("run_code", code='return type(sdk.state["mine"]) is dict', state="tea").data["result"] is True
    assert 'a plain dict: write row["title"]' in failed(call, 'sdk.state["mine"].title', state="tea")


@pytest.mark.parametrize("code", ["raise SystemExit", "raise SystemExit(1)", "exit()", "import sys\nsys.exit()"])
def test_a_script_that_exits_is_told_of_return(call: Call, code: str) -> None:
    assert "return" in failed(call, code)


def test_an_error_that_was_raised_from_another_tells_of_both(call: Call) -> None:
    code = 'try:\n    int("three")\nexcept ValueError as error:\n    raise RuntimeError("No number") from error'

    failure = failed(call, code)

    assert "RuntimeError: No number (caused by ValueError: invalid literal for int() with base 10: 'three')" in failure
    assert "caused" not in failed(call, code.replace("from error", "from None"))


def test_a_cause_that_cannot_be_told_hides_nothing(call: Call) -> None:
    silent = "class Silent(Exception):\n    def __str__(self):\n        return 1 / 0\n"

    assert "RuntimeError: No (caused by Silent)" in failed(call, f"{silent}raise RuntimeError('No') from Silent()")


def test_an_input_that_is_missing_is_told_with_those_that_there_are(call: Call) -> None:
    failure = failed(call, 'inputs["x"]', inputs={"limit": 5, "title": "Tea"})

    assert "There is no input 'x': the inputs are limit, title." in failure
    assert "inputs={'x': …}, or --input x=…" in failure
    assert "there were none" in failed(call, "return inputs['x']")


def test_inputs_are_a_dict_as_any(call: Call) -> None:
    code = (
        "import copy, json\n"
        'seen = [inputs.get("x"), "limit" in inputs, inputs | {"x": 1}, copy.copy(inputs), copy.deepcopy(inputs)]\n'
        'try:\n    inputs["x"]\nexcept KeyError as error:\n    seen.append(error.args[0])\n'
        "return [*seen, json.loads(json.dumps(inputs)), {**inputs}]"
    )

    found = call("run_code", code=code, inputs={"limit": 5}).data["result"]

    assert found == [None, True, {"limit": 5, "x": 1}, {"limit": 5}, {"limit": 5}, "x", {"limit": 5}, {"limit": 5}]


@pytest.mark.parametrize(
    ("url", "title"), [("Ex", "https://example.org"), ("My page", "http://example.org/a"), ("Node.js", "https://a.org")]
)
def test_a_link_whose_title_is_the_address_is_refused(call: Call, app: App, url: str, title: str) -> None:
    with pytest.raises(InvalidInputError, match="title and url are the wrong way round") as refused:
        call("create_link", url=url, title=title)

    assert f"Give url='{title}' and title='{url}'" in refused.value.hint
    assert call("list_links").data == []
    assert f"Give url='{title}'" in failed(call, f"sdk.links.create({url!r}, {title!r})")


@pytest.mark.parametrize(
    ("url", "title"),
    [
        ("example.org", "https://www.example.org"),
        ("https://Ex", "https://example.org"),
        ("tea@example.org", "https://example.org"),
        ("example.org/a", "Example: https://example.org"),
    ],
)
def test_a_link_may_have_an_address_as_its_title(call: Call, url: str, title: str) -> None:
    assert call("create_link", url=url, title=title).data["title"] == title


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        ("Read the note with get_note and copy a line.", "Read the note with sdk.notes.get and copy a line."),
        ("list_scripts lists them.", "The tool list_scripts lists them."),
        ("Wait. See search_sdk, or search_sdk again.", "Wait. See the tool search_sdk, or the tool search_sdk again."),
        ("Go on. list_jobs tells more.", "Go on. The tool list_jobs tells more."),
        (
            "The tool search_sdk lists them; sdk.get_note is none.",
            "The tool search_sdk lists them; sdk.get_note is none.",
        ),
        ("Did you mean get_note?", "Did you mean get_note?"),
    ],
)
def test_a_hint_names_what_a_script_calls_in_the_place_of_a_tool(hint: str, expected: str) -> None:
    assert errors.from_dict({"code": "not_found", "message": "m", "hint": hint}).hint == expected


def test_what_is_not_in_a_note_is_looked_for_with_the_sdk(call: Call) -> None:
    failure = failed(call, 'note = sdk.notes.create("Tea", "green")\nsdk.notes.edit(note, "black", "white")')

    assert "Read the note with sdk.notes.get and copy the text exactly" in failure


def test_an_error_of_a_coroutine_is_told_to_be_caught_inside_of_it(call: Call) -> None:
    code = "import asyncio\nasync def f(): return 1 / 0\nawait asyncio.gather(f(), return_exceptions=True)"

    assert "Write try: … except: … inside of the coroutine." in failed(call, code)
    assert "coroutine" not in failed(call, "1 / 0")
