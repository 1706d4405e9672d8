"""A data directory in which every view has something to show: `python -m tests.browser.sample_data DIRECTORY`.

The sample workspace is imported five weeks ago by a clock that is moved; since then several clients add and complete
tasks, read, search, hold meetings, run scripts and submit a changed script for review.
"""

import random
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from panorama import sample
from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import Settings
from panorama.errors import ConfirmationError, PanoramaError
from panorama.services.base import ServiceContext
from panorama.store.sqlite.engine import SqliteDatabase

ZONE = ZoneInfo("Europe/Berlin")
DAYS = 35
ASSISTANTS = ("claude-desktop", "claude-desktop", "claude-code", "vscode")
COMPLETED = (
    "Photograph the old kitchen", "Get three quotes", "Draw the floor plan", "Empty the pantry", "Return the drill",
    "Write the kick-off summary", "Set up the staging server", "Interview the archivist", "Sketch the object page",
    "Choose a search index", "Book flights to Osaka", "Compare rail passes", "Read the visa rules", "Order the oven",
    "Easy run, 6 km", "Intervals on the track", "Run with Jonas, 10 km", "Long run, 12 km", "Prune the currants",
    "Dig over bed three", "Sow the winter rye", "Clean the water butt", "Send the June invoices", "Sort the receipts",
    "Update the password vault", "Prepare the tax folder", "Back up the laptop", "Merge the new header",
    "Test with a screen reader", "Check the contrast of the search form", "Fix the bicycle light", "Call mother",
)  # fmt: skip
OPEN = (
    ("Send the second invoice", -3, {"urgent": True, "tags": ["money"]}),
    ("Reply to Ingrid about the loan agreement", -1, {"important": True}),
    ("Fix the broken language switch", 0, {"urgent": True, "tags": ["bug"]}),
    ("Review the accessibility report", 0, {"important": True, "status": "in_progress"}),
    ("Measure the window sill again", 1, {}),
    ("Water the plants", 0, {"recurrence": "every day"}),
    ("Agree on image rights for the photo archive", 2, {}),
)
SCRIPT = '''\
"""Move every overdue task of a project to a later day.

Args:
    project: Name or id.
    days: How many days later than today.
"""

def main(project: str, days: int = 1):
    moved = []
    for task in sdk.tasks.list(project=project, view="overdue"):
        sdk.tasks.update(task.id, deadline=f"+{days}d")
        moved.append(task.title)
    return {"moved": len(moved), "titles": moved}
'''
CHANGED_SCRIPT = SCRIPT.replace(
    "        moved.append(task.title)",
    """\
        if task.urgent:
            sdk.journal.create(f"Moved {task.title}")
        moved.append(task.title)""",
)
PROGRAMS = (
    'done = sdk.tasks.list(status="done", limit=20)\n'
    'note = sdk.notes.create(title="What was finished", content="\\n".join("- " + task.title for task in done))\n'
    'return {"note": note.id, "tasks": len(done)}',
    "for project in sdk.projects.list():\n    sdk.journal.create(f\"Looked at {project.name}\")\nreturn 'done'",
    "return sdk.tasks.get_all()",
)
READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tasks.list", {"view": "overdue"}),
    ("tasks.list", {"view": "this_week"}),
    ("search", {"query": "kitchen light"}),
    ("search", {"query": "rail pass"}),
    ("notes.get", {"note": "Kitchen budget"}),
    ("notes.get", {"note": "No such note"}),
    ("overview.week", {}),
    ("query", {"collection": "tasks", "group_by": "status", "count": True}),
)


class SampleWriter:
    """Writes the data by the calls of several clients, at moments in the past."""

    def __init__(self, home: Path) -> None:
        self.random = random.Random(7)
        self.end = datetime.now(UTC).replace(microsecond=0)
        self.moment = self.end - timedelta(days=DAYS)
        settings = Settings(home=home, timezone=ZONE.key, embedder="none", desktop_notifications=False)
        home.mkdir(parents=True, exist_ok=True)
        context = ServiceContext(SqliteDatabase(home / "panorama.db"), ZONE, home, lambda: self.moment)
        self.opening = open_app(settings, context)

    def write(self) -> None:
        """Write everything."""
        with self.opening as self.app:
            self.projects = self._import_workspace()
            self._write_weeks()
            self._write_tasks_of_today()
            self._write_people_and_meetings()
            self._write_scripts_and_runs()
            self._write_trash_and_files()
            self.app.recorder.flush()

    def call(self, operation: str, /, client: str = "", agreed: str = "", **arguments: Any) -> Any:
        """Call an operation as an assistant, or as the user at the terminal."""
        chosen = client or self.random.choice(ASSISTANTS)
        talk = Conversation(f"v_{chosen}"[:12], actor="cli" if chosen == "panorama" else "tool", client=chosen)
        return self.app.calls.call(operation, arguments, talk, agreed).data

    def _import_workspace(self) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            sample.write_files(Path(folder), self.end.astimezone(ZONE).date())
            self.call("import.markdown", folder=folder)
        return [row["id"] for row in self.call("projects.list", limit=100)]

    def _write_weeks(self) -> None:
        """Write tasks that were completed, and a log of reads, over all weeks."""
        moments: list[tuple[timedelta, int, str]] = []
        for number in range(len(COMPLETED)):
            begin = self.random.uniform(3, DAYS - 1)
            moments.append((timedelta(days=begin), number, "create"))
            moments.append((timedelta(days=max(0.1, begin - self.random.uniform(0.2, 8))), number, "complete"))
        moments += [(timedelta(days=self.random.uniform(0.1, 13)), number, "read") for number in range(160)]
        tasks: dict[int, str] = {}
        for ago, number, act in sorted(moments, reverse=True):
            self.moment = self.end - ago
            if act == "create":
                project = self.projects[number % len(self.projects)]
                tasks[number] = self.call("tasks.create", title=COMPLETED[number], project=project)["id"]
            elif act == "complete":
                self.call("tasks.update", task=tasks[number], status="done")
            else:
                self._read(*self.random.choice(READS))

    def _read(self, operation: str, arguments: dict[str, Any]) -> None:
        try:
            self.call(operation, **arguments)
        except PanoramaError:
            return  # the log has failures too

    def _write_tasks_of_today(self) -> None:
        today = self.end.astimezone(ZONE).date()
        for number, (title, days, more) in enumerate(OPEN):
            self.moment = self.end - timedelta(days=5, hours=-number)
            deadline = (today + timedelta(days=days)).isoformat()
            self.call("tasks.create", title=title, project=self.projects[number % 3], deadline=deadline, **more)

    def _write_people_and_meetings(self) -> None:
        self.moment = self.end - timedelta(days=2)
        team = self.call("teams.create", name="Halden Museum")["id"]
        ingrid = self.call("people.create", name="Ingrid", last_name="Solberg", role="Director", team=team)["id"]
        self.call("people.create", name="Tomas", last_name="Berg", role="Archivist", team=team, manager=ingrid)
        lines = [{"text": "Launch before the spring exhibition", "type": "decision"}, "The budget is fixed."]
        self.call("sessions.log", title="Kick-off", lines=lines, attendees=["Ingrid Solberg"], summary="Goals agreed.")
        today = self.end.astimezone(ZONE).date()
        for days, title in (
            (0, "Call with the archive"),
            (1, "Dentist"),
            (4, "Run with Jonas"),
            (12, "Talk in Zürich"),
        ):
            self.call("events.create", title=title, starts_at=f"{today + timedelta(days=days)} 15:00")

    def _write_scripts_and_runs(self) -> None:
        self.moment = self.end - timedelta(hours=30)
        self.call("scripts.save", name="move_overdue", code=SCRIPT)
        digest = self.call("scripts.get", script="move_overdue")["digest"]
        try:
            self.call("scripts.approve", client="panorama", script="move_overdue", digest=digest)
        except ConfirmationError as error:
            self.call("scripts.approve", "panorama", error.agreement, script="move_overdue", digest=digest)
        self.moment = self.end - timedelta(hours=5)
        self.call("scripts.save", name="move_overdue", code=CHANGED_SCRIPT, replace=True)
        project = self.projects[0]
        self.call("run_script", script="move_overdue", args={"project": project, "days": 2}, dry_run=True)
        for number, code in enumerate(PROGRAMS):
            self.moment = self.end - timedelta(hours=4 - number)
            self._read("run_code", {"code": code})

    def _write_trash_and_files(self) -> None:
        self.moment = self.end - timedelta(hours=1)
        note = self.call("notes.create", title="An old draft", content="No longer needed.")["id"]
        self.call("items.delete", item=note)
        file = self.call("files.write", name="week.csv", text="day,done\nMonday,3\nTuesday,5\n")["id"]
        first = self.call("notes.list", limit=1)[0]["id"]
        self.call("relations.create", from_item=file, kind="part_of", to_item=first)
        self.call("links.create", project=self.projects[0], url="https://example.org/plan", title="The plan")
        self.call("reminders.create", title="Pack for the trip", at="tomorrow 09:00")
        self.call("schedules.add", kind="backup", every="1 day")


if __name__ == "__main__":
    SampleWriter(Path(sys.argv[1])).write()
