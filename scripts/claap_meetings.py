"""Copy recorded meetings from Claap into sessions, and their action items into tasks.

The source_ref of a session or task says what it is a copy of, so it is found again under any title. The next run
updates a session whose recording changed, and keeps what you wrote below the mark at the end of the copied summary.
What you changed above it, or deleted, stays so. Earlier versions made notes; those are updated as notes.
"""

import hashlib
import re
from datetime import date, timedelta

MOST = 200
TEXT_CHARS = 20_000


def main(days: int = 14, label: str = "", project: str = "", tasks: bool = True) -> dict:
    """Return how many sessions and tasks were made or updated, and what was left alone.

    Args:
        days: How many days ago a meeting was at most, 1 to 365.
        label: Only meetings with this label.
        project: The project of new sessions and tasks, by its name or id; none if left out.
        tasks: Make tasks of open action items.
    """
    if not 1 <= days <= 365:
        raise ValueError(f"days is {days}; give 1 to 365.")
    if not hasattr(sdk, "claap"):
        return {"note": "There is no source claap. Add it with `panorama sources add claap --kind claap`."}
    place = sdk.projects.get(project) if project else None
    since = date.fromisoformat(sdk.status().today) - timedelta(days=days)
    labels = [label] if label else []
    recordings = sdk.claap.recordings(created_after=str(since), labels=labels, limit=MOST + 1)
    counts = {"made": 0, "updated": 0, "unchanged": 0, "changed_here": 0, "deleted_here": 0, "tasks": 0}
    known = sdk.tasks.list(status="any") if tasks else []
    for number, recording in enumerate(recordings[:MOST], start=1):
        sdk.progress(number, len(recordings), "Copying meetings")
        counts[keep(recording, place)] += 1
        if tasks:
            counts["tasks"] += add_tasks(recording, place, known)
    more = (
        {"note": f"There are more than {MOST} meetings; give fewer days or a label."} if len(recordings) > MOST else {}
    )
    return {**{name: count for name, count in counts.items() if count}, "meetings": len(recordings[:MOST]), **more}


def keep(recording, place) -> str:
    """Make or update the session of a recording, or the note of one that was copied before; return what was done."""
    ref, mark = f"claap:{clean(recording['id'])}", f"<!-- claap:{recording['id']} "
    copy = find(ref, mark)
    if copy is None:
        text = text_of(recording)
        made = sdk.sessions.create(
            f"{day_of(recording)} {clean(recording.get('title') or 'Meeting')}"[:200].strip(),
            project=place, started_at=recording.get("createdAt") or "", attendees=people_of(recording),
            summary=f"{text}\n\n{mark}{digest(text)} -->\n",
        )  # fmt: skip
        sdk.items.link_source(made, ref)
        return "made"
    if copy.get("deleted_at"):
        return "deleted_here"
    is_note = "content" in copy
    text = text_of(recording, with_people=is_note)
    before, _, rest = (copy.content if is_note else copy.summary).partition(mark)
    stored, _, after = rest.partition(" -->")
    if stored == digest(text):
        return "unchanged"
    if stored != digest(before):
        return "changed_here"
    copied = f"{text}\n\n{mark}{digest(text)} -->{after}"
    if is_note:
        sdk.notes.update(copy, content=copied, expected_version=copy.version)
    else:
        sdk.sessions.update(copy, summary=copied)
    return "updated"


def find(ref: str, mark: str):
    """Return the session or note of a recording, also of those in the trash; None if there is none."""
    kinds = ("session", "note")
    found = [copy for kind in kinds if (copy := sdk.items.find_source(ref, kind=kind, trash=True))]
    return found[0] if found else adopt(ref, mark)


def adopt(ref: str, mark: str):
    """Link and return the note of a recording that an earlier version of this script made; None if there is none."""
    for hit in sdk.search(f'"{ref}"', kinds=["note"], mode="keyword", limit=5):
        if mark in sdk.notes.text(hit.id):
            return sdk.items.link_source(hit.id, ref)
    return None


def digest(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.md5(text.rstrip().encode()).hexdigest()[:12]


def day_of(recording) -> str:
    """Return the day of a recording."""
    return str(recording.get("createdAt") or "")[:10]


def people_of(recording) -> list[str]:
    """Return the names or e-mail addresses of the participants."""
    people = (recording.get("meeting") or {}).get("participants") or []
    return [clean(name) for person in people if (name := person.get("name") or person.get("email"))]


def text_of(recording, with_people: bool = False) -> str:
    """Return a recording as Markdown."""
    people = people_of(recording) if with_people else []
    takeaways = [each.get("text") for each in recording.get("keyTakeaways") or [] if isinstance(each, dict)]
    parts = [
        f"[Recording]({clean(recording.get('url') or '')})",
        f"People: {', '.join(people)}" if people else "",
        "\n".join(f"- {clean(each)}" for each in takeaways if each),
        "\n".join(f"- [{'x' if done else ' '}] {text}" for text, done in items_of(recording)),
    ]
    return "\n\n".join(part for part in parts if part)[:TEXT_CHARS]


def items_of(recording) -> list[tuple[str, bool]]:
    """Return the action items of a recording, in its first language, and whether they are done."""
    lists = recording.get("actionItems") or [{}]
    rows = lists[0].get("items") or []
    return [(clean(row.get("description") or ""), bool(row.get("isChecked"))) for row in rows if row.get("description")]


def add_tasks(recording, place, known: list) -> int:
    """Make tasks of the open action items that were never made, and return how many."""
    count = 0
    for text, is_done in items_of(recording):
        ref, mark = f"claap:{clean(recording['id'])}/{digest(text)}", f"From claap:{recording['id']}:\n> {text}"
        if is_done or sdk.items.find_source(ref, kind="task", trash=True):
            continue
        task = next((task for task in known if mark in task.notes and not task.source_ref), None)
        if task is None:
            url = clean(recording.get("url") or "")
            task = sdk.tasks.create(text[:500], project=place, tags=["claap"], notes=f"{mark}\n{url}")
            count += 1
        sdk.items.link_source(task, ref)
    return count


def clean(text) -> str:
    """Return a stranger's text on one line, without marks like ours."""
    return re.sub(r"<!--|-->", "", " ".join(str(text).split()))
