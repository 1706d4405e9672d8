"""Sessions in a real browser: chosen beforehand, replayed, ended, and those that may only read."""

import json
from typing import Any

import pytest

from tests.browser.assistant import Assistant
from tests.browser.driver import Browser, Page, expect
from tests.browser.page_daemon import PageDaemon

pytestmark = pytest.mark.browser
WRITES = ("quick", "tasks.create", "tasks.update", "items.delete", "history.undo", "chosen", "move", "scripts.approve")
_POST = """async ([path, fields]) => {
  const body = new URLSearchParams({ token: document.body.dataset.token, ...fields })
  const answer = await fetch(path, { method: 'POST', body, headers: { accept: 'application/json' } })
  return [answer.status, await answer.text()]
}"""


def test_a_session_chosen_beforehand_is_not_taken_over(
    browser: Browser, daemon: PageDaemon, signed_in: dict[str, Any]
) -> None:
    cookie = {**signed_in["cookies"][0], "value": "chosen-by-somebody-else"}
    context = browser.new_context(storage_state={"cookies": [cookie], "origins": []})
    page = context.new_page()

    page.goto(daemon.get_sign_in())
    page.wait_for_url("**/today")

    values = [known["value"] for known in context.cookies()]
    context.close()
    assert "chosen-by-somebody-else" not in values


def test_a_cookie_that_was_copied_ends_with_its_session(browser: Browser, daemon: PageDaemon) -> None:
    owner, thief = browser.new_context(locale="en-GB"), browser.new_context(locale="en-GB")
    page = owner.new_page()
    page.goto(daemon.get_sign_in("settings"))
    page.wait_for_url("**/settings")
    thief.add_cookies(owner.cookies())  # type: ignore[arg-type] (Playwright reads and writes cookies with different types)

    page.locator("li", has_text="this one").get_by_role("button", name="Sign out").click()
    expect(page.locator("main")).to_contain_text("Nobody is signed in here")
    stolen = thief.new_page()
    answer = stolen.goto(page.url)

    assert answer
    assert answer.status == 401
    owner.close()
    thief.close()


@pytest.fixture
def reading_page(browser: Browser, daemon: PageDaemon) -> Any:
    """A page whose session may only read."""
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.goto(daemon.get_sign_in("--read-only"))
    page.wait_for_url("**/today")
    yield page
    context.close()


@pytest.mark.parametrize("form", WRITES)
def test_a_session_that_only_reads_cannot_write_from_its_own_console(
    reading_page: Page, assistant: Assistant, form: str
) -> None:
    fields = {"line": "Planted", "title": "Planted", "script": "move_overdue", "action": "delete"}

    status, text = reading_page.evaluate(_POST, [f"/do/{form}", fields])

    assert (status, json.loads(text)["failed"]) == (403, True)
    assert assistant.call("query", collection="tasks", where={"title": "Planted"}) == []


def test_a_session_that_only_reads_cannot_sign_others_out(reading_page: Page, page: Page) -> None:
    status, _ = reading_page.evaluate(_POST, ["/sessions/end", {"session": ""}])

    page.goto("/today")
    assert status == 403
    assert page.locator("h1").inner_text() == "Today"


def test_a_script_that_changed_since_it_was_shown_is_not_approved(page: Page, assistant: Assistant) -> None:
    code = '"""Count."""\n\ndef main():\n    return {number}\n'
    assistant.call("save_script", name="count_stale", code=code.format(number=1))
    page.goto("/scripts/count_stale")
    assistant.call("save_script", name="count_stale", code=code.format(number=2), replace=True)

    page.get_by_role("button", name="Approve this text").click()
    page.locator(".toast.bad, #ask[open]").first.wait_for()
    if page.locator("#ask").is_visible():
        page.get_by_role("button", name="Yes, do it").click()
    expect(page.locator(".toast.bad")).to_be_visible()

    assert assistant.call("get_script", script="count_stale")["state"] == "draft"


def test_an_assistant_cannot_approve_what_waits_for_the_user(page: Page, assistant: Assistant) -> None:
    for tool in ("approve_script", "scripts.approve"):
        with pytest.raises(Exception, match="not"):
            assistant.call("batch", operations=[{"tool": tool, "args": {"script": "move_overdue", "confirm": True}}])

    assert assistant.call("get_script", script="move_overdue")["state"] == "draft"
