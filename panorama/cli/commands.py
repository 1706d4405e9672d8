"""The commands: what each takes, which operation it calls, and how its answer is shown."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from panorama import __version__
from panorama.cli import (
    code,
    daemon,
    files,
    finding,
    install,
    jobs,
    keeping,
    models,
    notes,
    reminders,
    schedules,
    scripts,
    service,
    show,
    state_tables,
    tables,
    tasks,
)
from panorama.cli.asking import agreed
from panorama.cli.client import Client
from panorama.cli.options import (
    SETTINGS,
    AsJson,
    Background,
    Limit,
    Project,
    Yes,
    argument,
    examples,
    group,
    option,
)
from panorama.domain.items import folded, kind_of
from panorama.errors import ConflictError

EXIT_CODES = """[bold]Exit codes[/bold]
  0    done
  1    the answer is no: refused, not found, the doctor found a fault
  2    wrong usage: an unknown option, a date that does not exist
  3    the store, or a service it needs, is unavailable: locked, full, damaged
  130  interrupted

[bold]Environment[/bold]
  PANORAMA_HOME         where the data lives
  PANORAMA_NO_DAEMON=1  do everything in this process
  PANORAMA_DEBUG=1      show where an error came from
  NO_COLOR=1            no colours"""

EVERYDAY, SAFETY, CARE = "Everyday", "Taking back", "Looking after it"
TRASH_ROWS = 500

app = typer.Typer(name="panorama", epilog=EXIT_CODES, **SETTINGS)
imports = group("import", "Bring in what you have elsewhere.")
for each in (tasks.app, notes.app, files.app, imports):
    app.add_typer(each, rich_help_panel=EVERYDAY)
app.add_typer(reminders.app, rich_help_panel=EVERYDAY)
app.add_typer(schedules.app, rich_help_panel=CARE)
app.add_typer(service.app, rich_help_panel=CARE)
app.add_typer(daemon.app, rich_help_panel=CARE)
app.add_typer(models.app, rich_help_panel=CARE)
app.add_typer(jobs.app, rich_help_panel=CARE)
app.add_typer(keeping.app, rich_help_panel=CARE)
app.command(rich_help_panel=CARE, epilog=keeping.EXPORT_EXAMPLES)(keeping.export)
app.command(rich_help_panel=CARE, epilog=keeping.PURGE_EXAMPLES)(keeping.purge)
app.command(rich_help_panel=CARE, epilog=examples("panorama serve", "panorama serve --http 8642"))(daemon.serve)


def run(words: Sequence[str]) -> int:
    """Run a command and return its exit code.

    Raises:
        PanoramaError: The command was refused.
    """
    code: object = get_command(app).main(args=list(words), prog_name="panorama", standalone_mode=False)
    return code if isinstance(code, int) else 0


def _version(wanted: bool) -> None:
    if wanted:
        show.text(f"panorama {__version__}\n")
        raise typer.Exit


@app.callback()
def panorama_(
    version: Annotated[bool, option("Print the version.", "--version", "-V", callback=_version, is_eager=True)] = False,
) -> None:
    """Your projects, tasks and notes, on your own disk, for every AI assistant you use.

    Without a command this is the MCP server that a client starts.
    """


app.command(epilog=finding.SEARCH_EXAMPLES, rich_help_panel=EVERYDAY)(finding.search)
app.command(epilog=finding.SIMILAR_EXAMPLES, rich_help_panel=EVERYDAY)(finding.similar)


@app.command(
    epilog=examples(
        "panorama history t_7k3q9xv2mh",
        'panorama history "Order seeds" --limit 3',
    ),
    rich_help_panel=SAFETY,
)
def history(
    item: Annotated[str, argument("Anything, by id or name; what is in the trash by id.")],
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """Show what was changed on an item, the newest first: by whom, and what it was before."""
    with Client() as panorama:
        answer = panorama.rows("history.list", {"item": item}, limit)
        now = panorama.now
    show.rows(answer, as_json, lambda: show.blocks(tables.history(row, now) for row in answer.data))


@app.command(
    epilog=examples(
        "panorama undo                       # the last write of the command line",
        "panorama undo c_7k3q9xv2mh          # a call, a batch or an import: see `panorama history`",
        "panorama undo c_7k3q9xv2mh --skip-conflicts",
        "panorama undo --yes                 # does not ask before it takes back more than 20 changes",
    ),
    rich_help_panel=SAFETY,
)
def undo(
    unit: Annotated[str, argument("What to take back; else the last write of the command line.")] = "",
    skip_conflicts: Annotated[bool, option("Leave what was changed since, undo the rest.", "--skip-conflicts")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take back a write; an undo can be undone too."""
    with Client() as panorama:
        answer = agreed(panorama, "history.undo", {"unit": unit, "skip_conflicts": skip_conflicts}, yes=yes)
    show.written(answer, as_json, lambda: _undone(answer.data))


def _undone(data: dict[str, Any]) -> None:
    show.sheet(tables.undone(data))
    if (more := data.get("count", 0) - len(data.get("undone", ()))) > 0:
        show.aside(f"… and {more:,} more")


@app.command(
    epilog=examples(
        "panorama restore                    # what is in the trash",
        "panorama restore n_7k3q9xv2mh",
        'panorama restore "Order seeds"',
        "panorama restore --backup ~/panorama-2026-05-20.db",
        "panorama restore --from ~/Backups/panorama-20260520T080000Z --to ~/panorama-again",
    ),
    rich_help_panel=SAFETY,
)
def restore(
    item: Annotated[str | None, argument("What to bring back, by id or name.")] = None,
    backup: Annotated[
        Path | None,
        option("Put this copy of the whole database in place of the present one.", "--backup", metavar="FILE"),
    ] = None,
    source: Annotated[
        str | None,
        option("Make a new data directory of this backup or export.", "--from", metavar="DIR"),
    ] = None,
    to: Annotated[
        str | None, option("Where: a new folder; else the data directory, if there is none.", "--to", metavar="DIR")
    ] = None,
    background: Background = False,
    yes: Yes = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Bring an item back from the trash; without one, list the trash. Or bring back a copy of everything."""
    if source is not None or to is not None or background:
        keeping.restore(source, to, item or backup, background=background, as_json=as_json)
        return
    if backup is not None:
        from panorama.cli.restoring import restored  # half a second

        restored(backup, yes=yes)
        return
    with Client() as panorama:
        if item is None:
            answer = panorama.rows("items.trash", {}, limit)
        else:
            answer = panorama.call("items.restore", {"item": _trashed(panorama, item)})
        now = panorama.now
    if item is None:
        show.rows(answer, as_json, lambda: show.sheet(tables.trash(answer.data, now)))
    else:
        show.written(answer, as_json)


def _trashed(panorama: Client, said: str) -> str:
    """Return the id of the one item in the trash that has this name, or what was said."""
    if kind_of(said.strip()):
        return said
    rows: list[dict[str, Any]] = panorama.rows("items.trash", {}, TRASH_ROWS).data
    found = [row for row in rows if folded(row["label"]) == folded(said)]
    if len(found) > 1:
        raise ConflictError(
            f"{len(found)} items in the trash are called “{said}”.", hint="Give the id.", candidates=found
        )
    return str(found[0]["id"]) if found else said


@app.command(epilog=examples("panorama status", "panorama status --json | jq .data.counts"), rich_help_panel=CARE)
def status(as_json: AsJson = False) -> None:
    """Tell how much is stored, where, and what time it is for Panorama."""
    with Client() as panorama:
        answer = panorama.call("status", {})
    show.answer(answer, as_json, lambda: show.sheet(state_tables.status(answer.data)))


@app.command(
    epilog=examples(
        "panorama calls                      # the last calls of every client",
        "panorama calls --slow --limit 5",
        "panorama calls --failed --json",
    ),
    rich_help_panel=CARE,
)
def calls(
    slow: Annotated[bool, option("The slowest first.", "--slow")] = False,
    failed: Annotated[bool, option("Only those that failed.", "--failed")] = False,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """Show the call log: which client called what, how long it took and what it cost."""
    with Client() as panorama:
        answer = panorama.rows("calls.list", {"slow": slow, "failed": failed}, limit)
        now = panorama.now
    show.rows(answer, as_json, lambda: show.sheet(state_tables.calls(answer.data, now)))


@app.command(epilog=examples("panorama doctor", "panorama doctor --json"), rich_help_panel=CARE)
def doctor(as_json: AsJson = False) -> int:
    """Look for what is wrong with this installation and its data, and say how to mend it; changes nothing."""
    from panorama.cli.doctor import examined

    checks = examined()
    failed = sum(check["state"] == "fail" for check in checks)
    if as_json:
        told = f"{failed} of {len(checks)} checks failed" if failed else f"All {len(checks)} checks passed"
        show.data({"data": checks, "summary": told, "metadata": {"source": "doctor", "policy": "read"}})
    else:
        show.sheet(state_tables.checks(checks))
    return 1 if failed else 0


@app.command(
    epilog=examples(
        "panorama reindex                    # what waits, now",
        "panorama reindex index              # the index of meanings too, from the vectors that are kept",
        "panorama reindex everything         # every text is cut anew",
        "panorama reindex --project Garden --kind note",
        "panorama reindex everything --background",
    ),
    rich_help_panel=CARE,
)
def reindex(
    scope: Annotated[str, argument("changes, index or everything.")] = "changes",
    project: Project = None,
    kind: Annotated[str | None, option("Only items of this kind.", "--kind", "-k")] = None,
    background: Background = False,
    as_json: AsJson = False,
) -> None:
    """Bring search by meaning up to date while you watch; it happens in the background by itself."""
    kept = show.stoppable("What was done is kept; run it again to go on.")
    sent = {"scope": scope, "project": project, "kind": kind, "background": background or None}
    with Client() as panorama, kept, show.progress("Reading what waits") as progress:
        answer = panorama.call("reindex", sent, progress)
    show.written(answer, as_json)


SCRIPTS = "Scripts"
app.command(
    epilog=examples(
        "panorama run report.py",
        "panorama run report.py --dry-run -i project=Garden",
        "panorama run -c 'len(sdk.tasks.list(view=\"overdue\"))'",
        "panorama run - < report.py",
        "panorama run plan_day --day tomorrow       # a kept script, with options of its own",
    ),
    context_settings={**SETTINGS["context_settings"], "allow_extra_args": True, "ignore_unknown_options": True},
    rich_help_panel=SCRIPTS,
)(code.run)
app.add_typer(code.runs, rich_help_panel=SCRIPTS)
app.add_typer(scripts.app, rich_help_panel=SCRIPTS)
app.command(epilog=examples("panorama sdk", 'panorama sdk "group by"'), rich_help_panel=SCRIPTS)(code.sdk)

app.command(
    epilog=examples(
        "panorama install                    # the clients, and where Panorama is set up",
        "panorama install claude-code",
        "panorama install cursor --print     # only show what would be put there",
    ),
    rich_help_panel=CARE,
)(install.install)
app.command(epilog=examples("panorama uninstall cursor"), rich_help_panel=CARE)(install.uninstall)


@app.command(
    epilog=examples("panorama demo", "panorama demo --keep ~/panorama-demo   # keep its data to look around"),
    rich_help_panel=CARE,
)
def demo(
    keep: Annotated[Path | None, option("Keep the demo's data here.", "--keep", metavar="DIR")] = None,
) -> int:
    """Show the product at work, on data of its own; yours is not touched."""
    from panorama.cli.demo import run as run_demo

    return run_demo(keep)


@imports.command(epilog=examples("panorama import markdown ~/Notes --dry-run", "panorama import markdown ~/Notes"))
def markdown(
    folder: Annotated[Path, argument("A folder of Markdown.", metavar="DIR", exists=True, file_okay=False)],
    dry_run: Annotated[bool, option("Tell what would be done, and do nothing.", "--dry-run")] = False,
    background: Background = False,
    as_json: AsJson = False,
) -> int:
    """Import a folder of Markdown: files become notes, open boxes become tasks. May be run again.

    A large folder is imported as a job, which goes on if this terminal is closed; Ctrl-C stops it.
    """
    arguments = {"folder": str(folder.resolve()), "dry_run": dry_run or None}
    if background or (not dry_run and jobs.goes_to_the_queue(folder)):
        return jobs.imported(arguments, folder.name, waits=not background, as_json=as_json)
    kept = show.stoppable("What was taken so far stays; run it again to go on.")
    with Client() as panorama, kept, show.progress(f"Reading {folder.name}") as progress:
        answer = panorama.call("import.markdown", arguments, progress)
    show.written(answer, as_json, lambda: show.sheet(tables.problems(answer.data)))
    return 0
