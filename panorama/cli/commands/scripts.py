"""`panorama scripts`: list and review saved scripts; one of two places where the user can decide on them.

A decision is typed at a terminal after the whole text was shown. No option grants it, and piped input is ignored.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.text import Text

from panorama.cli.client import Client
from panorama.cli.console import console, editor, script_tables
from panorama.cli.console.tables import format_ago, format_pairs, safe_line, safe_lines
from panorama.cli.options import AsJson, Limit, argument, examples, group, option
from panorama.errors import ConfirmationError, DeclinedError, InvalidInputError

app = group("scripts", "List saved scripts; show, review and promote them.", default="list")
Name = Annotated[str, argument("The script.", metavar="NAME")]
DECISIONS = ("approve", "edit", "reject")


@app.command(
    "list", epilog=examples("panorama scripts", "panorama scripts --state draft", "panorama scripts --suggest")
)
def list_(
    state: Annotated[
        Literal["all", "draft", "reviewed", "promoted", "retired"], option("Only those in this state.", "--state")
    ] = "all",
    suggest: Annotated[bool, option("Repeated work that is worth a script.", "--suggest")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List scripts: yours, and those shipped with Panorama."""
    with Client() as panorama:
        asked = {"state": state, "suggest": suggest, "detail": "full"}
        answer = panorama.list_rows("scripts.list", asked, limit)
    console.print_rows(answer, as_json, lambda: console.print_table(script_tables.scripts(answer.data)))


@app.command("show", epilog=examples("panorama scripts show plan_day"))
def show_(script: Name, as_json: AsJson = False) -> None:
    """Show a script: its text, state, parameters, calls and runs."""
    with Client() as panorama:
        answer = panorama.call("scripts.get", {"script": script}, whole=True)
        now = panorama.now
    console.print_answer(answer, as_json, lambda: _print_script(answer.data, answer.summary, now))


def _print_script(view: Mapping[str, Any], summary: str, now: Any) -> None:
    console.print_blocks(
        [safe_line(summary, "bold"), *_format_facts(view), *_format_statistics(view["statistics"], now)]
    )
    _print_source(view["text"])


def _format_facts(view: Mapping[str, Any]) -> list[Text]:
    """Render the facts about a script that were determined from its text and runs."""
    did = [
        f"{name} ({count:,} change{'' if count == 1 else 's'})" if count else name
        for name, count in view["did"].items()
    ]
    facts = {
        "takes": view["parameters"] or "nothing",
        "reads": _join_names(view["reads"]),
        "writes": _join_names(view["writes"]),
        "runs scripts": ", ".join(view["scripts"]),
        "its runs called": _join_names(did) if did else "",
        "tool": f"{view['tool']}{', which only reads' if view['read_only'] else ''}" if view["tool"] else "",
        "once approved": f"it becomes the tool {view['again']} again" if view["again"] else "",
        "sha256": view["digest"],
    }
    lines = [Text.assemble((f"{name:>16}  ", "dim"), safe_line(value)) for name, value in facts.items() if value]
    if view["unclear"]:
        lines.append(safe_line("It may call anything: its text does not show every SDK function it uses.", "yellow"))
    lines += [safe_line(f"The sandbox would refuse {finding}", "red") for finding in view["findings"]]
    return lines


def _format_statistics(figures: Mapping[str, Any], now: Any) -> list[Text]:
    if not figures["runs"]:
        return [Text.assemble(("            runs  ", "dim"), safe_line("none yet"))]
    text = f"{figures['runs']}, {figures['success_percent']} % succeeded, median {figures['median_ms']:g} ms and "
    calls = figures["median_calls"]
    text += f"{calls:g} call{'' if calls == 1 else 's'}, {figures['tokens']:,} tokens in answers"
    lines = [
        Text.assemble(("            runs  ", "dim"), safe_line(f"{text}, last {format_ago(figures['last_at'], now)}"))
    ]
    if error := figures.get("last_error"):
        lines.append(Text.assemble(("      last error  ", "dim"), safe_line(error, "red")))
    return lines


def _join_names(names: Any) -> str:
    return ", ".join(names) if names else "nothing"


def _print_source(text: str) -> None:
    """Print a text with line numbers; in a terminal with colours, and with hidden characters shown."""
    from panorama.domain.scripts.library import (
        escape_controls,  # the user must see the real text
    )

    plain = escape_controls(text)
    if console.is_terminal():
        from rich.syntax import Syntax  # 20 ms

        console.print_renderable(
            Syntax(safe_lines(plain), "python", line_numbers=True, background_color="default", word_wrap=True)
        )
    else:
        console.print_raw(plain)


@app.command(epilog=examples("panorama scripts save late_tasks late.py", "panorama scripts save late_tasks --run x_…"))
def save(
    script: Name,
    file: Annotated[Path | None, argument("A Python file.", metavar="FILE")] = None,
    run: Annotated[str | None, option("Save the code of this run.", "--run", metavar="ID")] = None,
    summary: Annotated[str | None, option("What it does, if it has no docstring.", "--summary")] = None,
    replace: Annotated[bool, option("Overwrite the script of this name.", "--replace")] = False,
    as_json: AsJson = False,
) -> None:
    """Save a script as a draft."""
    code = None
    if file is not None:
        try:
            code = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInputError(f"{file} cannot be read.", hint="Give a Python file.") from error
    arguments = {"name": script, "code": code, "run": run, "summary": summary, "replace": replace}
    with Client() as panorama:
        answer = _call_agreed(panorama, "scripts.save", arguments)  # `--replace` is the user's answer
    console.print_result(answer, as_json)


@app.command(epilog=examples("panorama scripts review late_tasks"))
def review(script: Name) -> None:
    """Review a script: type approve, edit or reject at this terminal."""
    _require_terminal("review")
    with Client() as panorama:
        while True:
            answer = panorama.call("scripts.get", {"script": script}, whole=True)
            view = answer.data
            _print_script(view, answer.summary, panorama.now)
            _print_dry_run(view)
            _print_difference(view)
            word = _read_answer(f"{script}: approve, edit or reject? ")
            if word != "edit":
                break
            _keep_version(panorama, script)
            _open_editor(view)
        if word not in DECISIONS:
            raise DeclinedError("Nothing was decided.", hint="Type approve, edit or reject in full.")
        arguments = {"script": script, "digest": view["digest"]}
        done = (
            _call_agreed(panorama, "scripts.approve", arguments)
            if word == "approve"
            else panorama.call("scripts.reject", arguments)
        )
    console.print_result(done, False)


def _print_dry_run(view: Mapping[str, Any]) -> None:
    if not view["dry_run"]:
        console.print_message("No dry run of this text would have changed anything.")
        return
    console.print_blocks([safe_line("Its last dry run would have made these changes:", "bold")])
    for call in view["dry_run"]:
        arguments = {name: value for name, value in call["arguments"].items() if value not in ("", [], None, False)}
        console.print_blocks(
            [Text.assemble(("  ~ ", "yellow"), safe_line(f"{call['name']} {format_pairs(arguments)}"))]
        )


def _print_difference(view: Mapping[str, Any]) -> None:
    from panorama.services.scripts.library.library import unified_diff  # half a second, while the user reads

    if not view["reviewed"]:
        console.print_message("It was not reviewed before.")
    elif difference := unified_diff(view["reviewed"], view["text"], "reviewed last", "now"):
        console.print_blocks([safe_line("Differences from the last reviewed text:", "bold")])
        styles = {"+": "green", "-": "red", "@": "cyan"}
        console.print_blocks(Text(safe_lines(line), styles.get(line[:1], "")) for line in difference.split("\n"))
    else:
        console.print_message("It is the last reviewed text.")


@app.command(epilog=examples("panorama scripts promote plan_day", "panorama scripts promote plan_day --read-only"))
def promote(
    script: Name,
    read_only: Annotated[bool, option("Its tool cannot change anything.", "--read-only")] = False,
) -> None:
    """Make a script a tool for your assistants; type `yes` at this terminal."""
    _change_state(script, {"to": "promoted", "read_only": read_only}, "promote")


@app.command(epilog=examples("panorama scripts demote plan_day"))
def demote(script: Name) -> None:
    """Remove a script's tool; it stays reviewed."""
    _change_state(script, {"to": "demoted"}, "demote")


@app.command(epilog=examples("panorama scripts retire late_tasks"))
def retire(script: Name) -> None:
    """Retire a script; its file and history are kept."""
    _change_state(script, {"to": "retired"}, "retire")


def _change_state(script: str, to: Mapping[str, Any], verb: str) -> None:
    _require_terminal(verb)
    with Client() as panorama:
        answer = panorama.call("scripts.get", {"script": script}, whole=True)
        if to["to"] == "promoted":
            _print_script(answer.data, answer.summary, panorama.now)
        done = _call_confirmed(panorama, "scripts.promote", {"script": script, **to})
    console.print_result(done, False)


@app.command(epilog=examples("panorama scripts history late_tasks"))
def history(script: Name, as_json: AsJson = False) -> None:
    """Show the decisions on a script, the newest first."""
    with Client() as panorama:
        answer = panorama.call("scripts.history", {"script": script}, whole=True)
        now = panorama.now
    rows = answer.data["versions"]
    console.print_answer(answer, as_json, lambda: console.print_table(script_tables.versions(rows, now)))


@app.command(epilog=examples("panorama scripts diff late_tasks", "panorama scripts diff late_tasks --old 1 --new 2"))
def diff(
    script: Name,
    old: Annotated[int | None, option("A version; by default the last approved one.", "--old", metavar="N")] = None,
    new: Annotated[int | None, option("Another version; by default the file.", "--new", metavar="N")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two texts of a script."""
    with Client() as panorama:
        answer = panorama.call("scripts.diff", {"script": script, "old": old, "new": new}, whole=True)
    console.print_answer(
        answer, as_json, lambda: console.print_raw(answer.data["diff"]) if answer.data["diff"] else None
    )
    if not as_json:
        console.print_message(answer.summary)


@app.command(epilog=examples("panorama scripts rollback late_tasks", "panorama scripts rollback late_tasks 1"))
def rollback(
    script: Name,
    version: Annotated[int | None, argument("Its number; by default the previous one.", metavar="N")] = None,
) -> None:
    """Restore an earlier text; type `yes` at this terminal."""
    _require_terminal("rollback")
    with Client() as panorama:
        done = _call_confirmed(panorama, "scripts.rollback", {"script": script, "version": version})
    console.print_result(done, False)


@app.command(epilog=examples("panorama scripts edit plan_day"))
def edit(script: Name) -> None:
    """Open a script in your editor; a shipped script is copied first, and your copy replaces it."""
    with Client() as panorama:
        view = panorama.call("scripts.get", {"script": script}, whole=True).data
        _keep_version(panorama, script)
    _open_editor(view)
    console.print_message(f"Review it with `panorama scripts review {script}`.")


# Decisions.


def _require_terminal(verb: str) -> None:
    """Require a terminal, because nobody types the input of a pipe.

    Raises:
        InvalidInputError: There is no terminal.
    """
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):
        raise InvalidInputError(
            f"panorama scripts {verb} needs a user at a terminal; nothing was decided.",
            hint="Run it in a terminal, without a pipe. No option answers the question.",
        )


def _read_answer(question: str) -> str:
    """Return the user's answer; input typed before the question is discarded."""
    import termios

    with suppress(termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    console.prompt(question)
    return sys.stdin.readline().strip()


def _call_confirmed(panorama: Client, operation: str, arguments: Mapping[str, Any]) -> Any:
    """Ask an operation's question, and call it after `yes` is typed.

    Raises:
        DeclinedError: Something else was typed.
    """
    try:
        return panorama.call(operation, arguments)
    except ConfirmationError as error:
        agreement = error.agreement
        console.print_blocks(safe_line(line) for line in error.question.split("\n"))
    if _read_answer("Type yes: ") != "yes":
        raise DeclinedError("Nothing was decided.", hint="Type yes to agree.")
    return panorama.call(operation, arguments, agreed=agreement)


def _call_agreed(panorama: Client, operation: str, arguments: Mapping[str, Any]) -> Any:
    """Call an operation whose question the user already answered, for the text shown."""
    try:
        return panorama.call(operation, arguments)
    except ConfirmationError as error:
        return panorama.call(operation, arguments, agreed=error.agreement)


def _keep_version(panorama: Client, script: str) -> None:
    """Store the current text before the user edits it; invalid text cannot be stored."""
    with suppress(InvalidInputError):
        panorama.call("scripts.keep", {"script": script})


def _open_editor(view: Mapping[str, Any]) -> None:
    """Let the user edit their own copy of a script."""
    path = Path(view["path"])
    if path.is_file() and sha256(path.read_bytes()).hexdigest() != view["digest"]:
        path.replace(path.with_name(f"{path.name}~"))  # an earlier text than the approved one, which was shown
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as copy:
            copy.write(view["text"])
    editor.edit_file(path)
