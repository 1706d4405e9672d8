"""`panorama run`, `panorama runs` and `panorama sdk`: scripts at the command line."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from panorama.cli import kept_options as options
from panorama.cli import show
from panorama.cli.client import Client
from panorama.cli.options import AsJson, Background, Limit, argument, examples, group, option
from panorama.cli.tables import Column, Sheet, ago, line, lines
from panorama.direct import Progress
from panorama.errors import InvalidInputError

_KEPT = re.compile(r"[a-z][a-z0-9_]*")
AROUND = 2
"""How many lines are shown before and after the one that failed."""

runs = group("runs", "Look at what scripts did.", default=True)


def run(
    context: typer.Context,
    script: Annotated[
        str | None, argument("A file, - for standard input, or the name of a kept script.", metavar="FILE|NAME")
    ] = None,
    code: Annotated[str | None, option("The script itself.", "--code", "-c")] = None,
    dry_run: Annotated[bool, option("Change nothing; show what would change.", "--dry-run")] = False,
    atomic: Annotated[bool, option("If it fails, take back what it wrote.", "--atomic")] = False,
    inputs: Annotated[
        list[str] | None, option("A name in the script: k=v, where v is JSON or text.", "--input", "-i", metavar="K=V")
    ] = None,
    state: Annotated[str, option("Share sdk.state with runs of this name.", "--state", metavar="NAME")] = "",
    timeout: Annotated[
        int, typer.Option("--timeout", min=1, max=3600, help="Seconds it may take: 60, in the background 3600.")
    ] = 60,
    background: Background = False,
    as_json: AsJson = False,
) -> int:
    """Run a Python script against your data, in a sandbox: `sdk.tasks.list()` and its kin are there.

    A kept script is run by its name and takes its own options: `panorama run late_tasks --project Alpha`.
    Its output and its result are printed. What it wrote, `panorama undo` takes back.
    """
    if script and code is None and is_kept(script):
        kept: dict[str, Any] = {"dry_run": dry_run, "atomic": atomic, "timeout": timeout}
        return run_kept(script, [*context.args], _inputs(inputs or []), kept, background=background, as_json=as_json)
    if context.args:
        raise InvalidInputError(
            f"panorama run has no option {context.args[0]!r}.", hint="A file gets what it needs by --input k=v."
        )
    source = _source(script, code)
    wanted: dict[str, Any] = {"code": source, "inputs": _inputs(inputs or []), "state": state, "timeout": timeout}
    if background:
        with Client() as panorama:
            begun = panorama.call("run_code", {**wanted, "dry_run": dry_run, "atomic": atomic, "background": True})
        show.written(begun, as_json)
        return 0
    return _run("runs.create", {**wanted, "dry_run": dry_run, "atomic": atomic}, source, as_json)


def run_kept(
    name: str, words: list[str], given: Mapping[str, Any], how: dict[str, Any], *, background: bool, as_json: bool
) -> int:
    """Run a script of the library with the options that it takes itself."""
    with Client() as panorama:
        view = panorama.call("scripts.get", {"script": name}, whole=True).data
        args = {**options.read(words, view["schema"].get("properties", {})), **given}
        wanted = {"script": name, "args": args, **how}
        if background:
            show.written(panorama.call("run_script", {**wanted, "background": True}), as_json)
            return 0
    return _run("scripts.run", wanted, view["text"], as_json)


def _run(operation: str, wanted: Mapping[str, Any], source: str, as_json: bool) -> int:
    with Client() as panorama, show.progress("Running") as moved:
        watched = _Watched(moved)
        try:
            answer = panorama.call(operation, wanted, watched, whole=True)
        except KeyboardInterrupt:
            show.aside(watched.left(dry_run=wanted["dry_run"], atomic=wanted["atomic"]))
            raise
    data = answer.data
    if as_json:
        show.data(answer.structured())
        return 1 if data.get("error") else 0
    _shown(data, source)
    show.aside(answer.summary if not data.get("error") else answer.summary.split(":", 1)[0])
    if unit := answer.metadata.get("undo"):
        show.aside(f"`panorama undo {unit}` takes it back")
    return 1 if data.get("error") else 0


def is_kept(script: str) -> bool:
    """Tell whether what is to be run is the name of a kept script: an existing path is a file."""
    return bool(_KEPT.fullmatch(script)) and not Path(script).is_file()


class _Watched:
    """Passes progress on, and remembers which run it is of."""

    def __init__(self, moved: Progress) -> None:
        self._moved = moved
        self._run = ""

    def __call__(self, done: int, total: int, at: str) -> None:
        """Move the bar."""
        if not self._run and at.startswith("Run x_"):
            self._run, at = at.removeprefix("Run "), ""
        self._moved(done, total, at)

    def left(self, *, dry_run: bool, atomic: bool) -> str:
        """Say what a run leaves that the person stopped."""
        if dry_run or not self._run:
            return "Stopped. Nothing was changed."
        if atomic:
            return f"Stopped. What it wrote is taken back; `panorama runs show {self._run}` tells."
        tells = f"`panorama runs show {self._run}` tells what it printed and wrote until then"
        return f"Stopped. {tells}, `panorama undo {self._run}` takes back what it wrote."


def _source(script: str | None, code: str | None) -> str:
    if (script is None) == (code is None):
        which = "one of them, not both" if script else "a file, - or -c CODE"
        raise InvalidInputError(f"Give a script: {which}.", hint="See `panorama run --help`.")
    if code is not None:
        return code
    try:
        return sys.stdin.read() if script == "-" else Path(str(script)).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInputError(f"{script} cannot be read: {error.strerror}.", hint="Give a file of Python.") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{script} is not text in UTF-8.", hint="Give a file of Python.") from error


def _inputs(given: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise InvalidInputError(f"--input {each!r} is not K=V.", hint="Write --input project=Garden.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _shown(data: Mapping[str, Any], source: str) -> None:
    if data.get("stdout"):
        show.raw(_ended(data["stdout"]))
    if data.get("result") is not None:
        result = data["result"]
        show.raw(_ended(result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=2)))
    if error := data.get("error"):
        show.mistake(_trace(error, source))
    _changes(data)
    if note := data.get("note"):
        show.aside(note)


def _changes(data: Mapping[str, Any]) -> None:
    if would := data.get("would"):
        show.aside("It would change:")
        show.blocks(map(_change, would))


def _change(change: Mapping[str, Any]) -> Text:
    """Return a change: what, and each field before and after."""
    mark, style = {"create": ("+", "green"), "delete": ("-", "red")}.get(change["action"], ("~", "yellow"))
    head = Text.assemble((f"{mark} ", style), line(f"{change['kind']} “{change['label']}” ({change['item']})"))
    for name, (before, after) in change["fields"].items():
        was = "" if change["action"] == "create" else f"{_worded(before)} → "
        head.append("\n    ").append(line(f"{name}: {was}{_worded(after)}", "dim"))
    return head


def _worded(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _trace(error: Mapping[str, Any], source: str) -> Text:
    """Return what went wrong in the script's own lines."""
    shown, written = Text(), source.splitlines()
    if at := error.get("line"):
        for number in range(max(1, at - AROUND), min(len(written), at + AROUND) + 1):
            mark = "❱" if number == at else " "
            shown.append(f"{mark} {number:>4} │ ", "red" if number == at else "dim")
            shown.append(lines(written[number - 1]) + "\n", "" if number == at else "dim")
    for each in error.get("trace", ())[:-1]:
        shown.append(f"called from {lines(each)}\n", "dim")
    shown.append(lines(error["message"]), "bold red")
    if hint := error.get("hint"):
        shown.append(f"\n{lines(hint)}")
    return shown


@runs.command("list", epilog=examples("panorama runs", "panorama runs --failed"))
def list_(
    failed: Annotated[bool, option("Only those that failed.", "--failed")] = False,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List runs of scripts, the newest first."""
    with Client() as panorama:
        answer = panorama.rows("runs.list", {"failed": failed}, limit)
        now = panorama.now
    columns = (Column("run"), Column("when"), Column("status"), Column("ms", right=True), Column("calls", right=True))
    columns = (*columns, Column("changes"), Column("script", width=60))
    show.rows(answer, as_json, lambda: show.sheet(Sheet(columns, tuple(_row(row, now) for row in answer.data))))


def _row(row: Mapping[str, Any], now: Any) -> tuple[Text, ...]:
    status = row["status"]
    changes = ", ".join(f"{count} {what}" for what, count in row.get("changes", {}).items())
    style = {"failed": "red", "succeeded": "green"}.get(status, "yellow")
    how = f"{status} (dry run)" if row.get("dry_run") else status
    return (
        line(row["id"]), line(ago(row["at"], now)), line(how, style), line(f"{row['ms']:.0f}"), line(row["calls"]),
        line(changes), line(row["script"], "dim"),
    )  # fmt: skip


@runs.command("show", epilog=examples("panorama runs show x_7k3q9xv2mh", "panorama runs show x_7k3q9xv2mh --all"))
def show_(
    run: Annotated[str, argument("The run, as `panorama runs` lists it.", metavar="ID")],
    every: Annotated[bool, option("All its calls, not the first 200 alone.", "--all")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a run: its script, what it printed, the calls it made and what it changed."""
    with Client() as panorama:
        answer = panorama.call("runs.get", {"run": run})
        if every and _left(answer.data):
            answer.data["calls"] = panorama.rows("runs.calls", {"run": run}, answer.data["called"]).data
    show.answer(answer, as_json, lambda: _report(answer.data, answer.summary))


def _report(data: Mapping[str, Any], summary: str) -> None:
    show.blocks([line(summary, "bold"), line(f"{data['client']}, {data['at']}, {data['isolation']}", "dim")])
    show.report(data["source"])
    for name in ("output", "result"):
        if data.get(name):
            show.blocks([line(name, "bold")])
            show.report(data[name])
    if error := data.get("error"):
        show.mistake(_trace(error, data["source"]))
    _standing(data)
    columns = (Column("#", right=True), Column("call"), Column("ms", right=True), Column("changes", right=True))
    columns = (*columns, Column("arguments", width=80))
    show.sheet(Sheet(columns, tuple(_made(each) for each in data.get("calls", ()))))
    if left := _left(data):
        show.aside(f"and {left:,} more; `panorama runs show {data['id']} --all` shows them")


def _standing(data: Mapping[str, Any]) -> None:
    if data.get("changes") or data.get("stands"):
        counted = ", ".join(f"{count} {what}" for what, count in data.get("changes", {}).items())
        show.blocks([line("changes", "bold"), line(". ".join(filter(None, (counted, data.get("stands")))))])
        show.blocks(map(_change, data.get("wrote", ())))


def _left(data: Mapping[str, Any]) -> int:
    """Return how many calls of a run are not told with it."""
    return data["called"] - len(data.get("calls", ()))


def _made(call: Mapping[str, Any]) -> tuple[Text, ...]:
    failed = "" if call["success"] else f" ({call['code']})"
    said = {name: value for name, value in call["arguments"].items() if value not in ("", [], None, False)}
    name = line(call["name"] + failed, "" if call["success"] else "red")
    arguments = line(json.dumps(said, ensure_ascii=False), "dim")
    return line(call["position"]), name, line(f"{call['ms']:.1f}"), line(call["changes"] or ""), arguments


def sdk(
    query: Annotated[list[str] | None, argument("What you look for; none lists every function.")] = None,
    full: Annotated[bool, option("Whole docstrings.", "--full")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the reference of what scripts can call."""
    detail = "full" if full else "signatures" if query else "brief"
    with Client() as panorama:
        answer = panorama.call("sdk.search", {"query": " ".join(query or []), "detail": detail})
    show.answer(answer, as_json, lambda: show.raw(_ended(answer.data["python"])))
