"""`panorama note`: showing, listing, adding."""

from collections.abc import Callable
from typing import Any

from .conftest import Command

Given = Callable[..., Any]


def test_a_note_comes_out_of_a_pipe_as_it_went_in(run: Command) -> None:
    content = "\n# Tea\r\n\n- oolong\t…\n\n\n"
    run("note", "add", "Tea", stdin=content.encode())

    shown = run("note", "Tea")

    assert shown.out == content
    assert shown.err == ""


def test_an_empty_note_is_shown_and_listed(run: Command) -> None:
    run("note", "add", "Tea")

    shown = run("note", "Tea")

    assert (shown.code, shown.out) == (0, "")
    assert run("note").lines[1].split()[1:] == ["Tea", "0", "now"]


def test_a_long_note_is_shown_whole(run: Command) -> None:
    content = "".join(f'{n} "quoted"\n\\\x01' for n in range(20_000))
    run("note", "add", "Long", stdin=content.encode())

    shown = run("note", "Long", "--json").answer["data"]

    assert shown["content"] == content
    assert not {"start", "end"} & set(shown)


def test_without_a_name_notes_are_listed(run: Command, given: Given) -> None:
    given("create_project", name="Garden")
    given("create_note", title="Tea", content="oolong", project="Garden")
    given("create_note", title="Milk")

    listed = run("note", "--project", "Garden")

    assert listed.lines[1].split()[1:] == ["Tea", "6", "now", "Garden"]
    assert listed.err == "1 note\n"


def test_content_may_stand_on_the_command_line(run: Command) -> None:
    added = run("note", "add", "Tea", "--content", "oolong", "--tag", "drinks", stdin=b"not this")

    assert added.code == 0
    assert run("note", "Tea", "--raw").out == "oolong"


def test_bytes_that_are_no_text_are_refused(run: Command) -> None:
    refused = run("note", "add", "Tea", stdin=b"\xff\xfe\x00")

    assert refused.code == 2
    assert "UTF-8" in refused.err


def test_a_note_that_is_called_like_a_command_can_be_shown(run: Command) -> None:
    run("note", "add", "add", "--content", "oolong")

    shown = run("note", "show", "add")

    assert shown.out == "oolong"
