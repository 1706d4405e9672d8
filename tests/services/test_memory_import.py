"""The graph of the MCP server “memory”, and notes of basic-memory, come in as people, projects, notes and relations."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError

Call = Callable[..., Answer]

LINES: list[dict[str, Any]] = [
    {"type": "entity", "name": "John_Smith", "entityType": "person", "observations": ["Speaks Spanish", "Lives here"]},
    {"type": "entity", "name": "Acme", "entityType": "Organization", "observations": ["Sells [[anvils]]"]},
    {"type": "entity", "name": "Kitchen", "entityType": "project", "observations": []},
    {"type": "relation", "from": "John_Smith", "to": "Acme", "relationType": "works at"},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of the server."""
    made = tmp_path / "memory.jsonl"
    write(made, LINES)
    return made


def write(file: Path, lines: list[dict[str, Any]]) -> None:
    """Write a file of the server."""
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")


def bring(call: Call, file: Path, **more: Any) -> dict[str, Any]:
    """Import a file and return the counts that are not zero."""
    data = call("import.memory", file=str(file), **more).data
    return {name: value for name, value in data.items() if isinstance(value, int) and value and name != "dry_run"}


def test_entities_become_people_projects_and_notes(call: Call, file: Path) -> None:
    found = bring(call, file)

    assert found == {
        "entities": 3, "relations": 1, "people_created": 1, "projects_created": 1, "notes_created": 1,
        "relations_created": 1,
    }  # fmt: skip
    person = call("items.get", item="John Smith").data["item"]
    assert (person["aliases"], person["notes"]) == (["John_Smith"], "- Speaks Spanish\n- Lives here")
    assert call("items.get", item="Acme").data["item"]["type"] == "organization"
    assert [row["relation"] for row in call("graph.related", item="John Smith").data["neighbours"]] == ["works_at"]


def test_a_second_import_changes_nothing_and_a_dry_run_writes_nothing(call: Call, file: Path) -> None:
    assert bring(call, file, dry_run=True)["people_created"] == 1
    assert call("people.list").data == []

    bring(call, file)

    assert bring(call, file) == {"entities": 3, "relations": 1, "unchanged": 4}


def test_changes_of_the_file_are_taken_unless_the_item_was_changed_here(call: Call, file: Path) -> None:
    bring(call, file)
    call("people.update", person="John Smith", notes="Mine")
    lines = [dict(line) for line in LINES]
    lines[0]["observations"], lines[1]["observations"] = ["Speaks French"], ["Sells glue"]
    write(file, lines[:2])

    answer = call("import.memory", file=str(file))

    assert (answer.data["notes_updated"], answer.data["people_updated"], answer.data["gone"]) == (1, 0, 2)
    assert "changed in both places" in answer.data["problems"][0]["why"]
    assert call("items.get", item="John Smith").data["item"]["notes"] == "Mine"
    assert call("items.get", item="Acme").data["item"]["content"] == "- Sells glue"


def test_what_was_deleted_here_stays_deleted_and_an_undone_import_starts_again(call: Call, file: Path) -> None:
    bring(call, file)
    call("items.delete", item="Acme", confirm=True)
    assert bring(call, file)["skipped"] == 2

    call("history.undo", count=2, confirm=True)

    assert bring(call, file)["people_created"] == 1


def test_a_person_of_that_name_is_joined_once(call: Call, file: Path) -> None:
    call("people.create", name="John", last_name="Smith", notes="Known\n- Lives here")

    assert bring(call, file)["people_updated"] == 1
    assert bring(call, file)["unchanged"] == 4
    assert [row["full_name"] for row in call("people.list").data] == ["John Smith"]
    assert call("items.get", item="John Smith").data["item"]["notes"] == "Known\n- Lives here\n- Speaks Spanish"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"type":"ent', "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"type":"thing"}', "neither entity nor relation"),
        ('{"type":"entity","name":" "}', "no name"),
        ('{"type":"relation","from":"A"}', "no from, to or relationType"),
    ],
)
def test_lines_that_cannot_be_read_are_named(call: Call, file: Path, line: str, why: str) -> None:
    file.write_text(f"{file.read_text('utf-8')}\n{line}\n", "utf-8")

    answer = call("import.memory", file=str(file))

    assert answer.data["unread"] == 1
    assert answer.data["problems"][0]["place"] == "line 5"
    assert why in answer.data["problems"][0]["why"]
    assert answer.data["people_created"] == 1


@pytest.mark.parametrize(("target", "why"), [("Nobody", "no entity “Nobody”"), ("Acme", "related to itself")])
def test_a_relation_to_nothing_or_to_itself_is_named(call: Call, file: Path, target: str, why: str) -> None:
    write(file, [LINES[1], {"type": "relation", "from": "Acme", "to": target, "relationType": "knows"}])

    answer = call("import.memory", file=str(file))

    assert (answer.data["skipped"], answer.data["relations_created"]) == (1, 0)
    assert why in answer.data["problems"][0]["why"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_entity_that_is_too_long_is_named_and_all_others_are_imported(call: Call, file: Path, dry_run: bool) -> None:
    long = {"type": "entity", "name": "Log", "entityType": "project", "observations": ["x" * 20_000_000]}
    write(file, [LINES[0], long, *LINES[1:]])

    answer = call("import.memory", file=str(file), dry_run=dry_run)

    (problem,) = answer.data["problems"]
    assert problem["place"] == "line 2"
    assert "the limit is" in problem["why"]
    assert (answer.data["unread"], answer.data["people_created"], answer.data["notes_created"]) == (1, 1, 1)


def test_equal_relations_are_one(call: Call, file: Path) -> None:
    similar = [
        {**LINES[3], "from": "john_smith"},
        {**LINES[3], "from": "Acme works", "relationType": "at", "to": "Acme"},
    ]
    write(file, [*LINES, LINES[3], *similar])

    first, second = bring(call, file), bring(call, file)

    assert (first["relations"], first["relations_created"], first["skipped"]) == (2, 1, 1)
    assert "relations_created" not in second


def test_relations_whose_names_together_are_equal_are_two(call: Call, file: Path) -> None:
    ends = [("A", "b", "c D"), ("A b", "c", "D")]
    entities = [{"type": "entity", "name": name, "entityType": "thing"} for name in ("A", "A b", "D", "c D")]
    write(file, [*entities, *({"type": "relation", "from": a, "relationType": k, "to": b} for a, k, b in ends)])

    assert bring(call, file)["relations_created"] == 2
    assert bring(call, file)["unchanged"] == 6


def test_observations_that_are_no_list_of_texts_are_read(call: Call, file: Path) -> None:
    given = ("one", [1, None, {"a": "b"}], None)
    write(file, [{"type": "entity", "name": f"E{at}", "observations": value} for at, value in enumerate(given)])

    bring(call, file)

    contents = [call("notes.get", note=f"E{at}").data.get("content") for at in range(3)]
    assert contents == ["- one", '- 1\n- {"a": "b"}', ""]


def test_the_older_file_of_one_object_is_read(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    file.write_text(json.dumps({"entities": LINES[:3], "relations": LINES[3:]}), "utf-8")

    assert bring(call, file)["relations_created"] == 1


@pytest.mark.parametrize("text", ["", "{}", "# Notes", "\x00"])
def test_a_file_without_a_graph_is_refused(call: Call, tmp_path: Path, text: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(text, "utf-8")

    with pytest.raises(InvalidInputError):
        call("import.memory", file=str(file))


def test_links_to_permalinks_of_basic_memory_resolve(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "Main Spec.md").write_text("---\ntitle: Main Spec\npermalink: specs/main\n---\n- [rule] One parser\n")
    (folder / "Part.md").write_text("---\ntitle: Part\n---\n- implements [[specs/main]]\n- [[memory://specs/main]]\n")

    call("import.markdown", folder=str(tmp_path))

    shown = call("items.get", item="Main Spec").data
    assert {row["relation"] for row in shown["belonging"]["backlinks"]} >= {"implemented_by"}
    assert shown["belonging"]["observations"] == [{"category": "rule", "text": "One parser"}]
