"""Hostile notes, titles, tags, files and names in a real browser: nothing runs and nothing is fetched."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.attacks.web.hostile_texts import MARKDOWN, TEXTS
from tests.browser.assistant import connect_assistant
from tests.browser.driver import Browser, Complaints, Page
from tests.browser.page_daemon import PageDaemon

pytestmark = pytest.mark.browser
TAG = "hostile"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'

PATHS = (
    "/today", "/tasks", f"/tasks?tag={TAG}", "/notes", f"/notes?tag={TAG}", "/projects", "/review", "/history",
    "/graph", "/calendar", "/people", "/search?q=alert", "/search?q=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E",
)  # fmt: skip


@dataclass
class Victim:
    """A tab, and what the pages that it showed have done."""

    page: Page
    complaints: Complaints
    notes: list[str] = field(default_factory=list)
    harm: list[str] = field(default_factory=list)

    def visit(self, path: str) -> None:
        """Show a page, and check that it did nothing but show itself."""
        self.harm.clear()
        self.complaints.clear()
        self.page.goto(path)
        assert self.harm + self.complaints.texts == []


@pytest.fixture(scope="module")
def victim(browser: Browser, daemon: PageDaemon, signed_in: dict[str, Any]) -> Iterator[Victim]:
    """A tab of a user whose assistant stored hostile texts."""
    state = {"cookies": signed_in["cookies"], "origins": []}
    context = browser.new_context(storage_state=state, base_url=signed_in["origin"])
    victim = Victim(context.new_page(), Complaints())
    victim.complaints.watch(context)
    host = urlsplit(signed_in["origin"]).netloc

    def note_request(request: Any) -> None:
        if urlsplit(request.url).netloc != host:
            victim.harm.append(f"asked for {request.url}")

    def note_dialog(dialog: Any) -> None:
        if dialog.type != "beforeunload":  # which asks before a half-written text is left
            victim.harm.append(f"opened {dialog.message}")
        dialog.accept()

    context.on("request", note_request)
    context.on("dialog", note_dialog)
    with connect_assistant(daemon) as assistant:
        for number, text in enumerate(MARKDOWN):
            victim.notes.append(assistant.call("create_note", title=f"Hostile {number}", content=text)["id"])
        for text in TEXTS:
            assistant.call("create_task", title=text, notes=text, tags=[TAG], deadline="today")
            assistant.call("create_project", name=text, description=text)
            assistant.call("create_note", title=text, content=text, tags=[TAG])
        assistant.call("create_person", name='<img src="x" onerror="alert(1)">')
    yield victim
    context.close()


@pytest.mark.parametrize("number", range(len(MARKDOWN)))
def test_a_hostile_note_does_nothing(victim: Victim, number: int) -> None:
    victim.visit(f"/notes/{victim.notes[number]}")

    inside = "main .prose :is(script, form, button, input, iframe, img, svg, style, link, object, embed, [style], [id])"
    assert victim.page.locator(inside).count() == 0
    assert victim.page.locator("main .prose a[href^=javascript i], main .prose a[href^=data i]").count() == 0


@pytest.mark.parametrize("path", PATHS)
def test_hostile_titles_tags_and_names_do_nothing(victim: Victim, path: str) -> None:
    victim.visit(path)

    assert victim.page.locator("main :is(script, iframe, img, [onload], [onerror], [onclick])").count() == 0


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_titles_in_the_palette_and_in_edited_rows_do_nothing(victim: Victim, text: str) -> None:
    victim.visit("/today")

    victim.page.locator("#g-today a.title").get_by_text(text, exact=True).first.click()
    assert victim.page.get_by_role("textbox", name="Title").input_value() == text
    victim.page.keyboard.press("Escape")
    victim.page.keyboard.press("Control+k")
    with victim.page.expect_response(lambda answer: "/find?q=" in answer.url and not answer.url.endswith("q=")):
        victim.page.keyboard.insert_text(text)

    assert victim.harm + victim.complaints.texts == []


def test_hostile_markdown_in_the_preview_does_nothing(victim: Victim) -> None:
    victim.visit("/notes/new")
    field = victim.page.get_by_label("Text in Markdown")

    with victim.page.expect_response("**/preview"):
        field.fill("\n\n".join(text for text in MARKDOWN if len(text) < 300))
    victim.page.locator(".preview p").first.wait_for()

    assert victim.harm + victim.complaints.texts == []
    assert victim.page.locator(".preview :is(script, form, input, iframe, img, svg, [onerror])").count() == 0


@pytest.mark.parametrize(
    ("name", "text", "media_type"),
    [
        ("page.html", "<script>alert(1)</script>", "text/html"),
        ("drawing.svg", SVG, "image/svg+xml"),
        ('"><img src=x onerror=alert(1)>.svg', SVG, "image/svg+xml"),
        (
            "data.xml",
            '<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
            "text/xml",
        ),
    ],
)
def test_a_hostile_file_is_never_opened_as_a_page(
    victim: Victim, daemon: PageDaemon, name: str, text: str, media_type: str
) -> None:
    with connect_assistant(daemon) as assistant:
        file = assistant.call("write_file", name=name, text=text, media_type=media_type)["id"]
    victim.visit("/search?q=alert&kind=file")
    victim.visit(f"/history?item={file}")

    victim.visit(f"/files/{file}")

    with victim.page.expect_download() as download:
        victim.page.evaluate("path => { location = path }", f"/files/{file}/content")
    assert download.value.path().read_text() == text
    assert victim.harm == []


TRAVERSALS = (
    "/static/../page.json", "/static/%2e%2e/page.json", "/static/x/..%2f..%2fpage.json", "/page.json", "/panorama.db",
    "/files/..%2fpage.json", "/notes/..%2f..%2fpage.json", "/static/%00", "/in/../today%00",
)  # fmt: skip


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_to_a_file_of_the_data_directory(victim: Victim, path: str) -> None:
    answer = victim.page.goto(path)

    assert answer
    assert answer.status in (404, 422) or answer.url.endswith("/today")
    assert "digest" not in answer.text()
