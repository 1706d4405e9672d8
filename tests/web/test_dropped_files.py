"""Files dropped onto the imports view: stored, previewed, imported, and taken back."""

import json
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from panorama.web.dropped_files import AGE_SECONDS
from tests.web.page_client import PageClient

THEN = "/imports?folder={id}"
GRAPH = [
    {"type": "entity", "name": "Ida", "entityType": "person", "observations": ["Likes tea"]},
    {"type": "entity", "name": "Kettle", "entityType": "thing", "observations": ["Red"]},
    {"type": "relation", "from": "Ida", "to": "Kettle", "relationType": "owns"},
]


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def drop(page: PageClient, *files: tuple[str, bytes], **headers: str) -> Any:
    """Send files as the script of the page does."""
    parts = [("file", file) for file in files]
    fields = {"token": page.token, "then": THEN}
    return page.http.post("/do/drop", data=fields, files=parts, headers=page.headers(**headers))


def drop_and_read(page: PageClient, *files: tuple[str, bytes]) -> dict[str, Any]:
    """Send files and return the answer."""
    return dict(drop(page, *files, accept="application/json").json())


def read_figures(html: str) -> dict[str, str]:
    """Return the figures of a preview that are not zero."""
    return {name: number for name, number in re.findall(r"<dt>([^<]+)</dt><dd>(\d+)</dd>", html) if number != "0"}


def read_form(html: str) -> tuple[str, dict[str, str]]:
    """Return the name and the fields of the form that imports."""
    match = re.search(r'<form class="inline" method="post" action="/do/([^"]+)">(.+?)</form>', html)
    assert match
    return match[1], dict(re.findall(r'name="(\w+)" value="([^"]*)"', match[2]))


def test_notes_are_previewed_imported_and_taken_back(page: PageClient) -> None:
    answer = drop_and_read(page, ("Plan.md", b"# Plan\n\n- [ ] dig\n- [ ] plant\n"), ("Tea.md", b"Green."))
    preview = page.page(answer["then"])
    assert read_figures(preview) == {"Notes": "2", "Tasks": "2"}
    assert "2 files to import: Plan.md, Tea.md" in preview
    assert page.call("notes.list") == []

    name, fields = read_form(preview)
    del fields["background"]  # a job has to be waited for
    done = page.send(name, **fields)

    assert {row["title"] for row in page.call("notes.list")} == {"Plan", "Tea"}
    page.send("history.undo", unit=done["undo"])
    assert page.call("notes.list") == []


def test_the_same_files_are_imported_once(page: PageClient) -> None:
    first = drop_and_read(page, ("Tea.md", b"Green."))["then"]
    name, fields = read_form(page.page(first))
    del fields["background"]
    page.send(name, **fields)

    again = drop_and_read(page, ("Tea.md", b"Green."))["then"]
    other = drop_and_read(page, ("Tea.md", b"Black."))["then"]

    assert again == first
    assert read_figures(page.page(again)) == {"Unchanged files": "1"}
    assert read_figures(page.page(other)) == {"Notes": "1"}


def test_the_file_of_a_memory_server_is_previewed_and_imported(page: PageClient) -> None:
    content = "\n".join(map(json.dumps, GRAPH)).encode()

    preview = page.page(drop_and_read(page, ("memory.jsonl", content))["then"])
    name, fields = read_form(preview)
    del fields["background"]
    page.send(name, **fields)

    assert read_figures(preview) == {"Notes": "1", "People": "1", "Relations": "1"}
    assert [row["full_name"] for row in page.call("people.list")] == ["Ida"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("photo.png", "There is no Markdown file among them."),
        (".hidden.md", "cannot be imported"),
        (f"{'a' * 260}.md", "cannot be imported"),
    ],
)
def test_files_that_cannot_be_imported_are_refused(page: PageClient, name: str, message: str) -> None:
    answer = drop_and_read(page, (name, b"x"))

    assert answer["failed"]
    assert message in answer["message"]


def test_a_path_in_a_file_name_is_left_out(page: PageClient, temporary_folder: Path) -> None:
    drop(page, ("../../../../escape.md", b"x"))

    (written,) = temporary_folder.rglob("*.md")
    assert written.name == "escape.md"
    assert written.parents[3] == temporary_folder


def test_only_the_user_can_read_the_files_and_old_ones_are_removed(page: PageClient, temporary_folder: Path) -> None:
    drop(page, ("Old.md", b"x"))
    (old,) = temporary_folder.rglob("Old.md")
    before = time.time() - AGE_SECONDS - 60
    os.utime(old.parent, (before, before))

    drop(page, ("New.md", b"x"))

    assert [file.name for file in temporary_folder.rglob("*.md")] == ["New.md"]
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in temporary_folder.glob("*"))


def test_a_folder_that_others_may_enter_is_not_used(page: PageClient, temporary_folder: Path) -> None:
    (temporary_folder / f"panorama-{os.getuid()}").mkdir(mode=0o755)

    assert "is not private" in drop_and_read(page, ("Tea.md", b"x"))["message"]
    assert list(temporary_folder.rglob("*.md")) == []


def test_a_session_that_may_only_read_drops_nothing(reader: PageClient, temporary_folder: Path) -> None:
    assert drop(reader, ("Tea.md", b"x"), accept="application/json").status_code == 403
    assert 'action="/do/drop"' not in reader.page("/imports")
    assert list(temporary_folder.iterdir()) == []


def test_without_a_script_the_form_leads_to_the_preview(page: PageClient) -> None:
    answer = drop(page, ("Tea.md", b"Green."))

    assert answer.status_code == 303
    assert read_figures(page.page(answer.headers["location"])) == {"Notes": "1"}
