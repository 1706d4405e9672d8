"""Scripts as somebody writes them who has seen no more than what `search_sdk` prints: each runs on an empty store.

The first line says what it must return. They were written before any of them was run.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from panorama.calls import Answer

SNIPPETS = sorted((Path(__file__).parent / "snippets").glob("*.py"))


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_a_natural_script_returns_what_its_author_expects(path: Path, call: Callable[..., Answer]) -> None:
    source = path.read_text(encoding="utf-8")
    expected = json.loads(source.partition("\n")[0].removeprefix("# expect: "))

    answer = call("run_code", code=source).data

    assert "error" not in answer, answer
    assert answer["result"] == expected


def test_there_are_forty_of_them() -> None:
    assert len(SNIPPETS) == 40
