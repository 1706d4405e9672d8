"""A tool that does not exist is answered with the one that does it."""

from collections.abc import Callable

import pytest

from panorama.calls.rendering import Answer
from panorama.errors import NotFoundError

MEANT = {
    "complete_task": 'Call update_task with status="done".',
    "archive_project": 'Call update_project with status="archived".',
    "get_task": "Call get_item.",
    "remove_link": "Call delete_item.",
    "create_taks": "Did you mean create_task",
    "search_notes": "search",
    "fly_to_the_moon": "Look at the list of tools.",
    "nothing": "Look at the list of tools.",
    "notes.gett": "Did you mean notes.get",
}


@pytest.mark.parametrize("name", MEANT)
def test_a_tool_that_others_would_have_is_told_by_its_name_here(call: Callable[..., Answer], name: str) -> None:
    with pytest.raises(NotFoundError) as refused:
        call(name)

    assert MEANT[name] in refused.value.hint
