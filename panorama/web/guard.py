"""Checks every request before a page sees it: its host, where it comes from, and its session.

The order is fixed: Host (421), Origin and Sec-Fetch-Site (403), Transfer-Encoding (411), the session (401). Another
page in the same browser, a name that points to this machine, and a program without the cookie are all refused here.
"""

from collections.abc import Callable, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from panorama.web.access import Access

SIGN_IN_PATH = "/in"
OPEN_PATHS = (SIGN_IN_PATH, "/static/")
"""The paths that need no session: the sign-in and the files that ship with the program."""

SAFE_METHODS = ("GET", "HEAD")
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types panorama"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # no-referrer makes browsers send «Origin: null» with forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=(), payment=()",
    "cache-control": "no-store",
}


class Guard:
    """The middleware in front of all pages.

    Args:
        refuse: Makes the page for a browser without a session.
        trust: Called with the client's address of a request with a session.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        refuse: Callable[[Scope], Response],
        trust: Callable[[tuple[str, int]], None],
    ) -> None:
        self._app = app
        self._access = access
        self._refuse = refuse
        self._trust = trust

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that may not pass, and add the headers to every answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        app = self._check(scope) or self._app
        await app(scope, receive, send_with_headers)

    def _check(self, scope: Scope) -> Response | None:
        """Return the refusal of a request, None if it may pass."""
        headers = Headers(scope=scope)
        if headers.get("host", "") not in self._hosts:
            return PlainTextResponse("This address does not belong to Panorama.", 421)
        if not _is_same_origin(scope, headers):
            return PlainTextResponse("Requests from other pages are refused.", 403)
        if "transfer-encoding" in headers:  # no browser sends forms in chunks, whose length is not known before
            return PlainTextResponse("Requests need a Content-Length.", 411)
        secret = cookie_parser(headers.get("cookie", "")).get(self._access.cookie, "")
        scope["session_context"] = session_context = self._access.find_session(secret)
        if session_context:
            self._trust(scope["client"])
        elif not scope["path"].startswith(OPEN_PATHS):
            return self._refuse(scope)
        return None

    @property
    def _hosts(self) -> tuple[str, str]:
        return f"{self._access.name}.localhost:{self._access.port}", f"127.0.0.1:{self._access.port}"


def _is_same_origin(scope: Scope, headers: Headers) -> bool:
    """Return whether a request comes from one of our pages, or from the user going to an address."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    is_safe = scope["method"] in SAFE_METHODS
    if origin is not None and origin != f"{scope['scheme']}://{headers['host']}":
        return False
    if site is None:  # not a browser of today: a write must at least name its origin
        return is_safe or origin is not None
    if site in ("same-origin", "none"):
        return True
    is_navigation = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return is_safe and is_navigation
