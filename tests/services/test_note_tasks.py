"""One box is one task: a checkbox line of a note and its task are completed, reopened and renamed together."""

import pytest

from panorama.errors import InvalidInputError
from tests.services.task_boxes import FIELDS, TEXT, Call, get_task, get_text, note

__all__ = ["note"]


def test_open_boxes_become_tasks_with_their_fields(call: Call) -> None:
    project = call("projects.create", name="House").data["id"]
    note = call("notes.create", title="Kitchen", content=TEXT, project="House").data["id"]

    answer = call("notes.create_tasks", note="Kitchen")

    tasks = {task["title"]: task for task in call("query", collection="tasks", select=FIELDS).data}
    assert list(tasks) == ["Order the tiles", "Call Anna", "Ask for the key"]
    assert {task["source_ref"] for task in tasks.values()} == {note}
    assert {task["project"] for task in tasks.values()} == {project}
    assert tasks["Order the tiles"]["deadline"] == "2026-12-01"
    assert tasks["Order the tiles"]["tags"] == ["kitchen"]
    assert tasks["Ask for the key"]["parent"] == tasks["Call Anna"]["id"]
    assert answer.data["count"] == 3
    assert answer.text.startswith("Made 3 tasks from checkboxes of the note “Kitchen”")


def test_a_box_becomes_a_task_once(call: Call, note: str) -> None:
    again = call("notes.create_tasks", note=note)

    assert again.data["count"] == 0
    assert "No checkbox of the note “Kitchen”" in again.text


def test_boxes_are_chosen_by_their_words(call: Call) -> None:
    note = call("notes.create", title="Kitchen", content=TEXT).data["id"]

    call("notes.create_tasks", note=note, lines=["Call Anna", "Measure the wall"])
    with pytest.raises(InvalidInputError, match="No checkbox of the note has the words 'Call Ana'"):
        call("notes.create_tasks", note=note, lines=["Call Ana"])

    assert get_task(call, "Measure the wall")["status"] == "done"
    assert call("query", collection="tasks", where={"source_ref": note}, count=True).data[0]["count"] == 2


def test_completing_a_task_ticks_its_line_in_one_unit(call: Call, note: str) -> None:
    call("tasks.update", task="Order the tiles", status="done")

    assert "- [x] Order the tiles 📅 2026-12-01 #kitchen ✅ 20" in get_text(call, note)
    call("history.undo")
    assert get_text(call, note) == TEXT
    assert get_task(call, "Order the tiles")["status"] == "todo"
    call("history.undo", redo=True)
    assert "- [x] Order the tiles" in get_text(call, note)
    assert get_task(call, "Order the tiles")["status"] == "done"


def test_ticking_a_line_completes_its_task_in_one_unit(call: Call, note: str) -> None:
    answer = call("notes.edit", note=note, old_text="- [ ] Call Anna", new_text="- [x] Call Anna")

    assert "Tasks of its lines: 1 completed." in answer.text
    assert get_task(call, "Call Anna")["status"] == "done"
    call("history.undo")
    assert get_text(call, note) == TEXT
    assert get_task(call, "Call Anna")["status"] == "todo"


def test_reopening_works_in_both_directions(call: Call, note: str) -> None:
    call("tasks.update", task="Call Anna", status="done")
    call("notes.edit", note=note, old_text="[x] Call Anna ✅ 2026-05-20", new_text="[ ] Call Anna")
    assert get_task(call, "Call Anna")["status"] == "todo"

    call("notes.edit", note=note, old_text="[ ] Order", new_text="[x] Order")
    call("tasks.update", task="Order the tiles", status="todo")

    assert get_text(call, note) == TEXT
    assert get_task(call, "Order the tiles").get("completed_at") is None


def test_every_status_has_its_mark(call: Call, note: str) -> None:
    marks = {"in_progress": "/", "cancelled": "-", "todo": " ", "idea": " ", "done": "x"}
    for status, mark in marks.items():
        call("tasks.update", task="Call Anna", status=status)
        assert f"- [{mark}] Call Anna" in get_text(call, note)


def test_a_task_and_its_line_have_the_same_words(call: Call, note: str) -> None:
    call("tasks.update", task="Order the tiles", title="Order green tiles")
    assert "- [ ] Order green tiles 📅 2026-12-01 #kitchen\n" in get_text(call, note)

    answer = call("notes.edit", note=note, old_text="Call Anna", new_text="Call Anna back")

    assert "1 renamed" in answer.text
    assert get_task(call, "Call Anna back")["source_ref"] == note


def test_a_line_follows_a_task_that_gets_quite_other_words(call: Call, note: str) -> None:
    id_ = get_task(call, "Call Anna")["id"]
    call("tasks.update", task=id_, title="Buy paint")
    call("notes.edit", note=note, old_text="- [ ] Buy paint", new_text="- [x] Buy paint")
    done = get_task(call, "Buy paint")

    call("undo")
    call("undo")
    call("notes.edit", note=note, old_text="- [ ] Call Anna", new_text="- [/] Call Anna")

    reopened = get_task(call, "Call Anna")
    assert (done["id"], done["status"]) == (id_, "done")
    assert (reopened["id"], reopened["status"]) == (id_, "in_progress")


def test_a_rename_that_is_undone_and_redone_keeps_the_line(call: Call, note: str) -> None:
    call("tasks.update", task="Call Anna", title="Buy paint")

    call("undo")
    call("undo", redo=True)
    call("notes.edit", note=note, old_text="- [ ] Buy paint", new_text="- [x] Buy paint")

    assert get_task(call, "Buy paint")["status"] == "done"


def test_the_line_of_a_task_follows_a_link_with_quite_other_words(call: Call) -> None:
    call("notes.create", title="Heating engineer")
    note = call("notes.create", title="List", content="- [ ] [[Heating engineer]]").data["id"]
    call("notes.create_tasks", note=note)

    call("notes.update", note="Heating engineer", title="Bob")
    call("notes.edit", note=note, old_text="- [ ]", new_text="- [x]")

    assert get_task(call, "[[Bob]]")["status"] == "done"


def test_the_day_in_a_line_is_the_deadline_of_its_task(call: Call, note: str) -> None:
    call("tasks.update", task="Order the tiles", deadline="2026-12-05")
    assert "- [ ] Order the tiles 📅 2026-12-05 #kitchen\n" in get_text(call, note)

    call("notes.edit", note=note, old_text="📅 2026-12-05", new_text="📅 2026-12-09")
    assert get_task(call, "Order the tiles")["deadline"] == "2026-12-09"

    call("tasks.update", task="Order the tiles", deadline="")
    assert "- [ ] Order the tiles #kitchen\n" in get_text(call, note)


def test_deleting_a_line_unlinks_its_task_and_says_so(call: Call, note: str) -> None:
    answer = call("notes.edit", note=note, old_text="    - [ ] Ask for the key\n", new_text="")

    assert "Tasks of its lines: 1 unlinked, because the line is gone." in answer.text
    assert get_task(call, "Ask for the key").get("source_ref") is None
    call("history.undo")
    assert get_task(call, "Ask for the key")["source_ref"] == note
    call("tasks.update", task="Ask for the key", status="done")
    assert "- [x] Ask for the key" in get_text(call, note)


def test_deleting_a_task_leaves_its_line_and_unlinks(call: Call, note: str) -> None:
    id_ = get_task(call, "Call Anna")["id"]
    call("items.delete", item=id_, items="keep")
    assert get_text(call, note) == TEXT

    call("notes.edit", note=note, old_text="[ ] Call Anna", new_text="[x] Call Anna")
    call("items.restore", item=id_)

    assert get_task(call, "Call Anna")["status"] == "done"
    assert get_task(call, "Call Anna")["source_ref"] == note


def test_a_line_that_got_another_task_stays_with_it(call: Call, note: str) -> None:
    id_ = get_task(call, "Call Anna")["id"]
    call("items.delete", item=id_, items="keep")
    call("notes.create_tasks", note=note)

    call("items.restore", item=id_)

    rows = call("query", collection="tasks", where={"title": "Call Anna"}, select=FIELDS).data
    assert {row["id"]: row.get("source_ref") for row in rows}[id_] is None
    assert sorted(row.get("source_ref") or "" for row in rows) == ["", note]


def test_a_restored_note_shows_what_became_of_its_tasks(call: Call, note: str) -> None:
    call("items.delete", item=note)
    call("tasks.update", task="Call Anna", status="done", title="Call Anna Berg")

    call("items.restore", item=note)

    assert "- [x] Call Anna Berg" in get_text(call, note)


def test_lines_are_followed_when_others_move(call: Call, note: str) -> None:
    lines = TEXT.splitlines()
    moved = "\n".join(["- [ ] New", *lines[:2], *lines[3:5], "Some words", lines[2], *lines[5:]])
    call("notes.update", note=note, content=moved)

    call("tasks.update", task="Order the tiles", status="done")
    call("tasks.update", task="Ask for the key", status="done")

    assert "Some words\n- [x] Order the tiles" in get_text(call, note)
    assert "    - [x] Ask for the key" in get_text(call, note)
    assert "- [ ] New\n" in get_text(call, note)


def test_equal_lines_keep_their_tasks_apart(call: Call) -> None:
    note = call("notes.create", title="List", content="- [ ] milk\n- [ ] milk\n- [ ] milk").data["id"]
    tasks = call("notes.create_tasks", note=note).data["tasks"]

    call("tasks.update", task=tasks[1]["id"], status="done")
    assert get_text(call, note) == "- [ ] milk\n- [x] milk\n- [ ] milk"
    call("notes.update", note=note, content="- [x] milk\n- [ ] milk")

    rows = call("query", collection="tasks", sort=["id"], select=FIELDS).data
    assert [(row["id"], row["status"], row.get("source_ref")) for row in rows] == [
        (tasks[0]["id"], "todo", None), (tasks[1]["id"], "done", note), (tasks[2]["id"], "todo", note),
    ]  # fmt: skip


def test_an_id_in_the_line_finds_it_under_other_words(call: Call) -> None:
    content = "- [ ] Order tiles ^k1\n- [ ] Call 🆔 a2\n- [ ] Rest"
    note = call("notes.create", title="List", content=content).data["id"]
    call("notes.create_tasks", note=note)

    call("notes.update", note=note, content="- [ ] Paint 🆔 a2\n- [ ] Rest\n- [x] Wholly other words ^k1")

    tasks = call("query", collection="tasks", sort=["id"], select=FIELDS).data
    assert [(task["title"], task["status"]) for task in tasks] == [
        ("Wholly other words", "done"), ("Paint", "todo"), ("Rest", "todo"),
    ]  # fmt: skip


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_nothing_of_a_text_changes_but_the_mark(call: Call, line_break: str) -> None:
    content = line_break.join(["> * [ ] quoted  ^b1 ", "1. [X] big mark", "\t+ [ ] deep 🔁 odd", "", "end  "])
    note = call("notes.create", title="List", content=content).data["id"]
    call("notes.create_tasks", note=note, lines=["quoted", "big mark"])

    call("tasks.update", task="quoted", status="done")
    call("tasks.update", task="big mark", status="done", rank=3)

    assert get_text(call, note) == content.replace("* [ ]", "* [x]")


def test_a_completed_recurring_box_gets_the_next_one_above_it(call: Call) -> None:
    content = "- [ ] Water 🔁 every week 📅 2099-01-02 ^w\n- [ ] Rest"
    note = call("notes.create", title="Plants", content=content).data["id"]
    call("notes.create_tasks", note=note)

    call("tasks.update", task="Water", status="done")

    assert get_text(call, note).splitlines() == [
        "- [ ] Water 🔁 every week 📅 2099-01-09", "- [x] Water 🔁 every week 📅 2099-01-02 ^w", "- [ ] Rest",
    ]  # fmt: skip
    open_ = call("query", collection="tasks", where={"title": "Water", "status": "open"}, select=FIELDS).data
    assert [(task["deadline"], task["source_ref"]) for task in open_] == [("2099-01-09", note)]
    call("notes.edit", note=note, old_text="[ ] Water", new_text="[x] Water")
    assert get_text(call, note).splitlines()[0] == "- [ ] Water 🔁 every week 📅 2099-01-16"
    call("history.undo", count=2)
    assert call("notes.get", note=note, chars=20_000).data["content"] == content
    assert call("query", collection="tasks", where={"title": "Water"}, count=True).data[0]["count"] == 1


def test_a_renamed_link_renames_the_task_of_its_line(call: Call) -> None:
    call("notes.create", title="Tiler")
    note = call("notes.create", title="List", content="- [ ] Call [[Tiler]]").data["id"]
    call("notes.create_tasks", note=note)

    call("notes.update", note="Tiler", title="Tiler Novak")

    assert get_task(call, "Call [[Tiler Novak]]")["source_ref"] == note


def test_a_large_note_with_many_boxes_stays_linked(call: Call) -> None:
    content = "\n".join(f"- [ ] task number {number}\n{'words ' * 80}" for number in range(250))
    note = call("notes.create", title="Large", content=content).data["id"]

    assert call("notes.create_tasks", note=note).data["count"] == 250
    call(
        "notes.update", note=note, content=f"- [ ] on top\n{content}".replace("[ ] task number 7\n", "[x] task no 7\n")
    )

    assert get_task(call, "task no 7")["status"] == "done"
    call("tasks.update", task="task number 249", status="done")
    assert call("notes.get", note=note, start=len(content) - 600, chars=1000).data["content"].count("[x]") == 1


def test_more_boxes_than_one_edit_can_change_at_once_are_refused(call: Call) -> None:
    note = call("notes.create", title="Many", content="".join(f"- [ ] box {number}\n" for number in range(251))).data

    with pytest.raises(InvalidInputError, match=r"“Many” would have 251 checkboxes .* at most 250") as refused:
        call("notes.create_tasks", note=note["id"])

    assert "`lines`" in refused.value.hint
    assert call("notes.create_tasks", note=note["id"], lines=["box 7"]).data["count"] == 1


@pytest.mark.parametrize("rest", ["\n" * 5_000, "x" * 500_000])
def test_a_text_that_is_too_long_to_follow_its_boxes_is_refused(call: Call, rest: str) -> None:
    short = call("notes.create", title="Short", content="- [ ] a box").data["id"]
    call("notes.create_tasks", note=short)
    call("notes.create", title="Long", content=f"- [ ] another{rest}")

    with pytest.raises(InvalidInputError, match="“Long” is too long"):
        call("notes.create_tasks", note="Long")
    with pytest.raises(InvalidInputError, match="“Short” is too long"):
        call("notes.update", note=short, content=f"- [x] a box{rest}")

    assert get_task(call, "a box")["status"] == "todo"


def test_the_lines_of_all_that_recur_are_above_those_that_are_done(call: Call) -> None:
    content = "".join(f"- [ ] {name} 🔁 every week 📅 2026-05-20\n" for name in ("a", "b", "c"))
    note = call("notes.create", title="Many", content=content).data["id"]
    call("notes.create_tasks", note=note)

    call("notes.update", note=note, content=content.replace("[ ]", "[x]"))
    call("tasks.update", task=_open(call, "b"), status="cancelled")

    assert [line[:7] for line in get_text(call, note).splitlines()] == [
        "- [ ] a", "- [x] a", "- [-] b", "- [x] b", "- [ ] c", "- [x] c",
    ]  # fmt: skip


def _open(call: Call, title: str) -> str:
    return call("query", collection="tasks", where={"title": title, "status": "todo"}).data[0]["id"]


def test_a_title_that_ends_like_a_tag_or_a_date_is_whole_after_an_undo(call: Call) -> None:
    note = call("notes.create", title="Hall", content="- [ ] paint ^p1\n").data["id"]
    task = call("notes.create_tasks", note=note).data["tasks"][0]["id"]
    title = "paint #hall 📅 2026-01-01"
    call("tasks.update", task=task, title=title)
    text = get_text(call, note)

    call("tasks.update", task=task, status="done")
    call("history.undo")
    after_task = call("items.get", item=task).data["item"]["title"], get_text(call, note)
    call("notes.update", note=note, content="")
    call("history.undo")

    assert after_task == (title, text)
    assert (call("items.get", item=task).data["item"]["title"], get_text(call, note)) == (title, text)
