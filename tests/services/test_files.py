"""Files: written, read, listed, renamed, found."""

import threading
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.databases import open_contents
from panorama.domain.items.files import CONTENT_BYTES
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, UnavailableError
from panorama.store.contents.contents import Contents
from tests.conftest import ON_POSTGRES, StandingClock
from tests.faults.meanings import converges, finds, followed
from tests.services.filing import DOT, PNG, Call, text, write

__all__ = ["text", "write"]


def count_contents(app: App) -> int:
    """Return how many contents are kept."""
    return len(list(open_contents(app.settings, app.context.database).iter_sizes()))


def test_a_file_is_written_and_read(call: Call, write: Call) -> None:
    made = write("report.csv", "a,b\n1,2\n", tags=["Q3"])

    read = call("get_file", file="Report.CSV")
    assert made.data["id"].startswith("f_")
    assert made.summary == f"Wrote file “report.csv” ({made.data['id']}), 8 bytes, version 1"
    assert {name: read.data[name] for name in ("name", "media_type", "size", "chars", "tags", "text")} == {
        "name": "report.csv", "media_type": "text/csv", "size": 8, "chars": 8, "tags": ["Q3"], "text": "a,b\n1,2\n",
    }  # fmt: skip
    assert "body" not in read.data | made.data


def test_bytes_answer_with_type_and_size_alone(call: Call) -> None:
    call("write_file", name="dot.png", base64=DOT)

    read = call("get_file", file="dot.png")

    assert (read.data["media_type"], read.data["size"]) == ("image/png", len(PNG))
    assert not {"text", "chars", "start", "end"} & set(read.data)
    assert read.summary.endswith("image/png, 10 bytes: no text to show")


def test_an_empty_file_is_a_file(write: Call, call: Call) -> None:
    write("empty.txt")

    assert (call("get_file", file="empty.txt").data["size"], call("get_file", file="empty.txt").data["text"]) == (0, "")


def test_a_long_text_is_read_in_ranges(write: Call, call: Call) -> None:
    whole = "".join(f"{number}," for number in range(5000))
    write("numbers.csv", whole)

    parts, start = [], 0
    while start < len(whole):
        read = call("get_file", file="numbers.csv", start=start, chars=9000)
        parts.append(read.data["text"])
        start = read.data["end"]

    assert "".join(parts) == whole
    assert call("get_file", file="numbers.csv").summary.endswith("; read on with start=7000")
    assert call("get_file", file="numbers.csv", start=10**6).data["text"] == ""


@pytest.mark.parametrize("part", [{"start": -1}, {"chars": 0}, {"chars": 35_001}])
def test_a_range_that_cannot_be_is_refused(write: Call, call: Call, part: dict[str, int]) -> None:
    write("a.txt", "x")

    with pytest.raises(InvalidInputError, match="start is"):
        call("get_file", file="a.txt", **part)


def test_a_text_of_10_mb_is_kept_and_a_longer_one_leaves_nothing(write: Call, app: App) -> None:
    assert write("long.txt", "x" * CONTENT_BYTES).data["size"] == CONTENT_BYTES

    with pytest.raises(InvalidInputError, match="the limit is"):
        write("longer.txt", "x" * (CONTENT_BYTES + 1))

    assert count_contents(app) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "a/b"}, {"media_type": "table"}, {"tags": ["x" * 100]}, {"project": "Nowhere"}, {"base64": "eA=="},
        {"text": None}, {"text": None, "base64": "?"},
    ],
)  # fmt: skip
def test_what_is_refused_leaves_no_content(call: Call, app: App, rows: Any, wrong: dict[str, Any]) -> None:
    before = rows()

    with pytest.raises((InvalidInputError, NotFoundError)):
        call("write_file", **{"name": "a.txt", "text": "x"} | wrong)

    assert (rows(), count_contents(app)) == (before, 0)


# Renaming, moving, finding.


def test_a_file_is_renamed_moved_and_tagged(call: Call, write: Call) -> None:
    project = call("create_project", name="House").data["id"]
    made = write("plan.md", "one").data["id"]

    call("update_file", file="plan.md", name="Plan B.md", project="House", tags=["x"])

    found = call("list_files", project="House").data
    assert [(row["id"], row["name"], row["project"], row["tags"], row["version"]) for row in found] == [
        (made, "Plan B.md", project, ["x"], 2)
    ]
    assert call("update_file", file=made, project="", tags=[]).data["version"] == 3


def test_another_media_type_changes_what_search_reads(call: Call, write: Call) -> None:
    write("drawing.svg", "<text>gooseberry</text>")
    assert call("search", query="gooseberry").data == []

    call("update_file", file="drawing.svg", media_type="text/html")

    assert [row["title"] for row in call("search", query="gooseberry").data] == ["drawing.svg"]
    call("update_file", file="drawing.svg", media_type="")
    assert call("get_file", file="drawing.svg").data["media_type"] == "image/svg+xml"
    assert call("search", query="gooseberry").data == []


def test_a_name_that_another_file_of_the_project_has_is_refused(call: Call, write: Call, rows: Any) -> None:
    write("a.txt", "a")
    write("b.txt", "b")
    before = rows()

    with pytest.raises(ConflictError, match=r"called “A\.txt”"):
        call("update_file", file="b.txt", name="A.txt")

    assert rows() == before
    assert call("update_file", file="a.txt", name="A.TXT").data["name"] == "A.TXT"


def test_a_list_shows_the_last_written_first_and_no_content(call: Call, write: Call, clock: StandingClock) -> None:
    for name in ("a.csv", "b_1.CSV", "c.txt"):
        write(name, "words", tags=["x"] if name == "a.csv" else [])
        clock.advance(minutes=1)
    write("a.csv", "new words")

    rows = call("list_files").data
    assert [row["name"] for row in rows] == ["a.csv", "c.txt", "b_1.CSV"]
    assert not any({"body", "text", "sha256"} & set(row) for row in rows)
    assert [row["name"] for row in call("list_files", name=".csv").data] == ["a.csv", "b_1.CSV"]
    assert [row["name"] for row in call("list_files", name="_").data] == ["b_1.CSV"]
    assert [row["name"] for row in call("list_files", tag="x").data] == ["a.csv"]


def test_a_list_after_a_project_was_read_is_of_that_project_only_when_asked(call: Call, write: Call) -> None:
    call("create_project", name="House")
    write("a.txt", "a", project="House")
    write("b.txt", "b")
    call("get_project", project="House")

    bound, every = call("list_files", project="@last"), call("list_files")

    assert [row["name"] for row in bound.data] == ["a.txt"]
    assert "project" in bound.metadata["bound"]
    assert len(every.data) == 2


def test_a_file_is_found_by_its_text_its_name_and_its_tags(call: Call, write: Call) -> None:
    write("inventory-2026.csv", "berry,count\ngooseberry,12\n", tags=["cellar"])
    call("write_file", name="gooseberry.png", base64=DOT)

    def found(query: str) -> list[str]:
        return [row["title"] for row in call("search", query=query, kinds=["file"]).data]

    assert sorted(found("gooseberry")) == ["gooseberry.png", "inventory-2026.csv"]
    assert found("inventory") == found("cellar") == ["inventory-2026.csv"]
    assert "**gooseberry**" in call("search", query="gooseberry count").data[0]["snippet"]


def test_a_file_is_found_by_the_meaning_of_what_it_holds_now(home: Path) -> None:
    with followed(home, index_engine="exact") as house:
        made = house.do("write_file", name="list.csv", text="machine,year\nsteam engine,1712\nlocomotive,1804\n")
        converges(house)
        was = finds(house, "railway engines", made["data"]["id"])
        house.do("write_file", name="list.csv", text="fruit,price\nquince,3\nplum jam,4\n")
        converges(house)

        assert (was, finds(house, "marmalade of plums", made["data"]["id"])) == (True, True)


def test_a_file_is_asked_for_by_query(call: Call, write: Call) -> None:
    write("a.csv", "12345")
    write("b.csv", "123")

    rows = call("query", collection="files", where={"media_type": "text/csv"}, sort=["-size"]).data

    assert [(row["name"], row["size"]) for row in rows] == [("a.csv", 5), ("b.csv", 3)]
    assert not any("body" in row for row in rows)
    assert call("query", collection="files", sum=["size"]).data[0]["sum_size"] == 8


# What belongs to a project, the trash, and what is out of order.


def test_a_project_knows_its_files(call: Call, write: Call) -> None:
    call("create_project", name="House")
    made = write("plan.md", "one", project="House").data["id"]

    assert call("get_project", project="House").data["files"] == 1
    assert call("get_item", item="House").data["belonging"]["files"] == [
        {"id": made, "name": "plan.md", "media_type": "text/markdown"}
    ]


def test_a_file_goes_with_its_project_and_comes_back(call: Call, write: Call, text: Any) -> None:
    call("create_project", name="House")
    write("plan.md", "one", project="House")

    gone = call("delete_item", item="House", items="trash", confirm=True)
    assert gone.data["trashed"] == 2
    assert [row["label"] for row in call("list_trash").data if row["kind"] == "file"] == ["plan.md"]
    call("undo", unit=gone.metadata["undo"])

    assert text("plan.md") == "one"


def test_a_deleted_file_comes_back_with_its_words(call: Call, write: Call, text: Any) -> None:
    made = write("plan.md", "gooseberry").data["id"]
    call("delete_item", item="plan.md")
    assert call("search", query="gooseberry").data == []

    restored = call("restore_item", item=made)

    assert "body" not in restored.data
    assert text("plan.md") == "gooseberry"
    assert len(call("search", query="gooseberry").data) == 1


def test_an_item_of_a_file_is_shown_without_its_text(call: Call, write: Call) -> None:
    made = write("plan.md", "one").data["id"]

    shown = call("get_item", item="plan.md").data

    assert (shown["kind"], shown["item"]["id"], shown["item"]["size"]) == ("file", made, 3)
    assert "body" not in shown["item"]


def test_history_shows_what_differs_alone(call: Call, write: Call) -> None:
    write("plan.md", "one")
    write("plan.md", "two")

    newest, first = call("history", item="plan.md").data

    assert set(newest["fields"]) == {"body", "sha256"}
    assert set(first["fields"]) == {"body", "media_type", "name", "sha256", "size"}


@pytest.mark.skipif(ON_POSTGRES, reason="damages a file; tests/store/test_contents.py damages contents of each kind")
def test_a_damaged_content_is_told_and_mended_by_writing_it_again(
    call: Call, write: Call, text: Any, home: Path
) -> None:
    write("plan.md", "one")
    (path,) = (path for path in (home / "files").rglob("*") if path.is_file())
    path.write_bytes(b"two")

    with pytest.raises(UnavailableError, match="damaged"):
        call("get_file", file="plan.md")

    assert call("list_files").data[0]["name"] == "plan.md"
    write("plan.md", "one")
    assert text("plan.md") == "one"


def test_a_repeated_write_with_a_key_is_done_once(write: Call, text: Any) -> None:
    write("plan.md", "one", idempotency_key="k")
    write("plan.md", "two")

    again = write("plan.md", "one", idempotency_key="k")

    assert again.metadata["repeated"] is True
    assert text("plan.md") == "two"


def test_a_large_content_is_on_the_disk_before_the_write_lock_is_taken(
    app: App, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[bool] = []
    put = Contents.put

    def put_beside_another_write(contents: Contents, content: bytes) -> str:
        note = threading.Thread(target=lambda: call("create_note", title="Meanwhile", content="x"))
        note.start()
        note.join(5)
        waited.append(note.is_alive())
        return put(contents, content)

    monkeypatch.setattr(Contents, "put", put_beside_another_write)
    made = call("write_file", name="long.txt", text="word " * 100_000, idempotency_key="once")
    again = call("write_file", name="long.txt", text="word " * 100_000, idempotency_key="once")

    assert waited == [False]
    assert (again.data, again.metadata["repeated"]) == (made.data, True)


def test_a_large_content_is_a_step_of_an_atomic_batch_and_goes_with_it(call: Call, home: Path) -> None:
    steps = [
        {"tool": "write_file", "args": {"name": "long.txt", "text": "word " * 100_000}},
        {"tool": "update_task", "args": {"task": "t_0000000000", "title": "None"}},
    ]

    with pytest.raises(NotFoundError, match="No step of the batch was kept"):
        call("batch", operations=steps)

    assert call("list_files").data == []


def test_a_content_is_given_in_parts(call: Call) -> None:
    whole = bytes(range(256)) * 200
    call("write_file", name="all.bin", base64=b64encode(whole).decode())

    first = call("files.content", file="all.bin").data
    second = call("files.content", file="all.bin", start=24_000).data

    assert (first["size"], len(first["base64"]), len(second["base64"])) == (51_200, 32_000, 32_000)
    assert first["base64"] + second["base64"] == b64encode(whole[:48_000]).decode()


def test_the_log_keeps_no_content(call: Call, write: Call, app: App) -> None:
    write("plan.md", "secret words " * 1000)
    app.recorder.flush()

    (logged,) = (row for row in call("query", collection="calls", select=["name", "arguments"]).data)

    assert logged["name"] == "write_file"
    assert len(str(logged["arguments"])) < 400
