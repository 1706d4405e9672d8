"""Summaries: what an operation did, in one line."""

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.files import File
from panorama.domain.items import Item
from panorama.domain.reminders import Reminder
from panorama.domain.results import Page
from panorama.domain.schedules import Schedule
from panorama.services.job_page import progress
from panorama.services.job_views import JobView
from panorama.services.keeping_views import Backup, BackupList, Checked, Exported, RestoredHome, counted
from panorama.services.library_views import (
    ScriptDiff,
    ScriptHistory,
    ScriptLine,
    ScriptReviewed,
    ScriptSaved,
    ScriptView,
)
from panorama.services.run_views import Ran, RunView
from panorama.services.views import (
    BatchResult,
    Dashboard,
    FilePart,
    FileText,
    HistoryLine,
    ItemView,
    NoteText,
    Overview,
    Reindexed,
    Removed,
    RemovedSchedule,
    Review,
    Rung,
    Status,
    Undone,
)


def listed(noun: str) -> Callable[[Page[Any]], str]:
    """Return a summary of pages of a noun: «12 of 240 tasks»."""
    plural = noun.removesuffix("y") + "ies" if noun.endswith("y") else noun + "s"

    def told(page: Page[Any]) -> str:
        count = len(page.items)
        if page.total is None or page.total == count:
            return f"{count} {noun if count == 1 else plural}"
        return f"{count} of {page.total} {plural}"

    return told


def searched(page: Page[Any]) -> str:
    """Return how much was found."""
    if not page.items:
        return "Nothing found"
    return f"{len(page.items)} found" + (", there are more" if page.more else "")


def reindexed(done: Reindexed) -> str:
    """Return what a reindex did."""
    return (
        f"{done.passages:,} passages can be found by meaning ({done.model}); {done.items:,} items were looked at and "
        f"{done.embedded:,} texts embedded in {done.seconds:g} s"
    )


def _called(item: Any) -> str:
    kind = "journal entry" if item.KIND == "journal" else item.KIND
    return f"{kind} “{item.label}” ({item.id})"


def got(value: Any) -> str:
    """Return what is shown."""
    item = value.item if isinstance(value, ItemView) else value
    return _called(item)[0].upper() + _called(item)[1:]


def text_read(note: NoteText) -> str:
    """Return which part of a note is shown, and how to read on."""
    if note.start is None or note.end is None:
        return f"Note “{note.title}” ({note.id}), {note.chars:,} characters"
    onward = f"; read on with start={note.end}" if note.end < note.chars else ""
    return f"Note “{note.title}” ({note.id}), characters {note.start:,} to {note.end:,} of {note.chars:,}{onward}"


def created(item: Item) -> str:
    """Return what was created."""
    return f"Created {_called(item)}"


def updated(item: Item) -> str:
    """Return what was changed."""
    return f"Updated {_called(item)}, version {item.version}"


def unchanged(item: Item) -> str:
    """Return what stayed as it was."""
    return f"Nothing changed in {_called(item)}, version {item.version}"


def restored(item: Item) -> str:
    """Return what came back."""
    return f"Restored {_called(item)}"


def waiting(page: Page[Rung]) -> str:
    """Return how many reminders wait."""
    if not page.items:
        return "No reminder waits"
    count = page.total or len(page.items)
    return f"{count} {'reminder waits' if count == 1 else 'reminders wait'} to be acknowledged"


def snoozed(reminder: Reminder) -> str:
    """Return until when a reminder is put off."""
    until = reminder.snoozed_until and reminder.snoozed_until.astimezone(reminder.clock)
    return f"Put off {_called(reminder)} until {until:%Y-%m-%d %H:%M}"


def acknowledged(reminder: Reminder) -> str:
    """Return what was taken note of."""
    return f"Acknowledged {_called(reminder)}"


def scheduled(schedule: Schedule) -> str:
    """Return when a schedule runs next."""
    when = "paused" if schedule.paused else "has ended"
    if schedule.next_at:
        zone = ZoneInfo(schedule.zone)
        when = f"next {schedule.next_at.astimezone(zone):%Y-%m-%d %H:%M} ({schedule.zone})"
    return f"Schedule “{schedule.name}” ({schedule.id}), {schedule.kind}, {schedule.trigger} {schedule.rule}: {when}"


def unscheduled(gone: RemovedSchedule) -> str:
    """Return what was forgotten."""
    return f"Forgot the schedule “{gone.name}” ({gone.id})"


def appended(note: Any) -> str:
    """Return what a note has grown to."""
    return f"Note “{note.title}” ({note.id}) has {note.chars:,} characters, version {note.version}"


edited = appended


def file_written(file: File) -> str:
    """Return what was written."""
    return f"Wrote {_called(file)}, {_bytes(file.size)}, version {file.version}"


def file_read(file: FileText) -> str:
    """Return which part of a file is shown, and how to read on."""
    if file.chars is None:
        return f"{got(file)}, {file.media_type}, {_bytes(file.size)}: no text to show"
    if file.start is None or file.end is None:
        return f"{got(file)}, {file.chars:,} characters"
    onward = f"; read on with start={file.end}" if file.end < file.chars else ""
    return f"{got(file)}, characters {file.start:,} to {file.end:,} of {file.chars:,}{onward}"


def _bytes(count: int) -> str:
    return f"{count:,} {'byte' if count == 1 else 'bytes'}"


def part_read(part: FilePart) -> str:
    """Return how large the whole is."""
    return f"“{part.name}” ({part.id}) from byte {part.start:,} of {part.size:,}"


def backed_up(done: Backup) -> str:
    """Return what a backup holds, and what it could not take."""
    held = f"{_held(done.rows, done.files)}, {done.size_bytes / 1e6:,.1f} MB"
    gone = f"; {counted(done.removed, 'older one')} removed" if done.removed else ""
    return f"Backed up {held}, to {done.path}, and checked it in {done.seconds:g} s{gone}{_lacking(done.problem_count)}"


def backups(found: BackupList) -> str:
    """Return how many backups there are."""
    return f"{counted(found.count, 'backup')} in {found.folder}"


def checked(found: Checked) -> str:
    """Return that nothing is wrong, and with what."""
    held = f"{counted(found.files, 'file')}, {counted(found.rows, 'row')}, {found.size_bytes / 1e6:,.1f} MB"
    return f"The {found.kind} of {found.made_at:%Y-%m-%d %H:%M} is whole: {held}{_lacking(len(found.problems))}"


def exported(done: Exported) -> str:
    """Return what an export holds, and what it could not take."""
    held = f"{counted(done.rows, 'row')}, {counted(done.pages, 'page')} and {_contents(done.files)}"
    return f"Exported {held}, to {done.path}, in {done.seconds:g} s{_lacking(done.problem_count)}"


def brought_back(done: RestoredHome) -> str:
    """Return what was restored, and where."""
    held = _held(done.rows, done.files)
    return f"Restored {held} of {done.made_at:%Y-%m-%d %H:%M} to {done.path}, compared{_lacking(len(done.problems))}"


def _lacking(count: int) -> str:
    return f"; {counted(count, 'thing was', 'things were')} not to be had" if count else ""


def _held(rows: int, files: int) -> str:
    return f"{counted(rows, 'row')} and {_contents(files)}"


def _contents(count: int) -> str:
    return counted(count, "content of a file", "contents of files")


def removed(gone: Removed) -> str:
    """Return what was deleted, and what became of the rest."""
    rest = f" with {gone.trashed - 1} items" if gone.trashed > 1 else ""
    kept = f"; {gone.kept} items stay without it" if gone.kept else ""
    return f"Moved the {gone.kind} “{gone.label}” ({gone.id}){rest} to the trash{kept}"


def history(page: Page[HistoryLine]) -> str:
    """Return how many changes there are."""
    return f"{len(page.items)} of {page.total} changes, the newest first"


def undone(result: Undone) -> str:
    """Return how much was taken back."""
    left = f"; {len(result.conflicts)} left as conflicts" if result.conflicts else ""
    return f"Took back {result.count} {'change' if result.count == 1 else 'changes'} of {result.unit}{left}"


def ran(told: Ran) -> str:
    """Return how a script ended, and what it did."""
    counts = ", ".join(f"{count} {what}" for what, count in told.changes.items())
    calls = sum(each.get("times", 1) for each in told.calls)
    did = f"{told.duration_ms:g} ms, {calls} {'call' if calls == 1 else 'calls'}, {counts or 'nothing changed'}"
    how = "Dry run" if told.dry_run else "Run"
    if told.script:
        how = f"{'Draft' if told.script_state == 'draft' else 'Script'} {told.script}: {how.lower()}"
    if told.error is None:
        nothing = ", no result" if told.result is None and not told.result_file and not told.shape else ""
        return f"{how} {told.run_id}: {did}{nothing}"
    at = f" at line {told.error['line']}" if "line" in told.error else ""
    return f"{how} {told.run_id} failed{at}: {told.error['message']} ({did})"


def scripts_listed(page: Page[ScriptLine]) -> str:
    """Return how many scripts there are, or what is worth one."""
    if page.items and page.items[0].state == "suggested":
        return f"{len(page.items)} {'thing is' if len(page.items) == 1 else 'things are'} worth a script"
    return listed("script")(page)


def script_saved(saved: ScriptSaved) -> str:
    """Return what was kept."""
    return f"Kept the script {saved.name}({saved.parameters}) as {saved.state}"


def script_shown(script: ScriptView) -> str:
    """Return how a script stands."""
    by = f" by {script.by}" if script.by else ""
    return f"Script {script.name}({script.parameters}), {script.state}{by}: {script.summary}"


def decided(script: ScriptReviewed) -> str:
    """Return how a script stands from now on."""
    tool = f"; its tool is {script.tool}{', which only reads' if script.read_only else ''}" if script.tool else ""
    return f"The script {script.name} is {script.state}{tool}"


def script_history(found: ScriptHistory) -> str:
    """Return how often something was decided on a script."""
    return f"{len(found.versions)} decisions on {found.name}"


def script_diff(found: ScriptDiff) -> str:
    """Return whether two texts differ."""
    how = "differs from" if found.diff else "is the same as"
    return f"{found.name} {found.new} {how} {found.old}"


def script_called(_: Any) -> str:
    """Return that a script ran inside another."""
    return "It ran"


def run_shown(run: RunView) -> str:
    """Return what became of a run."""
    how = f"Dry run {run.id}" if run.options.get("dry_run") else f"Run {run.id}"
    return f"{how} {run.status}: {run.called} {'call' if run.called == 1 else 'calls'} in {run.ms:g} ms"


def job_shown(job: JobView) -> str:
    """Return how far a job is, or what became of it."""
    wrong = str(job.error.get("message", "")) if job.error else ""
    told = progress(job) if job.state in ("queued", "running") else " ".join(filter(None, (wrong, job.summary)))
    return f"Job {job.id} ({job.kind}) {job.state}{f': {told}' if told else ''}"


def job_begun(job: JobView, *, at_terminal: bool) -> str:
    """Return which job was begun, and what to call or, at a terminal, to type next."""
    shows, stops = ("get_job", "cancel_job")
    if at_terminal:
        shows, stops = f"`panorama jobs show {job.id}`", f"`panorama jobs cancel {job.id}`"
    return f"Job {job.id} ({job.kind}) was begun; {shows} shows how far it is, {stops} stops it"


def batch_ran(result: BatchResult) -> str:
    """Return how many operations succeeded."""
    if result.failed:
        return f"{result.succeeded} of {len(result.results)} operations done, {result.failed} failed"
    return f"All {len(result.results)} operations done"


def dashboard(board: Dashboard) -> str:
    """Return a project's state."""
    numbers = board.project
    due = f"{numbers.open} open, {numbers.overdue} overdue, {numbers.due_soon} due soon"
    return f"“{numbers.name}”: health {numbers.health}, {due}, {numbers.notes} notes"


def overview(result: Overview) -> str:
    """Return the state of all projects."""
    late = sum(project.overdue for project in result.projects)
    open_ones = sum(project.open for project in result.projects)
    count = f"{len(result.projects)} {'project' if len(result.projects) == 1 else 'projects'}"
    return f"{count}, {open_ones} open tasks, {late} overdue; {result.unassigned} open without a project"


def review(result: Review) -> str:
    """Return a period in numbers."""
    return (
        f"{result.start} to {result.end}: {result.completed.count} completed, {result.created.count} created, "
        f"{result.slipped.count} slipped, {result.notes_written.count} notes written, "
        f"{result.due_next_week.count} due next week"
    )


def shown(page: Any) -> str:
    """Return how long a page is."""
    return f"{len(page['markdown']):,} characters"


def status(state: Status) -> str:
    """Return the moment and what is stored."""
    counts, rung = state.counts, state.reminders_waiting
    wait = f"; {rung:,} {'reminder' if rung == 1 else 'reminders'} rang and wait (list_waiting_reminders)"
    return (
        f"Panorama {state.version}, {state.weekday} {state.now:%Y-%m-%d %H:%M} ({state.timezone}): "
        f"{counts['project']} projects, {counts['task']} tasks, {counts['note']} notes{wait if rung else ''}"
    )
