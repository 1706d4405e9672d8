"""`panorama backup`, `export`, `purge`, and `restore PATH`."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from panorama.cli.client import Answer, Client
from panorama.cli.console import console
from panorama.cli.console.confirm import call_confirmed
from panorama.cli.console.tables import Column, Row, TextTable, format_ago, safe_line
from panorama.cli.options import AsJson, Background, Yes, argument, examples, group, option
from panorama.domain.sources.names import SOURCES_PREFIX
from panorama.domain.text.sizes import format_size
from panorama.errors import InvalidInputError

if TYPE_CHECKING:
    from panorama.services.archive.secrets import SendingSettings

EXPORT_EXAMPLES = examples("panorama export                     # into the data directory", "panorama export ~/Desktop")
PURGE_EXAMPLES = examples(
    "panorama purge --dry-run",
    "panorama purge                      # asks first",
    "panorama purge --days 0 --yes       # empties the trash",
)
MANIFEST = "manifest.json"
EXIT_INCOMPLETE = 1
"""The exit code if something is missing."""

app = group("backup", "Back up your data; list and check backups.", default="create")
Folder = Annotated[str | None, argument("A folder; by default the one in the data directory.", metavar="[DIR]")]


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
    with_secrets: Annotated[bool, option("Also back up the keys in config.toml.", "--with-secrets")] = False,
    background: Background = False,
    as_json: AsJson = False,
) -> int:
    """Back up the database, files, scripts, sources and configuration, and verify the copy. You can keep working."""
    arguments = {
        "folder": _absolute_path(folder),
        "with_secrets": with_secrets or None,
        "background": background or None,
    }
    with _report_interrupt("No backup was made."), Client() as panorama, console.progress("Backing up") as progress:
        # Users who type the folder need no question; models do.
        answer = panorama.call("backup", {**arguments, "confirm": True}, progress)
    return _print_result(answer, as_json)


@app.command("list", epilog=examples("panorama backup list", "panorama backup list /media/stick --json"))
def list_(folder: Folder = None, as_json: AsJson = False) -> None:
    """List the backups in a folder, the newest first."""
    with Client() as panorama:
        answer = panorama.call("backups.list", {"folder": _absolute_path(folder)})
        now = panorama.now
    console.print_answer(answer, as_json, lambda: console.print_table(backups_table(answer.data["backups"], now)))
    if not as_json:
        console.print_message(answer.summary)


def backups_table(rows: Sequence[Row], now: datetime) -> TextTable:
    """Build the table of backups."""
    columns = (
        Column("name"), Column("made", drop=3), Column("kind", drop=2), Column("size", right=True, drop=1),
        Column("rows", right=True, drop=4), Column("files", right=True, drop=5), Column("", fold=True),
    )  # fmt: skip
    return TextTable(columns, tuple(_backup_row(row, now) for row in rows))


def _backup_row(row: Row, now: Any) -> tuple[Any, ...]:
    remark = row.get("why", "") or (_describe_missing(row["problems"]) if row.get("problems") else "")
    style = {"damaged": "red", "copy": "dim"}.get(row["kind"], "")
    how_large = format_size(row["size_bytes"]) if "size_bytes" in row else ""
    counts = (f"{row[name]:,}" if name in row else "" for name in ("rows", "files"))
    return (
        safe_line(row["name"]),
        safe_line(format_ago(row["made_at"], now)),
        safe_line(row["kind"], style),
        safe_line(how_large),
        *map(safe_line, counts),
        safe_line(remark, "yellow"),
    )


def _describe_missing(count: int) -> str:
    return f"{count:,} {'thing' if count == 1 else 'things'} missing"


@app.command("check", epilog=examples("panorama backup check ~/Backups/panorama-20260520T080000Z"))
def check(
    path: Annotated[str, argument("A backup, or an export.", metavar="DIR")],
    as_json: AsJson = False,
) -> int:
    """Verify a backup or an export against its manifest, file by file; changes nothing."""
    with _report_interrupt("Nothing was changed."), Client() as panorama, console.progress("Comparing") as progress:
        answer = panorama.call("backups.check", {"path": _absolute_path(path)}, progress)
    return _print_result(answer, as_json)


def export(folder: Folder = None, background: Background = False, as_json: AsJson = False) -> int:
    """Export everything as JSON Lines, which can be restored, and as Markdown to read."""
    with _report_interrupt("No export was made."), Client() as panorama, console.progress("Exporting") as progress:
        arguments = {"folder": _absolute_path(folder), "background": background or None}
        answer = panorama.call("export", {**arguments, "confirm": True}, progress)
    return _print_result(answer, as_json)


def purge(
    days: Annotated[
        int | None,
        option("Days in the trash; by default `trash_days`. 0 empties it.", "--days", min=0),
    ] = None,
    dry_run: Annotated[bool, option("Only report what would be deleted.", "--dry-run")] = False,
    background: Background = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Permanently delete old items in the trash with their history, and old log entries. It cannot be undone."""
    on_interrupt = _report_interrupt("Deleted items stay deleted; run it again to continue.")
    with on_interrupt, _ProgressClient() as panorama:
        arguments = {"days": days, "dry_run": dry_run or None, "background": background or None}
        answer = call_confirmed(panorama, "purge", arguments, yes=yes)
    console.print_result(answer, as_json)
    if not as_json:
        for problem in answer.data.get("problems", ()):
            console.print_message(problem, "yellow")


class _ProgressClient(Client):
    """A client with a progress bar for each call, but not while it asks the user."""

    def call(self, name: str, arguments: Any, progress: Any = None, agreed: str = "", *, whole: bool = False) -> Answer:
        """Call an operation with its own progress bar."""
        with console.progress("Purging") as bar:
            return super().call(name, arguments, progress or bar, agreed, whole=whole)


def is_copy(text: str) -> bool:
    """Return whether the argument is a path: written like one, or of an existing backup or database."""
    path = Path(text).expanduser()
    return text.startswith(("/", "~", ".")) or (path / MANIFEST).is_file() or (path.suffix == ".db" and path.is_file())


def restore(source: str, to: str | None, *, background: bool, yes: bool, as_json: bool) -> None:
    """Restore a backup, an export or a database file: into a new folder, or in place of the current data."""
    from panorama.cli.commands.database import restore as present  # half a second

    path = Path(source).expanduser()
    if path.is_file():
        if to is not None or background:
            raise InvalidInputError(
                "A database file is restored in place only.", hint="Leave out --to and --background."
            )
        present.restore_database(path, yes=yes)
        return
    if to is None and not background and present.has_data():
        present.restore_folder(_absolute_path(source) or "", yes=yes)
        return
    _restore_into_folder(source, to, background=background, yes=yes, as_json=as_json)


def _restore_into_folder(source: str, to: str | None, *, background: bool, yes: bool, as_json: bool) -> None:
    """Restore into a new data directory; needs no daemon, except with --background."""
    if background:
        with Client() as panorama:
            job = panorama.call(
                "restore", {"source": _absolute_path(source), "folder": _absolute_path(to), "background": True}
            )
        console.print_result(job, as_json)
        return
    restored = _restore(source, to, yes=yes)
    if as_json:
        console.print_json(restored.to_dict())
        return
    console.print_message(restored.summary)
    print_restored_sources(restored.data["sources"], restored.data["left_out"])
    _print_remarks({**restored.data, "sources": ()}, is_restored=True)
    if restored.data.get("paused") or restored.data.get("unreviewed"):
        console.print_message("To approve them there: panorama schedule resume NAME, panorama scripts review NAME")
    console.print_message(
        f"To use it: PANORAMA_HOME={restored.data['path']}, or move it to where your data directory was."
    )


def _restore(source: str, to: str | None, *, yes: bool) -> Answer:
    from zoneinfo import ZoneInfo

    from panorama.calls.rendering import to_plain
    from panorama.config import data_directory, local_zone, read_settings
    from panorama.databases import open_backend  # half a second
    from panorama.services.archive.restore import RestoreService
    from panorama.services.jobs.progress import report_progress_to

    home, path = data_directory(), _absolute_path(source) or ""
    service = RestoreService(home, open_backend(read_settings()).snapshots)
    sending = service.list_sending(path)
    settings = sending if keep_sending_settings(sending, yes=yes) else None
    sources = service.list_sources(path)
    agreed = sources if restore_sources(sources.describe(), yes=yes) else None
    with _report_interrupt("Nothing was made."), console.progress("Restoring") as moved, report_progress_to(moved):
        done = service.restore_agreed(path, _absolute_path(to) or "", agreed, settings)
    data = to_plain(done, ZoneInfo(local_zone()), brief=False, long=10_000, nulls=False)
    return Answer(data, done.summarize(), {"source": "backup", "policy": "write"})


def keep_sending_settings(sending: "SendingSettings", *, yes: bool) -> bool:
    """Ask whether to keep settings that send texts elsewhere; without a terminal they are removed.

    Those that cannot be shown whole are removed, too.
    """
    if not (sending.shown and sending.sha256):
        return yes
    statement = f"config.toml in it sends your texts elsewhere: {', '.join(sending.shown)}."
    return _agree(statement, "Keep these settings?", "These settings are kept", yes=yes)


def restore_sources(sources: Sequence[str], *, yes: bool, in_place: bool = False) -> bool:
    """Ask whether to restore sources, which run commands or send data; without a terminal they are left out."""
    if not sources or not (yes or console.is_interactive()):
        return False
    where = " in place of the present ones" if in_place else ""
    _print_sources("sources.json in it runs commands or sends data elsewhere:", sources)
    return _agree("", f"Restore these sources{where}?", f"These sources are restored{where}", yes=yes)


def _print_sources(statement: str, sources: Sequence[str]) -> None:
    """Print what sources run or call, each on its own line."""
    for line in (statement, *sources):
        console.print_message(line, "yellow")


def _agree(statement: str, question: str, outcome: str, *, yes: bool) -> bool:
    if yes:
        console.print_message(f"{statement} {outcome}, because of --yes.", "yellow")
        return True
    return console.is_interactive() and console.confirm(f"{statement} {question}")


def _print_result(answer: Answer, as_json: bool) -> int:
    console.print_result(answer, as_json)
    if not as_json:
        _print_remarks(answer.data, is_restored=False)
    return EXIT_INCOMPLETE if answer.data.get("problems") else 0


def _print_remarks(data: Row, *, is_restored: bool) -> None:
    for problem in data.get("problems", ()):
        console.print_message(problem, "yellow")
    if sending := data.get("sending"):
        console.print_message(f"Its config.toml sends texts elsewhere: {', '.join(sending)}", "yellow")
    if sources := data.get("sources"):
        _print_sources("Its sources.json runs commands or sends data elsewhere:", sources)
    withheld = data.get("withheld", ())
    if settings := [name for name in withheld if not name.startswith(SOURCES_PREFIX)]:
        console.print_message(
            f"Left out of config.toml, as secret or sending texts elsewhere: {', '.join(settings)}", "yellow"
        )
    print_withheld_of_sources(withheld, is_restored=is_restored)


def print_restored_sources(restored: Sequence[str], left_out: Sequence[str]) -> None:
    """Print which sources were restored or left out, and what the user can do next."""
    if restored:
        console.print_message(
            f"Restored the sources {', '.join(restored)}. None was started. "
            "To connect to one: panorama sources test NAME"
        )
    if left_out:
        console.print_message(
            f"Left out the sources {', '.join(left_out)}. To get those that the question shows, restore again and "
            "agree. To add another one as sources.json of the backup lists it: panorama sources add NAME",
            "yellow",
        )


def print_withheld_of_sources(withheld: Sequence[str], *, is_restored: bool) -> None:
    """Print what was left out of sources; after a restore also how to enter it again."""
    names = [name.removeprefix(SOURCES_PREFIX) for name in withheld if name.startswith(SOURCES_PREFIX)]
    if names:
        console.print_message(
            f"Left out of sources.json, as secret or approved elsewhere: {', '.join(names)}", "yellow"
        )
    variables = [name.partition(".")[2] for name in names if ".${" in name]
    if is_restored and variables:
        console.print_message(f"Set these variables in the environment of Panorama: {', '.join(variables)}", "yellow")
    if is_restored and len(variables) < len(names):
        console.print_message(
            "To enter a secret again: panorama sources secret NAME KEY; to allow calls: panorama sources allow PATTERN",
            "yellow",
        )


def _absolute_path(folder: str | None) -> str | None:
    """Return the absolute path of a folder relative to this terminal; `~` is resolved by the daemon."""
    if folder is None or folder.startswith("~"):
        return folder
    if not folder.strip():
        raise InvalidInputError("The path of the folder is empty.", hint="Give one, such as ~/Backups or `.`.")
    return str(Path(folder).absolute())


_report_interrupt = console.report_interrupt
