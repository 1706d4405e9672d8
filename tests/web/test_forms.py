"""What forms do: one write each, which can be undone."""

import pytest

from tests.web.page_client import PageClient


def test_a_task_is_done_and_undone(page: PageClient) -> None:
    task = page.call("tasks.create", title="Tea")["id"]

    answer = page.send("tasks.update", task=task, status="done")
    assert (answer["message"], page.rows("/tasks")) == ("Done: Tea", [])

    assert page.send("history.undo", unit=answer["undo"])["message"] == "Undone"
    assert page.rows("/tasks") == [task]


def test_a_line_becomes_a_task_with_its_tags_project_and_day(page: PageClient) -> None:
    project = page.call("projects.create", name="Kitchen")["id"]

    answer = page.send("quick", line="Call Ida tomorrow #family @kit !!")

    assert answer["message"] == "Added: Call Ida · Tomorrow"
    (task,) = page.call("tasks.list", detail="full")
    assert (task["title"], task["tags"], task["project"]) == ("Call Ida", ["family"], project)
    assert (task["deadline"], task["urgent"], task["important"]) == ("2026-05-21", True, True)


def test_a_project_named_in_a_line_comes_before_the_project_of_the_page(page: PageClient) -> None:
    kitchen, garden = (page.call("projects.create", name=name)["id"] for name in ("Kitchen", "Garden"))

    page.send("quick", line="Sow @garden", project=kitchen)
    page.send("quick", line="Paint", project=kitchen)

    assert {task["title"]: task["project"] for task in page.call("tasks.list")} == {"Sow": garden, "Paint": kitchen}


def test_without_a_script_a_form_leads_back_to_its_page(page: PageClient) -> None:
    answer = page.post("/do/quick", {"token": page.token, "line": "Tea"}, referer=f"{page.origin}/tasks?view=urgent")

    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks?view=urgent")


def test_a_new_note_is_shown_once_it_is_saved(page: PageClient) -> None:
    fields = {"title": "Tea", "content": "green\r\nblack", "tags": "#a, b", "project": "", "then": "/notes/{id}"}

    answer = page.send("notes.create", **fields)

    note = page.call("notes.get", note="Tea")
    assert answer["then"] == f"/notes/{note['id']}"
    assert (note["content"], note["tags"]) == ("green\nblack", ["a", "b"])


def test_a_note_that_changed_meanwhile_is_not_overwritten(page: PageClient) -> None:
    note = page.call("notes.create", title="Tea", content="one")["id"]
    page.call("notes.update", note=note, content="two")

    answer = page.send("notes.update", note=note, content="three", expected_version=1)

    assert answer["failed"]
    assert page.call("notes.get", note=note)["content"] == "two"


def test_a_box_that_is_not_checked_clears_its_field(page: PageClient) -> None:
    task = page.call("tasks.create", title="Tea", urgent=True)["id"]

    page.send("tasks.update", task=task, has_urgent="", has_important="", important="on")

    row = page.call("items.get", item=task)["item"]
    assert (row.get("urgent"), row["important"]) == (False, True)


def test_several_tasks_change_as_one_write(page: PageClient) -> None:
    tasks = [page.call("tasks.create", title=title)["id"] for title in "ABC"]

    answer = page.send("chosen", chosen=tasks[:2], action="deadline=tomorrow")
    assert [row["title"] for row in page.call("tasks.list", view="no_deadline")] == ["C"]

    page.send("history.undo", unit=answer["undo"])
    assert len(page.call("tasks.list", view="no_deadline")) == 3


@pytest.mark.parametrize(("action", "left"), [("status=done", 1), ("delete", 1), ("urgent=true", 3), ("project", 3)])
def test_each_change_of_several_tasks_works(page: PageClient, action: str, left: int) -> None:
    tasks = [page.call("tasks.create", title=title)["id"] for title in "ABC"]

    answer = page.send("chosen", chosen=tasks[:2], action=action, project="")

    assert answer["message"] == "2 tasks changed"
    assert len(page.rows("/tasks")) == left


def test_a_change_of_no_task_is_refused_in_words(page: PageClient) -> None:
    assert page.send("chosen", action="delete") == {
        "failed": True, "message": "No task is selected.", "hint": "Select tasks first.",
    }  # fmt: skip


def test_a_task_is_moved_before_another_of_its_day(page: PageClient) -> None:
    first, second, third = (page.call("tasks.create", title=title)["id"] for title in "ABC")

    page.send("move", task=third, before=first)
    assert page.rows("/tasks") == [third, first, second]

    page.send("move", task=third, before="")
    assert page.rows("/tasks") == [first, second, third]


def test_a_task_is_not_moved_to_another_day(page: PageClient) -> None:
    today = page.call("tasks.create", title="A", deadline="today")["id"]
    later = page.call("tasks.create", title="B", deadline="tomorrow")["id"]

    assert page.send("move", task=later, before=today)["failed"]


def test_a_question_is_asked_before_a_project_goes_with_its_items(page: PageClient) -> None:
    project = page.call("projects.create", name="Garden")["id"]
    page.call("tasks.create", title="Dig", project=project)

    asked = page.send("items.delete", item=project, items="trash")
    assert "Garden" in asked["question"]

    page.send("items.delete", item=project, items="trash", agreed=asked["agreement"])
    assert page.rows("/tasks") == []


def test_a_question_is_a_page_without_a_script(page: PageClient) -> None:
    project = page.call("projects.create", name="Garden")["id"]
    page.call("tasks.create", title="Dig", project=project)

    answer = page.post("/do/items.delete", {"token": page.token, "item": project, "items": "trash"})

    assert 'name="agreed"' in answer.text
    assert f'name="item" value="{project}"' in answer.text


def test_what_was_deleted_is_restored_from_the_trash(page: PageClient) -> None:
    task = page.call("tasks.create", title="Tea")["id"]
    page.send("items.delete", item=task)
    assert page.rows("/trash") == [task]

    page.send("items.restore", item=task)

    assert page.rows("/tasks") == [task]


def test_a_script_is_approved_by_the_user_of_the_page(page: PageClient) -> None:
    page.call("scripts.save", name="count_tasks", code='"""Count."""\n\ndef main():\n    return 1\n')
    digest = page.call("scripts.get", script="count_tasks")["digest"]

    asked = page.send("scripts.approve", script="count_tasks", digest=digest)
    page.send("scripts.approve", script="count_tasks", digest=digest, agreed=asked["agreement"])

    assert page.call("scripts.get", script="count_tasks")["state"] == "reviewed"


def test_the_sample_is_imported_and_undone(page: PageClient) -> None:
    answer = page.send("sample")
    assert len(page.rows("/tasks")) > 10

    asked = page.send("history.undo", unit=answer["undo"])
    page.send("history.undo", unit=answer["undo"], agreed=asked["agreement"])

    assert page.rows("/tasks") == []


def test_a_preview_shows_the_text_as_it_will_be(page: PageClient) -> None:
    answer = page.post("/preview", {"token": page.token, "content": "# Tea\n\n*green*"})

    assert answer.text == "<h1>Tea</h1>\n<p><em>green</em></p>\n"


def test_a_text_that_was_changed_meanwhile_is_refused_in_words_for_the_user(page: PageClient) -> None:
    note = page.call("notes.create", title="Plan", content="First.")["id"]
    page.call("notes.update", note=note, content="Second.")

    answer = page.send("notes.update", note=note, content="Third.", expected_version="1")

    assert answer["message"] == "The note Plan was changed since you opened it."
    assert answer["hint"].startswith("Your text is still here")
