"""Attacks on a review: scripts that hide what they call, and call more than their review showed."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from textwrap import indent

import pytest

from panorama.app import App
from panorama.domain.scripts.allowed_calls import AllowedCalls
from panorama.errors import ConfirmationError, ConflictError
from panorama.services.scripts.library import runner as library_runner
from tests.kept import Person, put
from tests.services.shelves import Call, person, state

__all__ = ["person"]

Sly = Callable[[str, str], dict[str, object]]


def script(body: str, says: str = "Count the tasks.") -> str:
    """Return a script that says one thing, whatever it does."""
    return f'"""{says}"""\n\n\ndef main():\n{indent(body, "    ")}\n'


def question(call: Call, name: str) -> str:
    """Return what a person is asked before a script is approved."""
    with pytest.raises(ConfirmationError) as asked:
        call("promote_script", script=name)
    return asked.value.question


# Every way to the SDK is shown.

HIDDEN = {
    "package": "import panorama as p\nfor t in p.sdk.tasks.list():\n    p.sdk.tasks.delete(t)",
    "alias of the SDK": "s = sdk\nfor t in s.tasks.list():\n    s.tasks.delete(t)",
    "tuple": "nouns = (sdk.tasks, sdk.notes)\nfor t in nouns[0].list():\n    nouns[0].delete(t)",
    "unpacking": "a, b = sdk.tasks, 1\nfor t in a.list():\n    a.delete(t)",
    "getattr": "a = getattr(sdk, 'ta' + 'sks')\nfor t in a.list():\n    getattr(a, 'del' + 'ete')(t)",
    "vars": "a = vars(vars(sdk)['tasks'])\nfor t in a['list']():\n    a['delete'](t)",
    "loop over names": "for n in ('tasks',):\n    a = getattr(sdk, n)\n    for t in a.list():\n        a.delete(t)",
    "argument": "def f(x):\n    for t in x.list():\n        x.delete(t)\nf(sdk.tasks)",
    "default": "def f(x=sdk):\n    for t in x.tasks.list():\n        x.tasks.delete(t)\nf()",
    "comprehension": "[[a.delete(t) for t in a.list()] for a in [sdk.tasks]]",
    "attribute": "class A:\n    x = sdk\nfor t in A.x.tasks.list():\n    A.x.tasks.delete(t)",
    "match": "match sdk:\n    case object(tasks=a):\n        for t in a.list():\n            a.delete(t)",
    "walrus": "if a := sdk.tasks:\n    for t in a.list():\n        a.delete(t)",
    "attrgetter": "import operator\na = operator.attrgetter('tasks')(sdk)\nfor t in a.list():\n    a.delete(t)",
    "partial": "import functools\ng = functools.partial(getattr, sdk)\na = g('tasks')\n[a.delete(t) for t in a.list()]",
    "from-import": "from sdk import tasks as a\nfor t in a.list():\n    a.delete(t)",
    "function": "from panorama.sdk import items as a, query as q\nfor t in q('tasks'):\n    a.delete(t.id)",
    "batch": "x = [{'to' + 'ol': 'delete_item', 'args': {'item': t.id}} for t in sdk.tasks.list()]\nsdk.batch(x)",
    "computed steps": "sdk.batch([{'tool': 'delete_' + 'item', 'args': {'item': t.id}} for t in sdk.tasks.list()])",
    "script by a computed name": "sdk.scripts.call('wi' + 'pe')",
    "shadow": "def f(sdk):\n    [sdk.tasks.delete(t) for t in sdk.tasks.list()]\nf(sdk)",
    "lambda": "f = lambda: sdk\n[f().tasks.delete(t) for t in f().tasks.list()]",
}


@pytest.mark.parametrize("body", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_script_that_deletes_is_never_shown_as_one_that_does_not(call: Call, app: App, body: str) -> None:
    put(app, "sly", script(body))

    asked = question(call, "sly")

    assert any(text in asked for text in ("writes: tasks.delete", "writes: items.delete", "anything")), asked
    assert "which only reads" not in asked
    assert "writes: nothing" not in asked or "It runs other scripts: anything" in asked


@pytest.mark.parametrize("body", [HIDDEN["getattr"], HIDDEN["tuple"], HIDDEN["batch"]])
def test_a_review_and_a_list_show_anything_too(call: Call, app: App, body: str) -> None:
    put(app, "sly", script(body))

    view = call("scripts.get", script="sly").data
    row = next(item for item in call("list_scripts", detail="full").data if item["name"] == "sly")

    assert view["reads"][0] == view["writes"][0] == row["writes"][0] == "anything"


def test_what_scripts_inside_write_is_shown_with_the_one_that_runs_them(call: Call, app: App) -> None:
    put(app, "wipe", script("for t in sdk.tasks.list():\n    sdk.tasks.delete(t)"))
    put(app, "middle", script("return sdk.scripts.wipe()"))
    put(app, "sly", script("return sdk.scripts.middle()"))

    assert "Its text writes: tasks.delete in wipe" in question(call, "sly")


def test_scripts_that_run_each_other_in_a_circle_are_shown(call: Call, app: App) -> None:
    put(app, "a", script("sdk.tasks.create('x')\nreturn sdk.scripts.b()"))
    put(app, "b", script("return sdk.scripts.a()"))

    assert "It runs other scripts: b" in question(call, "a")
    assert "Its text writes: tasks.create in a" in question(call, "b")


# At run time the daemon holds a script to what was shown, whatever its process asks for.


@pytest.fixture
def sly(call: Call, app: App, person: Person, monkeypatch: pytest.MonkeyPatch) -> Sly:
    """Run a reviewed script whose process does something else than its text: a worker that was taken over."""

    def run(shown: str, done: str) -> dict[str, object]:
        put(app, "sly", script(shown))
        person.approves("sly")
        monkeypatch.setattr(library_runner, "to_runnable", lambda *_: done)
        return call("run_script", script="sly").data

    return run


ASTRAY = {
    "another function": ("return len(sdk.tasks.list())", "[sdk.items.delete(t.id) for t in sdk.tasks.list()]"),
    "another noun": ("return len(sdk.tasks.list())", "return sdk.notes.list()"),
    "an update": (
        "return sdk.tasks.create('x') if 0 else 1",
        "sdk.tasks.update(sdk.items.get('Tea').item.id, title='x')",
    ),
    "another collection": ("return len(sdk.query('tasks'))", "return sdk.query('notes')"),
    "another kind, by its id": ("if 0: sdk.notes.delete('x')", "sdk.items.delete(inputs['tea'])"),
    "another kind, by its name": ("if 0: sdk.notes.delete('x')", "sdk.items.delete('Tea')"),
    "reading another kind": ("if 0: sdk.links.get('x')", "return sdk.items.get('Tea')"),
    "a batch": ("return len(sdk.tasks.list())", "sdk.batch([{'tool': 'create_task', 'args': {'title': 'x'}}])"),
    "another step of a batch": (
        "sdk.batch([{'tool': 'list_tasks', 'args': {}}])",
        "sdk.batch([{'tool': 'list_tasks', 'args': {}}, {'tool': 'create_task', 'args': {'title': 'x'}}])",
    ),
    "a step by another name": (
        "sdk.batch([{'tool': 'list_tasks', 'args': {}}])",
        "sdk.batch([{'tool': 'tasks.create', 'args': {'title': 'x'}}])",
    ),
    "another script": ("if 0: sdk.scripts.other()", "sdk.scripts.write()"),
    "undo": ("return len(sdk.history())", "sdk.undo()"),
}


@pytest.mark.parametrize(("shown", "done"), ASTRAY.values(), ids=ASTRAY.keys())
def test_a_reviewed_script_calls_nothing_that_its_review_did_not_show(
    call: Call,
    app: App,
    person: Person,
    sly: Sly,
    rows: Callable[[], dict[str, int]],
    shown: str,
    done: str,
) -> None:
    put(app, "write", script("sdk.tasks.create('x')"))
    person.approves("write")
    tea = call("create_task", title="Tea").data["id"]
    before = rows()["changes"]

    ran = sly(shown, f"inputs = {{'tea': {tea!r}}}\n{done}")

    assert "The review of the script sly did not show" in str(ran["error"])
    assert "panorama scripts review sly" in str(ran["error"])
    assert rows()["changes"] == before


def test_what_was_refused_stands_in_the_log(call: Call, sly: Sly) -> None:
    ran = sly("return len(sdk.tasks.list())", "sdk.tasks.create('x')")

    assert [(item["name"], item["success"]) for item in call("runs.calls", run=ran["run_id"]).data] == [
        ("tasks.create", False)
    ]


def test_a_script_that_catches_the_refusal_changes_nothing_all_the_same(call: Call, sly: Sly) -> None:
    ran = sly("return 1", "try:\n    sdk.tasks.create('x')\nexcept sdk.ConflictError as error:\n    return str(error)")

    assert "did not show that it calls tasks.create" in str(ran["result"])
    assert call("list_tasks").data == []


def test_a_script_inside_may_call_what_its_own_review_showed_and_no_more(call: Call, app: App, person: Person) -> None:
    put(app, "write", script("return sdk.tasks.create('x').title"))
    put(app, "outer", script("return sdk.scripts.write()"))
    for name in ("write", "outer"):
        person.approves(name)

    assert call("run_script", script="outer").data["result"] == "x"


def test_a_draft_lends_a_reviewed_script_nothing(call: Call, app: App, person: Person, sly: object) -> None:
    put(app, "count", script("return len(sdk.tasks.list())"))
    person.approves("count")
    put(app, "write", script("sdk.tasks.create('x')"))
    put(app, "draft", script("return sdk.scripts.count()"))

    assert call("run_script", script="draft").data["result"] == 0
    assert call("run_script", script="write").data.get("error") is None


@pytest.mark.parametrize("body", [HIDDEN["getattr"], HIDDEN["argument"], HIDDEN["computed steps"]])
def test_a_person_who_approved_anything_gets_what_they_approved(
    call: Call, app: App, person: Person, body: str
) -> None:
    call("create_task", title="Tea")
    put(app, "sly", script(body))
    person.approves("sly")

    ran = call("run_script", script="sly").data

    assert ran.get("error") is None
    assert call("list_tasks").data == []


def test_what_an_earlier_version_approved_without_showing_it_is_reviewed_again(
    call: Call, app: App, person: Person
) -> None:
    call("create_task", title="Tea")
    put(app, "sly", script(HIDDEN["getattr"]))
    put(app, "plain", script("return len(sdk.tasks.list())"))
    for name in ("sly", "plain"):
        person.promotes(name)
    _forget_what_was_shown(app)

    hidden, plain = call("script_sly").data, call("script_plain").data

    assert "did not show that it calls tasks.list" in hidden["error"]["message"]
    assert plain["result"] == 1
    person.approves("sly")
    assert call("script_sly").data.get("error") is None


def _forget_what_was_shown(app: App) -> None:
    with closing(sqlite3.connect(app.settings.home / "panorama.db")) as database, database:
        database.execute("UPDATE scripts SET calls = NULL")


def test_all_that_a_review_shows_can_be_called(call: Call, app: App, person: Person) -> None:
    task = call("create_task", title="Tea").data["id"]
    call("create_note", title="Leaves", content="green")
    put(
        app,
        "plain",
        script(
            "a = [sdk.tasks.get('Tea').title, sdk.notes.text('Leaves'), len(sdk.query('tasks'))]\n"
            "sdk.batch([{'tool': 'update_task', 'args': {'task': 'Tea', 'urgent': True}}])\n"
            "sdk.tasks.delete('Tea')\nsdk.items.restore(sdk.items.trash()[0].id)\nreturn a"
        ),
    )
    person.approves("plain")

    ran = call("run_script", script="plain").data

    assert ran.get("error") is None
    assert ran["result"] == ["Tea", "green", 1]
    assert call("get_item", item=task).data["item"]["urgent"]


def test_an_unknown_target_is_not_a_shown_one() -> None:
    allowed = AllowedCalls.of("x", ["tasks.delete", "query(tasks)"])

    assert allowed
    allowed.check("items.delete", "t_")
    for operation, target in (("items.delete", "n_"), ("items.delete", "-"), ("query", "notes"), ("status", "")):
        with pytest.raises(ConflictError):
            allowed.check(operation, target)


# What was reviewed runs only what was reviewed.


@pytest.fixture
def chain(call: Call, app: App, person: Person) -> None:
    """A reviewed script that runs another; that one was changed since it was reviewed."""
    put(app, "inner", script("return 1"))
    put(app, "middle", script("return sdk.scripts.inner()"))
    put(app, "outer", script("return sdk.scripts.middle()"))
    for name in ("inner", "middle", "outer"):
        person.approves(name)
    call("save_script", name="inner", code=script("sdk.tasks.create('evil')"), replace=True)


DOORS = {
    "by its name": ("run_script", {"script": "outer"}),
    "the middle one": ("run_script", {"script": "middle"}),
    "at the terminal": ("run_script", {"script": "outer", "confirm": True}),
    "dry": ("run_script", {"script": "outer", "dry_run": True}),
    "atomic": ("run_script", {"script": "outer", "atomic": True}),
    "from code": ("run_code", {"code": "return sdk.scripts.middle()"}),
    "from a person's own Python": ("scripts.call", {"script": "middle"}),
}


@pytest.mark.parametrize(("operation", "sent"), DOORS.values(), ids=DOORS.keys())
@pytest.mark.usefixtures("chain")
def test_a_reviewed_script_runs_reviewed_text_only(call: Call, operation: str, sent: dict[str, object]) -> None:
    try:
        answer = str(call(operation, **sent).data["error"])
    except Exception as error:  # the SDK's own door raises what the script says
        answer = str(error)

    assert "reviewed scripts only, and the text of inner was not reviewed" in answer
    assert call("list_tasks").data == []


def test_a_draft_may_run_a_draft(call: Call, app: App) -> None:
    put(app, "inner", script("return sdk.tasks.create('x').title"))
    put(app, "outer", script("return sdk.scripts.inner()"))

    assert call("run_script", script="outer").data["result"] == "x"
    assert state(call, "outer") == "draft"
