"""The graph: links resolve whenever their target appears, names are followed, relations read from both sides."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.app import open_app
from panorama.calls import Answer, Conversation
from panorama.config import Settings
from panorama.errors import InvalidInputError, NotFoundError

Call = Callable[..., Answer]

SCRIPT = """
note = sdk.notes.create("Grout", content="For the [[Tiles]]", aliases=["Mortar"], properties={"bags": 3})
tiles = sdk.notes.create("Tiles", type="insight")
sdk.relations.create(tiles, "part_of", note, note="same wall")
near = sdk.graph.related("Tiles", kinds=["contains", "part_of"]).neighbours
way = sdk.graph.paths("Tiles", "Mortar").paths[0]
return [
    [(row.relation, row.title, row.why) for row in near], len(sdk.graph.walk(note)), [step.title for step in way],
    sdk.graph.stats().kinds, sdk.graph.components().components[0]["size"], sdk.graph.context("tiles").hits[0].title,
    sdk.notes.get("Mortar").properties, sdk.query("notes", where={"type": "insight"})[0].title,
]
"""


def note(call: Call, title: str, content: str = "", **more: Any) -> str:
    """Create a note and return its id."""
    return call("notes.create", title=title, content=content, **more).data["id"]


def neighbours(call: Call, item: str, **more: Any) -> list[tuple[str, str]]:
    """Return relation and title of what is related to an item."""
    return [(row["relation"], row["title"]) for row in call("graph.related", item=item, **more).data["neighbours"]]


@pytest.mark.parametrize(
    "link", ["Tea", " tea ", "TEA#Green", "Tea#^b1", "Drinks/Tea", "Drinks/Tea.md", "Chai", "chai|what we drink"]
)
def test_links_resolve_by_title_heading_block_file_name_and_alias(call: Call, link: str) -> None:
    source = note(call, "Shopping", f"Buy [[{link}]].")
    note(call, "Tea", aliases=["Chai"])

    assert neighbours(call, source) == [("mentions", "Tea")]
    assert neighbours(call, "Tea") == [("mentioned_by", "Shopping")]


def test_links_resolve_by_id_and_to_any_kind(call: Call) -> None:
    task = call("tasks.create", title="Boil water").data["id"]
    call("people.create", name="Ana", last_name="Kovač", aliases=["Anka"])
    source = note(call, "Plan", f"[[{task.upper()}]], [[Anka]], [[Kitchen]]")
    call("projects.create", name="Kitchen", description="See [[Plan]].")

    assert {title for _, title in neighbours(call, source)} == {"Boil water", "Ana Kovač", "Kitchen"}
    assert neighbours(call, task) == [("mentioned_by", "Plan")]


def test_a_link_to_nothing_is_kept_and_resolves_when_its_target_appears(call: Call) -> None:
    source = note(call, "Shopping", "Buy [[Tea]].")
    assert call("graph.related", item=source).data["unresolved"] == ["Tea"]

    other = note(call, "Coffee")
    assert neighbours(call, source) == []
    call("notes.update", note=other, aliases=["Tea"])
    assert neighbours(call, source) == [("mentions", "Coffee")]
    call("notes.update", note=other, aliases=[])
    call("notes.update", note=other, title="Tea")
    assert neighbours(call, source) == [("mentions", "Tea")]


def test_the_trash_unresolves_links_and_a_restore_resolves_them(call: Call) -> None:
    source, target = note(call, "Shopping", "Buy [[Tea]]."), note(call, "Tea", "From [[Shopping]].")
    relation = call("relations.create", from_item=source, kind="supports", to_item=target).data["id"]

    call("items.delete", item=target)
    assert neighbours(call, source) == []
    assert call("relations.list").data == []
    call("items.restore", item=target)

    assert neighbours(call, target) == [("supported_by", "Shopping")]
    assert [row["id"] for row in call("relations.list").data] == [relation]


def test_of_two_notes_with_a_title_the_older_is_meant_until_it_is_gone(call: Call) -> None:
    first, second = note(call, "Tea"), note(call, "Tea")
    source = note(call, "Shopping", "Buy [[Tea]].")

    assert call("graph.related", item=source).data["neighbours"][0]["id"] == first
    call("items.delete", item=first)
    assert call("graph.related", item=source).data["neighbours"][0]["id"] == second
    call("undo")
    assert call("graph.related", item=source).data["neighbours"][0]["id"] == first


def test_an_edit_changes_the_links_and_their_sentences(call: Call) -> None:
    source = note(call, "Shopping", "Buy [[Tea]]. And [[Salt]].")
    for title in ("Tea", "Salt", "Oil"):
        note(call, title)

    call("notes.edit", note=source, old_text="Buy [[Tea]].", new_text="- needs [[Oil]]\n\nWe are out of [[Salt]]!")

    assert neighbours(call, source) == [("needs", "Oil"), ("mentions", "Salt")]
    backlinks = call("items.get", item="Salt").data["belonging"]["backlinks"]
    assert [(row["title"], row["relation"], row["why"]) for row in backlinks] == [
        ("Shopping", "mentioned_by", "We are out of [[Salt]]!")
    ]


def test_get_item_counts_the_backlinks_that_it_does_not_show(call: Call) -> None:
    note(call, "Tea")
    for number in range(12):
        note(call, f"Log {number}", "Drank [[Tea]].")

    answer = call("items.get", item="Tea")

    assert (len(answer.data["belonging"]["backlinks"]), answer.data["more"]["backlinks"]) == (10, 2)
    assert "2 backlinks" in answer.summary


def test_get_item_counts_the_observations_that_it_does_not_show(call: Call) -> None:
    note = call("notes.create", title="Facts", content="\n".join(f"- [fact] {at}" for at in range(13))).data["id"]

    answer = call("items.get", item=note)

    assert (len(answer.data["belonging"]["observations"]), answer.data["more"]["observations"]) == (10, 3)
    assert "3 observations" in answer.summary


def test_a_sentence_with_several_links_to_an_item_is_one_backlink(call: Call) -> None:
    call("notes.create", title="Salt", aliases=["NaCl"])
    call("notes.create", title="Tea", content="[[Salt]] is [[NaCl]], see [[Salt#Use]].")

    backlinks = call("items.get", item="Salt").data["belonging"]["backlinks"]

    assert [row["why"] for row in backlinks] == ["[[Salt]] is [[NaCl]], see [[Salt#Use]]."]


def test_a_new_title_is_followed_by_all_links_and_one_undo_takes_it_back(call: Call) -> None:
    tea = note(call, "Tea", "I am [[Tea]].")
    texts = ["[[Tea]] and [[tea#Green|green]]", "`[[Tea]]` [[Teapot]]", "[[Tea]]"]
    sources = [note(call, f"Log {number}", text) for number, text in enumerate(texts)]
    task = call("tasks.create", title="Boil", notes="for [[Tea]]").data["id"]

    answer = call("notes.update", note=tea, title="Chai")
    renamed = [call("items.get", item=id_).data["item"]["content"] for id_ in (*sources, tea)]
    call("undo")

    assert answer.metadata["hint"] == "Changed 4 links to it in 3 items to [[Chai]]."
    assert renamed == ["[[Chai]] and [[Chai#Green|green]]", texts[1], "[[Chai]]", "I am [[Chai]]."]
    assert [call("items.get", item=id_).data["item"]["content"] for id_ in sources] == texts
    assert call("items.get", item=task).data["item"]["notes"] == "for [[Tea]]"
    assert len(neighbours(call, "Tea")) == 3


def test_a_rename_to_a_name_in_use_links_by_id(call: Call) -> None:
    note(call, "Chai")
    tea = note(call, "Tea")
    source = note(call, "Log", "[[Tea]]")

    call("notes.update", note=tea, title="Chai")

    assert call("items.get", item=source).data["item"]["content"] == f"[[{tea}|Tea]]"
    assert call("graph.related", item=source).data["neighbours"][0]["id"] == tea


@pytest.mark.parametrize("verb", ["projects.update", "tasks.update", "people.update"])
def test_links_follow_projects_tasks_and_people(call: Call, verb: str) -> None:
    kind, label = {"projects": ("project", "name"), "tasks": ("task", "title"), "people": ("person", "name")}[
        verb.partition(".")[0]
    ]
    call(verb.replace("update", "create"), **{label: "Tea"})
    source = note(call, "Log", "[[Tea]]")

    call(verb, **{kind: "Tea", label: "Chai"})

    assert call("items.get", item=source).data["item"]["content"] == "[[Chai]]"


def test_many_links_follow_in_portions_that_are_one_unit(call: Call) -> None:
    tea = note(call, "Tea")
    sources = [note(call, f"Log {number}", f"{number} [[Tea]]") for number in range(60)]

    answer = call("notes.update", note=tea, title="Chai")

    assert "60 links to it in 60 items" in answer.metadata["hint"]
    assert len(neighbours(call, "Chai", limit=100)) == 60
    call("undo", confirm=True)
    assert call("items.get", item=sources[-1]).data["item"]["content"] == "59 [[Tea]]"
    assert len(neighbours(call, "Tea", limit=100)) == 60


def test_a_relation_reads_from_both_sides_with_its_note(call: Call) -> None:
    lay, order = (call("tasks.create", title=title).data["id"] for title in ("Lay tiles", "Order tiles"))
    call("relations.create", from_item=lay, kind="Blocked by", to_item=order, note="they are late")

    (here,) = call("graph.related", item=lay).data["neighbours"]
    (there,) = call("graph.related", item=order, kinds=["blocks"]).data["neighbours"]

    assert (here["relation"], here["direction"], here["source"], here["why"]) == (
        "blocked_by", "out", "explicit", "they are late",
    )  # fmt: skip
    assert (there["relation"], there["direction"], there["title"]) == ("blocks", "in", "Lay tiles")
    assert call("graph.related", item=order, direction="out").data["neighbours"] == []


def test_a_relation_to_itself_the_trash_another_relation_or_without_a_kind_is_refused(call: Call) -> None:
    tea, gone = note(call, "Tea"), note(call, "Gone")
    relation = call("relations.create", from_item=tea, kind="likes", to_item=gone).data["id"]
    call("items.delete", item=gone)

    for end, kind in ((tea, "likes"), (relation, "likes"), (note(call, "Salt"), "!!")):
        with pytest.raises(InvalidInputError):
            call("relations.create", from_item=tea, kind=kind, to_item=end)
    with pytest.raises(NotFoundError, match="in the trash"):
        call("relations.create", from_item=tea, kind="likes", to_item=gone)


def test_a_relation_exists_once_and_its_deletion_can_be_undone(call: Call) -> None:
    ends = {"from_item": note(call, "Tea"), "to_item": note(call, "Salt")}
    first = call("relations.create", kind="likes", **ends).data["id"]

    assert call("relations.create", kind="Likes", **ends).data["id"] == first
    call("items.delete", item=first)
    assert neighbours(call, "Tea") == []
    call("undo")
    assert neighbours(call, "Tea") == [("likes", "Salt")]


def test_a_walk_returns_the_nearest_first_and_how_it_came_there(call: Call) -> None:
    for number in range(5):
        note(call, f"Step {number}", f"then [[Step {number + 1}]]")

    rows = call("graph.related", item="Step 0", depth=3, direction="out").data["neighbours"]
    short = call("graph.related", item="Step 0", depth=4, limit=2)

    assert [(row["title"], row["depth"]) for row in rows] == [("Step 1", 1), ("Step 2", 2), ("Step 3", 3)]
    assert [row.get("via") for row in rows] == [None, rows[0]["id"], rows[1]["id"]]
    assert (len(short.data["neighbours"]), short.data["more"]) == (2, 2)


def test_code_and_quotes_link_nothing(call: Call) -> None:
    note(call, "Tea")
    source = note(call, "Log", "`[[Tea]]`\n> [[Tea]]\n```\n[[Tea]]\n```\n")

    assert neighbours(call, source) == []


def test_aliases_type_and_properties_are_stored_searched_and_cleared(call: Call) -> None:
    id_ = note(call, "Tea", type="Decision", aliases=["Chai", "chai"], properties={"rating": 5, "from": "Assam"})

    row = call("notes.get", note="chai").data
    assert (row["type"], row["aliases"], row["properties"]) == ("decision", ["Chai"], {"rating": 5, "from": "Assam"})
    assert call("search", query="assam").data[0]["id"] == id_
    call("notes.update", note=id_, type="", aliases=[], properties={})
    row = call("items.get", item=id_).data["item"]
    assert (row["type"], row.get("aliases"), row.get("properties")) == ("note", [], {})
    call("undo")
    assert call("notes.get", note="Chai").data["properties"] == {"rating": 5, "from": "Assam"}


def test_the_graph_is_rebuilt_from_an_export(call: Call, tmp_path: Path) -> None:
    tea = note(call, "Tea", "With [[Salt]] and [[Nothing]]")
    call("relations.create", from_item=tea, kind="likes", to_item=note(call, "Salt"))
    archive = call("export", folder=str(tmp_path / "exports"), confirm=True).data["path"]

    call("restore", source=archive, folder=str(tmp_path / "home"))

    with open_app(Settings(home=tmp_path / "home", timezone="Europe/Berlin")) as app:
        client = Conversation(id="v", actor="cli", client="tests")
        near = app.calls.call("graph.related", {"item": tea}, client).data
    assert near == call("graph.related", item=tea).data
    assert (len(near["neighbours"]), near["unresolved"]) == (1, ["Nothing"])


def test_purging_an_item_forgets_its_relations(call: Call, clock: Any) -> None:
    tea, salt = note(call, "Tea", "[[Salt]]"), note(call, "Salt")
    call("relations.create", from_item=tea, kind="likes", to_item=salt, note="secret")
    call("items.delete", item=salt)
    clock.advance(days=40)

    call("purge", confirm=True)

    assert neighbours(call, tea) == []
    assert call("query", collection="relations").data == []
    assert call("search", query="secret").data == []
    assert call("graph.related", item=tea).data["unresolved"] == ["Salt"]


def test_scripts_walk_the_graph(call: Call) -> None:
    answer = call("run_code", code=SCRIPT).data

    assert answer["result"] == [
        [["part_of", "Grout", "same wall"]], 1, ["Tiles", "Grout"], {"mentions": 1, "part_of": 1}, 2, "Tiles",
        {"bags": 3}, "Tiles",
    ]  # fmt: skip


def test_a_note_with_more_links_than_are_followed_says_so(call: Call, tmp_path: Path) -> None:
    links = " ".join(f"[[Target {number}]]" for number in range(5_001))
    remark = "It has more than 5,000 links: only the first 5,000 are followed."
    (tmp_path / "Big.md").write_text(links)

    made = call("notes.create", title="Bomb", content=links)
    fewer = call("notes.update", note="Bomb", content=links.partition(" ")[2])
    more = call("notes.append", note="Bomb", block="[[One more]]")

    assert remark in made.metadata["hint"]
    assert remark not in fewer.metadata.get("hint", "")
    assert remark in more.metadata["hint"]
    assert remark in call("import.markdown", folder=str(tmp_path)).data["problems"][0]["why"]
