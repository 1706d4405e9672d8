"""What a script may be called, what its text says of it, and what it does with the SDK; nothing is ever run."""

import ast
from typing import Any

import pytest

from panorama.domain.scripts.library import (
    DRAFT,
    ReviewState,
    parse_signature,
    to_runnable,
    validate_script_name,
)
from panorama.domain.scripts.script_types import Kind
from panorama.domain.scripts.sdk_usage import analyze_usage
from panorama.domain.scripts.wrap import wrap_code
from panorama.domain.text.visible_text import escape_controls
from panorama.errors import ConflictError, InvalidInputError

TEXT = '''"""Mark late tasks. It asks nobody.

More of it.
"""

from datetime import date, datetime
from typing import Literal, Optional

def main(
    project: str,
    since: date,
    until: Optional[datetime] = None,
    mark: Literal["urgent", "important"] = "urgent",
    most: int | None = None,
    share: float = 0.5,
    tags: list[str] = [],
    start: date = date.today(),
    *,
    apply: bool = False,
):
    """Return it.

    Args:
        project: Only of this project,
            whatever it is.
        since: The first day.
    """
'''


def dated(kind: Kind, text: str, name: str) -> str:
    """Take days and moments as they are."""
    return text


@pytest.mark.parametrize("name", ["late", "late_tasks", "a1", "x" * 33])
def test_a_plain_name_is_a_name(name: str) -> None:
    assert validate_script_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "", "Late", "late-tasks", "1late", "_late", "a__b", "x" * 34, "../late", "late/x", "late.py", "late\n", "for",
        "match", "main", "tasks", "läte", "с", "\u202elate", "late\x00",
    ],
)  # fmt: skip
def test_all_else_is_none(name: str) -> None:
    with pytest.raises(InvalidInputError):
        validate_script_name(name, {"tasks"})


def test_the_first_sentence_is_what_it_does() -> None:
    found = parse_signature(TEXT)

    assert found.summary == "Mark late tasks."
    assert found.description == "Mark late tasks. It asks nobody. More of it."


def test_parameters_become_a_schema_without_nulls() -> None:
    assert parse_signature(TEXT).to_json_schema() == {
        "type": "object",
        "properties": {
            "project": {"type": "string", "description": "Only of this project, whatever it is."},
            "since": {"type": "string", "format": "date", "description": "The first day."},
            "until": {"type": "string", "format": "date-time"},
            "mark": {"type": "string", "enum": ["urgent", "important"], "default": "urgent"},
            "most": {"type": "integer"},
            "share": {"type": "number", "default": 0.5},
            "tags": {"type": "array", "items": {"type": "string"}},
            "start": {"type": "string", "format": "date"},
            "apply": {"type": "boolean"},
        },
        "required": ["project", "since"],
    }


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({}, "project is missing; since is missing"),
        ({"project": 5}, "project must be text, not 5"),
        ({"project": None}, "project must be text, not null"),
        ({"mark": "red"}, "mark must be one of 'urgent', 'important', not 'red'"),
        ({"most": "5"}, "most must be a whole number, not '5'"),
        ({"most": True}, "most must be a whole number, not True"),
        ({"share": float("nan")}, "share must be a number, not nan"),
        ({"tags": 3}, "tags must be a list, not 3"),
        ({"tags": ["a", 1]}, "tags.1 must be text, not 1"),
        ({"apply": 1}, "apply must be true or false, not 1"),
        ({"aply": True}, "aply is not one of its parameters"),
    ],
)
def test_arguments_that_do_not_fit_are_named(sent: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInputError, match="not run: ") as refused:
        parse_signature(TEXT).coerce_arguments(sent, dated)

    assert problem in refused.value.message


def test_what_is_left_out_is_left_to_the_script() -> None:
    sent = {"project": "A", "since": "2026-05-01", "most": None, "share": 2}

    assert parse_signature(TEXT).coerce_arguments(sent, dated) == {"project": "A", "since": "2026-05-01", "share": 2}


@pytest.mark.parametrize(
    "text",
    [
        '"""X."""\ndef other(): pass',
        '"""X."""\ndef main(*rest): pass',
        '"""X."""\ndef main(**rest): pass',
        '"""X."""\ndef main(a, /): pass',
        '"""X."""\ndef main(a: set[int]): pass',
        '"""X."""\ndef main(a: int | str): pass',
        '"""X."""\ndef main(_a: int): pass',
        "def main(:",
        "\x00",
        "(" * 5000,
    ],
)
def test_a_text_that_could_not_be_called_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_signature(text)


def test_lines_keep_their_numbers_in_what_runs() -> None:
    text = '"""X."""\n\ndef main(day: date):\n    return 1\n\nif __name__ == "__main__":\n    main()\n\nlast = 1\n'
    ran = to_runnable(text.replace("date", "datetime", 0), parse_signature(text), {"day"})

    lines = ran.split("\n")
    assert lines[:9] == ['"""X."""', "", "def main(day: date):", "    return 1", "", "pass", "", "", "last = 1"]
    assert lines[-1].endswith("; return main(day=_datetime.date.fromisoformat(_arguments['day']))")
    ast.parse(ran)


def test_code_is_wrapped_and_its_inputs_become_parameters() -> None:
    code = 'text = """one\n  two"""\nfor word in words:\n    text += word\ntext, inputs["words"]'

    made = wrap_code(code, {"words": ["a"], "most": None, "deep": {"x": 1}}, "Join words")

    assert parse_signature(made).summary == "Join words."
    names: dict[str, Any] = {}
    exec(made, names)
    assert names["main"](words=["b"]) == ("one\n  twob", ["b"])
    assert names["main"]() == ("one\n  twoa", ["a"])


@pytest.mark.parametrize("code", ["return 5", "x = 5\nx", "x = 5; x", 'x = "ä"; 5', "if True:\n\treturn 5"])
def test_what_was_the_result_is_what_main_returns(code: str) -> None:
    names: dict[str, Any] = {}

    exec(wrap_code(code, {}, "Five"), names)

    assert names["main"]() == 5


def test_a_script_that_has_a_main_is_kept_as_it_is() -> None:
    assert wrap_code(TEXT, {"x": 1}, "else") == TEXT


@pytest.mark.parametrize(
    ("code", "inputs", "summary"),
    [
        ("5", {}, ""),
        ("def f():\n    global x\n    x = 1\nf()", {}, "X"),
        ('"""Only words."""', {}, ""),
        ("yield 1", {}, "X"),
        ("5", {"class": 1}, "X"),
        ("5 5", {}, "X"),
        ('"""X."""; 5', {}, ""),
    ],
)
def test_what_cannot_be_a_script_is_refused(code: str, inputs: dict[str, Any], summary: str) -> None:
    with pytest.raises(InvalidInputError):
        wrap_code(code, inputs, summary)


def test_a_summary_cannot_leave_its_quotes() -> None:
    made = wrap_code("5", {}, 'x"""\nimport os\n"""\\')

    assert [type(node).__name__ for node in ast.parse(made).body] == ["Expr", "FunctionDef"]


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("sdk.tasks.list()", ("tasks.list",), ()),
        ("x = sdk.tasks.update", (), ("tasks.update",)),
        ("from sdk import tasks as t\nt.update('a')", (), ("tasks.update",)),
        ("from sdk import search as s\ns('a')", ("search",), ()),
        ("import panorama.sdk as s\ns.search('x')", ("search",), ()),
        ("import panorama.sdk\npanorama.sdk.tasks.delete('x')", (), ("tasks.delete",)),
        ("import panorama as p\np.sdk.tasks.delete('x')", (), ("tasks.delete",)),
        ("from panorama import sdk as q\nq.undo()", (), ("undo",)),
        ("s = sdk\ns.undo()", (), ("undo",)),
        ("t = sdk.tasks\nt.delete('x')", (), ("tasks.delete",)),
        ("def main():\n    t.delete('x')\n\nt = sdk.tasks", (), ("tasks.delete",)),
        ("x = t = sdk.tasks\nt.delete('x')", (), ("tasks.delete",)),
        ("a = b\nb = c\nc = sdk.tasks\na.delete('x')", (), ("tasks.delete",)),
        ("sdk.parallel(lambda: sdk.notes.edit('a', 'b', 'c'))", ("parallel",), ("notes.edit",)),
        ("raise sdk.NotFoundError('x') from sdk.errors.SdkError('y')", (), ()),
        ("sdk.state['x'] = 1", (), ("state",)),
        ("# sdk.tasks.delete", (), ()),
        ("sdk.query('tasks')\nsdk.query(collection='notes')", ("query(notes)", "query(tasks)"), ()),
        ("for c in names:\n    sdk.query(c)", ("query",), ()),
        ("sdk.parallel_map(sdk.query, names)", ("parallel_map", "query"), ()),
        ("sdk.batch([{'tool': 'update_task', 'args': {}}])", (), ("batch(update_task)",)),
    ],
)
def test_what_a_text_does_with_the_sdk_is_found(text: str, reads: tuple[str, ...], writes: tuple[str, ...]) -> None:
    found = analyze_usage(ast.parse(text))

    assert (found.reads, found.writes, found.unclear) == (reads, writes, False)


@pytest.mark.parametrize(
    "text",
    [
        "a = b\nb = c\nc = d\nd = e\ne = sdk.tasks\na.delete('x')",
        "t = sdk.tasks\nt = sdk.notes\nt.delete('x')",
        "class A:\n    t = sdk.tasks\nA.t.delete('x')",
        "class A:\n    import sdk as t\nA.t.tasks.delete('x')",
        "from sdk import *\ntasks.delete('x')",
        "getattr(sdk, 'tasks')",
        "f(sdk.tasks)",
        "x, y = sdk, 1",
        "[t for t in (sdk.tasks, sdk.notes)]",
        "vars(sdk)",
        "import panorama as p\nf(p)",
        "sdk.tasks.obliterate()",
        "sdk.obliterate()",
        "match sdk:\n    case object(tasks=t):\n        pass",
        "f'{sdk}'",
        "if t := sdk.tasks:\n    pass",
        "sdk.batch(steps)",
        "sdk.batch([{'tool': name}])",
        "sdk.batch([{'tool': 'list_tasks'}, dict(tool=name)])",
        "step = {'tool': 'list_tasks'}\nstep['tool'] = name\nsdk.batch([step])",
    ],
)
def test_a_text_that_hides_what_it_uses_of_the_sdk_may_do_anything(text: str) -> None:
    found = analyze_usage(ast.parse(text))

    assert found.unclear
    assert found.writes[0] == found.reads[0] == found.scripts[0] == "anything"


def test_scripts_that_are_called_are_found() -> None:
    text = "sdk.scripts.plan_day(day='today')\nsdk.scripts.call('tidy_tags')"

    assert analyze_usage(ast.parse(text)).scripts == ("plan_day", "tidy_tags")
    assert analyze_usage(ast.parse("sdk.scripts.call(name)")).scripts == ("anything",)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain\n\ttext é 日本", "plain\n\ttext é 日本"),
        ("a\u202eb\u2066", "a<U+202E>b<U+2066>"),
        ("a\x1b[2Jb\x07\r", "a<U+001B>[2Jb<U+0007><U+000D>"),
        ("a\u200bb\ufeff\u00ad", "a<U+200B>b<U+FEFF><U+00AD>"),
        ("a\x85b\u2028", "a<U+0085>b<U+2028>"),
    ],
)
def test_nothing_in_a_text_is_hidden(text: str, seen: str) -> None:
    assert escape_controls(text) == seen


def test_a_state_belongs_to_one_text() -> None:
    tool = DRAFT.approve("a").promote("a", read_only=True)

    assert (tool.state_of("a"), tool.state_of("b"), tool.state_of("")) == ("promoted", "draft", "draft")
    assert tool.approve("b") == ReviewState(state="promoted", digest="b", read_only=True)
    assert tool.demote("a").state_of("a") == "reviewed"
    assert tool.retire("b").approve("b").state_of("b") == "reviewed"


def test_a_refused_demotion_names_the_state_that_lists_show() -> None:
    with pytest.raises(ConflictError, match="The script is a draft, not a tool"):
        DRAFT.demote("a")
    with pytest.raises(ConflictError, match="The script is reviewed, not a tool"):
        DRAFT.demote("a", "reviewed")


def test_what_is_so_already_is_refused() -> None:
    with pytest.raises(ConflictError):
        DRAFT.promote("a", read_only=False).promote("a", read_only=False)
    with pytest.raises(ConflictError):
        DRAFT.demote("a")
    with pytest.raises(ConflictError):
        DRAFT.retire("a").retire("a")
