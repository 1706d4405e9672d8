"""Chapter 21: what many calls would do is a script, and it can be taken back like a single one."""

from itertools import pairwise

import pytest

from tests.conftest import Chat

pytestmark = pytest.mark.anyio

LATE = """
late = [task for task in sdk.tasks.list(status="todo") if task.deadline and task.deadline < "2026-05-20"]
for task in late:
    sdk.tasks.update(task, urgent=True)
print(f"{len(late)} late")
return [task.title for task in late]
"""


async def with_two_late_tasks(chat: Chat) -> None:
    await chat("create_task", title="Order tiles", deadline="2026-05-18")
    await chat("create_task", title="Call the plumber", deadline="2026-05-19")
    await chat("create_task", title="Paint", deadline="2026-06-01")


async def urgent(chat: Chat) -> list[str]:
    return sorted((await chat("list_tasks", view="urgent")).titles)


async def test_the_reference_tells_what_a_script_can_call(either: Chat) -> None:
    answer = await either("search_sdk", query="change tasks")

    assert "def tasks.update(" in answer.text or "sdk.tasks.update(" in answer.text
    assert len(answer.text) <= 10_000


async def test_the_overview_fits_on_one_page(either: Chat) -> None:
    answer = await either("search_sdk", detail="brief")

    assert "sdk" in answer.text
    assert len(answer.text) <= 10_000


async def test_a_script_reads_much_and_answers_little(either: Chat) -> None:
    await with_two_late_tasks(either)

    answer = await either("run_code", code=LATE)

    assert sorted(answer.data["result"]) == ["Call the plumber", "Order tiles"]
    assert answer.data["stdout"] == "2 late\n"
    assert answer.data["changes"] == {"updated": 2}
    assert "3 calls, 2 updated" in answer.summary
    assert len(answer.text) < 700


async def test_a_dry_run_shows_what_would_change_and_changes_nothing(either: Chat) -> None:
    await with_two_late_tasks(either)

    answer = await either("run_code", code=LATE, dry_run=True)

    assert [change["fields"] for change in answer.data["would"]] == [{"urgent": [False, True]}] * 2
    assert await urgent(either) == []


async def test_a_run_is_undone_as_one(either: Chat) -> None:
    await with_two_late_tasks(either)
    answer = await either("run_code", code=LATE)
    changed = await urgent(either)

    await either("undo", unit=answer.metadata["undo"])

    assert changed == ["Call the plumber", "Order tiles"]
    assert await urgent(either) == []


async def test_a_mistake_is_told_with_its_line_and_what_was_meant(either: Chat) -> None:
    await with_two_late_tasks(either)

    answer = await either("run_code", code="tasks = sdk.tasks.list()\nreturn tasks[0].dedline")

    error = answer.data["error"]
    assert (error["line"], error["source"]) == (2, "return tasks[0].dedline")
    assert "Did you mean deadline?" in error["message"]
    assert answer.data["note"] == "Nothing was changed."
    assert "Traceback" not in answer.text


async def test_what_scripts_may_not_say_is_refused_with_what_to_say_instead(either: Chat) -> None:
    answer = await either("run_code", code='text = open("notes.txt").read()')

    error = answer.data["error"]
    assert error["line"] == 1
    assert "sdk.files" in error["message"] + error.get("hint", "")


async def test_the_client_hears_how_far_a_script_is(either: Chat) -> None:
    heard: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        del total, message
        heard.append(done)

    code = "for number in range(1, 4): sdk.progress(number, 3, 'counting')\nreturn 'done'"
    await either.client.call_tool("run_code", {"code": code}, progress_handler=progress)

    assert heard[-1] >= 3
    assert all(one < next_ for one, next_ in pairwise(heard))


async def test_a_run_is_a_page_with_all_it_did(either: Chat) -> None:
    await with_two_late_tasks(either)
    answer = await either("run_code", code=LATE)

    page = await either.client.read_resource(f"panorama://run/{answer.data['run_id']}")

    text = getattr(page[0], "text", "")
    assert "sdk.tasks.update(task, urgent=True)" in text
    assert "2 updated" in text
    assert "1. `tasks.list`" in text


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("return []", "result: []"),
        ("return {}", "result: {}"),
        ("return ''", 'result: ""'),
        ("return True", "result: true"),
        ("return 'yes'", "result: yes"),
        ("return 1", "result: 1"),
        ("return '1'", 'result: "1"'),
        ("return 'null'", 'result: "null"'),
        ("return 'plain words'", "result: plain words"),
        ("return 'two\\nlines'", "result:\ntwo\nlines"),
        ("return ['a, b', 'c']", 'result: ["a, b","c"]'),
        ("return {'a, b=c': 1, 'd': ''}", 'result: {"a, b=c":1,"d":""}'),
        ("return [{'n': 1, 'text': 'a, b'}, {'n': 2, 'text': None}]", "result:\nn | text\n1 | a, b\n2 | -"),
        ("return {'count': 0, 'rows': [{'n': 1}], 'none': []}", "result:\ncount: 0\nrows:\nn\n1\nnone: []"),
        ("x = 1", ", no result"),
    ],
)
async def test_a_result_is_told_once_and_taken_for_no_other(either: Chat, code: str, expected: str) -> None:
    answer = await either("run_code", code=code)

    assert expected in answer.text
    assert answer.text.replace("no result", "").count("result") == (expected != ", no result")


async def test_of_a_long_output_beginning_and_end_are_shown(either: Chat) -> None:
    answer = await either("run_code", code="for n in range(2000): print(f'line {n}')")

    assert "line 0\nline 1\n" in answer.text
    assert "line 1999" in answer.text
    assert "return the text instead" in answer.text


async def test_what_calls_beside_each_other_write_has_the_name_of_the_client(either: Chat) -> None:
    code = "return sdk.parallel_map(lambda n: sdk.tasks.create(f'Paint {n}').id, range(4))"
    answer = await either("run_code", code=code)

    for item in answer.data["result"]:
        line = (await either("history", item=item)).data[0]
        assert line["client"] not in ("", "unknown")


async def test_the_page_of_a_dry_run_does_not_say_that_anything_was_changed(either: Chat) -> None:
    answer = await either("run_code", code="sdk.tasks.create('Paint')", dry_run=True)

    page = await either.client.read_resource(f"panorama://run/{answer.data['run_id']}")

    text = getattr(page[0], "text", "")
    assert "1 created. It was a dry run: nothing of this was changed." in text
    assert "undo" not in text


async def test_every_run_tells_what_stood_around_it(either: Chat) -> None:
    answer = await either("run_code", code="1")

    assert answer.data["isolation"] in ("seccomp+landlock", "seccomp", "seatbelt", "language-only")
