"""The user's own views of tasks: saved, shown, replaced, removed and undone."""

import re

import pytest

from panorama.web.views import saved_views
from panorama.web.views.saved_views import FILE_NAME
from tests.web.page_client import PageClient

CURRENT = re.compile(r'<a href="([^"]+)" aria-current="true">([^<]+)</a>')


@pytest.fixture
def garden(page: PageClient) -> str:
    """A project with an urgent task, a task, and a task elsewhere."""
    project = page.call("projects.create", name="Garden")["id"]
    page.call("tasks.create", title="Dig", project=project, urgent=True)
    page.call("tasks.create", title="Rest", project=project)
    page.call("tasks.create", title="Call", urgent=True)
    return str(project)


def list_views(page: PageClient) -> list[str]:
    """Return the names of the views after the given ones."""
    tabs = page.page("/tasks").partition('<nav class="tabs"')[2].partition("</nav>")[0]
    return re.findall(r">([^<]+)</a>", tabs)[8:]


def test_filters_are_saved_shown_and_taken_back(page: PageClient, garden: str) -> None:
    done = page.send("save_view", name="Garden now", view="urgent", project=garden, q="", tag="")
    html = page.page(f"/tasks?view=urgent&project={garden}")

    assert done["message"] == "Saved: Garden now"
    assert [name for _, name in CURRENT.findall(html)] == ["Garden now"]
    assert len(page.rows(CURRENT.findall(html)[0][0].replace("&amp;", "&"))) == 1
    page.send("history.undo", unit=done["undo"])
    assert list_views(page) == []


def test_a_view_of_the_same_name_is_replaced_and_a_removed_one_comes_back_by_undo(page: PageClient) -> None:
    page.send("save_view", name="Calls", q="call")
    page.send("save_view", name="Beds", tag="beds")
    page.send("save_view", name="Calls", q="phone")
    assert 'href="/tasks?q=phone"' in page.page("/tasks")
    assert list_views(page) == ["Calls", "Beds"]

    removed = page.send("remove_view", name="Calls")
    assert list_views(page) == ["Beds"]

    page.send("history.undo", unit=removed["undo"])
    assert list_views(page) == ["Calls", "Beds"]


def test_views_belong_to_the_data_and_not_to_the_browser(page: PageClient, site, reader: PageClient) -> None:
    page.send("save_view", name="Beds", tag="beds")

    assert list_views(PageClient(page.app, site)) == ["Beds"]
    assert list_views(reader) == ["Beds"]
    assert "save_view" not in reader.page("/tasks?tag=other")
    assert [row["name"] for row in page.call("files.list")] == [FILE_NAME]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "All"}, "No filter is chosen."),
        ({"name": " ", "q": "x"}, "“Name” is empty."),
        ({"name": "n" * 61, "q": "x"}, "60"),
    ],
)
def test_a_view_needs_a_short_name_and_a_filter(page: PageClient, fields: dict[str, str], message: str) -> None:
    answer = page.send("save_view", **fields)

    assert answer["failed"]
    assert message in answer["message"]


def test_there_is_a_limit(page: PageClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_views, "MAX_VIEWS", 5)
    for number in range(5):
        page.send("save_view", name=f"View {number}", q=f"word{number}")

    assert page.send("save_view", name="One more", q="word")["message"] == "There are 5 views already."
    assert not page.send("save_view", name="View 3", q="other").get("failed")


@pytest.mark.parametrize("text", ["not JSON", "[]", '{"views": [1]}', '{"views": "x"}', "[" * 100_000])
def test_a_file_with_another_content_is_left_as_it_is(page: PageClient, text: str) -> None:
    page.call("files.write", name=FILE_NAME, text=text)

    assert list_views(page) == []
    assert page.send("save_view", name="Beds", tag="beds")["failed"]
    assert page.call("files.get", file=FILE_NAME)["version"] == 1


def test_a_hostile_name_and_filter_stay_text(page: PageClient) -> None:
    page.send("save_view", name='<img src=x onerror="a()">', q='"><script>a()</script>&view=x')

    html = page.page("/tasks")

    assert "<img" not in html
    assert "<script>a" not in html
    assert 'href="/tasks?q=%22%3E%3Cscript%3Ea%28%29%3C%2Fscript%3E%26view%3Dx"' in html
