"""Those who have no session, an old one, somebody else's, or one that may only read."""

from panorama.app import App
from panorama.web.site import Site
from panorama.web.views import VIEWS
from tests.web.page_client import PageClient

PATHS = [*(view.path.replace("{id}", "n_1").replace("{name}", "x") for view in VIEWS), "/live", "/find?q=x", "/"]
WRITES = ("quick", "tasks.create", "items.delete", "history.undo", "chosen", "move", "sample", "scripts.approve")


def test_a_stranger_sees_no_page(stranger: PageClient) -> None:
    stranger.call("tasks.create", title="Secret plan")

    for path in PATHS:
        answer = stranger.get(path)
        assert answer.status_code == 401
        assert "Secret plan" not in answer.text
        assert stranger.access.name not in answer.text


def test_a_stranger_writes_nothing(stranger: PageClient) -> None:
    for form in WRITES:
        assert stranger.post(f"/do/{form}", {"line": "Tea", "title": "Tea"}).status_code == 401
    assert stranger.call("tasks.list") == []


def test_a_guessed_cookie_opens_nothing(stranger: PageClient) -> None:
    for secret in ("", "x", "a" * 43, "../page.json", "'; --", "a" * 4000):
        headers = {"cookie": f"{stranger.access.cookie}={secret}"}
        assert stranger.http.get("/today", headers=headers).status_code == 401


def test_a_guessed_code_signs_nobody_in(stranger: PageClient) -> None:
    stranger.access.create_code(read_only=False)

    for code in ("", "x", "a" * 32, "\x00", "../../etc/passwd", "%00", "a" * 3000):
        answer = stranger.sign_in(code)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_a_code_is_good_once(stranger: PageClient) -> None:
    code = stranger.access.create_code(read_only=False)

    assert stranger.sign_in(code).status_code == 303
    assert stranger.sign_in(code).status_code == 403


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(stranger: PageClient) -> None:
    answer = stranger.sign_in(stranger.access.create_code(read_only=False))

    attributes = answer.headers["set-cookie"].lower()
    assert "httponly" in attributes
    assert "samesite=strict" in attributes
    assert "domain" not in attributes


def test_a_session_that_somebody_chose_beforehand_is_not_taken_over(stranger: PageClient) -> None:
    chosen = "chosen-by-an-attacker"
    stranger.http.cookies.set(stranger.access.cookie, chosen)

    stranger.sign_in(stranger.access.create_code(read_only=False))

    assert stranger.access.find_session(chosen) is None


def test_a_session_that_was_ended_sees_and_writes_nothing(page: PageClient) -> None:
    token = page.token
    assert page.post("/sessions/end", {"token": token, "session": ""}).status_code == 303

    assert page.get("/today").status_code == 401
    assert page.post("/do/quick", {"token": token, "line": "Tea"}).status_code == 401


def test_a_session_that_may_only_read_writes_nothing(reader: PageClient) -> None:
    task = reader.call("tasks.create", title="Tea")["id"]
    names = dict.fromkeys(("item", "chosen", "task"), task)
    fields = {"token": reader.token, "line": "x", "title": "x", "action": "delete", **names}

    for form in WRITES:
        assert reader.post(f"/do/{form}", fields).status_code == 403
    assert [row["title"] for row in reader.call("tasks.list")] == ["Tea"]


def test_a_session_that_may_only_read_has_no_forms_that_write(reader: PageClient) -> None:
    reader.call("tasks.create", title="Tea")

    html = reader.page("/today") + reader.page("/tasks") + reader.page("/history") + reader.page("/settings")

    assert "New task" not in html.replace("<dt>New task</dt>", "")
    assert 'action="/do/history.undo"' not in html
    assert "Sign out everywhere" not in html


def test_a_session_that_may_only_read_ends_no_other(reader: PageClient, page: PageClient) -> None:
    other = next(known.id for known in reader.access.list_sessions() if not known.read_only)

    assert reader.post("/sessions/end", {"token": reader.token, "session": other}).status_code == 403
    assert page.get("/today").status_code == 200


def test_a_form_without_the_token_of_its_session_is_refused(page: PageClient) -> None:
    for token in ({}, {"token": ""}, {"token": "0" * 32}, {"token": "x"}):
        assert page.post("/do/quick", {"line": "Tea", **token}).status_code == 403


def test_the_token_of_another_session_is_refused(app: App, site: Site, page: PageClient) -> None:
    other = PageClient(app, site)

    assert page.post("/do/quick", {"token": other.token, "line": "Tea"}).status_code == 403
