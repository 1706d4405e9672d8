"""People and teams: found by every name, merged in one step, and never their own manager."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import ConflictError, InvalidInputError, NotFoundError

Call = Callable[..., Answer]

SCRIPT = """
team = sdk.teams.create("Tiling")
ana = sdk.people.create("Ana", last_name="Kovač", team=team, birthday="1992-02-29")
sdk.people.update(ana, role="Tiler")
twin = sdk.people.create("Anka", phone="0151")
merged = sdk.people.merge(twin, into=ana)
return [merged.phone, sdk.people.get("Anka").full_name, len(sdk.people.list(team="Tiling")), repr(ana)[:7]]
"""


@pytest.fixture
def ana(call: Call) -> Any:
    """A person with all kinds of names."""
    return call(
        "people.create", name="Ana", last_name="Kovač", aliases=["Anka", "the tiler"], email="ana@example.org"
    ).data


@pytest.mark.parametrize("name", ["Ana Kovač", "  ana  KOVAČ ", "anka", "The Tiler", "ANA@example.org", "Ana", "kovač"])
def test_a_person_is_found_by_every_name(call: Call, ana: Any, name: str) -> None:
    assert call("items.get", item=name).data["item"]["id"] == ana["id"]


def test_a_whole_name_wins_over_a_first_name(call: Call, ana: Any) -> None:
    other = call("people.create", name="Ana").data

    assert call("people.update", person="Ana", role="Cook").data["id"] == other["id"]
    assert call("people.update", person="Ana Kovač", role="Tiler").data["id"] == ana["id"]


def test_two_people_of_one_name_are_told_apart_by_what_the_user_knows(call: Call) -> None:
    call("people.create", name="Ana Kovač", role="Tiler", email="ana@example.org")
    second = call("people.create", name="Ana Kovač", role="Doctor")

    with pytest.raises(ConflictError) as refusal:
        call("people.update", person="ana kovač", phone="1")

    assert "Possible duplicate" in second.metadata["hint"]
    assert [row["role"] for row in refusal.value.candidates] == ["Tiler", "Doctor"]
    assert refusal.value.candidates[0]["email"] == "ana@example.org"


def test_an_update_names_the_people_who_have_a_new_name_already(call: Call, ana: Any) -> None:
    ben = call("create_person", name="Ben", last_name="Roth").data["id"]

    shared = call("update_person", person=ben, aliases=["anka", "Ben the cook"])
    again = call("update_person", person=ben, role="Cook")

    assert (
        shared.metadata["hint"]
        == f"Possible duplicate: {ana['id']} “Ana Kovač”. If it is the same person, use merge_person."
    )
    assert "hint" not in again.metadata


def test_former_names_find_nobody(call: Call, ana: Any) -> None:
    call("people.update", person="Anka", aliases=["Anne"], email="")

    with pytest.raises(NotFoundError):
        call("items.get", item="Anka")
    with pytest.raises(NotFoundError):
        call("items.get", item="ana@example.org")
    assert call("items.get", item="Anne").data["item"]["id"] == ana["id"]


def test_an_undo_brings_former_names_back(call: Call, ana: Any) -> None:
    call("people.update", person="Anka", aliases=[])

    call("history.undo")

    assert call("items.get", item="Anka").data["item"]["id"] == ana["id"]


def test_a_deleted_person_is_restored_by_an_alias(call: Call, ana: Any) -> None:
    call("items.delete", item="Anka")
    with pytest.raises(NotFoundError, match="trash"):
        call("people.update", person="Anka", role="Tiler")

    call("items.restore", item="Anka")

    assert [row["full_name"] for row in call("people.list").data] == ["Ana Kovač"]


def test_me_is_the_person_with_this_alias(call: Call, ana: Any) -> None:
    with pytest.raises(NotFoundError, match="no person has the alias “me”"):
        call("people.update", person="me", role="Cook")
    me = call("people.create", name="Robin", aliases=["me"]).data

    assert call("people.update", person="me", role="Cook").data["id"] == me["id"]
    with pytest.raises(ConflictError, match="alias “me” already"):
        call("people.update", person="Anka", aliases=["Me"])


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("1992-02-29", "1992-02-29"), ("29 February", "--02-29"), ("02-29", "--02-29"), ("--05-12", "--05-12"),
        ("12 May 1990", "1990-05-12"), ("12. Mai", "--05-12"), ("", ""),
    ],
)  # fmt: skip
def test_birthdays_have_a_year_or_none(call: Call, text: str, stored: str) -> None:
    assert call("people.create", name="Ana", birthday=text).data.get("birthday", "") == stored


@pytest.mark.parametrize("text", ["friday", "in 2 weeks", "2035-01-01", "1991-02-29", "02-30", "soon", "today"])
def test_what_is_no_birthday_is_refused(call: Call, text: str) -> None:
    with pytest.raises(InvalidInputError, match="birthday"):
        call("people.create", name="Ana", birthday=text)


def test_nobody_is_their_own_manager(call: Call, ana: Any) -> None:
    call("people.create", name="Bo", manager="Anka")
    call("people.create", name="Cy", manager="Bo")

    reasons = {"Anka": "cannot report to themselves", "Bo": "reports to this person", "Cy": "or through others"}
    for manager, reason in reasons.items():
        with pytest.raises(InvalidInputError, match=reason):
            call("people.update", person="Anka", manager=manager)


def test_an_undo_makes_nobody_their_own_manager(call: Call, ana: Any) -> None:
    bo = call("people.create", name="Bo", manager="Anka").data
    cleared = call("people.update", person="Bo", manager="").metadata["undo"]
    call("people.update", person="Anka", manager="Bo")

    undone = call("history.undo", unit=cleared, skip_conflicts=True).data

    assert undone["conflicts"][0]["id"] == bo["id"]


def test_a_merge_moves_names_and_references_and_is_undone_in_one(call: Call, ana: Any) -> None:
    twin = call("people.create", name="A. Kovač", email="ak@example.org", phone="0151", notes="Met in May").data
    bo = call("people.create", name="Bo", manager="A. Kovač").data

    merged = call("people.merge", person="A. Kovač", into="Anka")

    assert merged.data["aliases"] == ["Anka", "the tiler", "A. Kovač", "ak@example.org"]
    whole = call("items.get", item=ana["id"]).data["item"]
    assert (whole["email"], whole["phone"], whole["notes"]) == ("ana@example.org", "0151", "Met in May")
    assert call("items.get", item=bo["id"]).data["item"]["manager"] == ana["id"]
    assert call("items.get", item="ak@example.org").data["item"]["id"] == ana["id"]
    call("history.undo")
    assert call("items.get", item=bo["id"]).data["item"]["manager"] == twin["id"]
    assert call("items.get", item=ana["id"]).data["item"]["aliases"] == ["Anka", "the tiler"]


def test_a_merge_that_would_close_a_circle_of_managers_changes_nothing(call: Call, ana: Any) -> None:
    call("people.create", name="Twin")
    call("people.create", name="Bo", manager="Twin")
    call("people.update", person="Anka", manager="Bo")

    with pytest.raises(InvalidInputError, match="reports to this person"):
        call("people.merge", person="Twin", into="Anka")

    assert call("items.get", item="Bo").data["item"]["manager"] != ana["id"]


def test_a_manager_who_is_merged_into_their_report_is_gone(call: Call, ana: Any) -> None:
    call("people.create", name="Twin", manager="Anka")

    merged = call("people.merge", person="Anka", into="Twin").data

    assert "manager" not in merged
    with pytest.raises(InvalidInputError, match="merged into itself"):
        call("people.merge", person="Twin", into="Anka")


def test_a_merge_that_would_exceed_the_aliases_is_refused(call: Call) -> None:
    for name in ("One", "Two"):
        call("people.create", name=name, aliases=[f"{name} {number}" for number in range(30)])

    with pytest.raises(InvalidInputError, match="61 names; the limit is 50"):
        call("people.merge", person="One", into="Two")


def test_too_many_aliases_are_refused_with_the_limit(call: Call) -> None:
    with pytest.raises(InvalidInputError, match=r"aliases has 10,000 names; the limit is 50"):
        call("people.create", name="Ana", aliases=[f"a{number}" for number in range(10_000)])


@pytest.mark.parametrize("name", ["👩‍👩‍👧 Vogel", "نگار می‌خواهد", "שָׁלוֹם כהן", "Zoë"])
def test_names_of_any_script_are_found_as_they_were_written(call: Call, name: str) -> None:
    person = call("people.create", name=name).data

    assert call("items.get", item=name).data["item"]["full_name"] == name
    assert [hit["id"] for hit in call("search", query=name.split()[-1], mode="keyword").data] == [person["id"]]


def test_a_name_without_visible_characters_is_refused(call: Call) -> None:
    with pytest.raises(InvalidInputError, match="name is empty"):
        call("people.create", name="\u200d\u202e")


def test_a_team_has_members_and_a_name_of_its_own(call: Call, ana: Any) -> None:
    team = call("teams.create", name="Tiling").data
    call("people.update", person="Anka", team="tiling")

    listed = call("people.list", team="Tiling")

    assert [row["id"] for row in listed.data] == [ana["id"]]
    assert listed.metadata["names"] == {team["id"]: "Tiling"}
    assert [row["name"] for row in call("items.get", item="Tiling").data["belonging"]["people"]] == ["Ana Kovač"]
    with pytest.raises(ConflictError, match="A team"):
        call("teams.create", name="TILING")


def test_a_team_is_not_restored_over_another_of_its_name(call: Call) -> None:
    first = call("teams.create", name="Tiling").data
    call("items.delete", item="Tiling")
    call("teams.create", name="tiling")

    with pytest.raises(ConflictError, match="Another team now has the name"):
        call("items.restore", item=first["id"])


def test_people_are_found_by_query_and_search(call: Call, ana: Any) -> None:
    assert [hit["id"] for hit in call("search", query="tiler", kinds=["person"]).data] == [ana["id"]]
    assert call("query", collection="people", where={"aliases": {"contains": "Anka"}}, count=True).data == [
        {"count": 1}
    ]
    assert call("query", collection="people", where={"full_name": "Ana Kovač"}, count=True).data == [{"count": 1}]
    assert call("status").data["counts"]["person"] == 1


def test_people_are_exported_and_restored_from_the_export(call: Call, ana: Any, tmp_path: Path) -> None:
    export = Path(call("export", folder=str(tmp_path), confirm=True).data["path"])
    call("restore", source=str(export), folder=str(tmp_path / "again"))

    pages = [path.read_text("utf-8") for path in (export / "markdown").rglob("*.md")]
    assert any("## People" in page and "Ana Kovač (ana@example.org)" in page for page in pages)
    assert len((export / "data" / "other_names.jsonl").read_text().splitlines()) == 5


def test_scripts_have_them(call: Call) -> None:
    assert call("run_code", code=SCRIPT).data["result"] == ["0151", "Ana Kovač", 1, "Person("]


def test_a_merge_moves_links_by_id_and_undo_restores_them(call: Call, ana: Any) -> None:
    twin = call("people.create", name="A. Kovač", notes="Same as [[Anka]]").data["id"]
    note = call("notes.create", title="Talk", content=f"With [[{twin}]] and [[{twin}|her]] and [[A. Kovač]]").data["id"]
    box = call("notes.create", title="List", content=f"- [ ] ask [[{twin}]]").data["id"]
    call("notes.create_tasks", note=box)
    call("people.update", person=ana["id"], notes=f"Is [[{twin}]]")

    merged = call("people.merge", person=twin, into=ana["id"])

    text = call("notes.get", note=note).data["content"]
    assert text == f"With [[{ana['id']}]] and [[{ana['id']}|her]] and [[A. Kovač]]"
    assert [row["id"] for row in call("graph.related", item=note).data["neighbours"]] == [ana["id"]]
    assert list(call("graph.related", item=note).data["unresolved"]) == []
    assert [row["title"] for row in call("tasks.list").data] == [f"ask [[{ana['id']}]]"]
    assert "2 items refer to “Ana Kovač” now" in merged.metadata["hint"]
    call("history.undo")
    assert call("notes.get", note=note).data["content"] == f"With [[{twin}]] and [[{twin}|her]] and [[A. Kovač]]"
    assert call("notes.get", note=box).data["content"] == f"- [ ] ask [[{twin}]]"
    assert [row["title"] for row in call("tasks.list").data] == [f"ask [[{twin}]]"]


def test_a_merge_moves_the_links_of_the_duplicate_to_itself(call: Call, ana: Any) -> None:
    twin = call("people.create", name="A. Kovač").data["id"]
    call("people.update", person=twin, notes=f"Is [[{twin}]], or [[A. Kovač]], or [[Ana Kovač]].")

    call("people.merge", person=twin, into=ana["id"])

    kept = call("items.get", item=ana["id"]).data["item"]
    assert kept["notes"] == f"Is [[{ana['id']}]], or [[A. Kovač]], or [[Ana Kovač]]."
    assert list(call("graph.related", item=ana["id"]).data["unresolved"]) == []
    call("history.undo")
    assert call("items.get", item=twin).data["item"]["notes"].startswith(f"Is [[{twin}]]")
