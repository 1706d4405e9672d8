"""Attachments: files are dropped onto a note, listed beside it, shown, downloaded and taken back."""

import re
from typing import Any

import pytest

from panorama.web.attachments import LIMITS
from tests.web.page_client import PageClient

File = tuple[str, bytes]


def attach(page: PageClient, note: str, *files: File, **headers: str) -> Any:
    """Send files as a browser does."""
    parts = [("file", (name, content)) for name, content in files]
    fields = {"token": page.token, "note": note}
    return page.http.post("/do/attach", data=fields, files=parts, headers=page.headers(**headers))


def list_names(page: PageClient, note: str) -> list[str]:
    """Return the names of the files beside a note."""
    return re.findall(r'href="/files/f_\w{10}">([^<]+)<', page.page(f"/notes/{note}"))


@pytest.fixture
def note(page: PageClient) -> str:
    """A note in a project."""
    project = page.call("projects.create", name="Kitchen")["id"]
    return str(page.call("notes.create", title="Tiles", content="See [[plan.txt]].", project=project)["id"])


def test_files_are_attached_listed_and_taken_back_by_one_undo(page: PageClient, note: str) -> None:
    answer = attach(page, note, ("b.txt", b"two"), ("a.png", bytes(range(256))), accept="application/json").json()
    assert (answer["message"], list_names(page, note)) == ("2 files attached", ["a.png", "b.txt"])
    assert {row["project"] for row in page.call("files.list")} == {page.call("notes.get", note=note)["project"]}
    assert page.call("notes.get", note=note)["version"] == 1

    page.send("history.undo", unit=answer["undo"])

    assert list_names(page, note) == []
    assert page.call("files.list") == []


def test_a_file_that_the_text_links_to_is_listed_too(page: PageClient, note: str) -> None:
    page.call("files.write", name="plan.txt", text="one")

    assert list_names(page, note) == ["plan.txt"]


def test_a_file_of_the_same_name_does_not_replace_the_first(page: PageClient, note: str) -> None:
    attach(page, note, ("a.txt", b"one"))
    attach(page, note, ("a.txt", b""))

    assert list_names(page, note) == ["a (2).txt", "a.txt"]
    assert page.call("files.get", file="a.txt")["text"] == "one"


def test_without_a_script_the_form_leads_back_to_the_note(page: PageClient, note: str) -> None:
    answer = attach(page, note, ("a.txt", b"one"), referer=f"{page.origin}/notes/{note}")

    assert (answer.status_code, answer.headers["location"]) == (303, f"/notes/{note}")


def test_a_download_has_the_bytes_and_name_of_the_file(page: PageClient, note: str) -> None:
    content = bytes(range(256)) * 300
    attach(page, note, ("Wände & Böden.bin", content))
    file = page.call("files.list")[0]["id"]

    answer = page.get(f"/files/{file}/content")

    assert answer.content == content
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''W%C3%A4nde%20%26%20B%C3%B6den.bin"
    assert page.get("/files/f_0000000000/content").status_code == 404


def test_a_file_has_a_page_with_its_text_and_what_it_belongs_to(page: PageClient, note: str) -> None:
    attach(page, note, ("a.txt", b"<b>" + b"x" * 40_000))
    file = page.call("files.list")[0]["id"]

    html = page.page(f"/files/{file}")

    assert "&lt;b&gt;xxx" in html
    assert "Only the beginning is shown." in html
    assert f'href="/notes/{note}">Tiles</a>' in html


def test_what_is_too_much_is_refused_with_the_limit(page: PageClient, note: str) -> None:
    large, several = ("a.bin", bytes(11 << 20)), [(f"{number}.txt", b"x") for number in range(11)]
    together = [(f"{number}.bin", bytes(9 << 20)) for number in range(4)]
    refusals = (
        ([large], "a.bin is too large. A file may have at most 10 MB."),
        (several, "11 files were chosen. Choose 1 to 10."),
        (together, "These files are too large together. Send them one after another."),
        ([("a.txt", b"x"), ("A.TXT", b"y")], "Two files are called A.TXT. Send them one after another."),
        ([("", b"")], "0 files were chosen. Choose 1 to 10."),
    )

    for files, words in refusals:
        answer = attach(page, note, *files, accept="application/json").json()
        assert f"{answer['message']} {answer['hint']}" == words
    assert page.call("files.list") == []


def test_a_file_of_the_largest_size_is_attached(page: PageClient, note: str) -> None:
    content = bytes(LIMITS["megabytes"] << 20)

    assert "undo" in attach(page, note, ("a.bin", content), accept="application/json").json()

    assert page.call("files.list")[0]["size"] == len(content)
