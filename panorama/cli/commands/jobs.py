"""`panorama jobs`: list, watch, show and cancel background jobs."""

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from panorama.cli.client import Answer, Client
from panorama.cli.console import console, tables
from panorama.cli.console.tables import Row, format_report
from panorama.cli.console.terminal_words import to_terminal
from panorama.cli.options import AsJson, Limit, argument, examples, group, option

WATCH_SECONDS = 0.5
STANDING_JOB = "catch_up"
OPEN_STATES = ("queued", "running")

app = group("jobs", "List background jobs; show, watch or cancel them.", default="list")


@app.command(
    "list",
    epilog=examples(
        "panorama jobs                       # running, queued and ended ones",
        "panorama jobs --watch               # progress bars until all have ended",
        "panorama jobs --state failed --json",
    ),
)
def list_(
    watch: Annotated[bool, option("Show progress bars until all jobs have ended.", "--watch", "-w")] = False,
    state: Annotated[str | None, option("active, ended, or one state such as failed.", "--state")] = None,
    kind: Annotated[str | None, option("Only this kind, such as reindex.", "--kind")] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List jobs with their progress and results."""
    with Client() as panorama:
        if watch:
            _watch(panorama, kind)
        answer = panorama.list_rows("jobs.list", {"state": state, "kind": kind}, limit)
        now = panorama.now
    standing = [row for row in answer.data if row["kind"] == STANDING_JOB and kind is None]
    if as_json or not standing:
        console.print_rows(answer, as_json, lambda: console.print_table(tables.jobs(answer.data, now)))
    else:
        _print_work(answer, standing, now)


def _print_work(answer: Answer, standing: Sequence[Row], now: datetime) -> None:
    """Print the requested jobs, and below them the permanent one of the daemon."""
    work = [row for row in answer.data if row["kind"] != STANDING_JOB]
    console.print_table(tables.jobs(work, now))
    console.print_message(f"{len(work)} {'job' if len(work) == 1 else 'jobs'}")
    for row in standing:
        progress = tables.format_progress(row) or row["state"]
        console.print_message(f"Search index: {progress} ({row['kind']}, runs as long as the daemon)")


def _watch(panorama: Client, kind: str | None) -> None:
    """Show a progress bar for each running or queued job until all have ended, ignoring the permanent one."""
    seen: dict[str, None] = {}
    with console.job_bars() as moved:
        while True:
            rows = panorama.call("jobs.list", {"state": "active", "kind": kind}).data
            open_ = [row for row in rows if row["kind"] != STANDING_JOB]
            ended = [id_ for id_ in seen if id_ not in {row["id"] for row in open_}]
            moved([*open_, *(panorama.call("jobs.get", {"job": id_}).data for id_ in ended)])
            seen = dict.fromkeys(row["id"] for row in open_)
            if not open_:
                return
            threading.Event().wait(WATCH_SECONDS)


@app.command("show", epilog=examples("panorama jobs show w_7k3q9xv2mh", "panorama jobs show w_7k3q9xv2mh --json"))
def show_(
    job: Annotated[str, argument("The job's id.")],
    as_json: AsJson = False,
) -> int:
    """Show a job: its progress, and its result or error."""
    with Client() as panorama:
        answer = panorama.call("jobs.get", {"job": job})
    return print_job(answer, as_json)


def print_job(answer: Answer, as_json: bool) -> int:
    """Print a job; return 1 if it did not succeed."""
    data: Mapping[str, Any] = answer.data
    if as_json:
        console.print_json(answer.to_dict())
    else:
        console.print_report(answer.summary)
        if data.get("result") is not None:
            console.print_report(format_report(data["result"]))
        if hint := data.get("error", {}).get("hint"):
            console.print_message(to_terminal(str(hint)), "yellow")
        if data.get("undo") and data["state"] not in OPEN_STATES:
            console.print_message(f"`panorama undo {data['undo']}` undoes its changes")
    return 0 if data["state"] in ("succeeded", *OPEN_STATES) else 1


@app.command("cancel", epilog=examples("panorama jobs cancel w_7k3q9xv2mh"))
def cancel(
    job: Annotated[str, argument("The job's id.")],
    as_json: AsJson = False,
) -> None:
    """Cancel a job; finished steps are kept and can be undone."""
    with Client() as panorama:
        answer = panorama.call("jobs.cancel", {"job": job})
    console.print_result(answer, as_json)
