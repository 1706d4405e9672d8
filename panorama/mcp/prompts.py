"""Prompts: starting points that a user picks from a list."""

from fastmcp import FastMCP

from panorama.mcp.guide import GUIDE

_REVIEW = """\
Do my weekly review with Panorama{period}.

1. Call weekly_review and projects_overview.
2. Tell me in a few lines what got done, what slipped, and which project needs attention (health falling, overdue).
3. Go through what slipped one by one: ask whether to do, move, park (status idea) or drop it.
   Then make the changes in one batch.
4. Look at what is due next week and propose at most three priorities.
5. When I agree, add a journal entry with the outcome."""

_PLAN = """\
Plan my day with Panorama.

1. Call status for the date, then list_tasks with the views overdue, today and in_progress, and list_events for today
   (through batch if it is not listed).
2. Propose a realistic plan for {hours} hours around the events: at most five tasks, important ones first, each with a
   short reason.
3. Ask before changing anything. When I agree, set scheduled_at and scheduled_minutes in one batch."""

_MEETING = """\
Capture a meeting with Panorama{about}.

1. I will paste or dictate my notes. Ask only for what is missing: title, project, who was there.
2. Call log_session with the title, project and attendees, and then with session and lines as I go on: short lines,
   with the type decision, action, next_step or question where it is one, and the speaker if I name one.
3. At the end, add a summary of two or three sentences.
4. List the tasks that follow from it, with deadlines where I named one, and ask me to confirm.
5. Then create them in one batch in the same project, and name the session's id as [[id]] in their notes."""


_SCRIPT = """\
Write a script for Panorama{task}, and keep it.

{guide}"""


def add_prompts(mcp: FastMCP) -> None:
    """Offer the prompts."""

    @mcp.prompt(title="Talk through my week")
    def weekly_review(start: str = "", end: str = "") -> str:
        """Review the week and decide what to do with overdue items."""
        return _REVIEW.format(period=f" for {start or 'the week'} to {end or 'today'}" if start or end else "")

    @mcp.prompt(title="Plan my day")
    def plan_my_day(hours: str = "6") -> str:
        """Choose what to do today and when."""
        return _PLAN.format(hours=hours)

    @mcp.prompt(title="Capture a meeting")
    def capture_meeting(project: str = "") -> str:
        """Log a meeting line by line, and turn what follows from it into tasks."""
        return _MEETING.format(about=f" of the project {project}" if project else "")

    @mcp.prompt(title="Write a script")
    def write_script(task: str = "") -> str:
        """Turn a repeated task into a saved script."""
        return _SCRIPT.format(task=f" that does this: {task}" if task else "", guide=GUIDE)
