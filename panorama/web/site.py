"""The site: pages, forms, search for the palette, the stream of changes, and the sign-in, behind the guard."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.datastructures import FormData
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import Scope

from panorama.app import App
from panorama.domain.text.json_types import is_object
from panorama.errors import ConfirmationError, NotFoundError, PanoramaError
from panorama.translations.explanations import explain
from panorama.web.access import Access, SessionContext
from panorama.web.attachments import LIMITS, read_uploads, send_content
from panorama.web.dropped_files import MAX_FILES
from panorama.web.forms import Fields, Forms, Outcome, read_form
from panorama.web.guard import Guard
from panorama.web.live import ChangeStreams
from panorama.web.markdown import render_markdown
from panorama.web.menu import Menu
from panorama.web.page_cache import DataState, PageCache, PageKey
from panorama.web.page_calls import PageCalls
from panorama.web.rendering import load_static_files, render, static_version
from panorama.web.texts import Language, Texts, choose_language
from panorama.web.view import View, ViewRequest
from panorama.web.views import VIEWS
from panorama.web.views.notes import make_finder
from panorama.web.views.search import find_items

REDIRECT_FILE = "open.html"
"""The file that leads a browser to the sign-in; it is removed once that has happened."""

MAX_FORM_BYTES = 40 << 20
"""A note of 10 MB, each of whose bytes a browser may send as three."""

MAX_PARTS = 200
"""The maximum number of files of a form that are read, more than are accepted, so that the refusal can say why."""

SEARCH_FIELD = "q"
"""The words of a search, whose results follow changes a little later: such pages are rendered anew."""

IMMUTABLE = {"cache-control": "private, max-age=31536000, immutable"}
MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
"""Of static files, by the ends of their names: the system's list of types may be changed by other programs."""

Result = TypeVar("Result")
RunCall = Callable[[Callable[[], Result]], Awaitable[Result]]
_log = logging.getLogger(__name__)


class Site:
    """The pages of one data directory.

    Args:
        run: Runs a function in a worker thread.
        trust: Called with the client's address of a request with a session.
    """

    def __init__(self, app: App, access: Access, run: RunCall[Any], trust: Callable[[tuple[str, int]], None]) -> None:
        self._access = access
        self._run = run
        self._calls = PageCalls(app)
        self._forms = Forms(self._calls)
        self._menu = Menu(self._calls)
        self._cache = PageCache()
        self._redirect_file = app.settings.home / REDIRECT_FILE
        self.streams = ChangeStreams(app, self._calls.get_number)
        self.asgi = Starlette(
            routes=[*self._view_routes(), *self._other_routes()],
            exception_handlers={404: self._show_missing},
            middleware=[Middleware(Guard, access=access, refuse=self._refuse, trust=trust)],
        )

    def _view_routes(self) -> list[Route]:
        return [Route(view.path, self._make_endpoint(view)) for view in VIEWS]

    def _other_routes(self) -> list[Route]:
        return [
            Route("/", _go_to_today),
            Route("/in", self._show_sign_in),
            Route("/in", self._sign_in, methods=["POST"]),
            Route("/live", self._stream),
            Route("/find", self._find),
            Route("/preview", self._preview, methods=["POST"]),
            Route("/do/attach", self._attach, methods=["POST"]),
            Route("/do/drop", self._prepare_import, methods=["POST"]),
            Route("/do/{name}", self._submit, methods=["POST"]),
            Route("/files/{id}/content", self._send_content),
            Route("/sessions/end", self._end_sessions, methods=["POST"]),
            Route(f"/static/{static_version()}/{{name}}", _send_static_file),
        ]

    # Pages.

    def _make_endpoint(self, view: View) -> Callable[[Request], Awaitable[Response]]:
        async def show(request: Request) -> Response:
            return await self._run(lambda: self._render_view(view, request))

        return show

    def _render_view(self, view: View, request: Request) -> Response:
        language = _language_of(request)
        session_context: SessionContext = request.scope["session_context"]
        asked = ViewRequest(
            self._calls, Texts(language), request.path_params, request.query_params, session_context.session.read_only
        )
        state = self._calls.get_state()
        key = PageKey(
            request.url.path, request.url.query, language, session_context.token, session_context.session.read_only
        )

        def render_page() -> bytes:
            return self._render(view.name, request, view, state, view.make(asked)).encode()

        try:
            if view.is_cached and SEARCH_FIELD not in asked.query:
                return HTMLResponse(self._cache.get(state, key, render_page))
            return HTMLResponse(render_page())
        except PanoramaError as error:
            return self._render_error(request, error)

    def _render(
        self, template: str, request: Request, view: View | None, state: DataState, values: Mapping[str, Any]
    ) -> str:
        language = _language_of(request)
        session_context: SessionContext = request.scope["session_context"]
        common: dict[str, Any] = {
            "at": state.change_number,
            "view": view,
            "title": Texts(language)(view.title) if view else "",
            "token": session_context.token,
            "read_only": session_context.session.read_only,
            "projects": self._menu.list_projects(state.change_number),
            "menu": self._menu.build(view, state),
            "now": self._calls.now,
            "session": session_context.session,
            "sessions": self._access.list_sessions() if view and view.name == "settings" else [],
        }
        return render(template, language, {**common, **values})

    def _render_error(self, request: Request, error: PanoramaError) -> Response:
        status, texts = 404 if isinstance(error, NotFoundError) else 422, Texts(_language_of(request))
        heading = texts("There is nothing here") if status == 404 else texts("This did not work")
        values = {"heading": heading, "title": texts("Error"), **explain(error.message, error.hint, texts)}
        return HTMLResponse(self._render("error", request, None, self._calls.get_state(), values), status)

    async def _show_missing(self, request: Request, _: Exception) -> Response:
        """Answer an address that has no page."""
        if not request.scope["session_context"]:
            return PlainTextResponse("There is no such page.", 404)
        error = NotFoundError(Texts(_language_of(request))("There is no such page."))
        return await self._run(lambda: self._render_error(request, error))

    # Forms.

    async def _submit(self, request: Request) -> Response:
        """Carry out a form; a browser without JavaScript is sent back to a page."""
        form = await self._read_form(request)
        if isinstance(form, Response):
            return form
        name, agreed = request.path_params["name"], str(form.get("agreed", ""))
        return await self._run(
            lambda: self._answer_form(
                request, form, lambda texts: self._forms.submit(name, _to_fields(form), texts, agreed)
            )
        )

    async def _attach(self, request: Request) -> Response:
        """Attach the files of a form to a note."""

        def attach(form: FormData, texts: Texts) -> Outcome:
            uploads = read_uploads(form.getlist("file"), texts, LIMITS["files"])
            return self._forms.attach(str(form.get("note", "")), uploads, texts)

        return await self._submit_files(request, attach)

    async def _prepare_import(self, request: Request) -> Response:
        """Store the files of a form for an import, which the user previews first."""

        def prepare(form: FormData, texts: Texts) -> Outcome:
            return self._forms.prepare_import(read_uploads(form.getlist("file"), texts, MAX_FILES), texts)

        return await self._submit_files(request, prepare)

    async def _submit_files(self, request: Request, submit: Callable[[FormData, Texts], Outcome]) -> Response:
        form = await self._read_form(request, max_files=MAX_PARTS)
        if isinstance(form, Response):
            return form
        try:
            return await self._run(lambda: self._answer_form(request, form, lambda texts: submit(form, texts)))
        finally:
            await form.close()

    async def _send_content(self, request: Request) -> Response:
        return await self._run(lambda: self._render_content(request))

    def _render_content(self, request: Request) -> Response:
        try:
            return send_content(self._calls, request.path_params["id"])
        except PanoramaError as error:
            return self._render_error(request, error)

    def _answer_form(self, request: Request, form: FormData, submit: Callable[[Texts], Outcome]) -> Response:
        then = str(form.get("then", ""))
        wants_json, texts = _wants_json(request), Texts(_language_of(request))
        try:
            outcome = submit(texts)
        except ConfirmationError as error:
            question = {"question": explain(error.question, "", texts)["message"], "agreement": error.agreement}
            if wants_json:
                return JSONResponse(question)
            fields = [(field, value) for field, values in _to_fields(form).items() for value in values]
            values = question | {"fields": fields, "then": then, "action": request.url.path}
            return HTMLResponse(self._render("confirm", request, None, self._calls.get_state(), values))
        except PanoramaError as error:
            if wants_json:
                return JSONResponse({"failed": True, **explain(error.message, error.hint, texts)})
            return self._render_error(request, error)
        address = _fill_address(then, outcome.data) or _path_of(request.headers.get("referer", ""))
        if wants_json:
            shown = _fill_address(then, outcome.data)
            return JSONResponse({"message": outcome.message, "undo": outcome.undo, "then": shown})
        return RedirectResponse(address, 303)

    async def _end_sessions(self, request: Request) -> Response:
        """End one session, or all; also a session that may only read ends itself."""
        form = await self._read_form(request, needs_write=False)
        if isinstance(form, Response):
            return form
        session_context: SessionContext = request.scope["session_context"]
        chosen = str(form.get("session", ""))
        if session_context.session.read_only and chosen != session_context.session.id:
            return _refuse_write(request)
        with suppress(NotFoundError):
            self._access.revoke(chosen)
        return RedirectResponse("/settings", 303)

    async def _preview(self, request: Request) -> Response:
        """Return a text in Markdown as HTML, while it is written."""
        form = await self._read_form(request, needs_write=False)
        if isinstance(form, Response):
            return form
        text = str(form.get("content", ""))
        return HTMLResponse(await self._run(lambda: render_markdown(text, make_finder(self._calls))))

    async def _read_form(
        self, request: Request, *, needs_write: bool = True, max_files: int = 0
    ) -> FormData | Response:
        """Return a form with a valid token, or the refusal of one without."""
        session_context: SessionContext | None = request.scope["session_context"]
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length) > MAX_FORM_BYTES:
            return JSONResponse({"failed": True, "message": "The form is too large."}, 413)
        form = await read_form(request, self._run, max_files=max_files, max_part_bytes=MAX_FORM_BYTES)
        if session_context is None or form.get("token") != session_context.token:
            await form.close()
            return JSONResponse({"failed": True, "message": "The form does not belong to this session."}, 403)
        if needs_write and session_context.session.read_only:
            await form.close()
            return _refuse_write(request)
        return form

    # What scripts of the page ask for.

    async def _find(self, request: Request) -> Response:
        text, texts = request.query_params.get("q", "").strip()[:200], Texts(_language_of(request))
        views = [
            {"title": texts(view.title), "href": view.path, "kind": texts("Page")}
            for view in VIEWS
            if view.section is not None and text.casefold() in texts(view.title).casefold()
        ]
        try:
            return JSONResponse(views + await self._run(lambda: find_items(self._calls, text, texts)))
        except PanoramaError:  # such as a query of nothing but signs
            return JSONResponse(views)

    async def _stream(self, _: Request) -> Response:
        if self.streams.is_full:
            return JSONResponse({"failed": True, "message": "Too many pages are open."}, 503)
        return StreamingResponse(self.streams.stream(), media_type="text/event-stream")

    # The sign-in.

    async def _show_sign_in(self, request: Request) -> Response:
        return HTMLResponse(render("sign_in", _language_of(request), {"failed": False}))

    async def _sign_in(self, request: Request) -> Response:
        """Exchange a code for a session."""
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length) > 4096:
            return JSONResponse({"failed": True}, 413)
        form = await request.form(max_files=0)
        secret = self._access.sign_in(
            str(form.get("code", "")), describe_browser(request.headers.get("user-agent", ""))
        )
        wants_json = _wants_json(request)
        if secret is None:
            _log.warning("a browser came to the page with a code that is not valid")
            page = render("sign_in", _language_of(request), {"failed": True})
            return JSONResponse({"failed": True}) if wants_json else HTMLResponse(page, 403)
        with suppress(OSError):
            self._redirect_file.unlink()
        address = _path_of(str(form.get("then", "")))
        answer = JSONResponse({"then": address}) if wants_json else RedirectResponse(address, 303)
        answer.set_cookie(self._access.cookie, secret, max_age=30 * 86_400, path="/", httponly=True, samesite="strict")
        return answer

    def _refuse(self, scope: Scope) -> Response:
        """Return the page for a browser without a session.

        A link in a chat or a mail does not carry the cookie (SameSite=Strict): the page asks once more by itself, which
        comes from our own site then.
        """
        request = Request(scope)
        comes_from_elsewhere = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
        again = ""
        if comes_from_elsewhere and "again" not in request.query_params:
            again = str(request.url.include_query_params(again="1").replace(scheme="", netloc=""))
        values = {"again": again}
        return HTMLResponse(render("signed_out", _language_of(request), values), 401)


async def _send_static_file(request: Request) -> Response:
    """Send a file that browsers keep for good: its address changes with its content."""
    name = request.path_params["name"]
    content = load_static_files().get(name)
    if content is None:
        return PlainTextResponse("There is no such file.", 404)
    return Response(content, headers=IMMUTABLE, media_type=MEDIA_TYPES[name.rpartition(".")[2]])


async def _go_to_today(_: Request) -> Response:
    return RedirectResponse("/today")


def view_names() -> tuple[str, ...]:
    """Return the names of the views that a user can ask for."""
    return tuple(view.name for view in VIEWS if view.section is not None)


def describe_browser(agent: str) -> str:
    """Return the name of a browser and its system, given its User-Agent header."""
    browsers = (("Edg/", "Edge"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
    systems = (("Windows", "Windows"), ("Mac OS X", "macOS"), ("Android", "Android"), ("Linux", "Linux"))
    names = [next((name for sign, name in known if sign in agent), "") for known in (browsers, systems)]
    return ", ".join(filter(None, names)) or "?"


def _language_of(request: Request) -> Language:
    return choose_language(request.headers.get("accept-language", ""))


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _to_fields(form: FormData) -> Fields:
    """Return the fields of a form without those that are ours."""
    return {
        name: [str(value) for value in form.getlist(name)] for name in form if name not in ("token", "agreed", "then")
    }


def _refuse_write(request: Request) -> Response:
    message = Texts(_language_of(request))("This session may only read.")
    return JSONResponse({"failed": True, "message": message}, 403)


def _path_of(address: str) -> str:
    """Return the path and query of an address of ours; any other becomes /today."""
    _, _, rest = address.partition("://")
    path = f"/{rest.partition('/')[2]}" if rest else address
    return path if _is_local(path) and len(path) < 2000 and path != "/" else "/today"


def _is_local(path: str) -> bool:
    """Return whether an address is a path of this site, also for browsers that read it kindly."""
    return path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()


def _fill_address(then: str, data: Any) -> str:
    """Return where to go after a form: its address with the id of what was created."""
    if not _is_local(then):
        return ""
    return then.replace("{id}", str(data.get("id", ""))) if is_object(data) else then
