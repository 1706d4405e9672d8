"""Copy pages from Notion into notes, with their properties and text.

The source_ref of a note says which page it is a copy of, so it is found again under any title. The next run reads only
pages that were edited since, updates their notes, and keeps what you wrote below the mark at the end of the copied
text. What you changed above it, or deleted, stays so.
"""

import hashlib
import re
from datetime import date, timedelta

MOST = 200
TEXT_CHARS = 200_000
PLAIN = (str, int, float, bool)


def main(data_source: str = "", days: int = 30, project: str = "", tag: str = "notion") -> dict:
    """Return how many notes were made or updated, and what was left alone.

    Args:
        data_source: Only pages of the data source with this id; all that the connection sees if left out.
        days: How many days ago a page was last edited at most, 1 to 3650.
        project: The project of new notes, by its name or id; none if left out.
        tag: The tag of new notes.
    """
    if not 1 <= days <= 3650:
        raise ValueError(f"days is {days}; give 1 to 3650.")
    if not hasattr(sdk, "notion"):
        return {"note": "There is no source notion. Add it with `panorama sources add notion --kind notion`."}
    place = sdk.projects.get(project) if project else None
    since = str(date.fromisoformat(sdk.status().today) - timedelta(days=days))
    pages = edited_since(data_source, since)
    counts = {"made": 0, "updated": 0, "unchanged": 0, "changed_here": 0, "deleted_here": 0}
    for number, page in enumerate(pages[:MOST], start=1):
        sdk.progress(number, len(pages), "Copying pages")
        counts[copy(page, place, tag)] += 1
    more = {"note": f"There are more than {MOST} pages; give fewer days or a data source."} if len(pages) > MOST else {}
    return {**{name: count for name, count in counts.items() if count}, "pages": len(pages[:MOST]), **more}


def edited_since(data_source: str, since: str) -> list:
    """Return the pages that were edited since a day, at most one more than are copied."""
    if data_source:
        recent = {"timestamp": "last_edited_time", "last_edited_time": {"on_or_after": since}}
        return sdk.notion.query(data_source=data_source, filter=recent, limit=MOST + 1)
    pages = sdk.notion.search(object="page", limit=MOST + 1)
    return [page for page in pages if str(page.get("last_edited_time") or "") >= since]


def copy(page, place, tag: str) -> str:
    """Make or update the note of a page, and return what was done."""
    mark, edited = f"<!-- notion:{page['id']} ", clean(page.get("last_edited_time") or "")
    ref = f"notion:{clean(page['id'])}"
    note = sdk.items.find_source(ref, kind="note", trash=True) or adopt(ref, mark)
    if note and note.get("deleted_at"):
        return "deleted_here"
    before, _, rest = note.content.partition(mark) if note else ("", "", "")
    stored, _, after = rest.partition(" -->")
    if note and stored.partition(" ")[0] == edited:
        return "unchanged"
    if note and stored.partition(" ")[2] != digest(before):
        return "changed_here"
    text = text_of(page)
    copied = f"{text}\n\n{mark}{edited} {digest(text)} -->"
    if note is None:
        title = clean(page.get("title") or "Untitled")[:200].strip()
        made = sdk.notes.create(title, f"{copied}\n", project=place, tags=[tag] if tag else [])
        sdk.items.link_source(made, ref)
        return "made"
    sdk.notes.update(note, content=f"{copied}{after}", expected_version=note.version)
    return "updated"


def adopt(ref: str, mark: str):
    """Link and return the note of a page that an earlier version of this script made; None if there is none."""
    for hit in sdk.search(f'"{ref}"', kinds=["note"], mode="keyword", limit=5):
        if mark in sdk.notes.text(hit.id):
            return sdk.items.link_source(hit.id, ref)
    return None


def text_of(page) -> str:
    """Return a page as Markdown: its address, its properties, its text."""
    values = {name: shown(value) for name, value in (page.get("values") or {}).items() if value != page.get("title")}
    lines = [f"- {clean(name)}: {clean(value)}" for name, value in values.items() if value]
    text = re.sub(r"<!--|-->", "", sdk.notion.markdown(page=page["id"]))
    parts = [f"[Page in Notion]({clean(page.get('url') or '')})", "\n".join(lines), text.strip()]
    return "\n\n".join(part for part in parts if part)[:TEXT_CHARS]


def shown(value) -> str:
    """Return a property as text; "" for what has no plain form."""
    if isinstance(value, list):
        return ", ".join(str(each) for each in value if isinstance(each, PLAIN))
    return str(value) if isinstance(value, PLAIN) else ""


def digest(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.md5(text.rstrip().encode()).hexdigest()[:12]


def clean(text) -> str:
    """Return a stranger's text on one line, without marks like ours."""
    return re.sub(r"<!--|-->", "", " ".join(str(text).split()))
