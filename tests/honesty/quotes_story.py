"""A story about quotes, which `docs/add-a-noun.md` adds: its test runs this in a copy of the product."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.calls import Answer

Call = Callable[..., Answer]

SCRIPT = """
quote = sdk.quotes.create("Form follows function", author="Sullivan")
sdk.quotes.update(quote, author="Louis Sullivan")
return [sdk.quotes.get("form follows function").author, len(sdk.quotes.list()), repr(quote)[:6]]
"""


@pytest.fixture
def quote(call: Call) -> Any:
    """A quote in a project."""
    call("projects.create", name="Kitchen")
    return call("quotes.create", text="Less is more", author="Mies", project="Kitchen", tags=["short"]).data


def test_it_is_listed_and_shown_and_belongs_to_its_project(call: Call, quote: Any) -> None:
    assert [row["text"] for row in call("quotes.list", tag="short").data] == ["Less is more"]
    assert call("items.get", item="less is more").data["item"]["id"] == quote["id"]
    assert [row["id"] for row in call("items.get", item="Kitchen").data["belonging"]["quotes"]] == [quote["id"]]


def test_it_is_found(call: Call, quote: Any) -> None:
    assert [hit["id"] for hit in call("search", query="mies", kinds=["quote"]).data] == [quote["id"]]
    assert call("query", collection="quotes", where={"project": "kitchen"}, count=True).data == [{"count": 1}]
    assert [row["name"] for row in call("items.complete", kind="quote", begun="less").data] == ["Less is more"]
    assert call("status").data["counts"]["quote"] == 1


def test_it_is_changed_and_the_change_undone(call: Call, quote: Any) -> None:
    call("quotes.update", quote="Less is more", author="Venturi")
    lines = call("history.list", item=quote["id"]).data
    call("history.undo")

    assert [line["action"] for line in lines] == ["update", "create"]
    assert call("items.get", item=quote["id"]).data["item"]["author"] == "Mies"


def test_it_is_deleted_and_restored(call: Call, quote: Any) -> None:
    call("items.delete", item="Less is more")
    assert [row["label"] for row in call("items.trash").data] == ["Less is more"]

    call("items.restore", item="Less is more")
    assert len(call("quotes.list").data) == 1


def test_it_goes_with_its_project(call: Call, quote: Any) -> None:
    call("items.delete", item="Kitchen", items="trash", confirm=True)

    assert call("quotes.list").data == []


def test_it_is_exported_and_restored_from_the_export(call: Call, quote: Any, tmp_path: Path) -> None:
    export = Path(call("export", folder=str(tmp_path), confirm=True).data["path"])
    restored = call("restore", source=str(export), folder=str(tmp_path / "again")).data

    assert "- Less is more (Mies) #short" in (export / "markdown/Kitchen/Kitchen.md").read_text("utf-8")
    assert restored["rows"] > 0


def test_scripts_have_it(call: Call) -> None:
    assert call("run_code", code=SCRIPT).data["result"] == ["Louis Sullivan", 1, "Quote("]
