"""`panorama note`: show one, list them, add one."""

import sys
from datetime import datetime
from typing import Annotated, Any

from panorama.cli import show, tables
from panorama.cli.client import Answer, Client
from panorama.cli.options import AsJson, Limit, Project, Tag, Tags, argument, examples, group, option
from panorama.errors import ConflictError, InvalidInputError

app = group("note", "Show a note, list notes, add one.", default=True)

PART_CHARS = 32_000
"""How much of a note is read at once; less where the door cuts it, because it has over 36,000 characters as JSON."""


@app.command(
    "show",
    epilog=examples(
        "panorama note                          # list notes, the last changed first",
        'panorama note "Meeting minutes"        # read one',
        'panorama note "Meeting minutes" > minutes.md',
        "panorama note n_7k3q9xv2mh --json",
    ),
)
def show_(
    note: Annotated[str | None, argument("The note, by title or id; none lists them.")] = None,
    raw: Annotated[bool, option("The Markdown as it is written (always so in a pipe).", "--raw")] = False,
    project: Project = None,
    tag: Tag = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show a note; without one, list notes (--project, --tag and --limit are for the list)."""
    if note is None:
        _list({"project": project, "tag": tag}, limit, as_json)
        return
    with Client() as panorama:
        answer = _whole(panorama, note)
        now = panorama.now
    show.answer(answer, as_json, lambda: _shown(answer, raw, now))


def _list(wanted: dict[str, Any], limit: int, as_json: bool) -> None:
    with Client() as panorama:
        answer = panorama.rows("notes.list", wanted, limit)
        now = panorama.now
    names = answer.metadata.get("names", {})
    show.rows(answer, as_json, lambda: show.sheet(tables.notes(answer.data, names, now)))


def _shown(answer: Answer, raw: bool, now: datetime) -> None:
    content = str(answer.data["content"])
    if raw or not show.to_terminal():
        show.raw(content)
    else:
        show.markdown(tables.note_head(answer.data, answer.metadata.get("names", {}), now), content)


def _whole(panorama: Client, note: str) -> Answer:
    """Read a note part by part and join them.

    Raises:
        ConflictError: It was changed meanwhile.
    """
    answer = panorama.call("notes.get", {"note": note, "chars": PART_CHARS})
    data = answer.data
    parts, version, chars = [_part(data)], data["version"], PART_CHARS
    while (start := sum(map(len, parts))) < data.get("chars", 0):
        read = panorama.call("notes.get", {"note": data["id"], "start": start, "chars": chars}).data
        if read["version"] != version:
            raise ConflictError("The note was changed while it was read.", hint="Try again.")
        parts.append(_part(read))
        if not parts[-1]:
            chars = chars // 2
    whole = {name: value for name, value in data.items() if name not in ("start", "end", "headings")}
    return answer.__class__(data=whole | {"content": "".join(parts)}, summary=answer.summary, metadata=answer.metadata)


def _part(data: dict[str, Any]) -> str:
    """Return what was read, or nothing if the door cut it: then it is no part of the note."""
    length = data.get("end", data.get("chars", 0)) - data.get("start", 0)
    content = str(data.get("content", ""))
    return content if len(content) == length else ""


@app.command(
    epilog=examples(
        'panorama note add "Ideas" --content "- a pond"',
        'panorama note add "Minutes" --project Garden < minutes.md',
    )
)
def add(
    title: Annotated[str, argument("What it is called.")],
    content: Annotated[str | None, option("The Markdown; else standard input is read.", "--content", "-c")] = None,
    project: Project = None,
    tag: Tags = None,
    as_json: AsJson = False,
) -> None:
    """Add a note."""
    wanted = {
        "title": title,
        "content": _read() if content is None else content,
        "project": project,
        "tags": tag,
    }
    with Client() as panorama:
        answer = panorama.call("notes.create", wanted)
    show.written(answer, as_json)


def _read() -> str:
    if sys.stdin.isatty():
        show.aside("Write the note; end it with Ctrl-D on a line of its own.")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError("What is on standard input is not text in UTF-8.", hint="Convert it first.") from error
