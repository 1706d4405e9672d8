"""Advice: what a script's common mistakes are told, beside Python's own words."""

import pytest

from panorama.sandbox.language.advice import advise
from panorama.sdk import Row

from .running import run_restricted

TASK = Row(
    id="t_0000000001", title="Tea", status="todo", deadline="2026-05-31T15:00+02:00", scheduled_minutes=None, tags=[]
)
WEEK = Row(completed=Row(count=1, items=[TASK]))

DAY = "task.deadline[:10]"
MISTAKES = [
    ("for each in week.completed.items: pass", 'row["items"]'),
    ("len(week.completed.items)", 'row["items"]'),
    ("week.completed.items[0]", 'row["items"]'),
    ("try:\n    1 / 0\nexcept NotFoundError:\n    pass", "sdk.NotFoundError, or from sdk import NotFoundError above"),
    ('list_tasks(view="overdue")', "sdk.tasks.list(…)"),
    ("sdk.list_tasks()", "sdk.tasks.list(…)"),
    ("from sdk import list_tasks", "sdk.tasks.list(…)"),
    ("tasks.list()", "Write sdk.tasks. Did you mean task?"),
    ("sdk.tasks.complete(task)", 'sdk.tasks.update(task, status="done")'),
    ("from sdk import tasks\ntasks.complete(task)", 'sdk.tasks.update(task, status="done")'),
    ("sdk.projects.archive('Cellar')", 'sdk.projects.update(project, status="archived")'),
    ("sdk.tasks.overdue()", 'sdk.tasks.list(view="overdue")'),
    ("sdk.tasks.count()", 'sdk.query("tasks", count=True)'),
    ("sdk.tasks.filter(status='todo')", 'sdk.query("tasks", where={…})'),
    ("sdk.notes.search('x')", 'sdk.search("…", kinds=["note"])'),
    ("sdk.journal.add('x')", "sdk.journal.create(…)"),
    ("sdk.files.create('x')", "sdk.files.write(…)"),
    ("sdk.files.read('x')", "sdk.files.text(…)"),
    ("sdk.links.read('x')", "sdk.links.get(…)"),
    ("sdk.inputs", "inputs={"),
    ("inputs['x']", "inputs={"),
    ("dry_run", "an argument of run_code"),
    ("sdk.dry_run", "an argument of run_code"),
    ("sdk.now()", "sdk.status().now"),
    ("word.upper()", "inputs of the run become names, and these are task, week."),
    ("json.dumps(1)", "import json above"),
    ("date.today()", "from datetime import date above"),
    ('f"{task.deadline:%d %b}"', f"date.fromisoformat({DAY}):%d %b"),
    ("from datetime import date\ndate.today() - task.deadline", f"date.fromisoformat({DAY})"),
    ("from datetime import date\ntask.deadline < date.today()", f"date.fromisoformat({DAY})"),
    ("from datetime import date\ndate.fromisoformat(task.deadline)", DAY),
    ("from datetime import datetime\ndatetime.strptime(task.deadline, '%Y-%m-%d')", DAY),
    ("from datetime import date\ndate.today() - task.scheduled_minutes", "check first, as in `if task.deadline:`"),
    ("sum(each.scheduled_minutes for each in [task])", "task.scheduled_minutes or 0"),
    ('f"{task.scheduled_minutes:d}"', "task.scheduled_minutes or 0"),
    ("from datetime import datetime\ndatetime.now() < datetime.fromisoformat(task.deadline)", "datetime.now(UTC)"),
    ("from datetime import datetime\ndatetime.now() - datetime.fromisoformat(task.deadline)", "datetime.now(UTC)"),
    ("from datetime import date, datetime\ndatetime.now() < date.today()", "moment.date()"),
    ("set([task])", "{task.id for task in tasks}"),
    ("{task: 1}", "{task.id: task for task in tasks}"),
    ("task._asdict()", "dict(row)"),
    ("vars(task)", "dict(row)"),
    ("task.to_dict()", "dict(row)"),
    ("task.save()", "sdk.tasks.update(row, …)"),
    ("task.complete()", 'sdk.tasks.update(row, status="done")'),
    ("task.delete()", "sdk.tasks.delete(row)"),
    ("task.update(status='done')", "sdk.tasks.update(row, status=…)"),
    ("from sdk import Task", "annotations may say it without an import"),
    ("isinstance(task, sdk.Task)", "annotations may say it without an import"),
    ("isinstance(task, Task)", "annotations may say it without an import"),
    ("sdk.tasks()", "it has sdk.tasks.create(…), sdk.tasks.delete(…), sdk.tasks.get(…), sdk.tasks.list(…)"),
    ("sdk('x')", "it has sdk.search(…), sdk.similar(…), sdk.query(…)"),
    ("sdk.scripts('x')", "sdk.scripts.name(…)"),
    ("sdk.complete_task(task)", 'sdk.tasks.update(task, status="done")'),
    ("sdk.add_note('x')", "Write sdk.notes.create(…)."),
    ("sdk.delete_link(task)", "Write sdk.links.delete(…)."),
    ("sdk.dashboard()", "sdk.overview.project(project)"),
    ("sdk.state.n = 5", 'sdk.state["n"] = …'),
    ("setattr(sdk.state, 'n', 5)", 'sdk.state["n"] = …'),
    ("def f(): pass\ndef w(): pass\nsetattr(w, '__name__', 'f')", "functools.wraps(f)"),
    ("try:\n    1 / 0\nexcept ExceptionGroup:\n    pass", "Keep errors in a list"),
    ("for each in sdk.tasks: pass", "sdk.tasks.list()"),
]
"""Scripts that fail, and what they are told to write."""


@pytest.mark.parametrize(("code", "expected"), MISTAKES, ids=[code for code, _ in MISTAKES])
def test_a_common_mistake_is_told_what_to_write(code: str, expected: str) -> None:
    with pytest.raises(Exception) as caught:
        run_restricted(code, task=TASK, week=WEEK)

    error = caught.value
    assert expected in f"{error} {advise(error, f'{type(error).__name__}: {error}')}"


@pytest.mark.parametrize(
    "text",
    [
        "can't compare datetime.datetime to datetime.date",
        "'<' not supported between instances of 'datetime.datetime' and 'datetime.date'",
    ],
)
def test_a_day_and_a_moment_are_told_apart_in_the_words_of_each_python(text: str) -> None:
    assert advise(TypeError(text), f"TypeError: {text}") == "Compare days: moment.date(), or text with text."


def test_a_name_that_is_missing_where_there_were_no_inputs_is_told_so() -> None:
    with pytest.raises(NameError) as caught:
        run_restricted("word.upper()")

    assert "inputs of the run become names, and there were none" in advise(caught.value, str(caught.value))


def test_the_entries_of_a_row_can_be_set_as_those_of_a_dict() -> None:
    row = run_restricted("row = task.copy()\nrow.update({'status': 'done'}, late=True)\nreturn row", task=TASK)

    assert row == {**TASK, "status": "done", "late": True}


def test_annotations_may_say_what_signatures_say_without_an_import() -> None:
    code = "def named(each: Task, more: list[Task]) -> str:\n    found: Task = each\n    return found.title\n"

    assert run_restricted(f"{code}named(task, [])", task=TASK) == "Tea"
