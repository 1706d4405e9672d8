"""Forms that ask for more than they may: operations, sizes, stale texts, paths."""

import pytest

from panorama.web.rendering import static_version
from tests.web.page_client import PageClient

OPERATIONS = (
    "run_code", "run_script", "batch", "purge", "restore", "backup", "export", "scripts.save", "scripts.promote",
    "models.remove", "schedules.add", "tags.delete", "tasks", "%2e%2e%2fquick", "tasks.create%00",
)  # fmt: skip


def test_operations_that_no_form_offers_cannot_be_called(page: PageClient) -> None:
    for operation in OPERATIONS:
        answer = page.post(f"/do/{operation}", {"token": page.token}, accept="application/json")
        assert answer.status_code == 404 or answer.json()["failed"]


def test_a_text_that_changed_after_it_was_shown_is_not_approved(page: PageClient) -> None:
    page.call("scripts.save", name="count_tasks", code='"""Count."""\n\ndef main():\n    return 1\n')
    shown = page.call("scripts.get", script="count_tasks")["digest"]
    asked = page.send("scripts.approve", script="count_tasks", digest=shown)
    page.call("scripts.save", name="count_tasks", code='"""Count."""\n\ndef main():\n    return 2\n', replace=True)

    answer = page.send("scripts.approve", script="count_tasks", digest=shown, agreed=asked["agreement"])

    assert answer["failed"]
    assert page.call("scripts.get", script="count_tasks")["state"] == "draft"


def test_an_agreement_counts_once(page: PageClient) -> None:
    page.call("scripts.save", name="count_tasks", code='"""Count."""\n\ndef main():\n    return 1\n')
    digest = page.call("scripts.get", script="count_tasks")["digest"]
    asked = page.send("scripts.approve", script="count_tasks", digest=digest)
    page.send("scripts.approve", script="count_tasks", digest=digest, agreed=asked["agreement"])
    page.send("scripts.reject", script="count_tasks", digest=digest)

    assert "question" in page.send("scripts.approve", script="count_tasks", digest=digest, agreed=asked["agreement"])


def test_an_agreement_that_somebody_made_up_counts_for_nothing(page: PageClient) -> None:
    page.call("scripts.save", name="count_tasks", code='"""Count."""\n\ndef main():\n    return 1\n')
    digest = page.call("scripts.get", script="count_tasks")["digest"]

    for agreed in ("x", "0" * 32, "a.1.b", "yes", "true"):
        page.send("scripts.approve", script="count_tasks", digest=digest, agreed=agreed)

    assert page.call("scripts.get", script="count_tasks")["state"] == "draft"


def test_a_form_cannot_confirm_what_was_not_asked(page: PageClient) -> None:
    project = page.call("projects.create", name="Garden")["id"]
    page.call("tasks.create", title="Dig", project=project)

    answer = page.send("items.delete", item=project, items="trash", confirm="true")

    assert "question" in answer
    assert len(page.call("projects.list")) == 1


def test_a_form_of_no_or_too_large_a_size_is_not_read(page: PageClient) -> None:
    for length in ("", "x", "-1", "99999999999"):
        headers = page.headers(**{"content-length": length, "content-type": "application/x-www-form-urlencoded"})
        assert page.http.post("/do/quick", content=b"", headers=headers).status_code == 413


def test_a_form_with_files_is_refused(page: PageClient) -> None:
    answer = page.http.post(
        "/do/quick", data={"token": page.token}, files={"line": ("x.html", b"<script>")}, headers=page.headers()
    )

    assert answer.status_code == 400


PATHS = (
    "../page.json", "..%2f..%2fpage.json", "%2e%2e/site.py", "....//site.py", "/etc/passwd", "%00", "page.js%00.txt",
    "..\\site.py", "templates/frame.html",
)  # fmt: skip
QUERIES = (
    "days=0", "days=-1", "days=99999999", "days=x", "days=%00", "days=٣", "cursor=x", "cursor=%00", "view=x",
    "project=x", "item=x", "kind=x", "q=%22", "q=%00", "tag=%ff",
)  # fmt: skip


def test_no_path_leads_out_of_the_static_files(page: PageClient) -> None:
    for path in PATHS:
        assert page.get(f"/static/{static_version()}/{path}").status_code in (401, 404)


@pytest.mark.parametrize("path", ["/tasks", "/notes", "/review", "/calls", "/history", "/search", "/runs", "/trash"])
def test_a_query_that_makes_no_sense_is_no_failure(page: PageClient, path: str) -> None:
    for query in QUERIES:
        assert page.get(f"{path}?{query}").status_code in (200, 404, 422)
