"""A browser without a screen: it keeps the cookie, sends the headers of a browser, and fills in forms."""

import re
from typing import Any

import anyio.to_thread
from starlette.testclient import TestClient

from panorama.app import App
from panorama.web.access import Access
from panorama.web.site import Site

PORT = 8642
_TOKEN = re.compile(r'data-token="([0-9a-f]{32})"')
_ROW = re.compile(r'<li id="([a-z]_[0-9a-z]{10})"')


def make_site(app: App) -> Site:
    """Return the pages of a product."""
    access = Access(app.settings.home)
    access.keep_port(PORT)
    return Site(app, access, anyio.to_thread.run_sync, lambda _: None)


class PageClient:
    """One browser."""

    def __init__(self, app: App, site: Site, *, read_only: bool = False, signs_in: bool = True) -> None:
        self.app = app
        self.access = site._access
        self.origin = f"http://{self.access.name}.localhost:{PORT}"
        self.http = TestClient(site.asgi, base_url=self.origin, follow_redirects=False)
        if signs_in:
            answer = self.sign_in(self.access.create_code(read_only=read_only))
            assert answer.status_code == 303

    def sign_in(self, code: str) -> Any:
        """Exchange a code for a session."""
        return self.http.post("/in", data={"code": code, "then": "/today"}, headers=self.headers())

    def headers(self, **more: str) -> dict[str, str]:
        """Return what a browser of today sends from our own page."""
        ours = {"origin": self.origin, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
        return ours | {name.replace("_", "-"): value for name, value in more.items()}

    def get(self, path: str, **headers: str) -> Any:
        """Ask for a page, as somebody who types its address."""
        navigation = {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        return self.http.get(path, headers=navigation | {key.replace("_", "-"): it for key, it in headers.items()})

    def page(self, path: str, **headers: str) -> str:
        """Return the HTML of a page that must be there."""
        answer = self.get(path, **headers)
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    def rows(self, path: str) -> list[str]:
        """Return the ids of the rows of a page, in order."""
        return _ROW.findall(self.page(path))

    @property
    def token(self) -> str:
        """The token of this session's forms."""
        match = _TOKEN.search(self.page("/settings"))
        assert match
        return match[1]

    def send(self, form: str, **fields: Any) -> dict[str, Any]:
        """Send a form as the page's script does, and return the answer."""
        answer = self.post(f"/do/{form}", {"token": self.token, **fields}, accept="application/json")
        assert answer.headers["content-type"] == "application/json"
        return dict(answer.json())

    def post(self, path: str, fields: dict[str, Any], **headers: str) -> Any:
        """Send fields as they are."""
        return self.http.post(path, data=fields, headers=self.headers(**headers))

    def call(self, operation: str, **arguments: Any) -> Any:
        """Call an operation as an assistant, and return its data."""
        from panorama.calls import Conversation

        talk = Conversation("v_assistant", actor="tool", client="assistant")
        return self.app.calls.call(operation, arguments, talk).data
