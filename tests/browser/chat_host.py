"""A client of a chat that shows pages (MCP Apps): a page with one frame, which can behave as real clients do."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.browser.driver import WAIT_MILLISECONDS, Browser, Complaints, Frame, Page

Answer = Mapping[str, Any]
CallTool = Callable[[str, Mapping[str, Any]], Answer]

HOST = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Chat</title><body style="margin:0"><main>
<iframe title="Panorama" sandbox="allow-scripts" style="width:100%;height:600px;border:0"></iframe></main><script>
const frame = document.querySelector('iframe')
window.messages = []
const strip = (result, level) => {
  if (window.options.strips >= level) { delete result.structuredContent; delete result._meta }
  return result
}
addEventListener('message', async ({ source, data }) => {
  if (source !== frame.contentWindow) return
  messages.push(data)
  const { args = {}, context = {} } = window.options
  const send = message => source.postMessage({ jsonrpc: '2.0', ...message }, '*')
  const answer = result => send({ id: data.id, result })
  const hostCapabilities = { serverTools: {}, updateModelContext: { text: {} } }
  const greeting = { protocolVersion: '2026-01-26', hostInfo: { name: 'test', version: '1' }, hostCapabilities }
  if (data.method === 'ui/initialize') answer({ ...greeting, hostContext: context })
  else if (data.method === 'ui/notifications/initialized') {
    send({ method: 'ui/notifications/tool-input', params: { arguments: args } })
    send({ method: 'ui/notifications/tool-result', params: strip(await callTool('show', args), 1) })
  } else if (data.method === 'tools/call') answer(strip(await callTool(data.params.name, data.params.arguments), 2))
  else if (data.method === 'ui/notifications/size-changed') frame.style.height = data.params.height + 'px'
  else if (data.id !== undefined && data.method) answer({})
})
window.open_view = (html, options) => { window.options = options; frame.srcdoc = html }
</script></body></html>"""
"""The host removes the structure from the first result with `strips` 1, from every result with 2."""


class ChatHost:
    """A chat in which the page is shown."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.view = page.frame_locator("iframe[title=Panorama]")

    @property
    def frame(self) -> Frame:
        """The frame of the page, to run a script in it."""
        return self.page.frames[1]

    def list_messages(self, method: str) -> list[str]:
        """Return what the page sent with a method, as JSON."""
        sent = self.page.evaluate("method => messages.filter(message => message.method === method)", method)
        return [json.dumps(message, ensure_ascii=False) for message in sent]


@contextmanager
def open_chat(
    browser: Browser, html: str, call_tool: CallTool, complaints: Complaints, *, width: int = 700, **options: Any
) -> Iterator[ChatHost]:
    """Show the page in a chat; what the browser complains of is collected."""
    context = browser.new_context(viewport={"width": width, "height": 800}, reduced_motion="reduce", locale="en-GB")
    context.set_default_timeout(WAIT_MILLISECONDS)
    complaints.watch(context)
    page = context.new_page()
    page.expose_function("callTool", call_tool)
    page.set_content(HOST)
    page.evaluate("([html, options]) => open_view(html, options)", [html, {"strips": 0, **options}])
    yield ChatHost(page)
    context.close()
