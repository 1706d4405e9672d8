"""Unknown names: what a script, and a person's own Python, are told of a name that the SDK does not have."""

import pytest

from panorama.sandbox.language.advice import advise
from panorama.sdk import Connection
from tests.sandbox.running import run_restricted as ran_in_sandbox

from .conftest import InProcessClient, run_plain

NAMES = [
    ("sdk.tasks.udpate('x')", "Did you mean update", "sdk.tasks.update(task: str | Task, title: str = ...,"),
    ("sdk.querry('tasks')", "Did you mean query", 'sdk.query(collection: Literal["projects", "tasks"'),
    ("sdk.projects.listt", "Did you mean list?", 'sdk.projects.list(status: Literal["planned"'),
    ("sdk.links.read('x')", "Write sdk.links.get(…).", "sdk.links.get(link: str | Link) -> Link."),
    ("sdk.list_tasks()", "Write sdk.tasks.list(…)", "sdk.tasks.list(project: str | Project | None = None,"),
    ("sdk.now()", "Write sdk.status().now", "sdk.status() -> Status."),
]
"""Names that the SDK does not have, what is meant, and how that is called."""


@pytest.mark.parametrize(("code", "meant", "called"), NAMES)
def test_a_wrong_name_is_told_what_is_meant_and_how_it_is_called(
    code: str, meant: str, called: str, way: InProcessClient
) -> None:
    for run in (ran_in_sandbox, lambda text: run_plain(text, Connection(way))):
        with pytest.raises(AttributeError) as caught:
            run(code)

        assert meant in str(caught.value)
        assert f"It is called as {called}" in str(caught.value)


def test_an_import_of_a_wrong_name_is_told_the_same() -> None:
    with pytest.raises(ImportError, match=r"Did you mean query.* It is called as sdk\.query\(collection"):
        ran_in_sandbox("from sdk import querry")


@pytest.mark.parametrize("code", ["sdk.task", "sdk.zzzqqq"])
def test_where_no_function_is_nearest_it_is_told_what_there_is(code: str) -> None:
    with pytest.raises(AttributeError) as caught:
        ran_in_sandbox(code)

    assert "called as" not in str(caught.value)
    assert "It has ConfirmationError, ConflictError" in str(caught.value)


@pytest.mark.parametrize(
    "code",
    [
        "from panorama.sdk import connect\nwith connect() as sdk:\n    print(sdk.status().today)",
        "from sdk import connect",
        "import panorama.sdk\nwith panorama.sdk.connect() as sdk:\n    print(sdk.status().today)",
        "connect()",
    ],
)
def test_a_script_that_was_written_for_outside_is_told_that_it_is_connected(code: str) -> None:
    with pytest.raises((ImportError, AttributeError, NameError)) as caught:
        ran_in_sandbox(code)

    text = f"{caught.value} {advise(caught.value, str(caught.value))}"
    assert "`sdk` is connected already: leave out `connect`: its import, and `with connect() as sdk:`." in text
