"""The page on adding a view: doing what it says gives a page in the menu that shows what is stored."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.honesty.pages import copy_with_page

pytestmark = pytest.mark.slow  # it copies the product

TRY = """
import re, tempfile
from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from tests.web.page_client import PageClient, make_site

with tempfile.TemporaryDirectory() as home, open_app(read_settings(home=home, timezone="UTC", embedder="none")) as app:
    browser = PageClient(app, make_site(app))
    empty = browser.page("/links")
    browser.call("links.create", url="https://example.org/a", title="A <page>")
    full = browser.page("/links")
    print("Nothing found" in empty, re.findall(r'href="(https://[^"]+)" rel="noreferrer">([^<]+)<', full))
    print(bool(re.search(r'<a href="/links" aria-current="page">.*?Links</a>', full)))
    print('data-kinds="link project"' in full)
"""


def test_the_page_adds_a_view_that_is_in_the_menu_and_shows_what_is_stored(tmp_path: Path) -> None:
    files = copy_with_page("add-a-view.md", tmp_path, "tests")

    run = subprocess.run([sys.executable, "-c", TRY], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert len(files) == 3
    assert run.stdout.splitlines() == [
        "True [('https://example.org/a', 'A &lt;page&gt;')]",
        "True",
        "True",
    ], run.stderr
