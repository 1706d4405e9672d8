"""The commands: their options, operations and output."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_command_name
from typer.models import CommandInfo, TyperInfo

from panorama import __version__
from panorama.cli.client import Answer, Client
from panorama.cli.coercion import defer_coercion
from panorama.cli.commands import (
    archive,
    code,
    daemon,
    files,
    imports,
    install,
    jobs,
    page,
    reminders,
    schedules,
    scripts,
    search,
    service,
    sessions,
)
from panorama.cli.commands.database import move, spaces
from panorama.cli.commands.models import models
from panorama.cli.commands.sources import commands as sources
from panorama.cli.console import console, status_tables, tables
from panorama.cli.nouns import history, relations
from panorama.cli.nouns.groups import GROUPS, NOTES_GROUP
from panorama.cli.options import (
    SETTINGS,
    AsJson,
    Background,
    Limit,
    Project,
    Yes,
    argument,
    examples,
    option,
)
from panorama.domain.items.item import kind_of, normalize_name
from panorama.errors import ConflictError, InvalidInputError

EXIT_CODES = """[bold]Options[/bold]
  -V, --version           print the version
  -h, --help              show this message; every command has its own
  --install-completion    complete commands in your shell
  --show-completion       print the completion script

[bold]Exit codes[/bold]
  0    done
  1    failed: rejected, not found, or the doctor found a fault
  2    wrong usage: an unknown option, a date that does not exist
  3    the store, or a service it needs, is unavailable: locked, full, damaged
  130  interrupted

[bold]Environment[/bold]
  PANORAMA_HOME         where the data lives
  PANORAMA_NO_DAEMON=1  do everything in this process
  PANORAMA_DEBUG=1      show where an error came from
  NO_COLOR=1            no colours"""

EVERYDAY_PANEL, SCRIPTS_PANEL, UNDO_PANEL, MAINTENANCE_PANEL = PANELS = (
    "Everyday", "Scripts", "History and undo", "Maintenance",
)  # fmt: skip

TRASH_ROWS = 500


class _PanelGroup(TyperGroup):
    """The commands by panel, everyday ones first, and those about `panorama` itself last."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 (the signature is Typer's)
        """Return the names in the order of the panels."""
        return sorted(self.commands, key=lambda name: PANELS.index(_panel_of(self.commands[name])))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Omit the options: the end of the text lists them."""
        for parameter in self.get_params(ctx):
            vars(parameter)["hidden"] = True
        super().format_help(ctx, formatter)


def _panel_of(command: Any) -> str:
    panel = getattr(command, "rich_help_panel", None)
    return panel if panel in PANELS else MAINTENANCE_PANEL


app = typer.Typer(name="panorama", cls=_PanelGroup, epilog=EXIT_CODES, **SETTINGS)
for command_group in (*GROUPS, relations.app, files.app, sessions.app, imports.app):
    app.add_typer(command_group, rich_help_panel=EVERYDAY_PANEL)
app.add_typer(NOTES_GROUP, name="note", hidden=True)
app.add_typer(reminders.app, rich_help_panel=EVERYDAY_PANEL)
app.add_typer(schedules.app, rich_help_panel=MAINTENANCE_PANEL)
app.add_typer(service.app, rich_help_panel=MAINTENANCE_PANEL)
app.add_typer(daemon.app, rich_help_panel=MAINTENANCE_PANEL)
app.add_typer(models.app, rich_help_panel=MAINTENANCE_PANEL)
app.add_typer(jobs.app, rich_help_panel=MAINTENANCE_PANEL)
app.add_typer(sources.app, rich_help_panel=SCRIPTS_PANEL)
app.add_typer(spaces.app, rich_help_panel=MAINTENANCE_PANEL)
app.add_typer(archive.app, rich_help_panel=MAINTENANCE_PANEL)
app.command(rich_help_panel=MAINTENANCE_PANEL, epilog=archive.EXPORT_EXAMPLES)(archive.export)
app.command(rich_help_panel=MAINTENANCE_PANEL, epilog=archive.PURGE_EXAMPLES)(archive.purge)
app.command(rich_help_panel=MAINTENANCE_PANEL, epilog=examples("panorama daemons", "panorama daemons --json"))(
    daemon.daemons
)
app.command(rich_help_panel=MAINTENANCE_PANEL, epilog=move.EXAMPLES)(move.move)
app.command(rich_help_panel=MAINTENANCE_PANEL, epilog=examples("panorama serve", "panorama serve --http 8642"))(
    daemon.serve
)


def run_command(words: Sequence[str]) -> int:
    """Run a command and return its exit code.

    Raises:
        PanoramaError: The command failed.
    """
    defer_coercion()
    command = get_command(_narrow_to(words[0]) if words else app)
    code: object = command.main(args=list(words), prog_name="panorama", standalone_mode=False)
    return code if isinstance(code, int) else 0


def _narrow_to(name: str) -> typer.Typer:
    """Return the app with only the named command or group, else all: building all takes 40 ms."""
    narrow = copy(app)
    narrow.registered_groups = [info for info in app.registered_groups if _group_name(info) == name]
    narrow.registered_commands = [info for info in app.registered_commands if _command_name(info) == name]
    return narrow if narrow.registered_groups or narrow.registered_commands else app


def _group_name(info: TyperInfo) -> str | None:
    return info.name if isinstance(info.name, str) else info.typer_instance and info.typer_instance.info.name


def _command_name(info: CommandInfo) -> str | None:
    return info.name or (info.callback and get_command_name(info.callback.__name__))


def _print_version(is_set: bool) -> None:
    if is_set:
        console.print_text(f"panorama {__version__}\n")
        raise typer.Exit


@app.callback()
def panorama_(
    version: Annotated[
        bool, option("Print the version.", "--version", "-V", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Your projects, tasks and notes, on your own disk, for every AI assistant you use.

    Without a command this is the MCP server that a client starts.
    """


app.command(
    "open",
    epilog=examples(
        "panorama open                       # today",
        "panorama open review",
        "panorama open --read-only           # to show it to somebody",
        "panorama open --print               # the address and the code, for another browser",
    ),
    rich_help_panel=EVERYDAY_PANEL,
)(page.open_page)
app.command(epilog=search.SEARCH_EXAMPLES, rich_help_panel=EVERYDAY_PANEL)(search.search)
app.command(epilog=search.SIMILAR_EXAMPLES, rich_help_panel=EVERYDAY_PANEL)(search.similar)
app.command(epilog=relations.RELATED_EXAMPLES, rich_help_panel=EVERYDAY_PANEL)(relations.related)


for command, command_examples in history.COMMANDS:
    app.command(epilog=command_examples, rich_help_panel=UNDO_PANEL)(command)


@app.command(
    epilog=examples(
        "panorama restore                    # what is in the trash",
        "panorama restore n_7k3q9xv2mh",
        'panorama restore "Order seeds"',
        "panorama restore House --items      # with what was deleted with it",
        "panorama restore ~/Backups/panorama-20260520T080000Z",
        "panorama restore ~/Backups/panorama-20260520T080000Z --to ~/panorama-again",
    ),
    rich_help_panel=UNDO_PANEL,
)
def restore(
    item: Annotated[
        str | None,
        argument("An item in the trash, or the path of a backup, an export or a database.", metavar="[ITEM|PATH]"),
    ] = None,
    items: Annotated[bool, option("Also restore the items deleted with it.", "--items")] = False,
    to: Annotated[str | None, option("Restore into a new data directory at this path.", "--to", metavar="DIR")] = None,
    background: Background = False,
    yes: Yes = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Restore an item from the trash; without one, list the trash. Or restore a backup."""
    if item is not None and (archive.is_copy(item) or to is not None or background):
        archive.restore(item, to, background=background, yes=yes, as_json=as_json)
        return
    if to is not None or background:
        raise InvalidInputError(
            "--to and --background need the path of a backup.", hint="panorama restore BACKUP --to NEW_FOLDER"
        )
    with Client() as panorama:
        if item is None:
            answer = panorama.list_rows("items.trash", {}, limit)
        else:
            answer = panorama.call("items.restore", {"item": _resolve_trashed(panorama, item), "items": items})
        now = panorama.now
    if item is None:
        console.print_rows(answer, as_json, lambda: console.print_table(tables.trash(answer.data, now)))
    else:
        console.print_result(answer, as_json)


def _resolve_trashed(panorama: Client, reference: str) -> str:
    """Return the id of the single item in the trash with a name, or the reference itself."""
    if kind_of(reference.strip()):
        return reference
    rows: list[dict[str, Any]] = panorama.list_rows("items.trash", {}, TRASH_ROWS).data
    matches = [row for row in rows if normalize_name(row["label"]) == normalize_name(reference)]
    if len(matches) > 1:
        raise ConflictError(
            f"{len(matches)} items in the trash are called “{reference}”.", hint="Give the id.", candidates=matches
        )
    return str(matches[0]["id"]) if matches else reference


@app.command(
    epilog=examples("panorama status", "panorama status --json | jq .data.counts"), rich_help_panel=MAINTENANCE_PANEL
)
def status(as_json: AsJson = False) -> None:
    """Show what is stored, where, and the current time and time zone."""
    with Client() as panorama:
        answer = panorama.call("status", {})
    console.print_answer(answer, as_json, lambda: _print_status(answer))


def _print_status(answer: Answer) -> None:
    console.print_table(status_tables.status(answer.data))
    if hint := answer.metadata.get("hint"):
        console.print_message(str(hint), "yellow")


@app.command(
    epilog=examples(
        "panorama calls                      # the last calls of every client",
        "panorama calls --slow --limit 5",
        "panorama calls --failed --json",
        "panorama calls --source crm         # calls that scripts made there",
    ),
    rich_help_panel=MAINTENANCE_PANEL,
)
def calls(
    slow: Annotated[bool, option("The slowest first.", "--slow")] = False,
    failed: Annotated[bool, option("Only those that failed.", "--failed")] = False,
    source: Annotated[str, option("Only calls of this source.", "--source")] = "",
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """Show the call log: which client called what, how long it took and what it cost."""
    with Client() as panorama:
        answer = panorama.list_rows("calls.list", {"slow": slow, "failed": failed, "source": source}, limit)
        now = panorama.now
    if source and not answer.data:
        answer = replace(answer, metadata={**answer.metadata, "hint": "`panorama sources` lists the sources."})
    console.print_rows(answer, as_json, lambda: console.print_table(status_tables.calls(answer.data, now)))


@app.command(epilog=examples("panorama doctor", "panorama doctor --json"), rich_help_panel=MAINTENANCE_PANEL)
def doctor(as_json: AsJson = False) -> int:
    """Check this installation and its data, and say how to fix problems; changes nothing."""
    from panorama.cli.commands.doctor import run_checks

    checks = run_checks()
    failed = sum(check["state"] == "fail" for check in checks)
    if as_json:
        summary = f"{failed} of {len(checks)} checks failed" if failed else f"All {len(checks)} checks passed"
        console.print_json({"data": checks, "summary": summary, "metadata": {"source": "doctor", "policy": "read"}})
    else:
        console.print_table(status_tables.checks(checks))
    return 1 if failed else 0


@app.command(
    epilog=examples(
        "panorama reindex                    # pending changes, now",
        "panorama reindex index              # also rebuild the index from the stored vectors",
        "panorama reindex everything         # split and embed every text again",
        "panorama reindex --project Garden --kind note",
        "panorama reindex everything --background",
    ),
    rich_help_panel=MAINTENANCE_PANEL,
)
def reindex(
    scope: Annotated[str, argument("changes, index or everything.")] = "changes",
    project: Project = None,
    kind: Annotated[str | None, option("Only items of this kind.", "--kind", "-k")] = None,
    background: Background = False,
    as_json: AsJson = False,
) -> None:
    """Bring search by meaning up to date now; it also happens in the background."""
    on_interrupt = console.report_interrupt("Finished work is kept; run it again to continue.")
    arguments = {"scope": scope, "project": project, "kind": kind, "background": background or None}
    with Client() as panorama, on_interrupt, console.progress("Reading pending changes") as progress:
        answer = panorama.call("reindex", arguments, progress)
    console.print_result(answer, as_json)


app.command(
    epilog=examples(
        "panorama run report.py",
        "panorama run report.py --dry-run -i project=Garden",
        "panorama run -c 'len(sdk.tasks.list(view=\"overdue\"))'",
        "panorama run - < report.py",
        "panorama run plan_day --day tomorrow       # a saved script, with its own options",
        "panorama run plan_day --help               # its options",
    ),
    cls=code.RunCommand,
    context_settings={**SETTINGS["context_settings"], "allow_extra_args": True, "ignore_unknown_options": True},
    rich_help_panel=SCRIPTS_PANEL,
)(code.run)
app.add_typer(code.runs, rich_help_panel=SCRIPTS_PANEL)
app.add_typer(scripts.app, rich_help_panel=SCRIPTS_PANEL)
app.command(epilog=examples("panorama sdk", 'panorama sdk "group by"'), rich_help_panel=SCRIPTS_PANEL)(code.sdk)

app.command(
    epilog=examples(
        "panorama install                    # list the clients and their state",
        "panorama install claude-code",
        "panorama install cursor --print     # only show what would be written",
    ),
    rich_help_panel=MAINTENANCE_PANEL,
)(install.install)
app.command(epilog=examples("panorama uninstall cursor"), rich_help_panel=MAINTENANCE_PANEL)(install.uninstall)


@app.command(
    epilog=examples("panorama demo", "panorama demo --keep ~/panorama-demo   # keep its data to look around"),
    rich_help_panel=MAINTENANCE_PANEL,
)
def demo(
    keep: Annotated[Path | None, option("Keep the demo's data in this folder.", "--keep", metavar="DIR")] = None,
) -> int:
    """Show Panorama at work on sample data; yours is not touched."""
    from panorama.cli.demo.demo import run as run_demo

    return run_demo(keep)
