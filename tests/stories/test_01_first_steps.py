"""Chapter 1: things are created, found again, changed and cleared."""

import pytest

from tests.conftest import Chat, StandingClock

pytestmark = pytest.mark.anyio


async def test_a_created_task_is_listed(chat: Chat) -> None:
    await chat("create_task", title="Buy tea")

    listed = await chat("list_tasks")

    assert listed.titles == ["Buy tea"]


async def test_an_answer_begins_with_one_line_that_says_what_happened(chat: Chat) -> None:
    made = await chat("create_task", title="Buy tea")

    first = made.text.splitlines()[0]

    assert first == made.summary
    assert "Buy tea" in first


async def test_an_id_is_a_letter_and_ten_signs(chat: Chat) -> None:
    project = await chat("create_project", name="House")

    task = await chat("create_task", title="Paint")
    note = await chat("create_note", title="Colours")

    assert [item.id[:2] for item in (project, task, note)] == ["p_", "t_", "n_"]
    assert {len(item.id) for item in (project, task, note)} == {12}


async def test_a_new_item_has_version_one_and_each_write_adds_one(chat: Chat) -> None:
    made = await chat("create_task", title="Buy tea")
    await chat("update_task", task=made.id, title="Buy green tea")
    await chat("update_task", task=made.id, urgent=True)

    found = await chat("get_item", item=made.id)

    assert found.data["item"]["version"] == 3


async def test_a_write_that_changes_nothing_makes_no_version(chat: Chat) -> None:
    made = await chat("create_task", title="Buy tea")

    for same in ({"title": "Buy tea"}, {"deadline": None}, {}):
        answer = await chat("update_task", task=made.id, **same)
        assert f"Nothing changed in task “Buy tea” ({made.id}), version 1" in answer.text
        assert "null fields keep their value" in answer.text

    assert (await chat("get_item", item=made.id)).data["item"]["version"] == 1


async def test_what_is_left_out_of_an_update_stays(chat: Chat) -> None:
    made = await chat("create_task", title="Buy tea", deadline="2026-06-01", tags=["shop"], notes="green")

    await chat("update_task", task=made.id, title="Buy coffee")

    item = (await chat("get_item", item=made.id)).data["item"]
    assert (item["deadline"], item["tags"], item["notes"]) == ("2026-06-01", ["shop"], "green")


async def test_null_in_an_update_leaves_a_field(chat: Chat) -> None:
    made = await chat("create_task", title="Buy tea", deadline="2026-06-01", tags=["shop"])

    await chat("update_task", task=made.id, title="Buy coffee", deadline=None, tags=None, project=None)

    item = (await chat("get_item", item=made.id)).data["item"]
    assert (item["title"], item["deadline"], item["tags"]) == ("Buy coffee", "2026-06-01", ["shop"])


@pytest.mark.parametrize(
    ("field", "value", "empty"),
    [
        ("deadline", "2026-06-01", ""),
        ("scheduled_at", "2026-06-01T09:00", ""),
        ("notes", "green", ""),
        ("tags", ["shop"], []),
        ("recurrence", "FREQ=DAILY", ""),
    ],
)
async def test_emptiness_clears_a_field_of_a_task(chat: Chat, field: str, value: object, empty: object) -> None:
    made = await chat("create_task", title="Buy tea", **{"deadline": "2026-06-01", field: value})

    await chat("update_task", task=made.id, **{field: empty})

    assert not (await chat("get_item", item=made.id)).data["item"].get(field)


@pytest.mark.parametrize(("field", "value", "empty"), [("target_date", "2026-06-01", ""), ("description", "x", "")])
async def test_emptiness_clears_a_field_of_a_project(chat: Chat, field: str, value: object, empty: object) -> None:
    made = await chat("create_project", name="House", **{field: value})

    await chat("update_project", project=made.id, **{field: empty})

    assert not (await chat("get_item", item=made.id)).data["item"].get(field)


async def test_an_empty_project_takes_a_task_out_of_its_project(chat: Chat) -> None:
    await chat("create_project", name="House")
    await chat("create_task", title="Paint", project="House")

    await chat("update_task", task="Paint", project="")

    assert "project" not in (await chat("list_tasks", project="")).data[0]


async def test_brief_rows_leave_out_what_full_rows_tell(chat: Chat) -> None:
    await chat("create_task", title="Buy tea", notes="a long story")

    brief = (await chat("list_tasks")).data[0]
    full = (await chat("list_tasks", detail="full")).data[0]

    assert "notes" not in brief
    assert (full["notes"], full["version"]) == ("a long story", 1)


async def test_nulls_are_not_sent(chat: Chat) -> None:
    made = await chat("create_task", title="Buy tea")

    answers = [await chat("list_tasks", detail="full"), await chat("get_item", item=made.id), made]

    assert all("None" not in answer.text and "null" not in answer.text for answer in answers)
    assert all("null" not in str(answer.data) and "None" not in str(answer.data) for answer in answers)


async def test_open_tasks_are_listed_and_parked_or_closed_ones_are_not(chat: Chat) -> None:
    for status in ("todo", "in_progress", "done", "cancelled", "idea"):
        await chat("create_task", title=status, status=status)

    listed = await chat("list_tasks")

    assert sorted(listed.titles) == ["in_progress", "todo"]


async def test_tasks_stand_in_order_of_deadline_then_progress_then_rank_then_age(
    chat: Chat, clock: StandingClock
) -> None:
    for title, fields in {
        "old": {},
        "ranked": {"rank": -1},
        "begun": {"status": "in_progress"},
        "later": {"deadline": "2026-07-01"},
        "soon": {"deadline": "2026-06-01"},
        "new": {},
    }.items():
        await chat("create_task", title=title, **fields)
        clock.advance(seconds=1)

    listed = await chat("list_tasks")

    assert listed.titles == ["soon", "later", "begun", "ranked", "old", "new"]


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("overdue", ["yesterday", "this morning"]),
        ("today", ["this morning", "today", "tonight"]),
        ("urgent", ["urgent"]),
        ("important", ["important"]),
        ("in_progress", ["begun"]),
        ("parked_ideas", ["idea"]),
        ("recently_done", ["done"]),
        ("no_deadline", ["begun", "important", "urgent"]),
    ],
)
async def test_a_view_names_a_usual_choice(chat: Chat, view: str, expected: list[str]) -> None:
    for title, fields in {
        "yesterday": {"deadline": "yesterday"},
        "this morning": {"deadline": "2026-05-20T09:00"},
        "today": {"deadline": "today"},
        "tonight": {"deadline": "2026-05-20T20:00"},
        "next month": {"deadline": "+30d"},
        "urgent": {"urgent": True},
        "important": {"important": True},
        "begun": {"status": "in_progress"},
        "idea": {"status": "idea"},
        "done": {"status": "done"},
    }.items():
        await chat("create_task", title=title, **fields)

    listed = await chat("list_tasks", view=view)

    missing = [title for title in expected if title not in listed.titles]
    assert not missing
    assert set(listed.titles) - set(expected) <= ({"yesterday"} if view == "today" else set())


async def test_this_week_ends_on_sunday(chat: Chat) -> None:
    for day in ("2026-05-20", "2026-05-24", "2026-05-25"):
        await chat("create_task", title=day, deadline=day)

    listed = await chat("list_tasks", view="this_week")

    assert listed.titles == ["2026-05-20", "2026-05-24"]


async def test_days_are_the_persons_own(chat: Chat, clock: StandingClock) -> None:
    clock.advance(hours=14, minutes=30)

    made = await chat("create_task", title="After midnight in Berlin", deadline="today")

    assert made.data["deadline"] == "2026-05-21"
    assert (await chat("status")).data["today"] == "2026-05-21"


async def test_a_moment_is_told_in_the_persons_zone(chat: Chat) -> None:
    winter = await chat("create_task", title="Winter", deadline="2026-12-01T15:00")

    summer = await chat("create_task", title="Summer", deadline="2026-06-01T13:00:00Z")

    assert winter.data["deadline"].startswith("2026-12-01T15:00")
    assert winter.data["deadline"].endswith("+01:00")
    assert summer.data["deadline"].startswith("2026-06-01T15:00")


async def test_a_project_name_is_unique_whatever_its_case(chat: Chat) -> None:
    await chat("create_project", name="House")

    refusal = await chat.refused("create_project", name=" hOUSE ")

    assert refusal.code == "conflict"
    assert "House" in refusal.text


async def test_a_link_gets_its_scheme(chat: Chat) -> None:
    await chat("create_link", url="example.org/tea", title="Tea")

    found = await chat("get_item", item="Tea")

    assert found.data["item"]["url"] == "https://example.org/tea"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "ftp://example.org", "", "http://"])
async def test_a_link_leads_to_the_web_or_to_a_mailbox_only(chat: Chat, url: str) -> None:
    result = await chat.raw("create_link", url=url, title="Bad")

    assert result.is_error
    assert "[invalid_input]" in getattr(result.content[0], "text", "")


async def test_status_tells_time_zone_and_counts(chat: Chat) -> None:
    await chat("create_task", title="Buy tea")

    state = await chat("status")

    assert "Wednesday 2026-05-20 10:00 (Europe/Berlin)" in state.summary
    assert state.data["counts"]["task"] == 1
    assert state.summary.endswith(": 0 projects, 1 task, 0 notes")


async def test_status_hides_sizes_of_the_index_from_models(chat: Chat) -> None:
    sizes = {"dimensions", "passages", "index_disk_bytes", "index_memory_bytes", "index_mapped_bytes"}

    search = (await chat("status")).data["search"]

    assert not sizes & search.keys()
    assert "modes" in search


async def test_get_item_shows_what_belongs_to_a_project(chat: Chat) -> None:
    project = await chat("create_project", name="House")
    await chat("create_task", title="Paint", project="House")
    await chat("create_note", title="Colours", project="House")

    belonging = (await chat("get_item", item=project.id)).data["belonging"]

    assert "Paint" in str(belonging)
    assert "Colours" in str(belonging)
