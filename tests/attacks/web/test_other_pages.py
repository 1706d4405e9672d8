"""Other pages in the same browser: other names, other ports, frames, forms, links."""

import pytest

from panorama.web.guard import HEADERS
from tests.web.page_client import PORT, PageClient

EVIL = "http://evil.example"
HOSTS = (
    "evil.example", f"evil.example:{PORT}", "127.0.0.1", f"localhost:{PORT}", "127.0.0.1:1", "localhost",
    f"panorama-0000000000.localhost:{PORT}", f"[::1]:{PORT}", f"127.0.0.1.evil.example:{PORT}", "",
    f"127.0.0.1:{PORT}@evil.example", f"0.0.0.0:{PORT}", f"127.0.0.2:{PORT}",
)  # fmt: skip


ORIGINS = (
    EVIL, "null", f"http://127.0.0.1:{PORT + 1}", f"http://127.0.0.1:{PORT}", f"http://localhost:{PORT}",
    "https://evil.example", "file://",
)  # fmt: skip
DESTINATIONS = (
    ("cors", "empty"), ("no-cors", "image"), ("no-cors", "script"), ("navigate", "iframe"), ("navigate", "embed"),
    ("no-cors", "style"),
)  # fmt: skip
SITES = ("cross-site", "same-site")


def test_a_name_that_is_not_ours_is_refused_although_it_points_here(page: PageClient) -> None:
    assert {host: page.get("/today", host=host).status_code for host in HOSTS} == dict.fromkeys(HOSTS, 421)


def test_headers_of_a_proxy_change_nothing(page: PageClient) -> None:
    for name in ("x-forwarded-host", "forwarded", "x-forwarded-for", "x-host", "x-original-host"):
        value = "host=evil.example" if name == "forwarded" else "evil.example"
        assert page.get("/today", **{name: value}).status_code == 200
        assert page.get("/today", host="evil.example", **{name: f"127.0.0.1:{PORT}"}).status_code == 421


@pytest.mark.parametrize("path", ["/do/quick", "/do/items.delete", "/sessions/end", "/preview", "/in"])
def test_a_form_of_another_page_writes_nothing(page: PageClient, path: str) -> None:
    fields = {"token": page.token, "line": "Tea", "code": "x"}

    answers = [page.post(path, fields, origin=origin).status_code for origin in ORIGINS]

    assert answers == [403] * len(ORIGINS)
    assert page.call("tasks.list") == []


@pytest.mark.parametrize("path", ["/today", "/live", "/find?q=tea", "/static/x/page.js"])
def test_another_page_reads_nothing(page: PageClient, path: str) -> None:
    for fetch_site in SITES:
        for mode, destination in DESTINATIONS:
            headers = {"sec-fetch-site": fetch_site, "sec-fetch-mode": mode, "sec-fetch-dest": destination}
            assert page.get(path, **headers).status_code == 403


def test_a_write_by_navigation_from_elsewhere_is_refused(page: PageClient) -> None:
    for fetch_site in SITES:
        headers = {"sec-fetch-site": fetch_site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        assert page.post("/do/quick", {"token": page.token, "line": "Tea"}, **headers).status_code == 403


def test_a_write_that_names_no_origin_is_refused(page: PageClient) -> None:
    answer = page.http.post("/do/quick", data={"token": page.token, "line": "Tea"})

    assert answer.status_code == 403


def test_a_link_from_elsewhere_shows_nothing_before_it_came_again_from_our_own_page(stranger: PageClient) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}

    first = stranger.get("/notes?project=p_1", **headers)
    second = stranger.get("/notes?project=p_1&again=1", **headers)

    assert (first.status_code, second.status_code) == (401, 401)
    assert 'content="0;url=/notes?project=p_1&amp;again=1"' in first.text
    assert "refresh" not in second.text


@pytest.mark.parametrize(
    "path", ["/today", "/in", "/no-such-page", "/live", "/static/x/page.js", "/notes/n_0000000000"]
)
def test_every_answer_has_the_headers_that_keep_other_pages_out(stranger: PageClient, path: str) -> None:
    answer = stranger.get(path)

    missing = {name for name, value in HEADERS.items() if answer.headers.get(name) != value} - {"cache-control"}
    assert missing == set()


def test_no_script_style_or_frame_of_anybody_else_is_allowed() -> None:
    policy = dict(part.strip().split(" ", 1) for part in HEADERS["content-security-policy"].split(";"))

    assert policy["default-src"] == "'none'"
    assert (policy["script-src"], policy["style-src"], policy["frame-ancestors"]) == ("'self'", "'self'", "'none'")
    assert "unsafe" not in HEADERS["content-security-policy"]
    assert policy["form-action"] == "'self'"


def test_other_methods_do_nothing(page: PageClient) -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert page.http.request(method, "/do/quick", headers=page.headers()).status_code == 405


THEN = (
    "//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "\\\\evil.example",
    "/\n/evil.example", "/\t/evil.example",
)  # fmt: skip


def test_after_a_form_nobody_is_led_to_another_site(page: PageClient) -> None:
    for then in THEN:
        fields = {"token": page.token, "line": "Tea", "then": then}
        answer = page.post("/do/quick", fields, referer=f"{EVIL}/x?y")
        assert (answer.status_code, answer.headers["location"]) == (303, "/x?y")


def test_after_the_sign_in_nobody_is_led_to_another_site(stranger: PageClient) -> None:
    for then in THEN:
        answer = stranger.post("/in", {"code": stranger.access.create_code(read_only=False), "then": then})
        assert answer.headers["location"] == "/today"
