"""Join recorded meetings with campaign replies, tasks and companies in a CSV file.

Meetings are those of the source `claap`, replies those of `lemlist`, and companies, if a data source is named, those of
`notion`. The file keeps its name: the next run makes its next version.
"""

import csv
import io
from collections import defaultdict
from datetime import date, timedelta

COLUMNS = ("date", "meeting", "company", "stage", "people", "campaigns", "open_tasks", "url")
MOST_BYTES = 1_000_000
"""A script can send no more in one call."""


def main(days: int = 30, label: str = "", companies: str = "", stage: str = "Stage", company: str = "") -> dict:
    """Return the file's name and id, and what is in it.

    Args:
        days: How many days back, 1 to 365.
        label: Only meetings with this label.
        companies: Id of a data source in Notion that lists companies by their names; none if left out.
        stage: Its property that says how far a company is.
        company: Only meetings with a company whose name contains this.
    """
    if not 1 <= days <= 365:
        raise ValueError(f"days is {days}; give 1 to 365.")
    missing = [name for name in ("claap", "lemlist", *(["notion"] if companies else [])) if not hasattr(sdk, name)]
    if missing:
        name = missing[0]
        note = f"There is no source {name}. Add it with `panorama sources add {name} --kind {name}`."
        return {"file": "", "rows": 0, "note": note}
    since = date.fromisoformat(sdk.status().today) - timedelta(days=days)
    meetings, replies, pages, tasks = read_all(since, label, companies)
    stages = {page["title"]: shown(page["values"].get(stage)) for page in pages}
    campaigns = campaigns_by_email(replies)
    rows = [row(meeting, campaigns, stages, tasks) for meeting in meetings]
    rows = sorted((each for each in rows if company.casefold() in each["company"].casefold()), key=by_date)
    if not rows:
        return {"file": "", "rows": 0, "note": f"There is no such meeting since {since}, so no file was written."}
    text = table(rows)
    if len(text.encode()) > MOST_BYTES:
        raise ValueError(f"{len(rows):,} meetings are too many for one file; give fewer days or a label.")
    file = sdk.files.write("meetings-and-campaigns.csv", text, tags=["report"])
    return {
        "file": file.name,
        "id": file.id,
        "rows": len(rows),
        "with_campaigns": sum(bool(each["campaigns"]) for each in rows),
        "with_open_tasks": sum(bool(each["open_tasks"]) for each in rows),
    }


def read_all(since: date, label: str, companies: str) -> list:
    """Return the meetings, replies, companies and open tasks, all read side by side."""
    return sdk.parallel(
        lambda: sdk.claap.recordings(created_after=str(since), labels=[label] if label else []),
        lambda: sdk.lemlist.activities(type="emailsReplied", since=f"{since}T00:00:00Z"),
        lambda: sdk.notion.query(data_source=companies) if companies else [],
        lambda: sdk.tasks.list(),
    )


def row(meeting, campaigns: dict, stages: dict, tasks: list) -> dict:
    """Return a meeting as a row of the table."""
    people = (meeting.get("meeting") or {}).get("participants") or []
    emails = [str(person.get("email") or "").lower() for person in people]
    names = [each["name"] for each in meeting.get("companies") or [] if each.get("name")]
    found = sorted({name for email in emails for name in campaigns.get(email, ())})
    mentioned = [task.title for task in tasks if any(name.casefold() in task.title.casefold() for name in names)]
    return {
        "date": str(meeting.get("createdAt") or "")[:10],
        "meeting": safe(str(meeting.get("title") or "")),
        "company": safe("; ".join(names)),
        "stage": safe("; ".join(stages[name] for name in names if stages.get(name))),
        "people": safe("; ".join(str(person.get("name") or person.get("email") or "") for person in people)),
        "campaigns": safe("; ".join(found)),
        "open_tasks": safe("; ".join(mentioned)),
        "url": str(meeting.get("url") or ""),
    }


def campaigns_by_email(replies: list) -> dict:
    """Return the names of the campaigns that each person replied to."""
    found = defaultdict(set)
    for reply in replies:
        if reply.get("leadEmail") and reply.get("campaignName"):
            found[reply["leadEmail"].lower()].add(reply["campaignName"])
    return found


def table(rows: list[dict]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def by_date(each: dict) -> tuple[str, str]:
    """Return what rows are sorted by."""
    return each["date"], each["meeting"]


def shown(value) -> str:
    """Return a value of Notion as text."""
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    return "" if value is None else str(value)


def safe(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text
