"""`panorama backup`, `export`, `purge`, and `restore --from`: copies of everything, and what is forgotten for good."""

from pathlib import Path
from typing import Annotated, Any

from panorama.cli import show
from panorama.cli.asking import agreed
from panorama.cli.client import Answer, Client
from panorama.cli.options import AsJson, Background, Yes, argument, examples, group, option
from panorama.cli.tables import Column, Row, Sheet, ago, line, size
from panorama.errors import InvalidInputError

EXPORT_EXAMPLES = examples("panorama export                     # into the data directory", "panorama export ~/Desktop")
PURGE_EXAMPLES = examples(
    "panorama purge --dry-run",
    "panorama purge                      # asks first",
    "panorama purge --days 0 --yes       # empties the trash",
)
INCOMPLETE = 1
"""The exit code where something was not to be had."""

app = group("backup", "Copy everything; list copies, and check them.", default=True)
Folder = Annotated[str | None, argument("A folder; else the one in the data directory.", metavar="[DIR]")]


@app.command(
    "create",
    epilog=examples(
        "panorama backup                     # into the folder backups of the data directory",
        "panorama backup /media/stick",
        "panorama backup list",
        "panorama backup check ~/Backups/panorama-20260520T080000Z",
    ),
)
def create(
    folder: Folder = None,
    with_secrets: Annotated[bool, option("Also keep the keys in config.toml.", "--with-secrets")] = False,
    background: Background = False,
    as_json: AsJson = False,
) -> int:
    """Back up everything while you go on: database, files, scripts and configuration; the copy is checked."""
    wanted = {"folder": _path(folder), "with_secrets": with_secrets or None, "background": background or None}
    with _stopped("No backup was made."), Client() as panorama, show.progress("Backing up") as progress:
        # Whoever types the folder has said where; a model is asked.
        answer = panorama.call("backup", {**wanted, "confirm": True}, progress)
    return _told(answer, as_json)


@app.command("list", epilog=examples("panorama backup list", "panorama backup list /media/stick --json"))
def list_(folder: Folder = None, as_json: AsJson = False) -> None:
    """List the backups in a folder, the newest first."""
    with Client() as panorama:
        answer = panorama.call("backups.list", {"folder": _path(folder)})
        now = panorama.now
    columns = (Column("name"), Column("made"), Column("kind"), Column("size", right=True), Column("rows", right=True))
    columns = (*columns, Column("files", right=True), Column("", fold=True))
    show.answer(
        answer, as_json, lambda: show.sheet(Sheet(columns, tuple(_row(row, now) for row in answer.data["backups"])))
    )
    if not as_json:
        show.aside(answer.summary)


def _row(row: Row, now: Any) -> tuple[Any, ...]:
    remark = row.get("why", "") or (_missing(row["problems"]) if row.get("problems") else "")
    style = {"damaged": "red", "copy": "dim"}.get(row["kind"], "")
    how_large = size(row["size_bytes"]) if "size_bytes" in row else ""
    counts = (f"{row[name]:,}" if name in row else "" for name in ("rows", "files"))
    return (
        line(row["name"]), line(ago(row["made_at"], now)), line(row["kind"], style), line(how_large),
        *map(line, counts), line(remark, "yellow"),
    )  # fmt: skip


def _missing(count: int) -> str:
    return f"{count:,} {'thing' if count == 1 else 'things'} missing"


@app.command("check", epilog=examples("panorama backup check ~/Backups/panorama-20260520T080000Z"))
def check(
    path: Annotated[str, argument("A backup, or an export.", metavar="DIR")],
    as_json: AsJson = False,
) -> int:
    """Compare a backup or an export with its own list, file by file, and look for damage; changes nothing."""
    with _stopped("Nothing was changed."), Client() as panorama, show.progress("Comparing") as progress:
        answer = panorama.call("backups.check", {"path": _path(path)}, progress)
    return _told(answer, as_json)


def export(folder: Folder = None, background: Background = False, as_json: AsJson = False) -> int:
    """Export everything: as JSON Lines, from which it can be restored, and as a tree of Markdown to read."""
    with _stopped("No export was made."), Client() as panorama, show.progress("Exporting") as progress:
        wanted = {"folder": _path(folder), "background": background or None}
        answer = panorama.call("export", {**wanted, "confirm": True}, progress)
    return _told(answer, as_json)


def purge(
    days: Annotated[
        int | None,
        option("Days in the trash; else as `trash_days` says. 0 empties it.", "--days", min=0),
    ] = None,
    dry_run: Annotated[bool, option("Only tell what would be forgotten.", "--dry-run")] = False,
    background: Background = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Forget for good what has been in the trash for long, with its history, and the old log. It cannot be undone."""
    kept = _stopped("What was forgotten stays so; run it again to go on.")
    with kept, _Watched() as panorama:
        wanted = {"days": days, "dry_run": dry_run or None, "background": background or None}
        answer = agreed(panorama, "purge", wanted, yes=yes)
    show.written(answer, as_json)
    if not as_json:
        for problem in answer.data.get("problems", ()):
            show.aside(problem, "yellow")


class _Watched(Client):
    """A client that shows how far each call is, and no bar while the person is asked."""

    def call(self, name: str, arguments: Any, progress: Any = None, agreed: str = "", *, whole: bool = False) -> Answer:
        """Call an operation under a bar of its own."""
        with show.progress("Purging") as bar:
            return super().call(name, arguments, progress or bar, agreed, whole=whole)


def restore(source: str | None, to: str | None, other: object, *, background: bool, as_json: bool) -> None:
    """Make a new data directory of a backup or an export; no daemon is needed, unless it is to do it."""
    if source is None or other is not None:
        raise InvalidInputError(
            "--to and --background go with --from alone.", hint="panorama restore --from BACKUP --to NEW_FOLDER"
        )
    if background:
        with Client() as panorama:
            begun = panorama.call("restore", {"source": _path(source), "folder": _path(to), "background": True})
        show.written(begun, as_json)
        return
    restored = _restored(source, to)
    if as_json:
        show.data(restored.structured())
        return
    show.aside(restored.summary)
    _remarks(restored.data)
    show.aside(f"To use it: PANORAMA_HOME={restored.data['path']}, or move it to where your data directory was.")


def _restored(source: str, to: str | None) -> Answer:
    from zoneinfo import ZoneInfo

    from panorama.calls.answers import plain  # half a second
    from panorama.config import data_directory, local_zone
    from panorama.services.progress import progressing
    from panorama.services.restoring import Restoring
    from panorama.services.summaries import brought_back

    with _stopped("Nothing was made."), show.progress("Restoring") as moved, progressing(moved):
        done = Restoring(data_directory()).restore(_path(source) or "", _path(to) or "")
    data = plain(done, ZoneInfo(local_zone()), brief=False, long=10_000, nulls=False)
    return Answer(data, brought_back(done), {"source": "backup", "policy": "write"})


def _told(answer: Answer, as_json: bool) -> int:
    show.written(answer, as_json)
    if not as_json:
        _remarks(answer.data)
    return INCOMPLETE if answer.data.get("problems") else 0


def _remarks(data: Row) -> None:
    for problem in data.get("problems", ()):
        show.aside(problem, "yellow")
    if withheld := data.get("withheld"):
        show.aside(f"Left out of config.toml, as it is secret: {', '.join(withheld)}", "yellow")


def _path(folder: str | None) -> str | None:
    """Return the absolute path of a folder, as this terminal means it; a home is looked up by whoever reads it."""
    if folder is None or folder.startswith("~"):
        return folder
    if not folder.strip():
        raise InvalidInputError("The path of the folder is empty.", hint="Give one, such as ~/Backups or `.`.")
    return str(Path(folder).absolute())


_stopped = show.stoppable
