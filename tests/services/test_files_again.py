"""Files that are written again: a name that is there already, and what an undo brings back."""

from typing import Any

import pytest

from panorama.errors import ConflictError
from tests.services.filing import DOT, Call, text, write

__all__ = ["text", "write"]


def test_a_write_to_a_name_that_is_there_is_its_next_version(write: Call, text: Any) -> None:
    old = write("plan.md", "one", tags=["a"])

    new = write("PLAN.md", "two", tags=[])

    assert (new.data["id"], new.data["version"], new.data["name"]) == (old.data["id"], 2, "plan.md")
    assert new.data["tags"] == ["a"]
    assert new.metadata["hint"] == "It had 3 bytes before; undo restores them."
    assert text("plan.md") == "two"


def test_undo_brings_the_old_content_back_and_again_the_new(call: Call, write: Call, text: Any) -> None:
    write("plan.md", "one")
    over = write("plan.md", "the second")

    undone = call("undo", unit=over.metadata["undo"])
    after = call("get_file", file="plan.md").data

    assert (after["text"], after["size"], after["version"]) == ("one", 3, 3)
    assert [row["id"] for row in call("search", query="second").data] == []
    call("undo", unit=undone.metadata["undo"])
    assert text("plan.md") == "the second"


def test_the_same_content_again_changes_nothing(write: Call, rows: Any) -> None:
    write("plan.md", "one")
    before = rows()

    again = write("plan.md", "one")

    assert again.data["version"] == 1
    assert "Nothing was changed" in again.metadata["hint"]
    assert "undo" not in again.metadata
    assert rows() == before


def test_the_same_name_in_another_project_is_another_file(call: Call, write: Call) -> None:
    call("create_project", name="House")

    made = {write("plan.md", "a").data["id"], write("plan.md", "b", project="House").data["id"]}

    assert len(made) == 2
    with pytest.raises(ConflictError) as refusal:
        call("get_file", file="plan.md")
    assert {candidate["id"] for candidate in refusal.value.candidates} == made


def test_a_file_in_the_trash_is_not_written_to(call: Call, write: Call) -> None:
    old = write("plan.md", "one").data["id"]
    call("delete_item", item=old)

    new = write("plan.md", "two").data

    assert (new["id"] != old, new["version"]) == (True, 1)


def test_where_two_files_have_a_name_a_write_says_so(call: Call, write: Call, rows: Any) -> None:
    call("create_project", name="House")
    made = [write("plan.md", "a").data["id"], write("plan.md", "b", project="House").data["id"]]
    call("delete_item", item="House", items="keep")
    before = rows()

    with pytest.raises(ConflictError, match="2 files are called") as refusal:
        write("plan.md", "c")

    assert [candidate["id"] for candidate in refusal.value.candidates] == made
    assert rows() == before


def test_what_was_said_of_a_type_stands_when_the_content_changes(write: Call) -> None:
    write("rows.txt", "a,b", media_type="text/csv")

    assert write("rows.txt", "c,d").data["media_type"] == "text/csv"
    assert write("rows.txt", "c,d", media_type="text/markdown").data["media_type"] == "text/markdown"


def test_a_type_that_was_guessed_follows_the_content(call: Call, write: Call) -> None:
    write("data", "words")

    assert call("write_file", name="data", base64=DOT).data["media_type"] == "application/octet-stream"
    assert write("data", "words").data["media_type"] == "text/plain"


def test_an_undo_never_parts_a_content_from_what_is_told_of_it(call: Call, write: Call) -> None:
    write("plan.md", "one")
    second = write("plan.md", "four")
    write("plan.md", "five", media_type="text/plain")

    undone = call("undo", unit=second.metadata["undo"], skip_conflicts=True)

    answer = call("get_file", file="plan.md").data
    assert (answer["text"], answer["size"], answer["media_type"]) == ("five", 4, "text/plain")
    assert {conflict["field"] for conflict in undone.data["conflicts"]} == {"body", "media_type", "sha256", "size"}
