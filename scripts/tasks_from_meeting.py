"""Turn the action items of meetings into tasks, never twice for the same line.

Action items of a session are its lines of the types action and next_step that no later line revises. In notes they are
open checkboxes, lines that begin with TODO: or Action:, and plain bullets under a heading such as “Actions”, “Next
steps” or “To do”. Each task says which session or note and line it comes from. A line that is a task already,
also under a deleted or changed title, is passed over. A day after 📅, “by” or “due” becomes the deadline, #words become
tags, ⏫ makes it important, 🔺 urgent too.
"""

import re
import unicodedata
from datetime import date, timedelta
from functools import cache

MOST = 50
BOX = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[ \]\s+(.+)")
MARKED = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?\**(?:TODO|To[- ]do|ACTION|Action|Action item)\**:\**\s*(.+)")
BULLET = re.compile(r"(?:[-*+]|\d+[.)])\s+(?!\[.\])(.+)")
SECTION = re.compile(r"(actions?( items| points)?|to[- ]?dos?|next steps|follow[- ]?ups?|aufgaben)\b.{0,20}", re.I)
DUE = re.compile(r"(?:📅|\bby|\bdue)[: ]*(\d{4}-\d\d-\d\d)", re.I)
MARKS = re.compile(
    r"[📅⏳🛫➕✅❌]\ufe0f?\s*\d{4}-\d\d-\d\d|🔁[^📅⏳🛫➕#]*|[⏫🔼🔽🔺⏬]\ufe0f?|(?<!\S)#[^\W\d][\w/-]*"
)


def main(note: str = "", tag: str = "meeting", days: int = 14, session: str = "") -> dict:
    """Return the tasks that were made, and how many lines were passed over.

    Args:
        note: Only this note, by its title or id; otherwise the notes that carry the tag.
        tag: The tag of meeting notes; ignored if a note is named.
        days: How many days ago it was last changed at most, 1 to 3650; ignored if a note or a session is named.
        session: Only this session, by its title or id; otherwise those changed lately, unless a note is named.
    """
    if not 1 <= days <= 3650:
        raise ValueError(f"days is {days}; give 1 to 3650.")
    chosen = select(note, session, tag, str(date.fromisoformat(sdk.status().today) - timedelta(days=days)))
    tasks, made, passed = sdk.tasks.list(status="any"), [], 0
    trash = {key(each.label): each for each in reversed(sdk.items.trash()) if each.kind == "task"}
    for minutes in chosen:
        taken = there(tasks, minutes)
        for line in logged(minutes) if minutes.id.startswith("s_") else items(sdk.notes.text(minutes)):
            if key(line) in taken or is_unwanted(trash.get(key(line))):
                passed += 1
            elif len(made) < MOST and key(line):
                made.append(create(line, minutes))
                tasks.append(made[-1])
                taken.add(key(line))
    more = {"note": f"{MOST} were made; run it again for the rest."} if len(made) == MOST else {}
    sessions = sum(minutes.id.startswith("s_") for minutes in chosen)
    return {
        "notes": len(chosen) - sessions,
        "sessions": sessions,
        "made": [told(task) for task in made],
        "passed_over": passed,
        **more,
    }


def select(note: str, session: str, tag: str, since: str) -> list:
    """Return what is named, or the sessions and the notes with a tag that were changed since a day."""
    if note or session:
        return ([sdk.notes.get(note)] if note else []) + ([sdk.sessions.get(session)] if session else [])
    return [each for each in (*sdk.sessions.list(), *sdk.notes.list(tag=tag)) if each.updated_at[:10] >= since]


def logged(session) -> list[str]:
    """Return the action items among the lines of a session."""
    lines = sdk.sessions.get(session).lines
    revised = {line.revises for line in lines}
    chosen = [line for line in lines if line.type in ("action", "next_step") and line.position not in revised]
    return [" ".join(line.text.split())[:500] for line in chosen]


def items(text: str) -> list[str]:
    """Return the action items of a text, without those in blocks of code."""
    found, is_code, is_section = [], False, False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif is_code:
            continue
        elif line.startswith("#"):
            is_section = SECTION.fullmatch(line.strip("#*: ")) is not None
        elif match := BOX.fullmatch(line) or MARKED.fullmatch(line) or (is_section and BULLET.fullmatch(line)):
            found.append(match[1].strip()[:500])
    return found


def there(tasks: list, minutes) -> set[str]:
    """Return the lines that are tasks: by the title, unless it was closed before the meeting, or by the line kept."""
    notes = (task.notes for task in tasks if f"[[{minutes.id}]]" in task.notes)
    kept = (text.partition("\n> ")[2].partition("\n")[0] for text in notes)
    titles = (task.title for task in tasks if not is_old(task, minutes.created_at[:10]))
    return {key(text) for text in (*kept, *titles)}


def is_unwanted(trashed) -> bool:
    """Tell whether a task was deleted; one that an undo took back may be made again."""
    return bool(trashed) and sdk.history(trashed.id, limit=1)[0].operation != "history.undo"


def is_old(task, day: str) -> bool:
    """Tell whether a task was closed before a day, so that the same words mean a new one."""
    return task.status in ("done", "cancelled") and (task.completed_at or task.status_changed_at or day)[:10] < day


def create(line: str, minutes):
    """Make a task of a line and return it."""
    days = [found[1] for found in DUE.finditer(line) if is_day(found[1])]
    return sdk.tasks.create(
        cleaned(line),
        project=minutes.project,
        deadline=days[0] if days else "",
        urgent="🔺" in line,
        important="🔺" in line or "⏫" in line,
        tags=[found.lstrip("#") for found in MARKS.findall(line) if found.startswith("#")],
        notes=f"From [[{minutes.id}]] “{minutes.title}”:\n> {line}",
    )


def told(task) -> dict:
    """Return what the answer says of a task that was made."""
    return {"id": task.id, "title": task.title[:80], **({"deadline": task.deadline} if task.deadline else {})}


def cleaned(line: str) -> str:
    """Return a line without its marks and tags."""
    return " ".join(MARKS.sub(" ", line).split())


@cache
def key(line: str) -> str:
    """Return what two spellings of a line have in common: its letters and digits."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", cleaned(line)).casefold()))


def is_day(text: str) -> bool:
    """Tell whether a text is a day of the calendar."""
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False
