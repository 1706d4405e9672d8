"""Uploaded files: names that are paths, contents that a browser would run, and sessions that may not write."""

from tests.web.page_client import PageClient
from tests.web.test_attachments import attach

NAMES = (
    "../../page.json", "..\\..\\page.json", "/etc/passwd", "C:\\Windows\\win.ini", "a/../../b.txt", "....//x.txt",
    "~/.ssh/id_rsa", "<img src=x onerror=alert(1)>.png", "\"><script>alert(1)</script>.txt", "a\u202egnp.exe",
    "a\x00.txt", "..", ".", "a\r\nset-cookie: x=1.txt", "{{7*7}}.txt", "x" * 300 + ".txt", "[[Tiles]].txt",
    "$0.data.id",
)  # fmt: skip
CONTENTS = {
    "page.html": b"<script>fetch('/do/quick')</script>",
    "picture.svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "page.xhtml": b'<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>',
    "picture.png": b"<html><script>alert(1)</script>",
    "style.css": b"*{background:url(https://example.com)}",
    "program.js": b"alert(1)",
    "paper.pdf": b"%PDF-1.4 /JavaScript (app.alert(1))",
    "feed.xml": b'<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?><x/>',
}


def test_a_hostile_name_is_refused_or_becomes_a_plain_name(page: PageClient) -> None:
    note = page.call("notes.create", title="Tiles")["id"]
    for name in NAMES:
        answer = attach(page, note, (name, b"x"), accept="application/json")
        assert answer.status_code in (200, 400)

    for file in page.call("files.list"):
        assert not {"/", "\\", "\0", "\n", "\r", "\u202e"} & set(file["name"])
        sent = page.get(f"/files/{file['id']}/content")
        assert sent.headers["content-disposition"].isascii()
        assert not {"<", '"', "\r", "\n"} & set(sent.headers["content-disposition"])
        assert "set-cookie" not in sent.headers
    html = page.page(f"/notes/{note}")
    assert "<img src=x" not in html
    assert "<script>alert" not in html
    assert "49.txt" not in html


def test_no_uploaded_content_is_opened_as_a_page_of_ours(page: PageClient) -> None:
    note = page.call("notes.create", title="Tiles")["id"]
    attach(page, note, *CONTENTS.items())

    files = page.call("files.list")
    assert {file["name"] for file in files} == set(CONTENTS)
    for file in files:
        sent = page.get(f"/files/{file['id']}/content")
        assert sent.content == CONTENTS[file["name"]]
        assert sent.headers["content-type"] == "application/octet-stream"
        assert sent.headers["content-disposition"].startswith("attachment;")
        assert sent.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in sent.headers["content-security-policy"]
        assert "<script>" not in page.page(f"/files/{file['id']}").replace("<script type", "")


def test_only_a_session_that_may_write_attaches_files(
    page: PageClient, reader: PageClient, stranger: PageClient
) -> None:
    note = page.call("notes.create", title="Tiles")["id"]
    assert attach(reader, note, ("a.txt", b"x")).status_code == 403
    file = {"file": ("a.txt", b"x")}
    for who, token in ((page, "0" * 32), (stranger, page.token)):
        data = {"token": token, "note": note}
        assert who.http.post("/do/attach", data=data, files=file, headers=who.headers()).status_code in (401, 403)

    assert page.call("files.list") == []
    assert "/do/attach" not in reader.page(f"/notes/{note}")


def test_a_file_is_attached_to_notes_only(page: PageClient) -> None:
    task = page.call("tasks.create", title="Tea")["id"]

    for target in (task, "", "n_0000000000", "$0.data.id", "../x"):
        assert attach(page, target, ("a.txt", b"x"), accept="application/json").json()["failed"]

    assert page.call("files.list") == []


def test_no_path_leads_to_another_content(page: PageClient) -> None:
    page.call("files.write", name="secret.txt", text="x")

    for path in ("..%2f..%2fpage.json", "%2e%2e", "f_0000000000", "secret.txt%00", "/etc/passwd"):
        assert page.get(f"/files/{path}/content").status_code in (307, 404, 422)
