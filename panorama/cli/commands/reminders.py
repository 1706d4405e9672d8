"""`panorama reminders`: list waiting ones; besides the shared verbs, add, snooze and acknowledge."""

from typing import Annotated

from panorama.cli.client import Client
from panorama.cli.console import console, timing_tables
from panorama.cli.nouns.groups import add_verbs
from panorama.cli.nouns.table import REMINDERS
from panorama.cli.options import AsJson, Limit, argument, examples, group, option

app = group("reminders", REMINDERS.help, default="waiting")
Which = Annotated[str, argument("The reminder, by title or id.")]


@app.command(epilog=examples("panorama reminders                      # rung and not acknowledged"))
def waiting(limit: Limit = 50, as_json: AsJson = False) -> None:
    """List reminders that rang and are not acknowledged."""
    with Client() as panorama:
        answer = panorama.list_rows("reminders.waiting", {}, limit)
        now = panorama.now
    console.print_rows(answer, as_json, lambda: console.print_table(timing_tables.waiting_reminders(answer.data, now)))


add_verbs(app, REMINDERS)


@app.command(
    epilog=examples(
        'panorama reminders add "Call Petra" --at 2026-06-01T09:00',
        'panorama reminders add "Feed the sourdough" --at 2026-06-01T08:00 --recurrence FREQ=DAILY',
    )
)
def add(
    title: Annotated[str, argument("The text of the reminder.")],
    at: Annotated[str, option("A date and time: 2026-06-01T09:00.", "--at")],
    recurrence: Annotated[
        str | None, option("every friday, every 2 weeks, or an RFC 5545 rule.", "--recurrence")
    ] = None,
    item: Annotated[str | None, option("The item it is about, by name or id.", "--item")] = None,
    as_json: AsJson = False,
) -> None:
    """Set a reminder."""
    with Client() as panorama:
        arguments = {"title": title, "at": at, "recurrence": recurrence, "item": item}
        answer = panorama.call("reminders.create", arguments)
    console.print_result(answer, as_json)


@app.command(epilog=examples('panorama reminders snooze "Call Petra" 2h', 'panorama reminders snooze "Call Petra"'))
def snooze(
    reminder: Which,
    until: Annotated[str, argument("A duration (10m, 2h, 1d) or a time; by default ten minutes.")] = "10m",
    as_json: AsJson = False,
) -> None:
    """Snooze a reminder that rang."""
    with Client() as panorama:
        answer = panorama.call("reminders.snooze", {"reminder": reminder, "until": until})
    console.print_result(answer, as_json)


@app.command("done", epilog=examples('panorama reminders done "Call Petra"'))
def acknowledge(reminder: Which, as_json: AsJson = False) -> None:
    """Acknowledge a reminder that rang."""
    with Client() as panorama:
        answer = panorama.call("reminders.acknowledge", {"reminder": reminder})
    console.print_result(answer, as_json)
