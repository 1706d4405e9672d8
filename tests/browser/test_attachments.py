"""Files that a user drops onto a note or onto the imports, or chooses in a form."""

import pytest

from tests.browser.assistant import Assistant
from tests.browser.driver import Page, expect

pytestmark = pytest.mark.browser
_DROP = """([name, content]) => {
  const data = new DataTransfer()
  data.items.add(new File([content], name))
  for (const kind of ['dragover', 'drop'])
    document.querySelector('main').dispatchEvent(
      new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }))
}"""
HOSTILE = '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=\'attacked\'"/>'


def test_a_dropped_file_is_listed_downloaded_and_taken_back(page: Page, assistant: Assistant) -> None:
    note = assistant.call("create_note", title="Plan of the attic", content="See the picture.")["id"]
    page.goto(f"/notes/{note}")
    page.evaluate(_DROP, ["attic.svg", HOSTILE])
    row = page.locator("li", has_text="attic.svg")
    expect(row).to_be_visible()

    with page.expect_download() as download:
        row.get_by_role("link", name="Download attic.svg").click()

    assert download.value.path().read_text() == HOSTILE
    assert page.title() != "attacked"
    page.get_by_role("button", name="Undo").click()
    expect(row).to_have_count(0)


def test_a_file_is_attached_while_a_text_is_written(page: Page, assistant: Assistant) -> None:
    note = assistant.call("create_note", title="Plan of the cellar", content="Dry.")["id"]
    page.goto(f"/notes/{note}/edit")
    page.get_by_role("textbox", name="Text in Markdown").fill("Half a sentence")

    page.get_by_label("Choose files").set_input_files([{"name": "cellar.txt", "mimeType": "", "buffer": b"wet"}])
    page.get_by_role("button", name="Attach").click()

    expect(page.locator("li", has_text="cellar.txt")).to_be_visible()
    expect(page.get_by_role("textbox", name="Text in Markdown")).to_have_value("Half a sentence")


def test_a_dropped_note_is_previewed_and_imported(page: Page, assistant: Assistant) -> None:
    page.goto("/imports")
    page.evaluate(_DROP, ["Plan of the roof.md", "Slate, and [[Plan of the attic]]."])
    expect(page.get_by_text("1 file to import: Plan of the roof.md")).to_be_visible()
    assert assistant.call("search", query="Slate", kinds=["note"]) == []

    page.get_by_role("button", name="Import").click()

    expect(page.locator("h1", has_text="Jobs")).to_be_visible()
    page.goto("/notes")
    expect(page.get_by_role("link", name="Plan of the roof")).to_be_visible()
