"""Summaries of pages and items in one line; other results summarize themselves."""

from collections.abc import Callable, Mapping
from typing import Any

from panorama.domain.items.files import File
from panorama.domain.items.item import Item
from panorama.domain.items.reminders import Reminder
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.paging import Page
from panorama.domain.text.wording import capitalize, pluralize
from panorama.kinds import name_kind
from panorama.services.history.results import HistoryLine, RecentWrite
from panorama.services.jobs.results import JobView
from panorama.services.reminders.results import FiredReminder
from panorama.services.scripts.library.results import ScriptLine


def make_list_summary(noun: str) -> Callable[[Page[Any]], str]:
    """Return a summary of pages of a noun: «12 of 240 tasks»."""
    plural = noun.removesuffix("y") + "ies" if noun.endswith("y") else name_kind(noun, 2)

    def summarize_page(page: Page[Any]) -> str:
        count = len(page.items)
        scope = f" ({page.scope})" if page.scope else ""
        if page.total is None or page.total == count:
            return f"{count} {noun if count == 1 else plural}{scope}{_describe_more(page)}"
        return f"{count} of {page.total} {plural}{scope}{_describe_more(page)}"

    return summarize_page


def _describe_more(page: Page[Any]) -> str:
    """Return the hint for the next page, "" if there is none."""
    return ", more with next_cursor" if page.more else ""


def summarize_search(page: Page[Any]) -> str:
    """Summarize a search: the number of hits, and what was not searched."""
    index = page.index or {}
    found = "close in meaning, none contains the words" if "nearest" in index else "found"
    count = f"{len(page.items)} {found}" if page.items else "Nothing found"
    count += " with these filters" if "filtered" in index else ""
    count += " with corrected words" if "corrected" in index else ""
    weaker = f", {index['weaker']} weaker left out (see other modes)" if "weaker" in index else ""
    return count + _describe_more(page) + weaker + _describe_gap(index) + _describe_change(index)


def _describe_change(index: Mapping[str, Any]) -> str:
    """Describe the move to another model and why it failed, "" if there is none."""
    if "changing_to" not in index:
        return ""
    failure = f": {index['do']}" if "do" in index else ""
    return f"; {index['model']} is searched until {index['changing_to']} is ready{failure}"


def _describe_gap(index: Mapping[str, Any]) -> str:
    """Describe what search by meaning did not cover, "" if it covered all."""
    missing, pending = str(index.get("missing", "")), index.get("pending", 0)
    if missing.endswith("is off."):
        return ", by words alone"
    if missing:
        return f", by words alone: {' '.join(filter(None, (missing, index.get('do', ''))))}"
    changes = "1 newer change is" if pending == 1 else f"{pending:,} newer changes are"
    so_far = "searched by words alone so far" if "keyword" in index.get("ran", ()) else "not searched yet"
    return f"; {changes} {so_far}" if pending else ""


def summarize_item(item: Item) -> str:
    """Summarize a shown item."""
    return capitalize(item.describe())


def summarize_session_log(session: LoggedSession) -> str:
    """Summarize a session that was begun or continued."""
    return f"Logged {session.describe()}, {pluralize(session.line_count, 'line')}, version {session.version}"


def summarize_create(item: Item) -> str:
    """Summarize a creation."""
    return f"Created {item.describe()}"


def summarize_update(item: Item) -> str:
    """Summarize an update."""
    return f"Updated {item.describe()}, version {item.version}"


def summarize_no_change(item: Item) -> str:
    """Summarize an update without changes."""
    return f"Nothing changed in {item.describe()}, version {item.version}"


def summarize_restore(item: Item) -> str:
    """Summarize a restored item."""
    return f"Restored {item.describe()}"


def summarize_waiting_reminders(page: Page[FiredReminder]) -> str:
    """Summarize the waiting reminders."""
    if not page.items:
        return "No reminder waits"
    total = page.total or len(page.items)
    count = f"{len(page.items)} of {total}" if len(page.items) < total else str(total)
    verb = "reminder waits" if total == 1 else "reminders wait"
    return f"{count} {verb} to be acknowledged{_describe_more(page)}"


def summarize_snooze(reminder: Reminder) -> str:
    """Summarize a snoozed reminder."""
    moment = (reminder.snoozed_until or reminder.at).astimezone(reminder.zone_info)
    how = "Snoozed {} until {}" if reminder.snoozed_until else "Moved {} to {}"
    return how.format(reminder.describe(), f"{moment:%Y-%m-%d %H:%M}")


def summarize_acknowledge(reminder: Reminder) -> str:
    """Summarize an acknowledged reminder."""
    return f"Acknowledged {reminder.describe()}"


def summarize_append(note: Any) -> str:
    """Summarize an extended note."""
    return f"Note “{note.title}” ({note.id}) has {note.chars:,} characters, version {note.version}"


summarize_edit = summarize_append


def summarize_file_write(file: File) -> str:
    """Summarize a written file."""
    return f"Wrote {file.describe()}, {pluralize(file.size, 'byte')}, version {file.version}"


def summarize_named_item(item: Mapping[str, Any]) -> str:
    """Summarize a resolved name."""
    return f"{str(item['kind']).capitalize()} “{item['label']}” ({item['id']})"


def summarize_history(page: Page[HistoryLine | RecentWrite]) -> str:
    """Summarize a list of changes."""
    if page.total is None:
        return f"{pluralize(len(page.items), 'write')}, the newest first{_describe_more(page)}"
    return f"{len(page.items)} of {page.total} changes, the newest first{_describe_more(page)}"


def summarize_script_list(page: Page[ScriptLine]) -> str:
    """Summarize a list of scripts or suggestions."""
    if page.items and page.items[0].state == "suggested":
        return f"{len(page.items)} {'thing is' if len(page.items) == 1 else 'things are'} worth a script"
    return make_list_summary("script")(page)


def summarize_script_call(_: Any) -> str:
    """Summarize a nested run."""
    return "It ran"


def summarize_jobs(jobs: JobView | Page[JobView]) -> str:
    """Summarize a job or a list of jobs."""
    return jobs.summarize() if isinstance(jobs, JobView) else make_list_summary("job")(jobs)


def summarize_job_start(job: JobView, *, at_terminal: bool) -> str:
    """Summarize a started job, with the next call or terminal command."""
    shows, stops = ("get_job", "cancel_job")
    if at_terminal:
        shows, stops = f"`panorama jobs show {job.id}`", f"`panorama jobs cancel {job.id}`"
    return f"Job {job.id} ({job.kind}) was started; {shows} shows its progress, {stops} cancels it"


def summarize_markdown(page: Any) -> str:
    """Summarize a rendered page."""
    return f"{len(page['markdown']):,} characters"
