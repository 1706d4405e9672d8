"""Notes, titles, tags and names that try to become a part of the page."""

from html.parser import HTMLParser

import pytest

from panorama.web.markdown import render_markdown
from tests.attacks.web.hostile_texts import MARKDOWN, TEXTS
from tests.web.page_client import PageClient

ALLOWED = {"class", "href", "title", "rel", "start"}


class Tags(HTMLParser):
    """Collects tags with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("text", MARKDOWN, ids=range(len(MARKDOWN)))
def test_a_hostile_note_is_text(text: str) -> None:
    html = render_markdown(text, lambda title: "/notes/n_1" if title == "Tea" else "")

    for tag, attributes in Tags(html).found:
        assert tag not in {"script", "img", "svg", "iframe", "form", "button", "input", "meta", "base", "link", "style"}
        assert attributes.keys() <= ALLOWED
        assert not (attributes.get("href") or "").strip().lower().startswith(("javascript", "data", "vbscript", "file"))


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_titles_tags_and_names_are_text_everywhere(page: PageClient, text: str) -> None:
    project = page.call("projects.create", name=text, description=text)["id"]
    task = page.call("tasks.create", title=text, notes=text, project=project, tags=["a<b>"], deadline="today")["id"]
    note = page.call("notes.create", title=text, content=text, project=project)["id"]
    page.send("tasks.update", task=task, title=f"{text} again")

    for path in (
        "/today", "/tasks", f"/tasks/{task}", "/notes", f"/notes/{note}", f"/notes/{note}/edit", "/projects", "/review",
        f"/projects/{project}", f"/projects/{project}/edit", "/history", f"/history?item={task}", "/search?q=alert",
    ):  # fmt: skip
        html = page.page(path)
        scripts = [attributes for tag, attributes in Tags(html).found if tag == "script"]
        handlers = [name for _, attributes in Tags(html).found for name in attributes if name.startswith("on")]
        assert (len(scripts), handlers) == (1, [])
        assert "<script>alert" not in html
        assert "<img" not in html


def test_braces_in_a_title_are_not_computed(page: PageClient) -> None:
    page.call("tasks.create", title="{{ 7 * 7 }}{% if x %}")

    assert "{{ 7 * 7 }}{% if x %}" in page.page("/tasks")


def test_what_is_searched_for_is_shown_as_text(page: PageClient) -> None:
    for text in TEXTS:
        html = page.http.get("/search", params={"q": text}, headers=page.headers()).text
        assert "<script>alert" not in html
        assert "<img" not in html


def test_a_note_of_ten_megabytes_is_shown_in_part(page: PageClient) -> None:
    note = page.call("notes.create", title="Long", content="*a* " * 2_500_000)["id"]

    html = page.page(f"/notes/{note}")

    assert len(html) < 2_000_000
