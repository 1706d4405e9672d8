"""`panorama schedule`: list what runs by itself, add to it, let it rest, remove it."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from panorama.cli.client import Client
from panorama.cli.console import console, timing_tables
from panorama.cli.console.confirm import call_confirmed
from panorama.cli.options import AsJson, Limit, Yes, argument, examples, group, option
from panorama.errors import InvalidInputError

app = group("schedule", "List what runs by itself; add to it, let it rest, remove it.", default="list")
Which = Annotated[str, argument("The schedule, by name or id.")]


@app.command(
    "list",
    epilog=examples("panorama schedule                       # what runs next first", "panorama schedule --json"),
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
    kind: Annotated[str, argument("What runs: the kind of job.")],
    name: Annotated[str | None, argument("What to call it; else its kind.")] = None,
    cron: Annotated[str | None, option("Five fields of a crontab: minute hour day month weekday.", "--cron")] = None,
    every: Annotated[str | None, option("A span: 15m, 2h, 1d, 1h 30m.", "--every")] = None,
    at: Annotated[str | None, option("A moment to run once, or at which --every begins.", "--at")] = None,
    zone: Annotated[str | None, option("IANA name of the zone whose clock is meant; else yours.", "--zone")] = None,
    missed: Annotated[
        Literal["run", "skip"], option("Runs that were missed: run one for all of them, or skip.", "--missed")
    ] = "run",
    inputs: Annotated[
        list[str] | None,
        option("What the job gets: k=v, where v is JSON or text.", "--input", "-i", metavar="K=V"),
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Let a job run by itself: at times of the day, every so often, or once.

    It asks first where the job would: nobody is there to be asked when it runs.
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
    """Let a schedule rest; what comes due meanwhile is not made up for."""
    _change("pause", schedule, as_json)


@app.command(epilog=examples("panorama schedule resume backup"))
def resume(schedule: Which, as_json: AsJson = False) -> None:
    """Let a schedule go on."""
    _change("resume", schedule, as_json)


def _change(verb: str, schedule: str, as_json: bool) -> None:
    with Client() as panorama:
        answer = panorama.call(f"schedules.{verb}", {"schedule": schedule})
    console.print_result(answer, as_json)


@app.command(epilog=examples("panorama schedule remove backup", "panorama schedule remove backup --yes"))
def remove(schedule: Which, yes: Yes = False, as_json: AsJson = False) -> None:
    """Forget a schedule for good."""
    with Client() as panorama:
        answer = call_confirmed(panorama, "schedules.remove", {"schedule": schedule}, yes=yes)
    console.print_result(answer, as_json)
