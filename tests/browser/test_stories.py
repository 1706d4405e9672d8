"""What a user does on the page, from the first key to what is stored."""

import re
from pathlib import Path

import pytest

from tests.browser.assistant import Assistant
from tests.browser.driver import Complaints, Page, expect
from tests.browser.probes import SLOW_FETCH

pytestmark = pytest.mark.browser
FILES = 300
"""Enough for an import to report its progress several times."""


def test_a_line_becomes_a_task_with_its_day_tag_and_priority(page: Page) -> None:
    page.goto("/today")

    page.keyboard.press("q")
    page.keyboard.type("Buy stamps tomorrow #post !")
    page.keyboard.press("Enter")

    row = page.locator("#g-soon li", has_text="Buy stamps")
    expect(row).to_contain_text("Tomorrow")
    expect(row).to_contain_text("Urgent")
    expect(row.locator(".tag")).to_have_text("post")
    expect(page.get_by_label("New task")).to_have_value("")


def test_a_title_is_edited_where_it_is(page: Page, assistant: Assistant) -> None:
    task = assistant.call("create_task", title="Sew the curtain", deadline="today")["id"]
    page.goto("/today")

    page.locator(f"#{task} a.title").click()
    page.get_by_role("textbox", name="Title").fill("Sew both curtains")
    page.keyboard.press("Enter")

    expect(page.locator(f"#{task} a.title")).to_be_focused()
    expect(page.locator("#toasts")).to_contain_text("Sew both curtains")
    assert assistant.call("get_item", item=task)["item"]["title"] == "Sew both curtains"


def test_escape_leaves_a_title_as_it_was(page: Page, assistant: Assistant) -> None:
    task = assistant.call("create_task", title="Wax the skis", deadline="today")["id"]
    page.goto("/today")

    page.locator(f"#{task} .tick-box").focus()
    page.keyboard.press("e")
    page.get_by_role("textbox", name="Title").fill("Sell the skis")
    page.keyboard.press("Escape")

    expect(page.locator(f"#{task} a.title")).to_have_text("Wax the skis")
    assert assistant.call("get_item", item=task)["item"]["title"] == "Wax the skis"


def test_a_task_that_is_ticked_comes_back_with_undo(page: Page, assistant: Assistant) -> None:
    task = assistant.call("create_task", title="Return the ladder", deadline="today")["id"]
    page.goto("/today")

    page.get_by_role("checkbox", name="Done: Return the ladder").click()
    expect(page.locator(f"#g-today #{task}")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()

    expect(page.locator(f"#g-today #{task}")).to_be_visible()
    assert assistant.call("get_item", item=task)["item"]["status"] == "todo"


def test_a_folded_group_stays_as_the_user_left_it_while_others_write(page: Page, assistant: Assistant) -> None:
    assistant.call("create_task", title="Build a sauna", status="idea")
    page.goto("/today")
    row = page.locator("#ideas li", has_text="Build a sauna")

    page.locator("#ideas summary").click()
    expect(row).to_be_visible()
    assistant.call("create_task", title="Build a pier", status="idea")
    expect(page.locator("#ideas li", has_text="Build a pier")).to_be_visible()

    page.locator("#ideas summary").click()
    expect(row).to_have_count(0)
    assistant.call("create_task", title="Buy hinges", deadline="today")
    expect(page.locator("#g-today li", has_text="Buy hinges")).to_be_visible()
    expect(row).to_have_count(0)


def test_filters_leave_the_tasks_that_match(page: Page, assistant: Assistant) -> None:
    assistant.call("create_task", title="Paint the fence", tags=["filter"])
    assistant.call("create_task", title="Paint the gate", tags=["filter"])
    page.goto("/tasks")

    page.locator("select[name=tag]").select_option("filter")
    page.get_by_label("Words").fill("fence")
    page.get_by_role("button", name="Filter").click()

    expect(page.locator("main .rows li")).to_have_count(1)
    expect(page.locator("main .rows")).to_contain_text("Paint the fence")
    expect(page).to_have_url(re.compile(r"tag=filter"))


def test_several_tasks_are_changed_at_once_with_the_keyboard(page: Page, assistant: Assistant) -> None:
    for number in range(3):
        assistant.call("create_task", title=f"Plant bulb {number}", tags=["bulbs"])
    page.goto("/tasks?tag=bulbs")
    expect(page.locator("body")).to_have_attribute("data-live", "on")

    for key in ("j", "s", "j", "s"):
        page.keyboard.press(key)
    expect(page.locator(".choose:checked")).to_have_count(2)
    assistant.call("create_task", title="Plant the last bulb", tags=["bulbs"])
    expect(page.locator("#g-none li")).to_have_count(4)  # the selection is still there
    page.get_by_label("Change").select_option("deadline=tomorrow")
    page.get_by_role("button", name="Apply").press("Enter")

    expect(page.locator("#toasts")).to_contain_text("2 tasks changed")
    expect(page.locator("#g-soon li")).to_have_count(2)
    expect(page.locator("#g-none li")).to_have_count(2)
    expect(page.locator(".choose:checked")).to_have_count(0)


def test_a_task_is_moved_with_the_keyboard_and_keeps_the_focus(page: Page, assistant: Assistant) -> None:
    ids = [assistant.call("create_task", title=f"Stack log {letter}", tags=["logs"])["id"] for letter in "ABC"]
    page.goto("/tasks?tag=logs")
    page.locator(f"#{ids[2]} .tick-box").focus()

    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("main .rows li").nth(1)).to_have_attribute("id", ids[2])
    page.keyboard.press("Alt+ArrowUp")

    expect(page.locator("main .rows li").first).to_have_attribute("id", ids[2])
    expect(page.locator(f"#{ids[2]} .tick-box")).to_be_focused()


def test_a_task_is_dragged_to_another_place_with_the_mouse(page: Page, assistant: Assistant) -> None:
    ids = [assistant.call("create_task", title=f"Saw log {letter}", tags=["sawn"])["id"] for letter in "ABC"]
    page.goto("/tasks?tag=sawn")

    page.locator(f"#{ids[2]}").drag_to(page.locator(f"#{ids[0]}"), target_position={"x": 40, "y": 3})

    expect(page.locator("main .rows li").first).to_have_attribute("id", ids[2])
    expect(page.locator("#toasts")).to_contain_text("Moved: Saw log C")


def test_a_note_that_changed_meanwhile_is_not_overwritten_and_the_text_stays(page: Page, assistant: Assistant) -> None:
    note = assistant.call("create_note", title="Recipe", content="Flour.")["id"]
    page.goto(f"/notes/{note}/edit")
    page.get_by_label("Text in Markdown").fill("Flour and salt.")
    assistant.call("append_to_note", note=note, block="Water.")

    page.keyboard.press("Control+Enter")

    expect(page.locator(".toast.bad")).to_be_visible()
    expect(page.get_by_label("Text in Markdown")).to_have_value("Flour and salt.")
    assert "Flour and salt" not in assistant.call("get_note", note=note)["content"]
    page.once("dialog", lambda dialog: dialog.accept())


def test_a_half_written_text_survives_a_change_by_an_assistant(page: Page, assistant: Assistant) -> None:
    task = assistant.call("create_task", title="Order the lamp")["id"]
    page.goto(f"/tasks/{task}")
    expect(page.locator("body")).to_have_attribute("data-live", "on")
    field = page.locator("textarea[name=notes]")
    field.fill("the brass one, if")

    assistant.call("update_task", task=task, title="Order both lamps")

    expect(page.locator("h1")).to_have_text("Order both lamps")
    expect(field).to_have_value("the brass one, if")
    expect(field).to_be_focused()


def test_a_preview_shows_the_note_while_it_is_written(page: Page) -> None:
    page.goto("/notes/new")

    page.get_by_label("Text in Markdown").fill("# Soup\n\n*hot* and [[Kitchen budget]]")

    expect(page.locator(".preview h1")).to_have_text("Soup")
    expect(page.locator(".preview a.wiki")).to_have_text("Kitchen budget")


def test_results_appear_while_one_types(page: Page) -> None:
    page.goto("/search")

    page.keyboard.type("kitchen bud")

    expect(page.locator(".hits")).to_contain_text("Kitchen budget")
    expect(page.locator("#words")).to_be_focused()
    expect(page.locator("#words")).to_have_value("kitchen bud")
    expect(page).to_have_url(re.compile("q=kitchen"))


def test_the_palette_leads_to_a_page_and_to_a_note(page: Page) -> None:
    page.goto("/today")

    page.keyboard.press("Control+k")
    page.keyboard.type("weekly rev")
    expect(page.locator("[role=option]").first).to_contain_text("Weekly review")
    page.keyboard.press("Enter")

    expect(page.locator("h1")).to_contain_text("Weekly review")
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page).to_have_url(re.compile("/today$"))


def test_an_import_shows_its_progress_until_it_has_ended(page: Page, tmp_path: Path) -> None:
    for number in range(FILES):
        (tmp_path / f"Leaf {number}.md").write_text(f"# Leaf {number}\n\nPressed.\n- [ ] Name leaf {number}\n")
    page.goto("/welcome")

    page.get_by_label("Folder").fill(str(tmp_path))
    page.get_by_role("button", name="Import", exact=True).click()

    expect(page).to_have_url(re.compile("/jobs$"))
    job = page.locator(".job").first
    expect(job).to_contain_text("Succeeded", timeout=60_000)
    expect(job).not_to_contain_text("Cancel")


SCRIPT = '"""Count the tasks."""\n\ndef main():\n    return len(sdk.tasks.list())\n'


def test_a_script_is_approved_as_it_was_shown(page: Page, assistant: Assistant) -> None:
    assistant.call("save_script", name="count_all", code=SCRIPT)
    page.goto("/scripts")
    page.get_by_role("link", name="count_all").click()

    page.get_by_role("button", name="Approve this text").click()
    page.get_by_role("button", name="Yes, do it").click()

    expect(page.locator("#toasts")).to_contain_text("Approved")
    expect(page.get_by_role("button", name="Approve this text")).to_have_count(0)
    assert assistant.call("get_script", script="count_all")["state"] == "reviewed"


def test_a_script_is_rejected(page: Page, assistant: Assistant) -> None:
    assistant.call("save_script", name="count_more", code=SCRIPT)
    page.goto("/scripts/count_more")

    page.get_by_role("button", name="Reject").click()

    expect(page).to_have_url(re.compile("/scripts$"))
    assert assistant.call("get_script", script="count_more")["state"] != "reviewed"


def test_a_dialog_closes_with_escape_and_gives_the_focus_back(page: Page) -> None:
    page.goto("/today")
    opener = page.get_by_role("button", name="Keys")
    opener.focus()

    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")

    expect(page.locator("#keys")).to_be_hidden()
    expect(opener).to_be_focused()


def test_the_menu_of_a_narrow_screen_opens_with_the_keyboard(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto("/today")
    notes = page.locator(".side nav").get_by_role("link", name="Notes")
    expect(notes).to_be_hidden()

    page.locator(".burger summary").press("Enter")
    notes.press("Enter")

    expect(page).to_have_url(re.compile("/notes$"))
    expect(notes).to_be_hidden()


def test_back_and_forward_show_the_pages_one_saw(page: Page) -> None:
    page.goto("/today")
    page.locator(".side nav").get_by_role("link", name="Notes").click()
    expect(page.locator("h1")).to_have_text("Notes")

    page.go_back()
    expect(page.locator("h1")).to_have_text("Today")
    page.go_forward()

    expect(page.locator("h1")).to_have_text("Notes")


def test_a_key_right_after_the_page_came_leads_nowhere_else(page: Page) -> None:
    page.goto("/tasks")

    for key in ("j", "s", "t"):
        page.keyboard.press(key)

    expect(page.locator(".choose:checked")).to_have_count(1)
    expect(page).to_have_url(re.compile("/tasks$"))


def test_enter_in_the_palette_waits_for_the_results_of_what_is_typed(page: Page) -> None:
    page.goto("/today")
    page.keyboard.press("Control+k")
    expect(page.locator("#found li").first).to_be_visible()
    page.evaluate(SLOW_FETCH)

    page.keyboard.type("Kitchen budget")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Kitchen budget")).to_be_visible()


def test_a_double_click_saves_one_note(page: Page, assistant: Assistant) -> None:
    page.goto("/notes/new")
    page.get_by_label("Title", exact=True).fill("Written once")
    page.get_by_label("Text in Markdown").fill("Only once.")

    page.get_by_role("button", name="Save").dblclick()

    expect(page.get_by_role("heading", name="Written once")).to_be_visible()
    assert len(assistant.call("query", collection="notes", where={"title": "Written once"})) == 1


def test_text_typed_while_a_task_is_added_stays(page: Page) -> None:
    page.goto("/today")
    page.evaluate(SLOW_FETCH)

    page.get_by_label("New task").fill("Order the paint today")
    page.keyboard.press("Enter")
    page.keyboard.type("Half a thought")

    expect(page.locator("#g-today")).to_contain_text("Order the paint")
    expect(page.get_by_label("New task")).to_have_value("Half a thought")


def test_the_browsers_back_button_returns_to_the_place_in_a_long_list(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 400})
    page.goto("/tasks")
    page.evaluate("scrollTo(0, 500)")

    page.locator("nav").get_by_role("link", name="Projects").click()
    expect(page.get_by_role("heading", name="Projects", level=1)).to_be_visible()
    assert page.evaluate("scrollY") == 0
    page.go_back()

    expect(page.get_by_role("heading", name="Tasks", level=1)).to_be_attached()
    page.wait_for_function("scrollY === 500")


def test_a_link_without_a_connection_leaves_the_page_as_it_is(page: Page, complaints: Complaints) -> None:
    page.goto("/today")
    page.get_by_label("New task").fill("Half a thought")
    page.context.set_offline(True)

    page.locator("nav").get_by_role("link", name="Notes").click()
    expect(page.locator(".toast.bad")).to_contain_text("does not answer")
    expect(page.get_by_label("New task")).to_have_value("Half a thought")

    page.context.set_offline(False)
    page.locator("nav").get_by_role("link", name="Notes").click()
    expect(page.get_by_role("heading", name="Notes", level=1)).to_be_visible()
    assert [text for text in complaints.texts if "net::ERR_" not in text] == []
    complaints.clear()


def test_a_long_number_stays_in_its_box_on_a_narrow_screen(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto("/calls")

    number = page.locator(".tile dd").last
    number.evaluate("box => { box.textContent = '38,826,796' }")

    assert number.evaluate("box => box.scrollWidth <= box.clientWidth")
