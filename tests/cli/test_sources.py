"""`panorama sources`: what a user adds, sees, allows and removes, and what nobody else can."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.sources.config import load_sources
from tests.cli.conftest import Command
from tests.cli.terminals import Terminal
from tests.sources.documented import answer_as_claap
from tests.sources.servers import raw_entry
from tests.sources.stand_ins import KEY, serve

TOKEN = "tok-0123456789abcdef"


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tester's own keyring is not touched."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


@pytest.fixture
def write(home: Path) -> Callable[..., None]:
    """Writes `sources.json` as a user's editor would."""

    def put(**entries: Any) -> None:
        (home / "sources.json").write_text(json.dumps({"mcpServers": entries}))

    return put


def _at_terminal(*words: str, answers: tuple[tuple[str, str], ...] = ()) -> tuple[int, str]:
    with Terminal(words) as terminal:
        for question, answer in answers:
            terminal.until(question)
            terminal.types(answer)
        return terminal.ends(), terminal.seen


def test_without_sources_the_list_says_how_to_add_one(run: Command) -> None:
    done = run("sources")

    assert (done.code, done.out) == (0, "")
    assert "panorama sources add" in done.err


def test_a_command_becomes_a_source_and_its_secrets_leave_the_file(home: Path) -> None:
    words = ("--env", f"API_TOKEN={TOKEN}", "--env", "TZ=UTC", "--", "uvx", "mcp-server-time", "--api-key", TOKEN)

    code, seen = _at_terminal("sources", "add", "clock", *words)

    [source] = load_sources(home)
    assert (code, source.command, source.env["TZ"]) == (0, "uvx", "UTC")
    assert (source.env["API_TOKEN"], source.args[-1]) == ("file:clock/API_TOKEN", "file:clock/argument_3")
    assert TOKEN not in (home / "sources.json").read_text() + seen
    assert [stat.S_IMODE((home / name).stat().st_mode) for name in ("sources.json", "sources.keys")] == [0o600] * 2


def test_the_key_of_a_service_is_asked_for_without_showing_it(home: Path) -> None:
    question = "The API key of your Claap workspace:"

    code, seen = _at_terminal("sources", "add", "claap", "--kind", "claap", answers=((question, TOKEN),))

    assert (code, TOKEN in seen) == (0, False)
    assert load_sources(home)[0].options == {"key": "file:claap/key"}
    assert json.loads((home / "sources.keys").read_text()) == {"claap/key": TOKEN}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("tasks", "--", "x"), "sdk.tasks belongs to Panorama"),
        (("Big", "--", "x"), "cannot be the name of a source"),
        (("a",), "needs either a command or a url"),
        (("a", "--url", "ftp://x"), "a url that is not http or https"),
        (("a", "--kind", "claip"), "has the unknown kind 'claip'"),
        (("a", "--kind", "claap", "-o", "key=k1", "-o", "color=red"), "has the unknown option 'color'"),
        (("a", "--env", "NAME", "--", "x"), "An option is not NAME=VALUE"),
    ],
)
def test_what_cannot_be_a_source_is_refused_by_name(home: Path, words: tuple[str, ...], problem: str) -> None:
    code, seen = _at_terminal("sources", "add", *words)

    assert (code != 0, problem in seen) == (True, True), seen
    assert not (home / "sources.json").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("add", "x", "--", "uvx", "y"), ("import", "--yes"), ("allow", "clock.*"), ("ask", "clock.*"),
    ],
)  # fmt: skip
def test_nothing_is_added_or_allowed_without_a_user_at_a_terminal(
    run: Command, write: Callable[..., None], words: tuple[str, ...], home: Path
) -> None:
    write(clock={"command": "x"})
    before = (home / "sources.json").read_bytes()

    done = run("sources", *words, stdin=b"yes\n")

    assert (done.code, "needs a user at a terminal" in done.err) == (2, True)
    assert (home / "sources.json").read_bytes() == before


def test_a_source_of_this_name_is_not_replaced(write: Callable[..., None]) -> None:
    write(clock={"command": "x"})

    code, seen = _at_terminal("sources", "add", "clock", "--", "other")

    assert (code, "A source clock already exists" in seen) == (1, True)


def test_rules_move_between_the_decisions(run: Command, write: Callable[..., None], home: Path) -> None:
    write(crm={"command": "x", "allow": ["get_*"]})

    assert _at_terminal("sources", "allow", "crm.add_*")[0] == 0
    assert run("sources", "deny", "crm.get_*").out == "Scripts cannot call crm.get_*\n"
    assert run("sources", "deny", "crm").code == 0

    [source] = load_sources(home)
    assert (source.policy.allow, source.policy.deny) == (("add_*",), ("get_*", "*"))


@pytest.mark.slow
def test_allowing_shows_the_functions_that_are_allowed(write: Callable[..., None]) -> None:
    write(crm=raw_entry())

    code, seen = _at_terminal("sources", "allow", "crm.add_*")

    assert (code, "add_lead" in seen, "The tool add-lead." in seen, "fetch" in seen) == (0, True, True, False)


@pytest.mark.slow
def test_allowing_what_a_source_does_not_have_yet_says_that_it_is_asked_for(write: Callable[..., None]) -> None:
    write(crm=raw_entry())

    code, seen = _at_terminal("sources", "allow", "crm.later_*")

    assert (code, "you are asked before a script calls one" in seen) == (0, True)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ('getattr(sdk, "crm").add_lead(email="a")', "Run `panorama sources allow crm.add_lead`."),
        ('sdk.tasks.list()\ngetattr(sdk, "crm").add_lead(email="a")', "what you run at a terminal may make the calls"),
    ],
)
def test_a_refused_call_of_a_source_speaks_to_the_person_at_the_terminal(
    run: Command, write: Callable[..., None], code: str, hint: str
) -> None:
    write(crm=raw_entry())

    done = run("run", "-c", code)

    assert (done.code, hint in done.err, "sk the user" in done.out + done.err) == (1, True, False)


def test_a_job_that_needs_a_yes_says_at_a_pipe_where_the_person_is_asked(
    run: Command, write: Callable[..., None]
) -> None:
    write(crm=raw_entry())
    run("run", "-c", "sdk.crm.echo(message='read the functions')")

    done = run("run", "--background", "-c", 'sdk.crm.add_lead(email="a")')

    assert ("there you are asked" in done.err, "sk the user" in done.err) == (True, False)


def test_a_pattern_that_is_none_is_refused(run: Command, write: Callable[..., None]) -> None:
    write(crm={"command": "x"})

    assert "is not a valid pattern" in run("sources", "deny", "crm.add-lead").err
    assert "There is no source 'other'" in run("sources", "deny", "other.x").err


def test_lists_and_details_hide_secrets(run: Command, write: Callable[..., None]) -> None:
    write(
        a={"command": "x", "args": [f"--token={TOKEN}"], "env": {"SOME_KEY": TOKEN}},
        b={"url": f"https://user:{TOKEN}@b.example/mcp?api_key={TOKEN}", "headers": {"Authorization": TOKEN}},
        c={"kind": "claap", "options": {"key": TOKEN}},
    )

    shown = [
        run("sources", *words) for words in (("list",), ("list", "--json"), ("show", "a"), ("show", "b", "--json"))
    ]
    shown += [run("sources", "show", "c", "--json")]

    assert [done.code for done in shown] == [0] * 5
    assert not any(TOKEN in done.out + done.err for done in shown)
    assert "b.example/mcp" in shown[0].out


def test_a_missing_secret_is_shown_and_can_be_piped_in(run: Command, write: Callable[..., None], home: Path) -> None:
    write(claap={"kind": "claap", "options": {"key": "file:claap/key"}})
    assert run("sources", "show", "claap", "--json").answer["data"]["secrets"] == {"key": "missing"}

    done = run("sources", "secret", "claap", stdin=f"{TOKEN}\n".encode())

    assert (done.code, TOKEN in done.out) == (0, False)
    assert run("sources", "show", "claap", "--json").answer["data"]["secrets"] == {"key": "set"}


def test_a_secret_needs_a_name_that_the_source_has(run: Command, write: Callable[..., None]) -> None:
    write(claap={"kind": "claap", "options": {}}, clock={"command": "x"})

    assert "has no such secret" in run("sources", "secret", "claap", "pin", stdin=b"x\n").err
    assert "No secret was given" in run("sources", "secret", "clock", stdin=b"x\n").err
    assert "Invalid key" in run("sources", "secret", "claap", stdin=b"\n").err


def test_removing_a_source_removes_its_secrets(run: Command, write: Callable[..., None], home: Path) -> None:
    write(a={"kind": "claap", "options": {"key": "file:a/key"}}, b={"command": "x"})
    (home / "sources.keys").write_text(json.dumps({"a/key": TOKEN, "b/key": "1"}))
    (home / "sources").mkdir()
    for file in ("a.tokens", "ab.tokens"):
        (home / "sources" / file).write_text("{}")

    assert run("sources", "remove", "a").code == 0
    assert [file.name for file in (home / "sources").iterdir()] == ["ab.tokens"]
    assert [source.name for source in load_sources(home)] == ["b"]
    assert json.loads((home / "sources.keys").read_text()) == {"b/key": "1"}
    assert "There is no source 'a'" in run("sources", "remove", "a").err


def test_a_test_connects_and_lists_what_scripts_may_call(run: Command, write: Callable[..., None]) -> None:
    with serve(answer_as_claap) as claap:
        write(claap={"kind": "claap", "url": claap.url, "options": {"key": KEY}, "deny": ["delete_*"]})

        done = run("sources", "test", "claap", "--json")

    decisions = {row["name"]: row["decision"] for row in done.answer["data"]}
    assert done.answer["summary"] == "claap works: 5 functions (3 allow, 1 ask, 1 deny)"
    assert (decisions["recordings"], decisions["delete_recording"]) == ("allow", "deny")


def test_a_test_with_a_wrong_key_says_what_to_do(run: Command, write: Callable[..., None]) -> None:
    with serve(answer_as_claap) as claap:
        write(claap={"kind": "claap", "url": claap.url, "options": {"key": "wrong-key-123"}})

        done = run("sources", "test", "claap")

    assert (done.code, "Claap does not accept the key (401)" in done.err) == (1, True)
    assert "panorama sources secret claap" in done.err


def test_a_file_that_cannot_be_read_is_left_as_it_is(run: Command, home: Path) -> None:
    (home / "sources.json").write_text("{")

    done = run("sources", "deny", "a.b")

    assert (done.code, (home / "sources.json").read_text()) == (2, "{")
    assert "not valid JSON" in done.err
