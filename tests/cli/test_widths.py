"""Tables at widths of terminals: stored as they are drawn, so that nobody loses a title by chance.

After an intended change, write the file again: `python -m tests.cli.test_widths`.
"""

import ast
import io
from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from rich.console import Console

from panorama.cli.commands import archive, install, service
from panorama.cli.commands.database import spaces
from panorama.cli.commands.models import compare, models
from panorama.cli.commands.sources import importing, rows
from panorama.cli.console import (
    console,
    graph_tables,
    noun_tables,
    script_tables,
    session_tables,
    status_tables,
    tables,
    timing_tables,
)
from panorama.cli.console.tables import TextTable
from panorama.index.evaluation.trial import Evaluation, Score

ROOT = Path(__file__).resolve().parents[2]
STORED = Path(__file__).with_name("widths.txt")
WIDTHS = (40, 60, 80, 120)
NOW = datetime(2026, 5, 20, 10, 0, tzinfo=ZoneInfo("Europe/Berlin"))
EARLIER = (NOW - timedelta(hours=3)).isoformat()
LATER = (NOW + timedelta(days=3)).isoformat()
TITLE = "Pay the invoice of the municipal water company before they cut us off"
PROJECT = {"p_0000000001": "The renovation of the kitchen"}


def _samples() -> Mapping[str, TextTable]:
    return {**_items(), **_timing(), **_scripts(), **_sources(), **_itself()}


def _sources() -> Mapping[str, TextTable]:
    shop = {"name": "shop", "kind": "mcp", "command": ["/home/ada/.local/bin/shop-server", "--port", "8080"]}
    shop |= {"allow": ["list_*", "find_order"], "deny": ["delete_*"]}
    function = {"name": "send_mail", "decision": "ask", "reads_only": False, "reach": "others", "description": TITLE}
    server = {
        "name": "shop",
        "client": "claude-desktop",
        "state": "refused",
        "reason": "Unknown key envFile.",
    }
    return {
        "sources_table": rows.sources_table([shop]),
        "functions_table": rows.functions_table([function]),
        "servers_table": importing.servers_table([server]),
    }


def _items() -> Mapping[str, TextTable]:
    tags = {"tags": ["home", "money", "water"]}
    task = {"id": "t_0000000001", "title": TITLE, "status": "in_progress", "project": "p_0000000001"}
    note = {"id": "n_0000000001", "title": TITLE, "chars": 12_345, "updated_at": EARLIER, "project": "p_0000000001"}
    project = {"id": "p_0000000001", "name": PROJECT["p_0000000001"], "status": "active", "target_date": "2026-09-30"}
    link = {"id": "l_0000000001", "title": TITLE, "url": "https://example.com/a/rather/long/address/of/a/page"}
    file = {"id": "f_0000000001", "name": "water-invoices-2026.csv", "media_type": "text/csv", "size": 12_345}
    person = {"id": "h_0000000001", "full_name": "Anastasia Kovačević-Lindström", "team": "g_0000000001"}
    person |= {"role": "Electrician and tiler", "email": "anastasia.kovacevic@kitchens.example.org"}
    session = {
        "id": "s_0000000001",
        "title": TITLE,
        "started_at": EARLIER,
        "line_count": 1234,
        "project": "p_0000000001",
    }
    session |= {"attendees": ["Anastasia Kovačević-Lindström", "ben@example.org"]}
    event = {
        "id": "v_0000000001",
        "title": TITLE,
        "starts_at": LATER,
        "ends_at": LATER,
        "location": "Harbour street 12",
    }
    line = {"position": 7, "at": EARLIER, "type": "next_step", "speaker": "Anastasia", "text": TITLE, "revises": 3}
    gone = {"id": "t_0000000001", "kind": "task", "label": TITLE, "deleted_at": EARLIER}
    hit = {**task, "kind": "task", "snippet": "the **water** company wrote again and wants its money"}
    write = {"unit": "c_0000000001", "action": "update", "kind": "task", "title": TITLE, "client": "cli", "at": EARLIER}
    undone = {"id": "t_0000000001", "kind": "task", "label": TITLE, "was": "update"}
    conflict = {"id": "t_0000000001", "kind": "task", "field": "title", "why": "it was changed since"}
    return {
        "tasks": tables.tasks(
            [{**task, "deadline": "2026-05-15"}, {**task, "title": "Tea", "status": "todo"}], PROJECT, NOW
        ),
        "notes": tables.notes([note], PROJECT, NOW),
        "projects": noun_tables.projects([{**project, **tags}], {}, NOW),
        "links": noun_tables.links([{**link, "project": "p_0000000001"}], PROJECT, NOW),
        "journal": noun_tables.journal([{"id": "j_0000000001", "at": EARLIER, "text": TITLE}], {}, NOW),
        "events": session_tables.events(
            [{**event, "attendees": ["Ana"]}, {**event, "starts_at": "2026-07-06", "ends_at": "2026-07-17"}], {}, NOW
        ),
        "sessions": session_tables.sessions([session], PROJECT, NOW),
        "session_lines": session_tables.session_lines([line], NOW),
        "people": noun_tables.people([person], {"g_0000000001": "Kitchens and baths"}, NOW),
        "neighbours": graph_tables.neighbours(
            [
                {
                    "relation": "blocked_by",
                    "kind": "task",
                    "id": "t_0000000001",
                    "title": TITLE,
                    "depth": depth,
                    "source": source,
                    "why": "We cannot begin before [[the plumber]] has been here.",
                }
                for depth, source in ((1, "explicit"), (2, "parsed"))
            ]
        ),
        "relations": graph_tables.relations(
            [
                {
                    "id": "k_0000000001",
                    "from_title": TITLE,
                    "kind": "blocked_by",
                    "to_title": "Tea",
                    "note": "they are late",
                }
            ]
        ),
        "teams": noun_tables.teams([{"id": "g_0000000001", "name": "Kitchens and baths"}], {}, NOW),
        "tags": noun_tables.tags([{"tag": "spring", "items": 1234}, {"tag": "home", "items": 1}]),
        "tagged": noun_tables.tagged([{"id": "t_0000000001", "kind": "task", "title": TITLE}]),
        "files": tables.files([{**file, "updated_at": EARLIER, "project": "p_0000000001"}], PROJECT, NOW),
        "hits": tables.hits([hit], PROJECT),
        "trash": tables.trash([gone], NOW),
        "recent_writes": tables.recent_writes([write], NOW),
        "undo_result": tables.undo_result({"undone": [undone], "conflicts": [conflict]}),
        "problems": tables.problems(
            {"problems": [{"file": "Garden/Plants of the year.md", "problem": "It is not UTF-8."}]}
        ),
    }


def _timing() -> Mapping[str, TextTable]:
    schedule = {"id": "s_0000000001", "name": "Nightly copy to the stick", "kind": "backup", "trigger": "cron"}
    schedule |= {"rule": "0 3 * * mon-fri", "next_at": LATER, "zone": "Europe/Berlin", "problem": "The disk is full."}
    reminder = {
        "id": "r_0000000001",
        "title": TITLE,
        "at": LATER,
        "recurrence": "FREQ=WEEKLY;BYDAY=MO",
        "enabled": True,
    }
    rang = {"reminder": "r_0000000001", "title": TITLE, "at": EARLIER, "late": "3 h", "missed": 2}
    job = {"id": "w_0000000001", "kind": "reindex", "state": "running", "total": 4000, "current": 1200, "rate": 12.5}
    job |= {"seconds_left": 224, "message": "Notes", "created_at": EARLIER}
    backup = {"name": "panorama-20260520T080000Z", "made_at": EARLIER, "kind": "backup", "size_bytes": 12_345_678}
    return {
        "schedules": timing_tables.schedules([schedule], NOW),
        "reminders": timing_tables.reminders([reminder], NOW),
        "waiting_reminders": timing_tables.waiting_reminders([rang], NOW),
        "jobs": tables.jobs([job], NOW),
        "backups_table": archive.backups_table([{**backup, "rows": 1234, "files": 56, "problems": 2}], NOW),
    }


def _scripts() -> Mapping[str, TextTable]:
    script = {"name": "weekly_hours_by_project", "state": "reviewed", "by": "you", "runs": 12}
    script |= {"summary": "Add up the minutes of each project in a week and write them into a note."}
    version = {
        "version": 2,
        "at": EARLIER,
        "verdict": "approved",
        "current": True,
        "by": "you",
        "digest": "0123456789abcdef",
    }
    run = {"id": "x_0000000001", "at": EARLIER, "status": "succeeded", "ms": 1234.5, "calls": 12, "dry_run": True}
    run |= {
        "changes": {"created": 2, "updated": 3},
        "script": "for task in sdk.tasks.list(view='overdue'): print(task)",
    }
    option = {"type": "integer", "default": 30, "description": "Days overdue after which a task is parked as an idea."}
    call = {"position": 1, "name": "tasks.update", "ms": 1.5, "changes": 1, "success": True}
    call |= {"arguments": {"task": "t_0000000001", "status": "done", "title": TITLE}}
    return {
        "scripts": script_tables.scripts([script]),
        "versions": script_tables.versions([version], NOW),
        "runs": script_tables.runs([run], NOW),
        "script_options": script_tables.script_options({"park_after": option}, ()),
        "run_calls": script_tables.run_calls([call]),
    }


def _itself() -> Mapping[str, TextTable]:
    call = {"at": EARLIER, "client": "claude-code", "name": "overview.projects", "ms": 1234.5, "code": "unavailable"}
    call |= {"tokens": 1500, "changes": 100, "arguments": {"project": "Garden", "title": TITLE}}
    check = {"check": "data directory", "state": "warn", "found": "/home/ada/.local/share/panorama is open to others"}
    client = {
        "client": "claude-desktop",
        "found": True,
        "set_up": True,
        "file": "/home/ada/.config/Claude/claude_desktop_config.json",
    }
    model = {"name": "openai:<address>#<model>", "is_used": True, "is_there": True, "size": 1536, "passages": 12_345}
    model |= {
        "size_bytes": 12_345_678,
        "vectors": True,
        "about": "An embedding model of a service that speaks OpenAI's API.",
    }
    trial = Evaluation(
        model="ollama:nomic-embed-text", size=768, texts=60, texts_per_second=1234.5, query_ms=12.34,
        scores=(Score(kind="paraphrase", queries=10, recall_1=0.5, recall_5=0.9, mrr_10=0.654321),),
    )  # fmt: skip
    unit = {
        "manager": "systemd",
        "file": "/home/ada/.config/systemd/user/panorama.service",
        "installed": True,
        "runs": False,
    }
    space = {
        "name": "anna_before_20260520080000", "owner": "anna", "revision": "0022", "items": 12345,
        "size_bytes": 123456789, "roles": {"bert": "write", "a role with a long name": "read"},
    }  # fmt: skip
    server = {
        "machine": "a-laptop-with-a-long-name-7k3q9xv2", "host": "laptop.example.org", "process": 12345,
        "version": "0.1.0", "started_at": EARLIER, "serves": "clients, HTTP",
        "duties": ["cleanup", "due work", "embedding minilm", "recovery"],
    }  # fmt: skip
    return {
        "daemons": status_tables.daemons([server], NOW),
        "status": status_tables.status(_status()),
        "daemon": status_tables.daemon(_daemon()),
        "calls": status_tables.calls([call], NOW),
        "checks": status_tables.checks([{**check, "mend": "chmod 700 /home/ada/.local/share/panorama"}]),
        "clients_table": install.clients_table([client]),
        "models_table": models.models_table({"models": [model]}),
        "scores_table": compare.scores_table([trial]),
        "speeds_table": compare.speeds_table([trial]),
        "spaces_table": spaces.spaces_table([space]),
        "service_table": service.service_table(unit),
    }


def _status() -> Mapping[str, Any]:
    search = {"modes": ["hybrid", "keyword"], "model": "minilm", "model_state": "ready", "engine": "edge"}
    search |= {"index_state": "ready", "pending": 2, "passages": 12_345, "index_disk_bytes": 12_345_678}
    counts = {"project": 12, "task": 1234, "note": 567, "journal": 1, "trash": 3}
    return {
        "version": "0.1.0", "now": NOW.isoformat(), "weekday": "Wednesday", "timezone": "Europe/Berlin",
        "counts": counts, "data": "/home/ada/.local/share/panorama",
        "database_bytes": 12_345_678, "revision": "0007", "search": search,
        "jobs": {"running": 1}, "reminders_waiting": 2, "last_backup": "panorama-20260520T080000Z",
    }  # fmt: skip


def _daemon() -> Mapping[str, Any]:
    return {
        "version": "0.1.0", "pid": 4711, "since": "2026-05-20T08:00:00", "home": "/home/ada/.local/share/panorama",
        "socket": "/run/user/1000/panorama/0123456789/socket", "log": "/home/ada/.local/share/panorama/daemon.log",
        "clients": [{"name": "claude-code"}, {"name": "panorama"}], "linger_seconds": 300,
    }  # fmt: skip


def _drawn(table: TextTable, width: int) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(console.build_grid(table, width))
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def _sheet() -> str:
    parts = (
        f"== {name}, {width} columns\n{_drawn(table, width)}\n"
        for name, table in _samples().items()
        for width in WIDTHS
    )
    return "".join(parts)


def test_every_table_is_drawn_as_it_is_stored() -> None:
    assert _sheet() == STORED.read_text("utf-8")


def test_every_table_is_among_them() -> None:
    trees = (ast.parse(path.read_text("utf-8")) for path in (ROOT / "panorama" / "cli").rglob("*.py"))
    functions = [node for node in chain.from_iterable(map(ast.walk, trees)) if isinstance(node, ast.FunctionDef)]
    building = {node.name for node in functions if "TextTable(" in ast.unparse(node)} - {"fit_columns"}

    assert building == set(_samples())


@pytest.mark.parametrize("width", [20, *WIDTHS])
def test_no_table_is_wider_than_the_terminal(width: int) -> None:
    lines = [line for table in _samples().values() for line in _drawn(table, width).splitlines()]

    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["tasks", "notes", "links", "journal", "trash", "reminders", "waiting_reminders"])
def test_titles_are_the_last_to_go(name: str, width: int) -> None:
    drawn = _drawn(_samples()[name], width)

    assert all(word in drawn for word in TITLE.split())


def test_a_reminder_that_was_put_off_is_listed_at_the_moment_it_rings() -> None:
    reminder = {"id": "r_0000000001", "title": TITLE, "at": EARLIER, "snoozed_until": LATER, "enabled": True}

    drawn = [_drawn(timing_tables.reminders([row], NOW), 120) for row in (reminder, reminder | {"at": LATER})]

    assert drawn[0] == drawn[1]


def test_a_script_tells_what_it_does_in_eighty_columns() -> None:
    assert all(word in _drawn(_samples()["scripts"], 80) for word in ("Add", "minutes", "project", "note."))


if __name__ == "__main__":
    STORED.write_text(_sheet(), "utf-8")
