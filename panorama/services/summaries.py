"""Summaries: the result of an operation in one line."""

from collections.abc import Callable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.items.files import File
from panorama.domain.items.item import Item
from panorama.domain.items.reminders import Reminder
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.paging import Page
from panorama.domain.schedules import Schedule
from panorama.domain.sessions.analysis import SessionAnalysis
from panorama.kinds import name_kind
from panorama.services.archive.results import (
    ArchiveCheckResult,
    BackupList,
    BackupResult,
    ExportResult,
    RestoreResult,
    pluralize,
)
from panorama.services.items.results import (
    BatchResult,
    Dashboard,
    DeleteResult,
    FilePart,
    FileText,
    FiredReminder,
    HistoryLine,
    ItemView,
    NoteText,
    Overview,
    RecentWrite,
    RemovedSchedule,
    Status,
    TagChange,
    UndoResult,
    WeeklyReview,
)
from panorama.services.jobs.page import describe_progress
from panorama.services.jobs.results import JobView
from panorama.services.scripts.library_results import (
    ScriptDiff,
    ScriptHistory,
    ScriptLine,
    ScriptReviewResult,
    ScriptSaveResult,
    ScriptView,
)
from panorama.services.scripts.run_results import RunResult, RunView
from panorama.services.search.results import ReindexResult
from panorama.services.sessions.results import SessionExport, SessionView

MAX_TITLES = 5


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
    found = "near in meaning, none holds the words" if "nearest" in index else "found"
    count = f"{len(page.items)} {found}" if page.items else "Nothing found"
    count += " with these filters" if "filtered" in index else ""
    count += " with corrected words" if "corrected" in index else ""
    weaker = f", {index['weaker']} weaker left out (see other modes)" if "weaker" in index else ""
    changing = f"; {index['model']} is searched until {index['changing_to']} is ready" if "changing_to" in index else ""
    return count + _describe_more(page) + weaker + _describe_gap(index) + changing


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


def summarize_reindex(done: ReindexResult) -> str:
    """Summarize a reindex."""
    return (
        f"{done.passages:,} passages can be found by meaning ({done.model}); {done.items:,} items were looked at and "
        f"{done.embedded:,} texts embedded in {done.seconds:g} s"
    )


def _describe_item(item: Any) -> str:
    return f"{name_kind(item.KIND)} “{item.label}” ({item.id})"


def summarize_item(value: Any) -> str:
    """Summarize a shown item."""
    if isinstance(value, ItemView) and value.kind == "tool":
        return f"Tool {value.item['name']}; call it through batch if it is not listed"
    item = value.item if isinstance(value, ItemView) else value
    more = _describe_left_out(value.more, "list_* shows") if isinstance(value, ItemView) else ""
    return _describe_item(item)[0].upper() + _describe_item(item)[1:] + more


def _describe_left_out(more: Mapping[str, int], where: str) -> str:
    """Describe the rows omitted from short lists, and how to get them; "" if there are none."""
    rows = {name: count for name, count in more.items() if name != "next_start"}
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in rows.items())
    onward = f"; read on with start={more['next_start']}" if "next_start" in more else ""
    return onward + (f"; not shown: {counts} ({where} them)" if rows else "")


def summarize_note_text(note: NoteText) -> str:
    """Summarize which part of a note is shown, and how to read on."""
    if note.start is None or note.end is None:
        return f"Note “{note.title}” ({note.id}), {note.chars:,} characters"
    onward = f"; read on with start={note.end}" if note.end < note.chars else ""
    return f"Note “{note.title}” ({note.id}), characters {note.start:,} to {note.end:,} of {note.chars:,}{onward}"


def summarize_session(session: SessionView) -> str:
    """Summarize which lines of a session are shown, and how to read on."""
    shown = f"{pluralize(len(session.lines), 'line')} of {session.line_count:,}"
    onward = f"; read on with start={session.next_start}" if session.next_start else ""
    return f"Session “{session.title}” ({session.id}), {shown}{onward}"


def summarize_session_log(session: LoggedSession) -> str:
    """Summarize a session that was begun or continued."""
    return f"Logged {_describe_item(session)}, {pluralize(session.line_count, 'line')}, version {session.version}"


def summarize_session_export(exported: SessionExport) -> str:
    """Summarize which part of an exported session is shown, and how to read on."""
    if exported.start is None or exported.end is None:
        return f"Session “{exported.title}” ({exported.id}) as {exported.format}, {exported.chars:,} characters"
    onward = f"; read on with start={exported.end}" if exported.end < exported.chars else ""
    shown = f"characters {exported.start:,} to {exported.end:,} of {exported.chars:,}"
    return f"Session “{exported.title}” ({exported.id}) as {exported.format}, {shown}{onward}"


def summarize_session_analysis(session: SessionAnalysis) -> str:
    """Summarize the measures of a session."""
    measures = f"linearity {session.linearity:g}, revision rate {session.revision_rate:g}, depth {session.depth}"
    return f"Session “{session.title}” ({session.id}), {pluralize(session.lines, 'line')}: {measures}"


def summarize_create(item: Item) -> str:
    """Summarize a creation."""
    return f"Created {_describe_item(item)}"


def summarize_update(item: Item) -> str:
    """Summarize an update."""
    return f"Updated {_describe_item(item)}, version {item.version}"


def summarize_no_change(item: Item) -> str:
    """Summarize an update without changes."""
    return f"Nothing changed in {_describe_item(item)}, version {item.version}"


def summarize_restore(item: Item) -> str:
    """Summarize a restored item."""
    return f"Restored {_describe_item(item)}"


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
    return how.format(_describe_item(reminder), f"{moment:%Y-%m-%d %H:%M}")


def summarize_acknowledge(reminder: Reminder) -> str:
    """Summarize an acknowledged reminder."""
    return f"Acknowledged {_describe_item(reminder)}"


def summarize_schedule(schedule: Schedule) -> str:
    """Summarize a schedule."""
    when = "paused" if schedule.paused else "has ended"
    if schedule.next_at:
        zone = ZoneInfo(schedule.zone)
        when = f"next {schedule.next_at.astimezone(zone):%Y-%m-%d %H:%M} ({schedule.zone})"
    return f"Schedule “{schedule.name}” ({schedule.id}), {schedule.kind}, {schedule.trigger} {schedule.rule}: {when}"


def summarize_schedule_removal(removed: RemovedSchedule) -> str:
    """Summarize a removed schedule."""
    return f"Removed the schedule “{removed.name}” ({removed.id})"


def summarize_append(note: Any) -> str:
    """Summarize an extended note."""
    return f"Note “{note.title}” ({note.id}) has {note.chars:,} characters, version {note.version}"


summarize_edit = summarize_append


def summarize_file_write(file: File) -> str:
    """Summarize a written file."""
    return f"Wrote {_describe_item(file)}, {_format_bytes(file.size)}, version {file.version}"


def summarize_file_text(file: FileText) -> str:
    """Summarize which part of a file is shown, and how to read on."""
    if file.chars is None:
        return f"{summarize_item(file)}, {file.media_type}, {_format_bytes(file.size)}: no text to show"
    if file.start is None or file.end is None:
        return f"{summarize_item(file)}, {file.chars:,} characters"
    onward = f"; read on with start={file.end}" if file.end < file.chars else ""
    return f"{summarize_item(file)}, characters {file.start:,} to {file.end:,} of {file.chars:,}{onward}"


def _format_bytes(count: int) -> str:
    return f"{count:,} {'byte' if count == 1 else 'bytes'}"


def summarize_file_part(part: FilePart) -> str:
    """Summarize a part of a file."""
    return f"“{part.name}” ({part.id}) from byte {part.start:,} of {part.size:,}"


def summarize_backup(done: BackupResult) -> str:
    """Summarize a backup."""
    contents = f"{_format_rows_and_files(done.rows, done.files)}, {done.size_bytes / 1e6:,.1f} MB"
    removed = f"; {pluralize(done.removed, 'older one')} removed" if done.removed else ""
    missing = _format_missing(done.problem_count)
    return f"Backed up {contents} to {done.path} and checked it in {done.seconds:g} s{removed}{missing}"


def summarize_backup_list(backups: BackupList) -> str:
    """Summarize a list of backups."""
    return f"{pluralize(backups.count, 'backup')} in {backups.folder}"


def summarize_backup_check(result: ArchiveCheckResult) -> str:
    """Summarize a successful check."""
    contents = f"{pluralize(result.files, 'file')}, {pluralize(result.rows, 'row')}, {result.size_bytes / 1e6:,.1f} MB"
    made_at = f"{result.made_at:%Y-%m-%d %H:%M}"
    return f"The {result.kind} of {made_at} is intact: {contents}{_format_missing(len(result.problems))}"


def summarize_export(done: ExportResult) -> str:
    """Summarize an export."""
    contents = f"{pluralize(done.rows, 'row')}, {pluralize(done.pages, 'page')} and {_format_contents(done.files)}"
    return f"Exported {contents}, to {done.path}, in {done.seconds:g} s{_format_missing(done.problem_count)}"


def summarize_restored_home(done: RestoreResult) -> str:
    """Summarize a restore."""
    contents = _format_rows_and_files(done.rows, done.files)
    missing = _format_missing(len(done.problems))
    return f"Restored {contents} of {done.made_at:%Y-%m-%d %H:%M} to {done.path}, compared{missing}"


def _format_missing(count: int) -> str:
    return f"; {pluralize(count, 'item was', 'items were')} missing" if count else ""


def _format_rows_and_files(rows: int, files: int) -> str:
    return f"{pluralize(rows, 'row')} and {_format_contents(files)}"


def _format_contents(count: int) -> str:
    return pluralize(count, "content of a file", "contents of files")


def summarize_delete(deleted: DeleteResult) -> str:
    """Summarize a deletion."""
    rest = f" with {deleted.trashed - 1} items" if deleted.trashed > 1 else ""
    detached = f"; {deleted.kept} items are kept without it" if deleted.kept else ""
    return f"Moved the {deleted.kind} “{deleted.label}” ({deleted.id}){rest} to the trash{detached}"


def summarize_named_item(item: Mapping[str, Any]) -> str:
    """Summarize a resolved name."""
    return f"{str(item['kind']).capitalize()} “{item['label']}” ({item['id']})"


def summarize_tag_change(change: TagChange) -> str:
    """Summarize a tag change."""
    items = pluralize(change.items, "item")
    if change.renamed:
        return f"Renamed the tag “{change.tag}” to “{change.renamed}” on {items}"
    return f"Removed the tag “{change.tag}” from {items}"


def summarize_history(page: Page[HistoryLine | RecentWrite]) -> str:
    """Summarize a list of changes."""
    if page.total is None:
        return f"{pluralize(len(page.items), 'write')}, the newest first{_describe_more(page)}"
    return f"{len(page.items)} of {page.total} changes, the newest first{_describe_more(page)}"


def summarize_undo(result: UndoResult) -> str:
    """Summarize an undo, with the first titles."""
    verb = "Brought back" if result.redo else "Took back"
    writes = result.units[0] if len(result.units) == 1 else f"{len(result.units)} writes"
    titles = ", ".join(f"“{row['label']}” ({row['was']})" for row in result.undone[:MAX_TITLES])
    more = f" and {result.count - MAX_TITLES:,} more" if result.count > MAX_TITLES else ""
    left = f"; {result.conflict_count} left as conflicts" if result.conflicts else ""
    stopped = f". Stopped: {result.note}" if result.note else ""
    return f"{verb} {pluralize(result.count, 'change')} of {writes}: {titles}{more}{left}{stopped}"


def summarize_run_result(result: RunResult) -> str:
    """Summarize a run."""
    counts = ", ".join(f"{count} {noun}" for noun, count in result.changes.items())
    calls = sum(call.get("times", 1) for call in result.calls)
    did = f"{result.duration_ms:g} ms, {calls} {'call' if calls == 1 else 'calls'}, {counts or 'nothing changed'}"
    how = "Dry run" if result.dry_run else "Run"
    if result.script:
        how = f"{'Draft' if result.script_state == 'draft' else 'Script'} {result.script}: {how.lower()}"
    if result.error is None:
        nothing = ", no result" if result.result is None and not result.result_file and not result.shape else ""
        return f"{how} {result.run_id}: {did}{nothing}{_describe_run_cuts(result)}"
    at = f" at line {result.error['line']}" if "line" in result.error else ""
    return f"{how} {result.run_id} failed{at}: {result.error['message']} ({did}){_describe_run_cuts(result)}"


def _describe_run_cuts(result: RunResult) -> str:
    """Describe what is omitted from a run's answer."""
    changed = sum(result.changes.values())
    cuts = [
        f"the result is the file {result.result_file}" if result.result_file else "",
        "only the shape of the result is shown" if result.shape and not result.result_file else "",
        "the output is cut" if result.output_cut else "",
        f"the first {len(result.would)} of {changed} changes are shown" if 0 < len(result.would) < changed else "",
    ]
    return "".join(f"; {cut}" for cut in cuts if cut)


def summarize_script_list(page: Page[ScriptLine]) -> str:
    """Summarize a list of scripts or suggestions."""
    if page.items and page.items[0].state == "suggested":
        return f"{len(page.items)} {'thing is' if len(page.items) == 1 else 'things are'} worth a script"
    return make_list_summary("script")(page)


def summarize_script_save(saved: ScriptSaveResult) -> str:
    """Summarize a saved script."""
    return f"Saved the script {saved.name}({saved.parameters}) as {saved.state}"


def summarize_script(script: ScriptView) -> str:
    """Summarize a script."""
    by = f" by {script.by}" if script.by else ""
    return f"Script {script.name}({script.parameters}), {script.state}{by}: {script.summary}"


def summarize_script_review(script: ScriptReviewResult) -> str:
    """Summarize a decision on a script."""
    tool = f"; its tool is {script.tool}{', which only reads' if script.read_only else ''}" if script.tool else ""
    return f"The script {script.name} is {script.state}{tool}"


def summarize_script_history(history: ScriptHistory) -> str:
    """Summarize a script's history."""
    return f"{len(history.versions)} decisions on {history.name}"


def summarize_script_diff(diff: ScriptDiff) -> str:
    """Summarize a diff."""
    how = "differs from" if diff.diff else "is the same as"
    return f"{diff.name} {diff.new} {how} {diff.old}"


def summarize_script_call(_: Any) -> str:
    """Summarize a nested run."""
    return "It ran"


def summarize_run(run: RunView) -> str:
    """Summarize a logged run."""
    how = f"Dry run {run.id}" if run.options.get("dry_run") else f"Run {run.id}"
    return f"{how} {run.status}: {run.called} {'call' if run.called == 1 else 'calls'} in {run.ms:g} ms"


def summarize_jobs(jobs: JobView | Page[JobView]) -> str:
    """Summarize a job or a list of jobs."""
    return summarize_job(jobs) if isinstance(jobs, JobView) else make_list_summary("job")(jobs)


def summarize_job(job: JobView) -> str:
    """Summarize a job."""
    wrong = str(job.error.get("message", "")) if job.error else ""
    text = (
        describe_progress(job) if job.state in ("queued", "running") else " ".join(filter(None, (wrong, job.summary)))
    )
    return f"Job {job.id} ({job.kind}) {job.state}{f': {text}' if text else ''}"


def summarize_job_start(job: JobView, *, at_terminal: bool) -> str:
    """Summarize a started job, with the next call or terminal command."""
    shows, stops = ("get_job", "cancel_job")
    if at_terminal:
        shows, stops = f"`panorama jobs show {job.id}`", f"`panorama jobs cancel {job.id}`"
    return f"Job {job.id} ({job.kind}) was started; {shows} shows its progress, {stops} cancels it"


def summarize_batch(result: BatchResult) -> str:
    """Summarize a batch."""
    left_out = result.left_out
    cut = (
        f"; the data of {pluralize(left_out, 'result')} left out, call {'it' if left_out == 1 else 'them'} alone"
        if left_out
        else ""
    )
    if result.failed:
        return f"{result.succeeded} of {len(result.results)} operations done, {result.failed} failed{cut}"
    count = len(result.results)
    return f"{'1 operation' if count == 1 else f'All {count} operations'} done{cut}"


def summarize_dashboard(board: Dashboard) -> str:
    """Summarize a project."""
    numbers = board.project
    due = f"{numbers.open} open, {numbers.overdue} overdue, {numbers.due_soon} due soon"
    more = _describe_left_out(board.more, "list_* shows")
    return f"“{numbers.name}”: health {numbers.health}, {due}, {numbers.notes} notes{more}"


def summarize_overview(result: Overview) -> str:
    """Summarize all projects."""
    late = sum(project.overdue for project in result.projects)
    open_ones = sum(project.open for project in result.projects)
    count = pluralize(len(result.projects), "project")
    if result.more:
        count = f"The {len(result.projects)} of {len(result.projects) + result.more} projects that need attention most"
    archived = f"; without {result.archived} archived (list_projects shows them)" if result.archived else ""
    return f"{count}, {open_ones} open tasks, {late} overdue; {result.unassigned} open without a project{archived}"


def summarize_weekly_review(result: WeeklyReview) -> str:
    """Summarize a review."""
    return (
        f"{result.start} to {result.end}: {result.completed.count} completed, {result.created.count} created, "
        f"{result.slipped.count} slipped, {result.notes_written.count} notes written, "
        f"{result.due_next_week.count} due and {result.events_next_week.count} events next week"
        f"{_describe_left_out(result.more, 'query shows')}"
    )


def summarize_markdown(page: Any) -> str:
    """Summarize a rendered page."""
    return f"{len(page['markdown']):,} characters"


def summarize_status(state: Status) -> str:
    """Summarize the status."""
    counts, rung = state.counts, state.reminders_waiting
    wait = f"; {rung:,} {'reminder' if rung == 1 else 'reminders'} rang and wait (list_waiting_reminders)"
    return (
        f"Panorama {state.version}, {state.weekday} {state.now:%Y-%m-%d %H:%M} ({state.timezone}): "
        + ", ".join(f"{counts[kind]:,} {name_kind(kind, counts[kind])}" for kind in ("project", "task", "note"))
        + (wait if rung else "")
    )
