"""`panorama run`, `panorama runs` and `panorama sdk`: scripts on the command line."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperCommand

from panorama.cli.client import Client
from panorama.cli.commands import script_options as options
from panorama.cli.console import console, script_tables
from panorama.cli.console.confirm import call_confirmed
from panorama.cli.console.tables import format_plain, safe_line, safe_lines
from panorama.cli.options import AsJson, Background, Limit, argument, examples, group, option
from panorama.errors import InvalidInputError
from panorama.transport.rpc_client import ProgressCallback

_SCRIPT_NAME = re.compile(r"[a-z][a-z0-9_]*")
CONTEXT_LINES = 2
"""The lines shown before and after the failing one."""

runs = group("runs", "List runs of scripts; show one.", default="list")


class RunCommand(TyperCommand):
    """The command `run`: after the name of a saved script, `--help` shows that script's options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show a script's own options for `--help`."""
        if args and {"--help", "-h"} & set(args[1:]) and is_saved_script(args[0]):
            _print_script_help(args[0])
            ctx.exit()
        return super().parse_args(ctx, args)


def _print_script_help(name: str) -> None:
    with Client() as panorama:
        view = panorama.call("scripts.get", {"script": name}, whole=True).data
    schema: Mapping[str, Any] = view["schema"]
    options_ = script_tables.script_options(schema.get("properties", {}), schema.get("required", ()))
    console.print_report(f"Usage: panorama run {name} [OPTIONS]\n\n{view['summary']}\n")
    console.print_table(options_)
    console.print_report(
        f"{'' if options_.rows else 'It has no options. '}"
        "For the options of every run, such as --dry-run, see `panorama run --help`."
    )


def run(
    context: typer.Context,
    script: Annotated[
        str | None, argument("A file, - for standard input, or the name of a saved script.", metavar="FILE|NAME")
    ] = None,
    code: Annotated[str | None, option("The script itself.", "--code", "-c")] = None,
    dry_run: Annotated[bool, option("Change nothing; show what would change.", "--dry-run")] = False,
    atomic: Annotated[bool, option("If it fails, undo its changes.", "--atomic")] = False,
    inputs: Annotated[
        list[str] | None,
        option("A variable for the script: k=v, where v is JSON or text.", "--input", "-i", metavar="K=V"),
    ] = None,
    state: Annotated[str, option("Share sdk.state with runs of this name.", "--state", metavar="NAME")] = "",
    timeout: Annotated[
        int,
        typer.Option(
            "--timeout", min=1, max=3600, help="Time limit in seconds: by default 60, in the background 3600."
        ),
    ] = 60,
    background: Background = False,
    as_json: AsJson = False,
) -> int:
    """Run a Python script on your data, in a sandbox with functions such as `sdk.tasks.list()`.

    Run a saved script by its name, with its own options: `panorama run late_tasks --project Alpha`.
    Prints its output and its result. `panorama undo` undoes its changes.
    """
    if script and code is None and is_saved_script(script):
        options: dict[str, Any] = {"dry_run": dry_run, "atomic": atomic, "timeout": timeout}
        return run_saved(
            script, [*context.args], _parse_inputs(inputs or []), options, background=background, as_json=as_json
        )
    if context.args:
        raise InvalidInputError(
            f"panorama run has no option {context.args[0]!r}.", hint="Pass inputs to a file with --input k=v."
        )
    source = _read_source(script, code)
    request: dict[str, Any] = {
        "code": source, "inputs": _parse_inputs(inputs or []), "state": state, "timeout": timeout, "dry_run": dry_run,
        "atomic": atomic,
    }  # fmt: skip
    if background:
        return _submit_job("run_code", request, as_json)
    return _run_operation("run_code", request, source, as_json)


def run_saved(
    name: str, words: list[str], given: Mapping[str, Any], how: dict[str, Any], *, background: bool, as_json: bool
) -> int:
    """Run a saved script with its own options."""
    with Client() as panorama:
        view = panorama.call("scripts.get", {"script": name}, whole=True).data
    args = {**options.parse_options(words, view["schema"].get("properties", {})), **given}
    request = {"script": name, "args": args, **how}
    if background:
        return _submit_job("run_script", request, as_json)
    return _run_operation("run_script", request, view["text"], as_json)


def _submit_job(operation: str, arguments: Mapping[str, Any], as_json: bool) -> int:
    with Client() as panorama:
        job = call_confirmed(panorama, operation, {**arguments, "background": True}, yes=False)
    console.print_result(job, as_json)
    return 0


def _run_operation(operation: str, arguments: Mapping[str, Any], source: str, as_json: bool) -> int:
    with Client() as panorama, console.progress("Running") as moved:
        watched = _RunProgress(moved)
        try:
            answer = panorama.call(
                operation, {**arguments, "confirm": True}, watched, whole=True
            )  # the user's own call
        except KeyboardInterrupt:
            console.print_message(watched.describe_stop(dry_run=arguments["dry_run"], atomic=arguments["atomic"]))
            raise
    data = answer.data
    if as_json:
        console.print_json(answer.to_dict())
        return 1 if data.get("error") else 0
    _print_run(data, source)
    console.print_message(answer.summary if not data.get("error") else answer.summary.split(":", 1)[0])
    if unit := answer.metadata.get("undo"):
        console.print_message(f"`panorama undo {unit}` undoes it")
    return 1 if data.get("error") else 0


def is_saved_script(script: str) -> bool:
    """Return whether the argument is the name of a saved script; an existing path is a file."""
    return bool(_SCRIPT_NAME.fullmatch(script)) and not Path(script).is_file()


class _RunProgress:
    """Forwards progress, and records the run's id."""

    def __init__(self, moved: ProgressCallback) -> None:
        self._moved = moved
        self._run = ""

    def __call__(self, done: int, total: int, at: str) -> None:
        """Update the progress bar."""
        if not self._run and at.startswith("Run x_"):
            self._run, at = at.removeprefix("Run "), ""
        self._moved(done, total, at)

    def describe_stop(self, *, dry_run: bool, atomic: bool) -> str:
        """Report what remains of a run that the user stopped."""
        if dry_run or not self._run:
            return "Stopped. Nothing was changed."
        if atomic:
            return f"Stopped. Its changes are undone; see `panorama runs show {self._run}`."
        tells = f"`panorama runs show {self._run}` shows its output and changes"
        return f"Stopped. {tells}, `panorama undo {self._run}` undoes them."


def _read_source(script: str | None, code: str | None) -> str:
    if (script is None) == (code is None):
        which = "one of them, not both" if script else "a file, - or -c CODE"
        raise InvalidInputError(f"Give a script: {which}.", hint="See `panorama run --help`.")
    if code is not None:
        return code
    try:
        return sys.stdin.read() if script == "-" else Path(str(script)).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInputError(f"{script} cannot be read: {error.strerror}.", hint="Give a Python file.") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{script} is not UTF-8 text.", hint="Give a Python file.") from error


def _parse_inputs(pairs: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidInputError(f"--input {pair!r} is not K=V.", hint="Write --input project=Garden.")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values


def _print_run(data: Mapping[str, Any], source: str) -> None:
    if data.get("stdout"):
        console.print_raw(_with_newline(data["stdout"]))
    if data.get("result") is not None:
        result = data["result"]
        console.print_raw(
            _with_newline(result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=2))
        )
    if error := data.get("error"):
        console.print_script_error(_format_trace(error, source))
    _print_changes(data)
    if note := data.get("note"):
        console.print_message(note)


def _print_changes(data: Mapping[str, Any]) -> None:
    if would := data.get("would"):
        console.print_message("It would change:")
        console.print_blocks(map(_format_change, would))


def _format_change(change: Mapping[str, Any]) -> Text:
    """Render a change: the item, and each field before and after."""
    mark, style = {"create": ("+", "green"), "delete": ("-", "red")}.get(change["action"], ("~", "yellow"))
    head = Text.assemble((f"{mark} ", style), safe_line(f"{change['kind']} “{change['label']}” ({change['item']})"))
    for name, (before, after) in change["fields"].items():
        was = "" if change["action"] == "create" else f"{format_plain(before)} → "
        head.append("\n    ").append(safe_line(f"{name}: {was}{format_plain(after)}", "dim"))
    return head


def _with_newline(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _format_trace(error: Mapping[str, Any], source: str) -> Text:
    """Render an error with the script's own lines."""
    shown, written = Text(), source.splitlines()
    if at := error.get("line"):
        for number in range(max(1, at - CONTEXT_LINES), min(len(written), at + CONTEXT_LINES) + 1):
            mark = "❱" if number == at else " "
            shown.append(f"{mark} {number:>4} │ ", "red" if number == at else "dim")
            shown.append(safe_lines(written[number - 1]) + "\n", "" if number == at else "dim")
    for frame in error.get("trace", ())[:-1]:
        shown.append(f"called from {safe_lines(frame)}\n", "dim")
    shown.append(safe_lines(error["message"]), "bold red")
    if hint := error.get("hint"):
        shown.append(f"\n{safe_lines(hint)}")
    return shown


@runs.command("list", epilog=examples("panorama runs", "panorama runs --failed"))
def list_(
    failed: Annotated[bool, option("Only those that failed.", "--failed")] = False,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List runs of scripts, the newest first."""
    with Client() as panorama:
        answer = panorama.list_rows("runs.list", {"failed": failed}, limit)
        now = panorama.now
    console.print_rows(answer, as_json, lambda: console.print_table(script_tables.runs(answer.data, now)))


@runs.command("show", epilog=examples("panorama runs show x_7k3q9xv2mh", "panorama runs show x_7k3q9xv2mh --all"))
def show_(
    run: Annotated[str, argument("The id of a run, from `panorama runs`.", metavar="ID")],
    every: Annotated[bool, option("Show all its calls, not only the first 200.", "--all")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a run: its script, output, calls and changes."""
    with Client() as panorama:
        answer = panorama.call("runs.get", {"run": run})
        if every and _count_unlisted_calls(answer.data):
            answer.data["calls"] = panorama.list_rows("runs.calls", {"run": run}, answer.data["called"]).data
    console.print_answer(answer, as_json, lambda: _print_report(answer.data, answer.summary))


def _print_report(data: Mapping[str, Any], summary: str) -> None:
    console.print_blocks(
        [safe_line(summary, "bold"), safe_line(f"{data['client']}, {data['at']}, {data['isolation']}", "dim")]
    )
    console.print_report(data["source"])
    for name in ("output", "result"):
        if data.get(name):
            console.print_blocks([safe_line(name, "bold")])
            console.print_report(data[name])
    if error := data.get("error"):
        console.print_script_error(_format_trace(error, data["source"]))
    _print_remaining_changes(data)
    console.print_table(script_tables.run_calls(data.get("calls", ())))
    if left := _count_unlisted_calls(data):
        console.print_message(f"and {left:,} more; `panorama runs show {data['id']} --all` shows them")


def _print_remaining_changes(data: Mapping[str, Any]) -> None:
    if data.get("changes") or data.get("stands"):
        counted = ", ".join(f"{count} {noun}" for noun, count in data.get("changes", {}).items())
        console.print_blocks(
            [safe_line("changes", "bold"), safe_line(". ".join(filter(None, (counted, data.get("stands")))))]
        )
        console.print_blocks(map(_format_change, data.get("wrote", ())))


def _count_unlisted_calls(data: Mapping[str, Any]) -> int:
    """Return the hint about calls of a run that are not shown."""
    return data["called"] - len(data.get("calls", ()))


def sdk(
    query: Annotated[list[str] | None, argument("What to search for; without it, all functions are listed.")] = None,
    full: Annotated[bool, option("Whole docstrings.", "--full")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the functions that scripts can call."""
    detail = "full" if full else "signatures" if query else "brief"
    with Client() as panorama:
        answer = panorama.call("sdk.search", {"query": " ".join(query or []), "detail": detail})
    console.print_answer(answer, as_json, lambda: console.print_raw(_with_newline(answer.data["python"])))
