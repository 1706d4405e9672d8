"""The steps of the demo: what the user says, and the following call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from panorama.cli.demo import checks
from panorama.cli.demo.checks import HOB, JOINT, LONG_RUN, OPEN_AFTER, OPEN_BEFORE, Check, DemoFacts, decision_line
from panorama.domain.items.choices import OPEN_STATUSES

IMPORT = "panorama import markdown"
COMMAND_PREFIX = "panorama "
"""Steps whose tool begins so go through the command line."""

RUNNING, JAPAN, DECISIONS = "Running", "Japan trip", "Kitchen decisions"

JOIN = """
import csv, io
meetings, replies, companies = sdk.parallel(
    lambda: sdk.claap.recordings(labels=["product"]),
    lambda: sdk.lemlist.activities(type="emailsReplied"),
    lambda: sdk.notion.query(data_source="companies"),
)
stages = {page["title"]: page["values"]["Stage"] for page in companies}
campaigns = {}
for reply in replies:
    campaigns.setdefault(reply["leadEmail"], set()).add(reply["campaignName"])
text = io.StringIO()
table = csv.writer(text)
table.writerow(["date", "meeting", "stage", "campaigns"])
for meeting in meetings:
    emails = [person["email"] for person in meeting["meeting"]["participants"]]
    names = sorted({name for email in emails for name in campaigns.get(email, ())})
    stage = stages.get(meeting["companies"][0]["name"], "")
    table.writerow([meeting["createdAt"][:10], meeting["title"], stage, "; ".join(names)])
file = sdk.files.write("meetings-and-campaigns.csv", text.getvalue())
return {"file": file.id, "meetings": len(meetings), "lines": text.getvalue().splitlines()[:3]}
""".strip()
"""The script of the act about sources."""

CALLS = "panorama calls --limit 50"

Arguments = Callable[[DemoFacts], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request, its call and its check; `refused` is the expected error."""

    name: str
    prompt: str
    tool: str
    check: Check
    arguments: Arguments = lambda _: {}
    refused: str = ""
    chapter: str = ""


def _folder_arguments(morning: DemoFacts) -> Mapping[str, Any]:
    return {"DIR": str(morning.workspace)}


def _task_arguments(_: DemoFacts) -> Mapping[str, Any]:
    title = "Ask Benedikt about the old shoes"
    return {"title": title, "project": RUNNING, "deadline": "tomorrow", "idempotency_key": "demo-shoes"}


def _batch_arguments(_: DemoFacts) -> Mapping[str, Any]:
    project = {"project": "$0.data.id"}
    walk = {"title": "Agree on a day for the site walk", "deadline": "+5d", "important": True}
    operations: list[dict[str, Any]] = [
        {"tool": "create_project", "args": {"name": "Library Bregenz", "description": "Returns desk, paid site walk."}},
        {"tool": "create_task", "args": project | walk},
        {"tool": "create_task", "args": project | {"title": "Write the offer", "deadline": "+12d"}},
        {"tool": "create_task", "args": project | {"title": "Ask Milo if he has time", "urgent": True}},
        {
            "tool": "create_note",
            "args": project | {"title": "Library: first thoughts", "content": "Where is the queue?"},
        },
        {"tool": "create_link", "args": project | {"title": "The library", "url": "https://example.org/library"}},
    ]
    return {"operations": operations}


def _done_this_week_query(morning: DemoFacts) -> Mapping[str, Any]:
    week = morning.data("week")
    day_after = (date.fromisoformat(week["end"]) + timedelta(days=1)).isoformat()
    where = {"status": "done", "completed_at": {"gte": week["start"], "lt": day_after}}
    return {"collection": "tasks", "where": where, "group_by": ["project"]}


def _due_next_week_query(morning: DemoFacts) -> Mapping[str, Any]:
    end = date.fromisoformat(morning.data("week")["end"])
    days = {"gt": end.isoformat(), "lte": (end + timedelta(days=7)).isoformat()}
    return {
        "collection": "tasks",
        "where": {"status": {"in": list(OPEN_STATUSES)}, "deadline": days},
        "group_by": ["project"],
    }


IMPORTS = (
    Step(
        chapter="A folder of Markdown moves in",
        name="import",
        prompt="Take over my notes folder.",
        tool=IMPORT,
        arguments=_folder_arguments,
        check=checks.check_import,
    ),
    Step(
        name="import again",
        prompt="Once more, to be sure that nothing comes twice.",
        tool=IMPORT,
        arguments=_folder_arguments,
        check=checks.check_import_again,
    ),
    Step(
        name="reindex",
        prompt="Let me see it read all of that. (It would by itself, in the background.)",
        tool="panorama reindex",
        check=checks.check_indexed,
    ),
)
"""Steps on the command line, before the server starts."""

STEPS = (
    Step(
        chapter="A look around",
        name="overdue",
        prompt="What is overdue?",
        tool="list_tasks",
        arguments=lambda _: {"view": "overdue"},
        check=checks.check_overdue,
    ),
    Step(
        name="search",
        prompt="Where did I write about the induction hob?",
        tool="search",
        arguments=lambda _: {"query": f'"{HOB}"', "kinds": ["note"]},
        check=checks.check_keyword_search,
    ),
    Step(
        name="search by meaning",
        prompt="And the one about that joint that hurts when I go jogging?",
        tool="search",
        arguments=lambda _: {"query": " ".join(JOINT), "kinds": ["note"], "limit": 3},
        check=checks.check_semantic_search,
    ),
    Step(
        chapter="Things get done",
        name="create",
        prompt="Remind me to ask Benedikt about the old shoes tomorrow.",
        tool="create_task",
        arguments=_task_arguments,
        check=checks.check_created,
    ),
    Step(
        name="create again",
        prompt="(The line dropped; the assistant sends the same call again.)",
        tool="create_task",
        arguments=_task_arguments,
        check=checks.check_idempotent,
    ),
    Step(
        name="complete",
        prompt="The long run is done, and my knee is still speaking to me.",
        tool="update_task",
        arguments=lambda _: {"task": LONG_RUN, "status": "done"},
        check=checks.check_completed,
    ),
    Step(
        name="list",
        prompt="What is left for running?",
        tool="list_tasks",
        arguments=lambda _: {"project": RUNNING},
        check=checks.check_recurrence,
    ),
    Step(
        name="edit",
        prompt="The grout is decided: linen. Correct that in the kitchen decisions.",
        tool="edit_note",
        arguments=lambda _: {"note": DECISIONS, "old_text": OPEN_BEFORE, "new_text": OPEN_AFTER},
        check=checks.check_new_version,
    ),
    Step(
        name="append",
        prompt="And put it on the list there, with today's date.",
        tool="append_to_note",
        arguments=lambda morning: {
            "note": DECISIONS,
            "block": decision_line(morning),
            "after_marker": "Handmade tile",
            "separator": "\n",
        },
        check=checks.check_new_version,
    ),
    Step(
        name="read",
        prompt="Read it back to me.",
        tool="get_note",
        arguments=lambda _: {"note": DECISIONS},
        check=checks.check_note_text,
    ),
    Step(
        chapter="Several at once, and back",
        name="batch",
        prompt="The library in Bregenz said yes! Set up a project, three tasks, a note and their link.",
        tool="batch",
        arguments=_batch_arguments,
        check=checks.check_batch,
    ),
    Step(
        name="undo batch",
        prompt="Oh. They wrote “perhaps”. Take all of that back.",
        tool="undo",
        arguments=lambda morning: {"unit": morning.answers["batch"].metadata["undo"]},
        check=checks.check_batch_undone,
    ),
    Step(
        chapter="A mistake and its undo",
        name="dashboard",
        prompt="How far are we with Japan?",
        tool="project_dashboard",
        arguments=lambda _: {"project": JAPAN},
        check=checks.check_dashboard,
    ),
    Step(
        name="delete",
        prompt="Delete it. All of it.",
        tool="delete_item",
        arguments=lambda morning: {"item": morning.data("dashboard")["project"]["id"], "items": "trash"},
        check=checks.check_trashed,
    ),
    Step(
        name="gone",
        prompt="And how far are we with Japan now?",
        tool="project_dashboard",
        arguments=lambda _: {"project": JAPAN},
        refused="not_found",
        check=checks.check_not_found,
    ),
    Step(
        name="undo",
        prompt="No! I meant the old packing list. Undo that!",
        tool="undo",
        check=checks.check_restored,
    ),
    Step(
        name="as before",
        prompt="Is everything of Japan there again?",
        tool="project_dashboard",
        arguments=lambda _: {"project": JAPAN},
        check=checks.check_counts_restored,
    ),
    Step(
        chapter="The week",
        name="week",
        prompt="How was my week?",
        tool="weekly_review",
        check=checks.check_week,
    ),
    Step(
        name="done by project",
        prompt="Where did I get most done?",
        tool="query",
        arguments=_done_this_week_query,
        check=checks.make_sum_check("completed"),
    ),
    Step(
        name="next by project",
        prompt="And what does next week want from me?",
        tool="query",
        arguments=_due_next_week_query,
        check=checks.make_sum_check("due_next_week"),
    ),
    Step(
        chapter="Three services in one script",
        name="join",
        prompt="Cross my product meetings with the campaigns and the companies, and give me a CSV. (Claap, lemlist and "
        "Notion are stand-ins on this machine, with made-up data.)",
        tool="run_code",
        arguments=lambda _: {"code": JOIN},
        check=checks.check_join,
    ),
    Step(
        name="calls",
        prompt="And what would it have cost to read all of that page by page?",
        tool=CALLS,
        check=checks.check_join_cost,
    ),
    Step(
        name="status",
        prompt="Is everything where it belongs?",
        tool="status",
        check=checks.check_status,
    ),
)
"""Steps on the server, in one conversation."""
