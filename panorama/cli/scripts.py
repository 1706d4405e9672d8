"""`panorama scripts`: what is kept, and the one place besides a client's question where a person decides on it.

A decision is a word typed at a terminal, after all of the text was shown. There is no option for it, and no pipe is
listened to.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.syntax import Syntax
from rich.text import Text

from panorama.cli import show
from panorama.cli.client import Client
from panorama.cli.options import AsJson, Limit, argument, examples, group, option
from panorama.cli.tables import Column, Sheet, ago, line, lines
from panorama.errors import ConfirmationError, DeclinedError, InvalidInputError

app = group("scripts", "List the scripts that are kept; look at them, decide on them.", default=True)
Name = Annotated[str, argument("The script.", metavar="NAME")]
WORDS = ("approve", "edit", "reject")


@app.command(
    "list", epilog=examples("panorama scripts", "panorama scripts --state draft", "panorama scripts --suggest")
)
def list_(
    state: Annotated[
        Literal["all", "draft", "reviewed", "promoted", "retired"], option("Only those in this state.", "--state")
    ] = "all",
    suggest: Annotated[bool, option("What was done often and is worth a script.", "--suggest")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List scripts: yours, and those that came with Panorama."""
    with Client() as panorama:
        asked = {"state": state, "suggest": suggest, "detail": "full"}
        answer = panorama.rows("scripts.list", asked, limit)
    columns = (Column("script"), Column("state"), Column("by", spare=True), Column("runs", right=True))
    columns = (*columns, Column("what it does", width=70, fold=True))
    show.rows(answer, as_json, lambda: show.sheet(Sheet(columns, tuple(map(_row, answer.data)))))


def _row(row: Mapping[str, Any]) -> tuple[Text, ...]:
    style = {"draft": "yellow", "promoted": "green", "retired": "dim"}.get(row["state"], "")
    told = row["summary"] + (f"; save it with --run {row['run']}" if row.get("run") else "")
    about = line(row.get("problem") or told, "red" if row.get("problem") else "")
    runs = f"{row['runs']}" if row.get("runs") else ""
    return line(row["name"]), line(row["state"], style), line(row.get("by", "")), line(runs), about


@app.command("show", epilog=examples("panorama scripts show plan_day"))
def show_(script: Name, as_json: AsJson = False) -> None:
    """Show a script: its text, its state, what it takes and does, and how its runs went."""
    with Client() as panorama:
        answer = panorama.call("scripts.get", {"script": script}, whole=True)
        now = panorama.now
    show.answer(answer, as_json, lambda: _shown(answer.data, answer.summary, now))


def _shown(view: Mapping[str, Any], summary: str, now: Any) -> None:
    show.blocks([line(summary, "bold"), *_facts(view), *_figures(view["statistics"], now)])
    _source(view["text"])


def _facts(view: Mapping[str, Any]) -> list[Text]:
    """Return what a person should know of a script: what was found out, not what it says."""
    did = [
        f"{name} ({count:,} change{'' if count == 1 else 's'})" if count else name
        for name, count in view["did"].items()
    ]
    told = {
        "takes": view["parameters"] or "nothing", "reads": _listed(view["reads"]), "writes": _listed(view["writes"]),
        "runs scripts": ", ".join(view["scripts"]), "its runs called": _listed(did) if did else "",
        "tool": f"{view['tool']}{', which only reads' if view['read_only'] else ''}" if view["tool"] else "",
        "once approved": f"it is the tool {view['again']} again" if view["again"] else "", "sha256": view["digest"],
    }  # fmt: skip
    found = [Text.assemble((f"{name:>16}  ", "dim"), line(value)) for name, value in told.items() if value]
    if view["unclear"]:
        found.append(line("Its text uses the SDK in ways that cannot be told from the text alone.", "yellow"))
    found += [line(f"The sandbox would refuse {each}", "red") for each in view["findings"]]
    return found


def _figures(figures: Mapping[str, Any], now: Any) -> list[Text]:
    if not figures["runs"]:
        return [Text.assemble(("            runs  ", "dim"), line("none yet"))]
    said = f"{figures['runs']}, {figures['success_percent']} % succeeded, {figures['median_ms']:g} ms and "
    made = figures["median_calls"]
    said += f"{made:g} call{'' if made == 1 else 's'} in the middle, {figures['tokens']:,} tokens answered"
    found = [Text.assemble(("            runs  ", "dim"), line(f"{said}, last {ago(figures['last_at'], now)}"))]
    if error := figures.get("last_error"):
        found.append(Text.assemble(("      last error  ", "dim"), line(error, "red")))
    return found


def _listed(names: Any) -> str:
    return ", ".join(names) if names else "nothing"


def _source(text: str) -> None:
    """Print a text with its lines numbered; in a terminal with colours, and nothing in it hidden."""
    from panorama.domain.library import visible  # a person reads what is there, and not what it looks like

    plain = visible(text)
    if show.to_terminal():
        show.coloured(Syntax(lines(plain), "python", line_numbers=True, background_color="default", word_wrap=True))
    else:
        show.raw(plain)


@app.command(epilog=examples("panorama scripts save late_tasks late.py", "panorama scripts save late_tasks --run x_…"))
def save(
    script: Name,
    file: Annotated[Path | None, argument("A file of Python.", metavar="FILE")] = None,
    run: Annotated[str | None, option("Keep the code of this run.", "--run", metavar="ID")] = None,
    summary: Annotated[str | None, option("What it does, if its text does not say so.", "--summary")] = None,
    replace: Annotated[bool, option("Overwrite the script of this name.", "--replace")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep a script, as a draft."""
    code = None
    if file is not None:
        try:
            code = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInputError(f"{file} cannot be read.", hint="Give a file of Python.") from error
    sent = {"name": script, "code": code, "run": run, "summary": summary, "replace": replace}
    with Client() as panorama:
        answer = panorama.call("scripts.save", sent)
    show.written(answer, as_json)


@app.command(epilog=examples("panorama scripts review late_tasks"))
def review(script: Name) -> None:
    """Look at a script and decide on it: approve, edit or reject, typed at this terminal."""
    _at_a_terminal("review")
    with Client() as panorama:
        while True:
            answer = panorama.call("scripts.get", {"script": script}, whole=True)
            view = answer.data
            _shown(view, answer.summary, panorama.now)
            _dry_run(view)
            _difference(view)
            word = _typed(f"{script}: approve, edit or reject? ")
            if word != "edit":
                break
            _edited(view)
        if word not in WORDS:
            raise DeclinedError("Nothing was decided.", hint="The word is approve, edit or reject, in full.")
        sent = {"script": script, "digest": view["digest"]}
        done = (
            _agreed(panorama, "scripts.approve", sent) if word == "approve" else panorama.call("scripts.reject", sent)
        )
    show.written(done, False)


def _dry_run(view: Mapping[str, Any]) -> None:
    if not view["dry_run"]:
        show.aside("There was no dry run of this text that would have changed anything.")
        return
    show.blocks([line("Its last dry run would have made these changes:", "bold")])
    for each in view["dry_run"]:
        given = {name: value for name, value in each["arguments"].items() if value not in ("", [], None, False)}
        said = json.dumps(given, ensure_ascii=False)
        show.blocks([Text.assemble(("  ~ ", "yellow"), line(f"{each['name']} {said}"))])


def _difference(view: Mapping[str, Any]) -> None:
    from panorama.services.library import unified  # half a second, while a person reads

    if not view["reviewed"]:
        show.aside("No text of it was reviewed before.")
    elif difference := unified(view["reviewed"], view["text"], "reviewed last", "now"):
        show.blocks([line("What differs from the text that was reviewed last:", "bold")])
        styles = {"+": "green", "-": "red", "@": "cyan"}
        show.blocks(Text(lines(each), styles.get(each[:1], "")) for each in difference.split("\n"))
    else:
        show.aside("It is the text that was reviewed last.")


@app.command(epilog=examples("panorama scripts promote plan_day", "panorama scripts promote plan_day --read-only"))
def promote(
    script: Name,
    read_only: Annotated[bool, option("Its tool cannot change anything.", "--read-only")] = False,
) -> None:
    """Make a script a tool of your assistants; `yes` is typed at this terminal."""
    _move(script, {"to": "promoted", "read_only": read_only}, "promote")


@app.command(epilog=examples("panorama scripts demote plan_day"))
def demote(script: Name) -> None:
    """Take a script's tool away; it stays reviewed."""
    _move(script, {"to": "reviewed"}, "demote")


@app.command(epilog=examples("panorama scripts retire late_tasks"))
def retire(script: Name) -> None:
    """Take a script out of use; its file and its history stay."""
    _move(script, {"to": "retired"}, "retire")


def _move(script: str, to: Mapping[str, Any], verb: str) -> None:
    _at_a_terminal(verb)
    with Client() as panorama:
        answer = panorama.call("scripts.get", {"script": script}, whole=True)
        if to["to"] == "promoted":
            _shown(answer.data, answer.summary, panorama.now)
        done = _asked(panorama, "scripts.promote", {"script": script, **to})
    show.written(done, False)


@app.command(epilog=examples("panorama scripts history late_tasks"))
def history(script: Name, as_json: AsJson = False) -> None:
    """Tell what was decided on a script, the newest first."""
    with Client() as panorama:
        answer = panorama.call("scripts.history", {"script": script}, whole=True)
        now = panorama.now
    columns = (Column("version", right=True), Column("when"), Column("verdict"), Column("by"), Column("sha256"))
    rows = tuple(_version(row, now) for row in answer.data["versions"])
    show.answer(answer, as_json, lambda: show.sheet(Sheet(columns, rows)))


def _version(row: Mapping[str, Any], now: Any) -> tuple[Text, ...]:
    verdict = f"{row['verdict']}, current" if row["current"] else row["verdict"]
    return (
        line(row["version"] or ""),
        line(ago(row["at"], now)),
        line(verdict),
        line(row["by"]),
        line(row["digest"][:12]),
    )


@app.command(epilog=examples("panorama scripts diff late_tasks", "panorama scripts diff late_tasks --old 1 --new 2"))
def diff(
    script: Name,
    old: Annotated[int | None, option("A version; else the one approved last.", "--old", metavar="N")] = None,
    new: Annotated[int | None, option("Another one; else the file.", "--new", metavar="N")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two texts of a script."""
    with Client() as panorama:
        answer = panorama.call("scripts.diff", {"script": script, "old": old, "new": new}, whole=True)
    show.answer(answer, as_json, lambda: show.raw(answer.data["diff"]) if answer.data["diff"] else None)
    if not as_json:
        show.aside(answer.summary)


@app.command(epilog=examples("panorama scripts rollback late_tasks", "panorama scripts rollback late_tasks 1"))
def rollback(
    script: Name,
    version: Annotated[int | None, argument("Its number; else the one before.", metavar="N")] = None,
) -> None:
    """Put a text back that was approved before; `yes` is typed at this terminal."""
    _at_a_terminal("rollback")
    with Client() as panorama:
        done = _asked(panorama, "scripts.rollback", {"script": script, "version": version})
    show.written(done, False)


@app.command(epilog=examples("panorama scripts edit plan_day"))
def edit(script: Name) -> None:
    """Open a script in your editor; one that came with Panorama is copied first, and your copy stands above it."""
    with Client() as panorama:
        view = panorama.call("scripts.get", {"script": script}, whole=True).data
    _edited(view)
    show.aside(f"`panorama scripts review {script}` decides on it.")


# How a person decides.


def _at_a_terminal(verb: str) -> None:
    """Refuse everything but a terminal: what comes out of a pipe, nobody has typed.

    Raises:
        InvalidInputError: There is no person.
    """
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):
        raise InvalidInputError(
            f"panorama scripts {verb} is decided by a person at a terminal; nothing was decided.",
            hint="Run it in a terminal, without a pipe. There is no option that answers.",
        )


def _typed(question: str) -> str:
    """Return what the person types once the question is there; what was typed before it does not count."""
    import termios

    with suppress(termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    show.prompt(question)
    return sys.stdin.readline().strip()


def _asked(panorama: Client, operation: str, sent: Mapping[str, Any]) -> Any:
    """Put an operation's question, and make the call once `yes` is typed.

    Raises:
        DeclinedError: Something else was typed.
    """
    try:
        return panorama.call(operation, sent)
    except ConfirmationError as error:
        agreement = error.agreement
        show.blocks(line(each) for each in error.question.split("\n"))
    if _typed("Type yes: ") != "yes":
        raise DeclinedError("Nothing was decided.", hint="The word is yes.")
    return panorama.call(operation, sent, agreed=agreement)


def _agreed(panorama: Client, operation: str, sent: Mapping[str, Any]) -> Any:
    """Make a call whose question the person has answered already, about the text that they were shown."""
    try:
        return panorama.call(operation, sent)
    except ConfirmationError as error:
        return panorama.call(operation, sent, agreed=error.agreement)


def _edited(view: Mapping[str, Any]) -> None:
    """Let the person edit their own copy of a script."""
    path = Path(view["path"])
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as copy:
            copy.write(view["text"])
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        subprocess.run([*shlex.split(editor), str(path)], check=True)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise InvalidInputError(
            f"The editor {editor!r} failed.", hint=f"Set EDITOR, or edit {path} yourself."
        ) from error
