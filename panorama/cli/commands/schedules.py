"""`panorama schedule`: list, add, pause, resume and remove schedules."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from panorama.cli.client import Client
from panorama.cli.console import console, timing_tables
from panorama.cli.console.confirm import call_confirmed
from panorama.cli.options import AsJson, Limit, Yes, argument, examples, group, option
from panorama.errors import InvalidInputError

app = group("schedule", "List scheduled jobs; add, pause, resume or remove one.", default="list")
Which = Annotated[str, argument("The schedule, by name or id.")]


@app.command(
    "list",
    epilog=examples("panorama schedule                       # the next to run first", "panorama schedule --json"),
)
def list_(limit: Limit = 50, as_json: AsJson = False) -> None:
    """List schedules."""
    with Client() as panorama:
        answer = panorama.list_rows("schedules.list", {"detail": "full"}, limit)
        now = panorama.now
    console.print_rows(answer, as_json, lambda: console.print_table(timing_tables.schedules(answer.data, now)))


@app.command(
    epilog=examples(
        'panorama schedule add backup --cron "0 3 * * *"',
        'panorama schedule add backup Weekly --cron "@weekly" --zone Europe/Berlin',
        "panorama schedule add reindex --every 12h --missed skip",
        "panorama schedule add export --at 2026-12-31T23:00",
    )
)
def add(
    kind: Annotated[str, argument("The kind of job to run.")],
    name: Annotated[str | None, argument("A name; by default its kind.")] = None,
    cron: Annotated[str | None, option("Five fields of a crontab: minute hour day month weekday.", "--cron")] = None,
    every: Annotated[str | None, option("An interval: 15m, 2h, 1d, 1h 30m.", "--every")] = None,
    at: Annotated[str | None, option("A time to run once, or the start of --every.", "--at")] = None,
    zone: Annotated[str | None, option("IANA name of the time zone; by default yours.", "--zone")] = None,
    missed: Annotated[
        Literal["run", "skip"], option("Missed runs: run once for all of them, or skip.", "--missed")
    ] = "run",
    inputs: Annotated[
        list[str] | None,
        option("An argument of the job: k=v, where v is JSON or text.", "--input", "-i", metavar="K=V"),
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Schedule a job: at times of the day, at an interval, or once.

    It asks now if the job would ask, because scheduled runs cannot.
    """
    arguments = {
        "kind": kind, "name": name, "cron": cron, "every": every, "at": at, "zone": zone, "missed": missed,
        "arguments": _parse_inputs(inputs or ()),
    }  # fmt: skip
    with Client() as panorama:
        answer = call_confirmed(panorama, "schedules.add", arguments, yes=yes)
    console.print_result(answer, as_json)


def _parse_inputs(pairs: Sequence[str]) -> dict[str, Any] | None:
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidInputError(f"--input {pair!r} is not K=V.", hint="Write --input scope=changes.")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values or None


@app.command(epilog=examples("panorama schedule pause backup"))
def pause(schedule: Which, as_json: AsJson = False) -> None:
    """Pause a schedule; runs that become due meanwhile are skipped."""
    with Client() as panorama:
        answer = panorama.call("schedules.pause", {"schedule": schedule})
    console.print_result(answer, as_json)


@app.command(epilog=examples("panorama schedule resume backup", "panorama schedule resume backup --yes"))
def resume(schedule: Which, yes: Yes = False, as_json: AsJson = False) -> None:
    """Resume a schedule; it asks again before scheduling a job that would ask each time."""
    with Client() as panorama:
        answer = call_confirmed(panorama, "schedules.resume", {"schedule": schedule}, yes=yes)
    console.print_result(answer, as_json)


@app.command(epilog=examples("panorama schedule remove backup", "panorama schedule remove backup --yes"))
def remove(schedule: Which, yes: Yes = False, as_json: AsJson = False) -> None:
    """Remove a schedule permanently."""
    with Client() as panorama:
        answer = call_confirmed(panorama, "schedules.remove", {"schedule": schedule}, yes=yes)
    console.print_result(answer, as_json)
