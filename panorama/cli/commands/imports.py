"""`panorama import`: import a folder of Markdown, or the graph of a memory server."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from panorama.cli.client import Answer, Client
from panorama.cli.commands import archive, jobs
from panorama.cli.console import console, tables
from panorama.cli.options import AsJson, Background, argument, examples, group, option
from panorama.transport.address import is_in_process

LARGE_FILES = 1000
"""A folder with this many Markdown files is imported as a job, because it takes long."""

LARGE_BYTES = 200_000
"""The same for a file that is imported: some 1,000 entities of a memory server."""

STOPPED = "What was imported is kept; run it again to continue."
WAIT_SECONDS = 50

app = group("import", "Import data from other tools.")


@app.command(epilog=examples("panorama import markdown ~/Notes --dry-run", "panorama import markdown ~/Notes"))
def markdown(
    folder: Annotated[Path, argument("A folder with Markdown files.", metavar="DIR", exists=True, file_okay=False)],
    dry_run: Annotated[bool, option("Only report what would be done.", "--dry-run")] = False,
    background: Background = False,
    as_json: AsJson = False,
) -> int:
    """Import a folder of Markdown: files become notes, checkboxes become tasks. Can be repeated.

    A large folder is imported as a job, which continues if this terminal is closed; Ctrl-C stops it.
    """
    arguments = {"folder": str(folder.resolve()), "dry_run": dry_run or None}
    if background or (not dry_run and _needs_job(folder)):
        return _import_as_job("import.markdown", arguments, folder.name, waits=not background, as_json=as_json)
    on_interrupt = console.report_interrupt(STOPPED)
    with Client() as panorama, on_interrupt, console.progress(f"Reading {folder.name}") as progress:
        answer = panorama.call("import.markdown", arguments, progress)
    console.print_result(answer, as_json, lambda: console.print_table(tables.problems(answer.data)))
    return archive.EXIT_INCOMPLETE if answer.data.get("unread") else 0


@app.command(epilog=examples("panorama import memory ~/memory.jsonl --dry-run", "panorama import memory memory.json"))
def memory(
    file: Annotated[Path, argument("The server's file.", metavar="FILE", exists=True, dir_okay=False)],
    dry_run: Annotated[bool, option("Only report what would be done.", "--dry-run")] = False,
    background: Background = False,
    as_json: AsJson = False,
) -> int:
    """Import the graph of the MCP server “memory”: people, projects, notes and relations. Can be repeated.

    A large file is imported as a job, which continues if this terminal is closed; Ctrl-C stops it.
    """
    arguments = {"file": str(file.resolve()), "dry_run": dry_run or None}
    if background or (not dry_run and _needs_job(file)):
        return _import_as_job("import.memory", arguments, file.name, waits=not background, as_json=as_json)
    on_interrupt = console.report_interrupt(STOPPED)
    with Client() as panorama, on_interrupt, console.progress(f"Reading {file.name}") as progress:
        answer = panorama.call("import.memory", arguments, progress)
    console.print_result(answer, as_json, lambda: console.print_table(tables.problems(answer.data)))
    return archive.EXIT_INCOMPLETE if answer.data["unread"] else 0


def _needs_job(path: Path) -> bool:
    """Return whether a folder or file is large enough to be imported as a job, which needs a daemon."""
    if is_in_process():
        return False
    if path.is_file():
        return path.stat().st_size >= LARGE_BYTES
    count = 0
    for _, _, names in os.walk(path):
        count += sum(name.endswith(".md") for name in names)
        if count >= LARGE_FILES:
            return True
    return False


def _import_as_job(operation: str, arguments: Mapping[str, Any], name: str, *, waits: bool, as_json: bool) -> int:
    """Import a folder or file as a job, and optionally wait for its end; Ctrl-C then cancels it."""
    with Client() as panorama:
        job = panorama.call(operation, {**arguments, "background": True})
    if not waits:
        console.print_result(job, as_json)
        return 0
    id_ = str(job.data["id"])
    try:
        with Client() as panorama, console.progress(f"Reading {name}") as progress:
            ended = panorama.call("jobs.get", {"job": id_, "wait": WAIT_SECONDS}, progress)
            while ended.data["state"] in jobs.OPEN_STATES:
                ended = panorama.call("jobs.get", {"job": id_, "wait": WAIT_SECONDS}, progress)
    except KeyboardInterrupt:
        with Client() as again:
            again.call("jobs.cancel", {"job": id_})
        console.print_message(f"Stopped. {STOPPED}")
        raise
    result = ended.data.get("result")
    if result is None:
        return jobs.print_job(ended, as_json)
    answer = Answer(result, str(ended.data.get("summary", "")), {**ended.metadata, **_undo_metadata(ended.data)})
    console.print_result(answer, as_json, lambda: console.print_table(tables.problems(result)))
    return 0 if ended.data["state"] == "succeeded" else 1


def _undo_metadata(job: Mapping[str, Any]) -> dict[str, Any]:
    return {"undo": job["undo"]} if "undo" in job else {}
