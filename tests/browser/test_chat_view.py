"""The page in the chat: what a user does there, in chats that differ as real ones do."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import date, timedelta
from functools import partial
from typing import Any, Protocol

import pytest

from panorama.translations import GERMAN
from tests.browser.assistant import Assistant
from tests.browser.axe import COLOUR_RULES, RULES, find_violations
from tests.browser.chat_host import ChatHost, open_chat
from tests.browser.driver import Browser, Complaints, expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

THEME = {"--color-background-primary": "#fff8e7", "--color-text-primary": "#222", "--color-text-secondary": "#555"}


class OpenView(Protocol):
    """Opens a view in a chat."""

    def __call__(self, *, width: int = 700, **options: Any) -> AbstractContextManager[ChatHost]:
        """Open it."""
        ...


@pytest.fixture
def open_view(browser: Browser, assistant: Assistant, complaints: Complaints) -> Iterator[OpenView]:
    """Opens the page as the server sends it, with the server behind it; no complaint of the browser is accepted."""
    html = assistant.read("ui://panorama/view.html")
    yield partial(open_chat, browser, html, assistant.answer, complaints)
    assert complaints.texts == []


def test_a_task_is_completed_in_the_chat_and_the_completion_is_undone(
    open_view: OpenView, assistant: Assistant
) -> None:
    task = assistant.call("create_task", title="Oil the bicycle", deadline="2020-01-01")["id"]  # above all others
    with open_view(context={"displayMode": "fullscreen"}) as chat:
        chat.view.get_by_role("button", name="Complete: Oil the bicycle").click()
        expect(chat.view.get_by_role("status")).to_contain_text("Done: Oil the bicycle")
        assert assistant.call("get_item", item=task)["item"]["status"] == "done"
        assert task in chat.list_messages("ui/update-model-context")[0]

        chat.view.get_by_role("button", name="Undo").click()
        expect(chat.view.get_by_role("button", name="Complete: Oil the bicycle")).to_be_visible()
        assert "status" not in assistant.call("get_item", item=task)["item"] or (
            assistant.call("get_item", item=task)["item"]["status"] == "todo"
        )


def test_a_batch_with_a_step_that_cannot_be_done_says_so_and_offers_no_run(
    open_view: OpenView, assistant: Assistant
) -> None:
    assistant.call("create_note", title="Plan for the cellar", content="First.")
    sown = assistant.call("create_task", title="Sow the cellar")["id"]
    assistant.call("delete_item", item=sown)
    for _ in range(2):
        assistant.call("create_task", title="Sweep the cellar")
    steps = [
        {"tool": "create_task", "args": {"title": "Paint the cellar"}},
        {"tool": "update_task", "args": {"task": "Paint the cellar", "status": "done"}},
        {"tool": "update_task", "args": {"task": "Nowhere", "status": "done"}},
        {"tool": "save_script", "args": {}},
        {"tool": "no_such_tool", "args": {}},
        {"tool": "update_note", "args": {"note": "Plan for the cellar", "content": "x", "expected_version": 7}},
        {"tool": "update_task", "args": {"task": "t_0000000000", "status": "done"}},
        {"tool": "update_task", "args": {"task": sown, "status": "done"}},
        {"tool": "update_task", "args": {"task": "Sweep the cellar", "status": "done"}},
    ]
    with open_view(width=340, args={"view": "batch", "operations": steps}, context={"locale": "de-DE"}) as chat:
        expect(chat.view.get_by_role("button", name="Ausführen")).to_be_disabled()
        expect(chat.view.get_by_role("button", name="Ausführen")).to_have_accessible_description(
            "So geht es nicht: siehe die Schritte mit einem Hinweis."
        )
        assert chat.view.locator("li .flag").all_inner_texts() == [
            "Aufgabe nicht gefunden: Nowhere.",
            "save_script kann kein Schritt eines Stapels sein, der ganz oder gar nicht ausgeführt wird.",
            "Es gibt kein Werkzeug „no_such_tool“.",
            "Die Notiz „Plan for the cellar“ wurde inzwischen geändert: Sie hat Version 1, nicht 7.",
            "Aufgabe nicht gefunden: t_0000000000.",
            "Sow the cellar liegt im Papierkorb.",
            "2 Einträge heißen Sweep the cellar.",
        ]
        expect(chat.view.get_by_text("update_task · Ergebnis von Schritt 1")).to_be_visible()
        assert find_violations(chat.frame, RULES) == []
        assert chat.frame.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_task_is_put_off_until_tomorrow(open_view: OpenView, assistant: Assistant) -> None:
    project = assistant.call("create_project", name="Paperwork")["id"]
    task = assistant.call("create_task", title="Sort papers", deadline="today", project=project)["id"]
    before = assistant.call("get_item", item=task)["item"]["deadline"]
    with open_view(args={"view": "project", "of": "Paperwork"}) as chat:
        chat.view.get_by_role("button", name="Put off until tomorrow: Sort papers").click()

        expect(chat.view.get_by_role("status")).to_contain_text("Tomorrow: Sort papers")
        after = assistant.call("get_item", item=task)["item"]["deadline"]
        assert date.fromisoformat(after) - date.fromisoformat(before) == timedelta(days=1)


def test_a_batch_with_a_step_that_only_the_run_can_check_says_so_and_can_be_run(open_view: OpenView) -> None:
    steps = [
        {"tool": "create_task", "args": {"title": "Paint the attic #house", "parse": True}},
        {"tool": "update_task", "args": {"task": "Paint the attic", "status": "done"}},
    ]
    with open_view(args={"view": "batch", "operations": steps}, context={"locale": "de-DE"}) as chat:
        expect(chat.view.get_by_text("lässt sich erst prüfen, wenn diese laufen")).to_be_visible()
        chat.view.get_by_role("button", name="Ausführen").click()
        expect(chat.view.get_by_role("status")).to_contain_text("Erledigt")


def test_a_batch_is_done_by_the_users_click_only_and_undone(open_view: OpenView, assistant: Assistant) -> None:
    steps = [{"tool": "create_task", "args": {"title": "From the batch"}}]
    count = partial(assistant.call, "query", collection="tasks", where={"title": "From the batch"})
    with open_view(args={"view": "batch", "operations": steps}) as chat:
        expect(chat.view.get_by_text("From the batch")).to_be_visible()
        assert count() == []

        chat.view.get_by_role("button", name="Do it").click()
        expect(chat.view.get_by_role("status")).to_contain_text("Done")
        assert len(count()) == 1
        expect(chat.view.get_by_role("button", name="Do it")).to_have_count(0)

        chat.view.get_by_role("button", name="Undo").click()
        expect(chat.view.get_by_role("status")).to_contain_text("Undone")
        assert count() == []


def test_a_script_cannot_be_approved_in_the_chat(open_view: OpenView) -> None:
    with open_view(args={"view": "script", "of": "move_overdue"}) as chat:
        expect(chat.view.get_by_text("panorama scripts review move_overdue")).to_be_visible()
        expect(chat.view.locator("pre .added").first).to_be_visible()

        assert chat.view.get_by_role("button").all_inner_texts() == []


@pytest.mark.parametrize(("view", "title"), [("week", "Weekly review"), ("today", "Today")])
def test_a_chat_that_removes_the_structure_of_the_first_result_shows_the_same(
    open_view: OpenView, view: str, title: str
) -> None:
    with open_view(args={"view": view}) as whole, open_view(args={"view": view}, strips=1) as stripped:
        for chat in (whole, stripped):
            expect(chat.view.get_by_role("heading", name=title, exact=True)).to_be_visible()

        assert stripped.view.locator("main").inner_text() == whole.view.locator("main").inner_text()


def test_a_chat_that_removes_every_structure_shows_the_text(open_view: OpenView) -> None:
    with open_view(args={"view": "week"}, strips=2) as chat:
        expect(chat.view.locator("pre")).to_contain_text("The user sees “Weekly review”")


def test_an_error_is_shown_in_words(open_view: OpenView) -> None:
    with open_view(args={"view": "project", "of": "Nowhere"}) as chat:
        expect(chat.view.locator("pre")).to_contain_text("Nowhere")


@pytest.mark.parametrize(
    ("context", "rules"),
    [
        ({"theme": "light"}, RULES),
        ({"theme": "dark"}, COLOUR_RULES),
        ({"theme": "light", "styles": {"variables": THEME}}, COLOUR_RULES),
    ],
    ids=["light", "dark", "themed"],
)
def test_axe_finds_nothing_in_any_view_and_none_is_wider_than_a_phone(
    open_view: OpenView, assistant: Assistant, context: dict[str, Any], rules: Sequence[str]
) -> None:
    project = assistant.call("list_projects")[0]["name"]
    step = {"tool": "update_project", "args": {"project": project, "status": "blocked"}}
    for args in (
        {"view": "today"},
        {"view": "week"},
        {"view": "project", "of": project},
        {"view": "run"},
        {"view": "batch", "operations": [step]},
        {"view": "script", "of": "move_overdue"},
        {"view": "search", "of": "plan"},
    ):
        with open_view(width=340, args=args, context=context) as chat:
            expect(chat.view.locator("h1")).to_be_visible()

            assert find_violations(chat.frame, rules) == [], args
            assert chat.frame.evaluate("document.documentElement.scrollWidth <= innerWidth"), args


def test_a_german_client_shows_every_view_in_german(open_view: OpenView, assistant: Assistant) -> None:
    german = set(GERMAN.values())
    project = assistant.call("list_projects")[0]["name"]
    seen: dict[str, str] = {}
    for args in (
        {"view": "today"}, {"view": "week"}, {"view": "project", "of": project}, {"view": "run"},
        {"view": "script", "of": "move_overdue"}, {"view": "search", "of": "plan"},
    ):  # fmt: skip
        with open_view(args=args, context={"locale": "de-DE"}) as chat:
            expect(chat.view.locator("h1")).to_be_visible()
            seen[args["view"]] = chat.view.locator("h1").inner_text()
            headings = chat.frame.eval_on_selector_all(
                "h2, dt, button.btn", "all => all.map(node => (node.firstChild?.data ?? '').trim())"
            )

            assert chat.view.locator("html").get_attribute("lang") == "de"
            assert [words for words in headings if words not in german and not words.endswith("weitere zeigen")] == []

    assert (seen["today"], seen["week"], seen["search"]) == ("Heute", "Wochenrückblick", "Ergebnisse für „plan“")
    assert seen["project"] == project
