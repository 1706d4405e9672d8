"""Refusals: the errors that a docstring of the SDK names are those that come out."""

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.sdk import SdkError, errors
from tests.kept import put

from .conftest import run_plain
from .test_docstrings import parse_section
from .test_examples import EVERY

MADE = """
for project in (None, "Kitchen renovation"):
    task = sdk.tasks.create("Twin", project=project, parent=None)
    note = sdk.notes.create("Twin", "twin twin", project=project)
    link = sdk.links.create("example.org", title="Twin", project=project)
    reminder = sdk.reminders.create("Twin", at="2026-05-31T09:00")
    file = sdk.files.write("Twin", "text", project=project)
    person = sdk.people.create("Twin", email="a@example.org" if project else "")
    session = sdk.sessions.create("Twin", project=project)
    event = sdk.events.create("Twin", "2026-05-31")
team = sdk.teams.create("Tiling")
entry = sdk.journal.create("Something happened")
project = sdk.projects.create("Cellar")
"""
"""Two of each kind that go by one name, an entry and a project."""

USED = 'sdk.journal.create("Used", idempotency_key="k")\n'
OTHERS = {
    "tasks": "note", "notes": "task", "links": "task", "reminders": "task", "files": "task", "journal": "task",
    "people": "task", "teams": "task", "sessions": "task", "events": "task",
}  # fmt: skip
MORE = {"append": ', "block"', "edit": ', "old", "new"', "merge": ', "Twin"'}
TAKES_ITEM = ("items.get", "items.delete", "items.restore", "similar", "history")
CREATES = {
    "tasks.create": '"A"', "notes.create": '"A"', "links.create": '"example.org"', "files.write": '"a.txt", "A"',
    "reminders.create": '"A", "2026-05-31T09:00"', "journal.create": '"A"', "projects.create": '"A"',
    "people.create": '"A"', "teams.create": '"A"', "sessions.create": '"A"', "sessions.log": '"A"',
    "events.create": '"A", "2026-05-31"',
    **dict.fromkeys(("charts.bar", "charts.line", "charts.heatmap"), '"A", ["a"], {"x": [1]}'),
    "batch": '[{"tool": "tasks.create", "args": {"title": "A"}}]',
}  # fmt: skip
"""What makes something, with arguments that are right."""

CASES = """
tasks.list NotFoundError sdk.tasks.list(parent="No such thing")
tasks.list ConflictError sdk.tasks.list(parent="Twin")
tasks.list InvalidInputError sdk.tasks.list(view="late")
tasks.list InvalidInputError sdk.tasks.list(due_until="someday")
tasks.create NotFoundError sdk.tasks.create("A", parent="No such thing")
tasks.create ConflictError sdk.tasks.create("A", parent="Twin")
tasks.create InvalidInputError sdk.tasks.create(" ")
tasks.create InvalidInputError sdk.tasks.create("A" * 501)
tasks.create InvalidInputError sdk.tasks.create("A", tags=["a" * 61])
tasks.create InvalidInputError sdk.tasks.create("A", tags=[str(each) for each in range(51)])
tasks.create InvalidInputError sdk.tasks.create("A", scheduled_minutes=10_081)
tasks.create InvalidInputError sdk.tasks.create("A", scheduled_at="2026-05-31")
tasks.create InvalidInputError sdk.tasks.create("A", recurrence="FREQ=HOURLY")
tasks.update InvalidInputError sdk.tasks.update(task, parent=sdk.tasks.create("Below", parent=task))
tasks.delete InvalidInputError sdk.tasks.create("Below", parent=task); sdk.tasks.delete(task)
notes.get NotFoundError sdk.notes.get(note, heading="Nowhere")
notes.get InvalidInputError sdk.notes.get(note, chars=35_001)
notes.create InvalidInputError sdk.notes.create("A" * 201)
notes.update ConflictError sdk.notes.update(note, expected_version=7)
notes.append NotFoundError sdk.notes.append(note, "A", after_marker="Nowhere")
notes.append ConflictError sdk.notes.update(note, content="a b\\na b"); sdk.notes.append(note, "A", after_marker="a b")
notes.append InvalidInputError sdk.notes.append(note, "A", separator="-" * 1001)
notes.edit NotFoundError sdk.notes.edit(note, "Nowhere", "A")
notes.edit ConflictError sdk.notes.edit(note, "twin", "A")
notes.edit InvalidInputError sdk.notes.edit(note, "", "A")
links.create InvalidInputError sdk.links.create("ftp://example.org")
links.update InvalidInputError sdk.links.update(link, url="two words")
reminders.list NotFoundError sdk.reminders.list(item="No such thing")
reminders.list ConflictError sdk.reminders.list(item="Twin")
reminders.create InvalidInputError sdk.reminders.create("A", at="2026-05-31")
reminders.create NotFoundError sdk.reminders.create("A", at="2026-05-31T09:00", item="No such thing")
reminders.create ConflictError sdk.reminders.create("A", at="2026-05-31T09:00", item="Twin")
reminders.snooze InvalidInputError sdk.reminders.snooze(reminder, until="2001-01-01T09:00")
people.list NotFoundError sdk.people.list(team="No such thing")
people.list ConflictError sdk.people.list(manager="Twin")
people.dashboard NotFoundError sdk.people.dashboard("No such person")
people.dashboard ConflictError sdk.people.dashboard("Twin")
people.dashboard InvalidInputError sdk.people.dashboard(task)
people.create InvalidInputError sdk.people.create("A", aliases=[str(number) for number in range(51)])
people.create InvalidInputError sdk.people.create("A", birthday="friday")
people.create InvalidInputError sdk.people.create("A", email="nobody")
people.create NotFoundError sdk.people.create("A", team="No such thing")
people.create ConflictError sdk.people.create("A", manager="Twin")
people.create ConflictError sdk.people.create("A", aliases=["me"]); sdk.people.create("B", aliases=["me"])
people.update InvalidInputError sdk.people.update(person, manager=person)
people.merge InvalidInputError sdk.people.merge(person, into=person)
relations.list NotFoundError sdk.relations.list("No such thing")
relations.list ConflictError sdk.relations.list("Twin")
relations.get NotFoundError sdk.relations.get("k_0000000000")
relations.get InvalidInputError sdk.relations.get(task)
relations.create NotFoundError sdk.relations.create(task, "likes", "No such thing")
relations.create ConflictError sdk.relations.create(task, "likes", "Twin")
relations.create InvalidInputError sdk.relations.create(task, "likes", task)
relations.delete NotFoundError sdk.relations.delete("k_0000000000")
relations.delete InvalidInputError sdk.relations.delete(task)
graph.related NotFoundError sdk.graph.related("No such thing")
graph.related ConflictError sdk.graph.related("Twin")
graph.walk NotFoundError sdk.graph.walk("No such thing")
graph.walk ConflictError sdk.graph.walk("Twin")
graph.paths NotFoundError sdk.graph.paths(task, "No such thing")
graph.paths ConflictError sdk.graph.paths("Twin", task)
graph.context InvalidInputError sdk.graph.context("tiles", depth=9)
teams.create InvalidInputError sdk.teams.create(" ")
teams.create ConflictError sdk.teams.create("tiling")
teams.update ConflictError sdk.teams.create("Second"); sdk.teams.update(team, name="Second")
teams.update InvalidInputError sdk.teams.update(team, name=" ")
events.list InvalidInputError sdk.events.list(since="2026-05-31", until="2028-05-31")
events.create InvalidInputError sdk.events.create("A", "2026-05-31", ends_at="2026-05-30")
events.update InvalidInputError sdk.events.update(event, starts_at="someday")
sessions.log NotFoundError sdk.sessions.log(session="No such thing")
sessions.log ConflictError sdk.sessions.log(session="Twin")
sessions.log InvalidInputError sdk.sessions.log()
sessions.log InvalidInputError sdk.sessions.log("A", session=session)
sessions.log InvalidInputError sdk.sessions.log("A", lines=[" "])
sessions.get InvalidInputError sdk.sessions.get(session, start=0)
sessions.create InvalidInputError sdk.sessions.create("A", started_at="today 9:00", ended_at="today 8:00")
sessions.list InvalidInputError sdk.sessions.list(since="today", until="yesterday")
sessions.update InvalidInputError sdk.sessions.update(session, title=" ")
sessions.export InvalidInputError sdk.sessions.export(session, start=-1)
journal.list InvalidInputError sdk.journal.list(first_day="someday")
journal.create InvalidInputError sdk.journal.create("A" * 2001)
journal.update InvalidInputError sdk.journal.update(entry, at="someday")
files.text InvalidInputError sdk.files.text(sdk.files.write("a.png", b"\\x89PNG\\xff\\x00"))
files.get InvalidInputError sdk.files.get(file, start=-1)
files.write InvalidInputError sdk.files.write("a/b.txt", "A")
files.write InvalidInputError sdk.files.write("a.txt")
files.write InvalidInputError sdk.files.write("a.txt", "A", base64="QQ==")
charts.bar InvalidInputError sdk.charts.bar("A", ["a", "b"], {"x": [1]})
charts.line InvalidInputError sdk.charts.line("A", ["a"], {"x": [-1]})
charts.heatmap InvalidInputError sdk.charts.heatmap("A", [], {})
files.update ConflictError sdk.files.write("a.txt", "A", project=file.project); sdk.files.update(file, name="a.txt")
files.update InvalidInputError sdk.files.update(file, name="a/b.txt")
projects.list InvalidInputError sdk.projects.list(status="late")
projects.get InvalidInputError sdk.projects.get(task.id)
projects.create ConflictError sdk.projects.create("cellar")
projects.create InvalidInputError sdk.projects.create("A", color="a" * 61)
projects.update ConflictError sdk.projects.update(project, name="Kitchen renovation")
projects.update InvalidInputError sdk.projects.update(project, target_date="someday")
projects.delete InvalidInputError sdk.projects.delete("Kitchen renovation")
projects.delete ConfirmationError sdk.projects.delete("Kitchen renovation", items="trash")
items.delete InvalidInputError sdk.items.delete("Kitchen renovation")
items.delete ConfirmationError sdk.items.delete("Kitchen renovation", items="trash")
items.restore InvalidInputError sdk.items.restore(task)
items.find_source ConflictError [sdk.items.link_source(x, "a:2") for x in (task, note)]; sdk.items.find_source("a:2")
items.find_source InvalidInputError sdk.items.find_source("claap")
items.link_source NotFoundError sdk.items.link_source("No such thing", "claap:1")
items.link_source ConflictError sdk.items.link_source(task, "claap:1"); sdk.items.link_source("Twin", "claap:1")
items.link_source InvalidInputError sdk.items.link_source(task, "claap")
overview.project InvalidInputError sdk.overview.project(project, period_days=366)
overview.projects InvalidInputError sdk.overview.projects(period_days=0)
overview.week InvalidInputError sdk.overview.week(start="today", end="yesterday")
overview.week InvalidInputError sdk.overview.week(start="someday")
scripts.call NotFoundError sdk.scripts.call("no_such_thing")
search InvalidInputError sdk.search("a", kinds="cat")
search InvalidInputError sdk.search("a", since="today", until="yesterday")
similar InvalidInputError sdk.similar(task, kinds="cat")
query InvalidInputError sdk.query("tasks", where={"colour": "red"})
query NotFoundError sdk.query("tasks", where={"project": "No such thing"})
query ConflictError sdk.query("tasks", where={"parent": "Twin"})
batch InvalidInputError sdk.batch([])
batch InvalidInputError sdk.batch([{"tool": "batch", "args": {}}])
batch SdkError sdk.batch([{"tool": "tasks.update", "args": {"task": "No such thing"}}])
undo NotFoundError sdk.undo("c_0000000000")
undo InvalidInputError sdk.undo(sdk.history(note)[0].unit)
undo ConflictError made = sdk.history(note)[0]; sdk.notes.update(note, title="New"); sdk.undo(made); sdk.undo(made)
markdown_table InvalidInputError sdk.markdown_table([task], columns=["colour"])
markdown_table InvalidInputError sdk.markdown_table([("a", 1)], columns=["Name"])
progress TypeError sdk.progress([task])
progress TypeError sdk.progress(1, "many")
parallel SdkError sdk.parallel(lambda: sdk.tasks.get("No such thing"))
parallel TypeError sdk.parallel([1])
parallel ValueError sdk.parallel(lambda: 1, at_most=0)
parallel_map SdkError sdk.parallel_map(sdk.tasks.get, ["No such thing"])
parallel_map ValueError sdk.parallel_map(sdk.tasks.get, [], at_most=0)
"""
"""A function, an error that it names, and a call that is refused with it."""

IN_SCRIPTS = {
    ("scripts.call", "InvalidInputError"): 'sdk.scripts.call("broken", {"colour": "red"})',
    ("scripts.call", "ConflictError"): 'sdk.scripts.call("endless")',
    ("scripts.call", "SdkError"): 'sdk.scripts.call("broken")',
    ("undo", "ConfirmationError"): "sdk.undo(unit)",
}
"""The same for what only a script in its sandbox meets."""


def cases() -> Iterator[tuple[str, str, str]]:
    """Give functions, the errors they name, and calls that are refused with them."""
    for name in EVERY:
        noun, _, verb = name.rpartition(".")
        arguments = tuple(inspect.signature(EVERY[name]).parameters)
        if noun in OTHERS and verb not in ("list", "create", "write", "log", "waiting"):
            more = MORE.get(verb, "")
            yield name, "NotFoundError", f"sdk.{name}('No such thing'{more})"
            yield name, "InvalidInputError", f"sdk.{name}({OTHERS[noun]}.id{more})"
            if noun not in ("journal", "teams"):
                yield name, "ConflictError", f"sdk.{name}('Twin'{more})"
        if name in TAKES_ITEM:
            yield name, "NotFoundError", f"sdk.{name}('No such thing')"
            yield name, "ConflictError", f"sdk.{name}('Twin')"
        if noun in ("projects", "overview") and arguments[:1] == ("project",):
            yield name, "NotFoundError", f"sdk.{name}('No such thing')"
        elif "project" in arguments and name not in ("search", "similar"):
            first = CREATES.get(name) or ("" if verb == "list" else noun.removesuffix("s"))
            yield name, "NotFoundError", f"sdk.{name}({first}{', ' if first else ''}project='No such thing')"
        if "limit" in arguments:
            first = {
                "query": "'tasks'", "search": "'a'", "similar": "task", "history": "task", "graph.related": "link",
                "graph.walk": "task", "graph.paths": "task, entry",
            }.get(name, "")  # fmt: skip
            yield name, "InvalidInputError", f"sdk.{name}({first}{', ' if first else ''}limit=0)"
        if name in CREATES:
            yield name, "ConflictError", f"{USED}sdk.{name}({CREATES[name]}, idempotency_key='k')"
    yield "search", "NotFoundError", "sdk.search('a', project='No such thing')"
    yield "similar", "NotFoundError", "sdk.similar(task, project='No such thing')"
    for line in CASES.strip().splitlines():
        name, error, code = line.split(" ", 2)
        yield name, error, code.replace("; ", "\n")


EACH = [*cases()]


def caught(code: str, error: str) -> str:
    """Return the body of a function that gives the code of an error that comes out."""
    return f"    try:\n        return {code}\n    except sdk.{error} as error:\n        return error.code\n"


@pytest.mark.parametrize("name", {name: None for name, _, _ in EACH})
def test_a_docstring_names_the_errors_that_come_out(name: str, sdk: ModuleType) -> None:
    made = run_plain(f"{MADE}return locals()", sdk)

    for error, code in ((error, code) for noun, error, code in EACH if noun == name):
        with pytest.raises((SdkError, TypeError, ValueError)) as raised:
            run_plain(f"{code}\nreturn {code!r}", sdk, **made)
        assert error in (type(raised.value).__name__, "SdkError"), code
        assert error in parse_section(name, "Raises"), code


@pytest.mark.parametrize(("name", "error"), IN_SCRIPTS)
def test_a_docstring_names_the_errors_that_come_out_in_scripts(
    app: App, call: Callable[..., Answer], name: str, error: str
) -> None:
    put(app, "broken", '"""Break."""\n\ndef main():\n    return 1 / 0\n')
    put(app, "endless", f'"""Go on."""\n\ndef main():\n{caught("sdk.scripts.endless()", error)}')
    steps = [{"tool": "create_task", "args": {"title": f"Task {number}"}} for number in range(21)]
    unit = call("batch", operations=steps).metadata["undo"]

    ran = call("run_code", code=f"def main():\n{caught(IN_SCRIPTS[name, error], error)}\nmain()", inputs={"unit": unit})

    assert ran.data["result"] == ("script" if error == "SdkError" else getattr(errors, error).code)


def test_every_error_that_a_docstring_names_is_shown() -> None:
    named = {(name, error) for name in EVERY for error in parse_section(name, "Raises")}

    assert named == {(name, error) for name, error, _ in EACH} | {*IN_SCRIPTS}
