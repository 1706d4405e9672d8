"""A filter finds what a plain loop over the values finds."""

import operator
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from panorama.domain.items.tasks import Task
from panorama.errors import PanoramaError

from .things import ids, lines
from .world import BEGIN, ZONE, World

words = st.sampled_from(["tea", "Tea", "green tea", "te_", "50%", "ä", "Ä", "\\", "x\ny", ""])
some_days = st.dates(date(2026, 5, 1), date(2026, 5, 6))
some_moments = st.datetimes(datetime(2026, 5, 1), datetime(2026, 5, 6)).map(  # noqa: DTZ001 (the strategy puts the zone)
    lambda moment: moment.replace(minute=0, second=0, microsecond=0, tzinfo=UTC)
)
tasks = st.builds(
    Task, id=ids("t"), created_at=st.just(BEGIN), updated_at=st.just(BEGIN), title=words.filter(bool), notes=words,
    status=st.sampled_from(["todo", "in_progress", "done"]), urgent=st.booleans(), rank=st.integers(-2, 2),
    deadline=st.none() | some_days | some_moments, scheduled_at=st.none() | some_moments,
    scheduled_minutes=st.none() | st.integers(1, 3),
    tags=st.sampled_from([(), ("Home",), ("home", "shop"), ("Ärger",)]),
)  # fmt: skip

ORDER = ("lt", "lte", "gt", "gte")
PYTHON: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "lte": operator.le, "gt": operator.gt, "gte": operator.ge,
}  # fmt: skip
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "title": words, "notes": words, "status": st.sampled_from(["todo", "in_progress", "done"]), "urgent": st.booleans(),
    "rank": st.integers(-2, 2), "scheduled_minutes": st.integers(1, 3),
    "deadline": some_days.map(str) | some_moments.map(datetime.isoformat),
    "scheduled_at": some_days.map(str) | some_moments.map(datetime.isoformat),
}  # fmt: skip


@st.composite
def single(draw: st.DrawFn) -> dict[str, Any]:
    """Return a test of one field."""
    if draw(st.integers(0, 6)) == 0:
        return {"tags": {"contains": draw(st.sampled_from(["home", "HOME", "hom", "#shop", "Ärger"]))}}
    name = draw(st.sampled_from(list(VALUES)))
    kinds = ["eq", "ne", "in", "nin", *(() if name == "urgent" else ORDER)]
    kinds += ["contains"] if name in ("title", "notes") else []
    kind = draw(st.sampled_from(kinds))
    if kind in ("in", "nin"):
        return {name: {kind: draw(st.lists(VALUES[name] | st.none(), max_size=3))}}
    value = draw(VALUES[name] | st.none() if kind in ("eq", "ne") else VALUES[name])
    return {name: value if kind == "eq" and draw(st.booleans()) else {kind: value}}


wheres = st.recursive(
    single(),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda some: {"or": some}),
        st.lists(inner, min_size=1, max_size=3).map(lambda some: {"and": some}),
        inner.map(lambda one: {"not": one}),
        st.tuples(inner, inner).map(lambda two: two[0] | two[1]),
    ),
    max_leaves=6,
)


def loop(task: Task, where: dict[str, Any]) -> bool:
    """Tell whether a task is meant, as a person would reckon it."""
    return all(_one(task, name, asked) for name, asked in where.items())


def _one(task: Task, name: str, asked: Any) -> bool:
    if name == "not":
        return not loop(task, asked)
    if name in ("and", "or"):
        return (all if name == "and" else any)(loop(task, request) for request in asked)
    if not isinstance(asked, dict):
        asked = {"eq": asked}
    return all(_compared(getattr(task, name), kind, value) for kind, value in asked.items())


def _compared(held: Any, kind: str, value: Any) -> bool:
    if kind in ("in", "nin"):
        return any(_compared(held, "eq", part) for part in value) == (kind == "in")
    if kind == "contains":
        return _contained(held, value)
    if held is None or value is None:
        return kind in ("eq", "ne") and ((held is value) == (kind == "eq"))
    if isinstance(held, date):
        return _in_time(held, kind, value)
    return PYTHON[kind](held, value)


def _contained(held: Any, value: str) -> bool:
    if isinstance(held, tuple):
        return value.lstrip("#").casefold() in [tag.casefold() for tag in held]
    return _ascii_folded(value) in _ascii_folded(held)


def _ascii_folded(text: str) -> str:
    return "".join(sign.lower() if sign.isascii() else sign for sign in text)


def _in_time(held: date, kind: str, value: str) -> bool:
    """A day stands for all its hours; a moment for itself. A deadline that is a day begins with the day."""
    if len(value) == 10:
        day = held.astimezone(ZONE).date() if isinstance(held, datetime) else held
        return PYTHON[kind](day, date.fromisoformat(value))
    moment = datetime.fromisoformat(value)
    if not isinstance(held, datetime):
        # Which side of a moment a whole day lies on is a matter of taste: see `unclear`.
        return PYTHON[kind](datetime.combine(held, time(), UTC), moment)
    return PYTHON[kind](held, moment)


def unclear(items: list[Task], where: Any) -> bool:
    """Tell whether a deadline that is a day would be compared with a moment of that or a neighbouring day."""
    if isinstance(where, list):
        return any(unclear(items, part) for part in where)
    if not isinstance(where, dict):
        return False
    asked = where.get("deadline")
    values = [asked] if isinstance(asked, str) else list(asked.values()) if isinstance(asked, dict) else []
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    moments = [datetime.fromisoformat(one).date() for one in flat if isinstance(one, str) and len(one) > 10]
    held = [item.deadline for item in items if item.deadline and not isinstance(item.deadline, datetime)]
    near = any(abs(day - moment) <= timedelta(days=1) for day in held for moment in moments)
    return near or any(unclear(items, where[name]) for name in ("and", "or", "not") if name in where)


@given(items=st.lists(tasks, max_size=8, unique_by=lambda task: task.id), where=wheres)
def test_a_filter_finds_what_a_plain_loop_finds(template: Path, items: list[Task], where: dict[str, Any]) -> None:
    if unclear(items, where):
        return
    with World.made(template) as world:
        world.add(*items)

        found = {
            row["id"] for row in world.do("query", collection="tasks", where=where, select=["id"], limit=500)["data"]
        }

    assert found == {item.id for item in items if loop(item, where)}


@given(items=st.lists(tasks, max_size=8, unique_by=lambda task: task.id), where=wheres)
def test_a_filter_and_its_opposite_share_all_rows_between_them(
    template: Path, items: list[Task], where: dict[str, Any]
) -> None:
    with World.made(template) as world:
        world.add(*items)

        asked = [
            {row["id"] for row in world.do("query", collection="tasks", where=item, select=["id"], limit=500)["data"]}
            for item in (where, {"not": where})
        ]

    assert asked[0] | asked[1] == {item.id for item in items}
    assert not asked[0] & asked[1]


OPERATORS = ("eq", "ne", "in", "nin", "contains", "and", "or", "not", *ORDER)
plain = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | words
    | st.sampled_from(["2026-05-01", "0"])
)
anything = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from([*VALUES, "tags", "parent", "project", *OPERATORS]) | words, inner, max_size=2
        )
    ),
    max_leaves=8,
)
conditions = st.dictionaries(
    st.sampled_from([*VALUES, "tags", "project", "id", "and", "or", "not"]), anything, max_size=2
)


@given(
    where=conditions | st.fixed_dictionaries({"urgent": st.dictionaries(st.sampled_from(OPERATORS), plain, max_size=2)})
)
@example({"urgent": {"lt": False}})
@example({"rank": {"lt": None}})
@example({"rank": 2**70})
@example({"title": "\ud800"})
def test_any_filter_is_answered_or_refused_in_our_voice(template: Path, where: dict[str, Any]) -> None:
    with World.made(template) as world:
        world.do("create_task", title="Tea", deadline="2026-05-01")

        with suppress(PanoramaError):
            assert len(world.do("query", collection="tasks", where=where)["data"]) <= 1


@given(text=lines, other=lines)
@example("50% off", "%")
@example("a_b", "_")
@example("tail\\", "\\")
@example("'quoted'", "'")
def test_contains_takes_every_sign_literally(template: Path, text: str, other: str) -> None:
    with World.made(template) as world:
        made = world.do("create_note", title=text)["data"]["id"]

        hit = world.do("query", collection="notes", where={"title": {"contains": text}}, limit=5)["data"]
        maybe = world.do("query", collection="notes", where={"title": {"contains": other}}, limit=5)["data"]

    assert [row["id"] for row in hit] == [made]
    assert bool(maybe) == (_ascii_folded(other) in _ascii_folded(text))
