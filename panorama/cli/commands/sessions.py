"""`panorama sessions`: besides the shared verbs, log, show, export and analyze."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from panorama.cli.client import Answer, Client
from panorama.cli.console import console, noun_tables, session_tables
from panorama.cli.nouns.groups import build_group
from panorama.cli.nouns.table import SESSIONS
from panorama.cli.options import AsJson, argument, examples, option
from panorama.domain.items.session_lines import LineType
from panorama.errors import ConflictError, InvalidInputError

EXPORT_CHARS = 100_000_000
MAX_LOGGED = 5000
Which = Annotated[str, argument("The session, by title or id.")]
app = build_group(SESSIONS)


@app.command(
    epilog=examples(
        'panorama sessions log "Weekly meeting" "Ordered the tiles"',
        'panorama sessions log "Weekly meeting" "Induction hob" --type decision --speaker Ana',
        'panorama sessions log "Weekly meeting" < minutes.txt',
    )
)
def log(
    session: Which,
    line: Annotated[str | None, argument("The line; without it, each line of standard input is one.")] = None,
    type: Annotated[
        LineType | None,
        option("note, decision, action, next_step, question, summary or thought.", "--type", metavar="TYPE"),
    ] = None,
    speaker: Annotated[str | None, option("The speaker.", "--speaker")] = None,
    as_json: AsJson = False,
) -> None:
    """Add lines to a session; `panorama sessions add` begins one."""
    about = {name: value for name, value in (("type", type), ("speaker", speaker)) if value}
    lines = [{"text": text, **about} for text in ([line] if line is not None else _read_stdin())]
    if not lines:
        raise InvalidInputError("There is no line to add.", hint="Give a line, or pipe some in.")
    with Client() as panorama:
        for start in range(0, len(lines), MAX_LOGGED)[:-1]:
            panorama.call("sessions.log", {"session": session, "lines": lines[start : start + MAX_LOGGED]})
        rest = lines[(len(lines) - 1) // MAX_LOGGED * MAX_LOGGED :]
        answer = panorama.call("sessions.log", {"session": session, "lines": rest})
    console.print_result(answer, as_json)


def _read_stdin() -> list[str]:
    if sys.stdin.isatty():
        console.print_message("Type the lines; end with Ctrl-D on its own line.")
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError("Standard input is not UTF-8 text.", hint="Convert it first.") from error
    return [line for line in text.splitlines() if line.strip()]


@app.command(
    epilog=examples('panorama sessions "Weekly meeting"', 'panorama sessions show "Weekly meeting" --type decision')
)
def show(
    session: Which,
    type: Annotated[LineType | None, option("Only lines of this type.", "--type", metavar="TYPE")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a session with all its lines."""
    with Client() as panorama:
        answer = _read_whole(panorama, {"session": session, "type": type})
        now = panorama.now
    names: dict[str, str] = answer.metadata.get("names", {})

    def print_session() -> None:
        fields = {name: value for name, value in answer.data.items() if name not in ("lines", "next_start")}
        console.print_blocks(noun_tables.item_lines(fields, "summary", names, now))
        if summary := answer.data.get("summary"):
            console.print_report(f"\n{summary}\n")
        console.print_table(session_tables.session_lines(answer.data["lines"], now))

    console.print_answer(answer, as_json, print_session)


def _read_whole(panorama: Client, arguments: dict[str, Any]) -> Answer:
    """Read a session with all its lines."""
    answer = panorama.call("sessions.get", arguments, whole=True)
    data = answer.data
    while onward := data.pop("next_start", None):
        part = panorama.call("sessions.get", {**arguments, "session": data["id"], "start": onward}, whole=True).data
        data["lines"] += part["lines"]
        data["next_start"] = part.get("next_start")
    return answer


@app.command(
    epilog=examples(
        'panorama sessions export "Weekly meeting" > minutes.md',
        'panorama sessions export "Weekly meeting" --format json --to minutes.json',
    )
)
def export(
    session: Which,
    format: Annotated[
        Literal["markdown", "json"], option("markdown or json.", "--format", metavar="FORMAT")
    ] = "markdown",
    to: Annotated[Path | None, option("The target file; by default standard output.", "--to")] = None,
) -> None:
    """Write a session as Markdown or JSON."""
    with Client() as panorama:
        arguments = {"session": session, "format": format, "chars": EXPORT_CHARS}
        text = str(panorama.call("sessions.export", arguments, whole=True).data["text"])
    if to is None:
        console.print_raw(text)
        return
    target = to.expanduser()
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConflictError(f"{target} already exists.", hint="Choose another path.") from error
    except OSError as error:
        raise InvalidInputError(
            f"{target} cannot be written: {error.strerror}.", hint="Choose another path."
        ) from error
    console.print_message(f"Wrote {len(text):,} characters to {target}")


@app.command(epilog=examples('panorama sessions analyze "Which hob"'))
def analyze(session: Which, as_json: AsJson = False) -> None:
    """Measure how a session went: linearity, revisions, branches."""
    with Client() as panorama:
        answer = panorama.call("sessions.analyze", {"session": session}, whole=True)
    console.print_result(answer, as_json, lambda: console.print_blocks(session_tables.analysis(answer.data)))
