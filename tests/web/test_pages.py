"""Every view, with nothing stored and with a life in it."""

import re
from pathlib import Path

import pytest
from sqlalchemy import event

from panorama.services.history.project_writes import list_project_writes
from panorama.web.menu import Menu
from panorama.web.page_calls import PageCalls
from panorama.web.views import VIEWS
from tests.web.page_client import PageClient
from tests.working import at_work

MENU = [view for view in VIEWS if "{" not in view.path]


@pytest.mark.parametrize("view", MENU, ids=lambda view: view.path)
def test_a_view_of_an_empty_store_says_what_to_do(page: PageClient, view) -> None:
    html = page.page(view.path)

    assert f"<title>{view.title}" in html
    assert html.count("<h1>") == 1


@pytest.fixture
def life(page: PageClient) -> dict[str, str]:
    """A project with tasks and a note, and a script that ran."""
    project = page.call("projects.create", name="Garden")["id"]
    task = page.call("tasks.create", title="Dig", project=project, deadline="yesterday", urgent=True, tags=["beds"])[
        "id"
    ]
    note = page.call("notes.create", title="Seeds", content="See [[Beds]]\n\n- [x] beans", project=project)["id"]
    page.call("notes.create", title="Beds", content="Three of them, see [[Seeds]]")
    page.call("notes.create", title="Diary", content="Bought Seeds")
    page.call("tasks.update", task=task, title="Dig bed one")
    code = '"""Count."""\n\ndef main():\n    return len(sdk.tasks.list())\n'
    page.call("scripts.save", name="count_tasks", code=code)
    page.app.recorder.flush()
    return {"project": project, "task": task, "note": note}


def test_every_view_of_an_item_shows_it(page: PageClient, life: dict[str, str]) -> None:
    assert "Dig bed one" in page.page(f"/tasks/{life['task']}")
    assert "Dig bed one" in page.page(f"/projects/{life['project']}")
    assert "Garden" in page.page(f"/projects/{life['project']}/edit")
    assert "Three of them" not in page.page(f"/notes/{life['note']}/edit")
    assert "Count." in page.page("/scripts/count_tasks")


def test_a_note_links_the_notes_it_names_and_those_that_name_it(page: PageClient, life: dict[str, str]) -> None:
    html = page.page(f"/notes/{life['note']}")

    assert re.search(r'<a class="wiki" href="/notes/n_\w{10}" rel="[a-z ]+">Beds</a>', html)
    assert "☑" in html
    assert "Three of them, see [[Seeds]]" in html.partition("Mentioned in")[2]
    assert ">Diary</a>" in html.partition("Named without a link")[2]


def test_the_history_of_an_item_shows_what_changed(page: PageClient, life: dict[str, str]) -> None:
    html = page.page(f"/history?item={life['task']}")

    assert "<del>Dig</del> <ins>Dig bed one</ins>" in html


def test_tasks_are_grouped_by_their_deadlines(page: PageClient) -> None:
    for title, deadline in (("A", "yesterday"), ("B", "today"), ("C", "tomorrow"), ("D", "in 3 weeks"), ("E", "")):
        page.call("tasks.create", title=title, **({"deadline": deadline} if deadline else {}))

    html = page.page("/tasks")

    assert re.findall(r'<section class="group" id="g-(\w+)"', html) == ["overdue", "today", "soon", "later", "none"]


def test_tasks_are_filtered_by_words_project_and_tag(page: PageClient, life: dict[str, str]) -> None:
    other = page.call("tasks.create", title="Read")["id"]

    assert page.rows("/tasks?q=dig") == [life["task"]]
    assert page.rows(f"/tasks?project={life['project']}") == [life["task"]]
    assert page.rows("/tasks?tag=beds") == [life["task"]]
    assert page.rows("/tasks?view=no_deadline") == [other]


def test_what_is_not_there_is_a_page_that_says_so(page: PageClient) -> None:
    answer = page.get("/notes/n_0000000000")

    assert answer.status_code == 404
    assert "n_0000000000" in answer.text


def test_results_say_in_the_words_of_the_page_how_many_and_why(page: PageClient, life: dict[str, str]) -> None:
    english, german = page.page("/search?q=threx"), page.page("/search?q=three", accept_language="de-DE")

    assert "with corrected words · by words alone" in english
    assert "1 Treffer · nur nach Wörtern" in german
    assert "<mark>Three</mark> of them" in german
    assert all(f">{kind}</a>" in german for kind in ("Personen", "Treffen", "Dateien"))


def test_the_history_shows_lists_and_switches_as_words(page: PageClient, life: dict[str, str]) -> None:
    html = page.page(f"/history?item={life['task']}")

    assert "<ins>beds</ins>" in html
    assert "<ins>Yes</ins>" in html


def test_a_list_goes_on_behind_its_first_page(page: PageClient) -> None:
    for number in range(62):
        page.call("notes.create", title=f"Note {number}")

    first = page.page("/notes")
    cursor = re.search(r'href="(/notes\?[^"]*cursor=[^"]+)"', first)

    assert cursor
    assert len(page.rows(cursor[1].replace("&amp;", "&"))) == 2


def test_the_palette_finds_views_and_items(page: PageClient, life: dict[str, str]) -> None:
    views = page.http.get("/find?q=rev", headers=page.headers()).json()
    items = page.http.get("/find?q=seeds", headers=page.headers()).json()

    assert {"title": "Review", "href": "/review", "kind": "Page"} in views
    assert {"title": "Seeds", "href": f"/notes/{life['note']}", "kind": "Note"} in items


def test_reading_pages_is_not_logged_as_calls_and_reminds_nobody_of_the_item_read_last(
    page: PageClient, life: dict[str, str]
) -> None:
    page.page(f"/notes/{life['note']}")
    page.send("tasks.update", task=life["task"], status="done")
    page.app.recorder.flush()

    names = [row["name"] for row in page.call("calls.list") if row["client"] == "browser"]

    assert names == ["tasks.update"]


def test_a_page_may_be_looked_at_again_and_again(page: PageClient, life: dict[str, str]) -> None:
    for _ in range(12):
        assert "Dig bed one" in page.page("/today")


def test_folded_groups_of_today_are_sent_once_they_are_opened(page: PageClient) -> None:
    later = page.call("tasks.create", title="Prune", deadline="2026-09-01")["id"]
    idea = page.call("tasks.create", title="Bees", status="idea")["id"]

    assert page.rows("/today") == []
    assert 'href="/today?open=ideas,later#ideas"' in page.page("/today?open=later")

    assert page.rows("/today?open=later") == [later]
    assert page.rows("/today?open=ideas,later,x") == [later, idea]
    assert "Done lately" not in page.page("/today?open=done")


def test_a_long_note_is_shown_up_to_a_limit_and_says_so(page: PageClient) -> None:
    note = page.call("notes.create", title="Long", content="word " * 100_000)["id"]

    html = page.page(f"/notes/{note}")

    assert "Only the beginning is shown" in html
    assert len(html) < 400_000


def test_projects_are_read_again_only_after_a_change(page: PageClient, life: dict[str, str]) -> None:

    calls = PageCalls(page.app)
    menu = Menu(calls)
    first = menu.list_projects(calls.get_number())

    again = menu.list_projects(calls.get_number())
    page.call("projects.update", project=life["project"], name="Allotment")
    changed = menu.list_projects(calls.get_number())

    assert first is again
    assert changed[life["project"]]["name"] == "Allotment"


def test_a_project_shows_how_much_there_is_and_how_much_of_it_is_done(page: PageClient, life: dict[str, str]) -> None:
    page.call("tasks.create", title="Plant", project=life["project"])
    page.call("tasks.update", task=life["task"], status="done")

    html = page.page(f"/projects/{life['project']}")

    assert 'aria-label="Burn-up: Scope 2, Completed 1, 20 May"' in html


def test_a_project_shows_who_changed_what_last_and_links_each_change(page: PageClient, life: dict[str, str]) -> None:
    other = page.call("projects.create", name="Kitchen")["id"]
    page.call("tasks.create", title="Paint", project=other)
    page.call("projects.update", project=life["project"], description="Behind the house")
    page.call("items.delete", item=life["task"])
    page.send("tasks.create", title="Sow", project=life["project"])

    feed = page.page(f"/projects/{life['project']}").partition("Latest changes")[2]

    rows = re.findall(r'chip">(\w+)</span><a class="title" href="/history\?item=(\w+)#c-(\d+)">([^<]+)</a>', feed)
    assert [(action, title) for action, _, _, title in rows] == [
        ("create", "Sow"), ("delete", "Dig bed one"), ("update", "Garden"), ("update", "Dig bed one"),
        ("create", "Seeds"), ("create", "Dig bed one"), ("create", "Garden"),
    ]  # fmt: skip
    assert re.findall(r'meta"><span>(\w+)</span>', feed)[:2] == ["browser", "assistant"]
    assert all(f'id="c-{change}"' in page.page(f"/history?item={item}") for _, item, change, _ in rows)


def test_a_project_shows_how_many_changes_a_write_made_in_all(page: PageClient) -> None:
    garden, kitchen = (page.call("projects.create", name=name)["id"] for name in ("Garden", "Kitchen"))
    steps = [{"tool": "create_task", "args": {"title": f"Bed {number}", "project": garden}} for number in range(70)]
    page.call("batch", operations=[*steps, {"tool": "create_task", "args": {"title": "Paint", "project": kitchen}}])

    feeds = [page.page(f"/projects/{project}").partition("Latest changes")[2] for project in (garden, kitchen)]

    assert [re.findall(r"<span>(\d+) changes</span>", feed) for feed in feeds] == [["71"], ["71"]]


def test_the_changes_of_a_project_are_read_with_as_many_statements_however_many_there_are(page: PageClient) -> None:
    def count(project: str) -> int:
        statements: list[str] = []
        database = page.app.context.database
        with database.reading() as session:
            event.listen(session.connection, "before_cursor_execute", lambda *given: statements.append(given[2]))
            assert list_project_writes(session, project, 50, page.app.context.zone)
        return len(statements)

    small, large = (page.call("projects.create", name=name)["id"] for name in ("Small", "Large"))
    for number in range(30):
        page.call("tasks.create", title=f"Task {number}", project=large)
    page.call("tasks.create", title="Only one", project=small)

    assert count(large) == count(small)


def test_long_lists_are_cut_and_say_so(page: PageClient) -> None:
    for start in range(0, 320, 80):
        steps = [
            {"tool": "create_task", "args": {"title": f"Chore {number}", "deadline": "today"}}
            for number in range(start, start + 80)
        ]
        page.call("batch", operations=steps)
    page.call("tasks.create", title="Rare word", deadline="in 9 weeks")

    today, week = page.page("/today"), page.page("/calendar")

    assert "321 open" in today
    assert "The first 300 tasks by date are shown." in today
    assert "291 more" in week
    assert len(page.rows("/tasks?q=rare")) == 1
    assert "The 100 best matches are shown." in page.page("/tasks?q=chore")


def test_a_heading_that_repeats_the_title_is_not_shown_twice(page: PageClient) -> None:
    tea = page.call("notes.create", title="Tea", content="# Tea\n\nGreen.")["id"]
    other = page.call("notes.create", title="Coffee", content="# Beans\n\nBlack.")["id"]

    assert page.page(f"/notes/{tea}").count("<h1>") == 1
    assert "<h1>Beans</h1>" in page.page(f"/notes/{other}")


def test_a_folder_is_previewed_before_it_is_imported(page: PageClient, reader: PageClient, tmp_path: Path) -> None:
    (tmp_path / "Plan.md").write_text("# Plan\n\n- [ ] dig\n- [ ] plant\n")

    preview = page.page(f"/imports?folder={tmp_path}")
    refused = page.page("/imports?folder=/nowhere/at/all")
    nothing = reader.page(f"/imports?folder={tmp_path}")

    assert re.findall(r"<dt>(Notes|Tasks)</dt><dd>(\d+)</dd>", preview) == [("Notes", "1"), ("Tasks", "2")]
    assert page.call("tasks.list") == []
    assert 'role="alert"' in refused
    assert 'class="tiles"' not in nothing


def test_an_import_says_in_the_language_of_the_page_that_it_runs(page: PageClient, tmp_path: Path) -> None:
    (tmp_path / "Plan.md").write_text("# Plan\n\n- [ ] Dig\n")
    fields = {"token": page.token, "folder": str(tmp_path), "background": "true"}

    with at_work(page.app):
        answer = page.post("/do/import.markdown", fields, accept="application/json", accept_language="de").json()

    assert answer["message"] == "Der Import läuft im Hintergrund"


def test_a_dry_run_shows_what_is_there_and_what_would_be(page: PageClient, life: dict[str, str]) -> None:
    code = f'"""Rename."""\n\ndef main():\n    sdk.tasks.update("{life["task"]}", title="Dig bed two")\n'
    page.call("scripts.save", name="rename", code=code)
    page.call("run_script", script="rename", dry_run=True)
    page.app.recorder.flush()

    html = page.page("/scripts/rename")

    assert "<del>Dig bed one</del> <ins>Dig bed two</ins>" in html


def test_a_dry_run_shows_a_day_in_words_as_its_date(page: PageClient, life: dict[str, str]) -> None:
    code = f'"""Move."""\n\ndef main():\n    sdk.tasks.update("{life["task"]}", deadline="+2d")\n'
    page.call("scripts.save", name="move", code=code)
    page.call("run_script", script="move", dry_run=True)
    page.app.recorder.flush()

    assert "<del>2026-05-19</del> <ins>2026-05-22</ins>" in page.page("/scripts/move")


def test_a_schedule_shows_its_rule_and_when_it_runs_next(page: PageClient) -> None:
    page.call("schedules.add", kind="backup", every="1 day", name="Nightly")
    paused = page.call("schedules.add", kind="backup", cron="0 3 * * *", name="Night")["id"]
    page.call("schedules.pause", schedule=paused)

    html = page.page("/jobs")

    assert "<code>every 1d</code>" in html
    assert re.search(r"next (Today|Tomorrow) \d\d:\d\d", html)
    assert '<code>cron 0 3 * * *</code><span class="meta"><span class="chip">paused</span>' in html


def test_an_address_without_a_page_is_answered_in_the_users_language(page: PageClient) -> None:
    answer = page.get("/nowhere", accept_language="de")

    assert answer.status_code == 404
    assert "Diese Seite gibt es nicht." in answer.text
    assert 'href="/today"' in answer.text
