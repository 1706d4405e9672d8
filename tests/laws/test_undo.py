"""Undoing a change brings the old value back; undoing everything brings the beginning back; versions only rise."""

from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.changes import SPLICE_MIN_CHARS
from panorama.domain.items.choices import TaskStatus
from panorama.errors import PanoramaError

from .world import World

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
titles = st.sampled_from(["Tea", "Garden", "Zelt", "旅行"])
short = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
around_the_limit = st.builds(
    lambda head, size, tail: head + "x" * (SPLICE_MIN_CHARS + size) + tail, short, st.integers(-30, 30), short
)
long = st.builds(lambda head, tail: f"{head}\n" + "line of a long text\n" * 2000 + tail, short, short)
bodies = short | around_the_limit | long
tags = st.lists(st.sampled_from(["home", "work", "Ärger"]), max_size=2, unique=True)
days = st.sampled_from(["", "2026-05-31", "2026-06-02T15:00"])
FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "project": {
        "name": st.uuids().map(str), "description": bodies, "status": st.sampled_from(["planned", "active", "done"]),
        "target_date": st.sampled_from(["", "2026-05-31"]), "favorite": st.booleans(), "tags": tags,
        "color": st.sampled_from(["", "red"]), "rank": st.integers(-3, 3),
    },
    "task": {
        "title": titles, "notes": bodies, "status": st.sampled_from(get_args(TaskStatus)),
        "deadline": days, "urgent": st.booleans(), "important": st.booleans(), "tags": tags, "rank": st.integers(-3, 3),
        "scheduled_at": st.sampled_from(["", "2026-06-02T15:00"]), "scheduled_minutes": st.integers(0, 3),
        "recurrence": st.sampled_from(["", "FREQ=DAILY", "FREQ=WEEKLY;COUNT=2"]),
    },
    "note": {"title": titles, "content": bodies, "tags": tags, "pinned": st.booleans()},
    "link": {
        "title": titles, "url": st.sampled_from(["https://a.example", "b.example/c"]), "tags": tags,
        "description": bodies,
    },
    "reminder": {
        "title": titles, "at": st.sampled_from(["2026-06-02T15:00", "2026-12-24T08:00:30"]),
        "recurrence": st.sampled_from(["", "FREQ=DAILY"]),
    },
    "journal": {"text": titles, "at": st.sampled_from(["2026-05-01T10:00", "2026-05-02T11:00"])},
    "file": {
        "name": titles, "text": bodies, "tags": tags, "media_type": st.sampled_from(["", "text/csv", "image/svg+xml"]),
    },
}  # fmt: skip
NEEDED = {
    "project": ("name",), "task": ("title",), "note": ("title",), "link": ("title", "url"), "reminder": ("title", "at"),
    "journal": ("text",), "file": ("name", "text"),
}  # fmt: skip
ONLY_NEW = {"file": ("text",)}
CREATE = {kind: f"create_{kind}" for kind in FIELDS} | {"journal": "add_journal_entry", "file": "write_file"}
UPDATE = {kind: f"update_{kind}" for kind in FIELDS} | {"journal": "update_journal_entry"}
ARGUMENT = {kind: kind for kind in FIELDS} | {"journal": "entry"}


def fields(kind: str, *, whole: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments for a kind of item: with all it needs, or any few."""
    needed = {name: FIELDS[kind][name] for name in NEEDED[kind]} if whole else {}
    others = {k: v for k, v in FIELDS[kind].items() if k not in needed and (whole or k not in ONLY_NEW.get(kind, ()))}
    return st.fixed_dictionaries(needed, optional=others)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIELDS)
@given(data=st.data())
def test_an_undone_update_gives_every_field_its_old_value(template: Path, kind: str, data: st.DataObject) -> None:
    first, second = data.draw(fields(kind, whole=True)), data.draw(fields(kind, whole=False))
    with World.made(template) as world:
        id_ = world.do(CREATE[kind], **first)["data"]["id"]
        before = world.living()
        answer = world.do(UPDATE[kind], **{ARGUMENT[kind]: id_}, **second)
        after = world.living()
        if "undo" in answer["metadata"]:
            undone = world.do("undo", unit=answer["metadata"]["undo"])
            assert world.living() == before
            world.do("undo", unit=undone["metadata"]["undo"])

        assert world.living() == after
        assert world.indexed_words() == world.words_to_index()


@given(old=bodies, new=bodies)
def test_an_undone_text_is_the_old_one_to_the_letter(template: Path, old: str, new: str) -> None:
    with World.made(template) as world:
        id_ = world.do("create_note", title="Tea", content=old)["data"]["id"]
        world.do("update_note", note=id_, content=new)
        assert world.items()[id_].content == new

        if old != new:
            world.do("undo")
            assert world.items()[id_].content == old
            world.do("undo", redo=True)

        assert world.items()[id_].content == new


ACTIONS = ("create", "create", "update", "update", "append", "edit", "delete", "move", "under", "batch", "restore")


@st.composite
def steps(draw: st.DrawFn) -> tuple[str, str, Any, int]:
    """Return an action, a kind, its arguments, and which of the items at hand it is about."""
    action = draw(st.sampled_from(ACTIONS))
    kind = draw(st.sampled_from(list(FIELDS)))
    return action, kind, draw(fields(kind, whole=action in ("create", "batch"))), draw(st.integers(0, 30))


def taken(world: World, step: tuple[str, str, Any, int]) -> dict[str, Any]:
    """Do a step as well as it goes; return the metadata of its answer, {} if it was refused."""
    action, kind, chosen, which = step
    items = world.items()
    of = {field: [id_ for id_, item in items.items() if field == item.KIND] or ["nothing"] for field in FIELDS}
    at, note, project = (of[item][which % len(of[item])] for item in (kind, "note", "project"))
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "create": (CREATE[kind], chosen),
        "update": (UPDATE[kind], {ARGUMENT[kind]: at, **chosen}),
        "append": (
            "append_to_note",
            {"note": note, "block": f"block {which}", "position": ("top", "bottom")[which % 2]},
        ),
        "edit": ("edit_note", {"note": note, "old_text": "line", "new_text": f"row {which}"}),
        "delete": ("delete_item", {"item": at, "items": ("keep", "trash")[which % 2], "confirm": True}),
        "move": ("update_note", {"note": note, "project": project}),
        "under": ("update_task", {"task": at, "parent": of["task"][0], "project": project}),
        "restore": ("restore_item", {"item": at}),
        "batch": (
            "batch",
            {
                "operations": [
                    {"tool": CREATE[kind], "args": chosen},
                    {"tool": UPDATE[kind], "args": {ARGUMENT[kind]: "$0.data.id", **chosen}},
                    {"tool": "delete_item", "args": {"item": "$0.data.id"}},
                ][: 1 + which % 3]
            },
        ),
    }
    operation, arguments = calls[action]
    try:
        return dict(world.do(operation, **arguments)["metadata"])
    except PanoramaError:
        return {}


@given(plan=st.lists(steps(), max_size=12))
def test_undoing_everything_in_reverse_brings_back_each_state_and_versions_only_rise(
    template: Path, plan: list[tuple[str, str, Any, int]]
) -> None:
    with World.made(template) as world:
        states, units = [], []
        for step in plan:
            before = world.living()
            unit = taken(world, step).get("undo")
            if unit is None:
                assert world.living() == before
            else:
                states.append(before)
                units.append(unit)
        versions = {id_: item.version for id_, item in world.items().items()}

        for before, unit in zip(reversed(states), reversed(units), strict=True):
            world.do("undo", unit=unit)
            assert world.living() == before
            now = {id_: item.version for id_, item in world.items().items()}
            assert all(now[id_] >= version for id_, version in versions.items())
            versions = now

        assert world.living() == {}
        assert world.indexed_words() == []
        world.check_index()


@given(plan=st.lists(steps(), min_size=2, max_size=8), data=st.data())
def test_what_an_undo_refuses_changes_nothing_and_what_it_does_can_be_undone(
    template: Path, plan: list[tuple[str, str, Any, int]], data: st.DataObject
) -> None:
    with World.made(template) as world:
        units = [unit for unit in (taken(world, step).get("undo") for step in plan) if unit]
        for unit in data.draw(st.permutations(units)):
            before = world.living()
            try:
                undone = world.do("undo", unit=unit)["metadata"]["undo"]
            except PanoramaError:
                assert world.living() == before
                continue
            world.do("undo", unit=undone)
            assert world.living() == before
            world.do("undo", unit=unit)

        assert world.indexed_words() == world.words_to_index()
