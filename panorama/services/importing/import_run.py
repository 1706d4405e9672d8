"""One run of an import: the files that changed since the last one, and the statistics."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from panorama.domain.items.item import normalize_name, single_line_or_empty
from panorama.domain.markdown.parser import Document, parse_markdown
from panorama.domain.markdown.wiki_links import describe_unfollowed_links
from panorama.errors import InvalidInputError, PanoramaError
from panorama.services.importing import folder as folders
from panorama.services.importing.attachments import Attachment, AttachmentFinder, read_attachment
from panorama.services.importing.folder import FileTimes, Folder, UnreadableError
from panorama.services.importing.results import ImportReport
from panorama.services.jobs.progress import Progress
from panorama.store.contents.contents import Contents
from panorama.store.log.imports import ATTACHMENT, MISSING, PROJECT_NAME, WHOLE_FILE, ImportedPart

MAX_PROGRESS_CALLS = 200
MAX_LISTED_PROBLEMS = 50
MAX_ATTACHMENTS = 500
"""The maximum number of attachments of one note."""

NOT_EMBEDDED = "not Markdown, and no new or changed note links to it"

_COUNTERS = (
    *("unchanged", "notes_created", "notes_updated", "tasks_created", "tasks_updated", "projects_created"),
    "files_created",
    *("gone", "skipped", "unread"),
)

_CUMULATIVE_COUNTERS = (
    *("notes_created", "notes_updated", "tasks_created", "tasks_updated", "projects_created", "files_created"),
)
"""Counters that are not repeated when an import resumes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file to import; `moved_from` is where the same bytes were at the last import."""

    path: str
    digest: str
    document: Document
    project: str
    times: FileTimes
    attachments: tuple[Attachment, ...] = ()
    moved_from: str = ""


@dataclass(slots=True)
class ImportStats:
    """The statistics of an import so far."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTERS, 0))
    problems: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    problem_count: int = 0
    unmapped: Counter[str] = field(default_factory=Counter[str])
    unmarked: int = 0
    omitted: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def add_document(self, path: str, document: Document) -> None:
        """Record a file's unsupported values and warnings."""
        for warning in filter(None, (*document.warnings, describe_unfollowed_links(document.body))):
            self.add_problem(path, warning)
        self.unmapped.update(text.partition(":")[0] for task in document.tasks for text in task.unmapped)
        self.unmarked += document.unmarked

    def add_summaries(self, task_filter: str) -> None:
        """Record problems that concern many files, one line each."""
        if self.unmapped:
            counts = ", ".join(f"{name} ({count:,})" for name, count in sorted(self.unmapped.items()))
            self.add_problem("", f"tasks have no field for these values; they were added to the tasks' notes: {counts}")
        if self.unmarked:
            self.add_problem("", f"checkboxes without {task_filter} are not tasks in this folder: {self.unmarked:,}")

    def add(self, name: str, count: int = 1) -> None:
        """Increment a counter."""
        self.counts[name] += count

    def add_problem(self, path: str, why: str) -> None:
        """Record a problem."""
        self.problem_count += 1
        self.omitted.append((path, why))
        if len(self.problems) < MAX_LISTED_PROBLEMS:
            self.problems.append({"path": path, "why": why})

    def add_gone(self, path: str, label: str) -> None:
        """Record an item that is kept although its file or line was removed."""
        self.add("gone")
        self.add_problem(path, f"the task “{label}” is no longer in the file; it is kept in Panorama")

    def add_list(self, name: str, id_: str) -> None:
        """Insert a reference to the file with all problems."""
        why = f"all {self.problem_count:,} lines are in the file “{name}” ({id_})"
        self.problems = [{"path": "", "why": why}, *self.problems[: MAX_LISTED_PROBLEMS - 1]]

    def omit(self, path: str, why: str) -> None:
        """Record an intended omission."""
        self.add("skipped")
        self.add_problem(path, why)

    def skip(self, path: str, why: str) -> None:
        """Record a skipped file; an unreadable one makes the import incomplete."""
        self.add("skipped")
        self.add("unread", int(why not in folders.UNFOLLOWED))
        self.add_problem(path, why)

    def to_report(self, *, folder: str, files: int, dry_run: bool) -> ImportReport:
        """Return the report."""
        return ImportReport(
            folder=folder, files=files, dry_run=dry_run, problems=tuple(self.problems),
            problem_count=self.problem_count, **self.counts,
        )  # fmt: skip


class ImportRun:
    """One import: the previous state of the folder, its changes since, and the statistics so far.

    If every imported item is in the trash, the import was undone and starts again (`anew`).
    """

    def __init__(
        self,
        listing: Folder,
        known: Mapping[str, Mapping[str, ImportedPart]],
        living: frozenset[str],
        *,
        progress: Progress,
        contents: Contents | None,
    ) -> None:
        self.folder = listing.root
        self.dry = contents is None
        self._contents = contents
        self._finder = AttachmentFinder(listing.others)
        self._attached: set[str] = set()
        self.tally = ImportStats()
        self.anew = bool(known) and not living
        self.done = 0
        self.kept = 0
        self._taken = 0
        self.names: dict[str, str] = {}
        self._listing = listing
        self._known = known
        self._living = living
        self._progress = progress
        self._step = max(1, len(listing.files) // MAX_PROGRESS_CALLS)
        notes = [path for path, parts in known.items() if WHOLE_FILE in parts]
        self._lost = [path for path in notes if path not in listing.files and not listing.can_contain(path)]
        self._by_digest: dict[str, list[str]] = {}
        for path in sorted(self._lost, reverse=True):
            self._by_digest.setdefault(known[path][WHOLE_FILE].digest, []).append(path)
        for path, why in listing.problems:
            self.tally.skip(path, why)
        for path, why in listing.omitted:
            self.tally.omit(path, why)

    def iter_changed_files(self) -> Iterator[ChangedFile]:
        """Read the files, and yield those that changed since the last import."""
        for path in self._listing.files:
            try:
                file = self._read(path)
            except (UnreadableError, InvalidInputError) as error:
                self.tally.skip(path, str(error))
                file = None
            if file:
                yield file
            else:
                self.report_progress(path)

    def _read(self, path: str) -> ChangedFile | None:
        raw = folders.read_file(self._listing.root, path)
        digest = folders.compute_digest(raw)
        whole = self._known.get(path, {}).get(WHOLE_FILE)
        moved_from = "" if whole or self.anew else self._match_moved_file(digest)
        whole = self._known[moved_from][WHOLE_FILE] if moved_from else whole
        if whole and whole.digest == digest and not self.anew:
            if whole.item not in self._living and (moved_from or MISSING not in whole.fields):
                self.tally.add("skipped")
                return None
            if not moved_from and MISSING not in whole.fields:
                self.tally.add("unchanged")
                return None
        document = parse_markdown(
            folders.decode(raw), name=folders.title_from_path(path), task_filter=self._listing.task_filter
        )
        project = single_line_or_empty(document.project, "project") or folders.project_from_path(path)
        times = self._listing.files[path]
        return ChangedFile(
            path=path, digest=digest, document=document, project=project, times=times, moved_from=moved_from,
            attachments=tuple(self._read_attachments(path, document)),
        )  # fmt: skip

    def _read_attachments(self, note: str, document: Document) -> Iterator[Attachment]:
        """Yield the files that a note refers to; records those that cannot be imported."""
        paths = (self._finder.find(note, target) for target in document.file_targets[:MAX_ATTACHMENTS])
        for path in dict.fromkeys(filter(None, paths)):
            self._attached.add(path)
            try:
                yield read_attachment(self.folder, path, self._contents)
            except (UnreadableError, InvalidInputError) as error:
                self.tally.skip(path, str(error))

    def _match_moved_file(self, digest: str) -> str:
        """Return the previous path of a new file: the first missing path with the same bytes, or ""."""
        paths = self._by_digest.get(digest)
        if not paths:
            return ""
        path = paths.pop()
        self._lost.remove(path)
        return path

    def add_summaries(self) -> None:
        """Record the files that no note refers to, and problems of many files."""
        for path in self._listing.others:
            if path not in self._attached and ATTACHMENT not in self._known.get(path, {}):
                self.tally.omit(path, NOT_EMBEDDED)
        self.tally.add_summaries(self._listing.task_filter)

    def report_progress(self, path: str) -> None:
        """Report progress from time to time."""
        self.done += 1
        total = len(self._listing.files)
        if self.done % self._step == 0 or self.done == total:
            self._progress(self.done, total, path)

    def mark_imported(self, files: Sequence[ChangedFile], unchanged: int) -> Mapping[str, Any]:
        """Count imported files; return the checkpoint after them."""
        self._taken += len(files) - unchanged
        counts = {name: self.tally.counts[name] for name in _CUMULATIVE_COUNTERS}
        return {"taken": self._taken, "anew": self.anew, "counts": counts}

    def resume(self, checkpoint: Mapping[str, Any]) -> None:
        """Resume an interrupted import; its imported files are unchanged now."""
        if checkpoint:
            self._taken, self.anew = int(checkpoint["taken"]), bool(checkpoint["anew"])
            self.tally.counts["unchanged"] = -self._taken
            for name in _CUMULATIVE_COUNTERS:
                self.tally.add(name, checkpoint["counts"][name])

    def list_missing(self) -> list[ImportedPart]:
        """Return the parts of missing files, to be stored as missing; records the living items."""
        return [mark_missing(entry) for path in self._lost for entry in self._missing_parts(path)]

    def _missing_parts(self, path: str) -> list[ImportedPart]:
        missing = [entry for entry in self._known[path].values() if MISSING not in entry.fields]
        if living := sum(entry.item in self._living for entry in missing):
            self.tally.add("gone", living)
            items = "its item stays" if living == 1 else f"its {living:,} items are kept"
            self.tally.add_problem(path, f"the file is no longer in the folder; {items} here")
        return missing

    def iter_former_projects(self, key: str) -> Iterator[str]:
        """Yield the projects that files of this folder had under a name; they may have been renamed."""
        seen = (entries[WHOLE_FILE].fields for entries in self._known.values() if WHOLE_FILE in entries)
        project_ids = (fields.get("project") for fields in seen if normalize_name(fields.get(PROJECT_NAME, "")) == key)
        yield from dict.fromkeys(id_ for id_ in project_ids if id_)

    def interruption_error(self, error: PanoramaError) -> PanoramaError:
        """Return an error extended by what was already imported."""
        if self.dry or not self.kept:
            return error
        total = len(self._listing.files)
        cause = error.message.replace("; nothing was changed", "")
        hint = f"{error.hint} Then import again to resume.".strip()
        return type(error)(
            f"The import stopped after {self.kept:,} of {total:,} files, which are kept: {cause}", hint=hint
        )


def mark_missing(entry: ImportedPart) -> ImportedPart:
    """Return a part marked as missing."""
    return replace(entry, fields={**entry.fields, MISSING: True})
