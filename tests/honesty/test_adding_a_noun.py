"""The page on adding a kind of item: doing what it says gives what every kind of the product has."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.honesty.pages import ROOT, copy_with_page

pytestmark = pytest.mark.slow  # it copies the product and runs tests in the copy

MAX_FILES = 9
TESTS = (
    "tests/services/test_quotes.py",
    "tests/honesty/test_sdk.py",
    "tests/store/test_schema.py",
    "tests/sdk/test_docstrings.py",
    "tests/sdk/test_examples.py",
)


def test_the_page_adds_a_kind_of_item_with_all_that_kinds_have(tmp_path: Path) -> None:
    files = copy_with_page("add-a-noun.md", tmp_path, "tests", "docs", "scripts")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(Path(__file__).with_name("quotes_story.py"), tmp_path / TESTS[0])

    _run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
    _run(tmp_path, "-m", "panorama.docs")

    assert len(files) <= MAX_FILES
    assert "### `create_quote`" in (tmp_path / "docs" / "tools.md").read_text(encoding="utf-8")
    assert "sdk.quotes.create(" in (tmp_path / "docs" / "sdk.md").read_text(encoding="utf-8")


def _run(folder: Path, *arguments: str) -> None:
    run = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
