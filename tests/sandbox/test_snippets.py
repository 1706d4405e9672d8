"""Scripts as a model writes them: all of them run, and give what they must."""

import pytest

from tests.sandbox.running import run_restricted
from tests.sandbox.snippets import SNIPPETS, Fake, Snippet


@pytest.mark.parametrize("snippet", [pytest.param(snippet, id=snippet.name) for snippet in SNIPPETS])
def test_a_natural_script_runs(snippet: Snippet) -> None:
    assert run_restricted(snippet.code, sdk=Fake().sdk()) == snippet.result


def test_there_are_forty_of_them() -> None:
    assert len(SNIPPETS) == 40
