"""Exports everything as JSON lines, which can be restored, and as Markdown to read."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from panorama import __version__
from panorama.domain.items.files import StoredFile
from panorama.domain.items.item import kind_of
from panorama.domain.items.journal import JournalEntry
from panorama.domain.items.projects import Project
from panorama.domain.markdown import export_pages, session_pages
from panorama.domain.retention import export_name
from panorama.kinds import PLAIN_KINDS, name_kind
from panorama.services.archive.backup import MAX_LISTED, SPARE_BYTES, add_configuration, add_scripts, add_sources
from panorama.services.archive.backup_folder import pick_free_path
from panorama.services.archive.paths import ArchivePaths
from panorama.services.archive.results import ExportResult
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.jobs.pace import ProgressTracker
from panorama.services.jobs.progress import Progress, report_progress
from panorama.store import migrate, session_lines
from panorama.store.archive import atomic_folder, jsonl, manifests
from panorama.store.archive.atomic_folder import AtomicFolder
from panorama.store.archive.manifests import Manifest
from panorama.store.archive.safe_files import UnreadableError
from panorama.store.backend import ContentStore, Session
from panorama.store.items import files, lookup, rows

PAGES_FOLDER, OLDER_FOLDER = "markdown", "older"
README_TEMPLATE = """\
# An export of Panorama

Made at {made_at} UTC by Panorama {version}: {rows:,} rows, {contents:,} contents of files.

- `markdown/` is for reading: a page for each note and project. `panorama import markdown markdown` takes it in.
- `files/` holds the files under their names, and in `files/older` what they held before.
- `data/` holds everything, exactly: a table each, a row a line, as JSON. The trash, the history and the log are there
  too. `manifest.json` says how values are written, and the digest of every file.
- `scripts/`, `sources.json` and `config.toml` are yours; keys and passwords were left out of the latter two.

`panorama restore THIS_FOLDER --to NEW_FOLDER` makes a data directory of it, equal to the one it was made of.
"""


class Exports(Service):
    """Exports of everything."""

    def __init__(self, context: ServiceContext, keeper: ArchivePaths, progress: Progress = report_progress) -> None:
        super().__init__(context)
        self._keeper = keeper
        self._progress = progress

    @property
    def _default_folder(self) -> Path:
        return self._keeper.home / "exports"

    def create(self, folder: str = "") -> ExportResult:
        """Export everything to a folder: as JSON Lines, from which it can be restored, and as Markdown to read.

        It is a snapshot; others can write meanwhile. For a safety copy use create_backup, which is faster.

        Args:
            folder: Where to create its folder; by default the folder `exports` of the data directory.

        Raises:
            InvalidInputError: The folder lies in the data directory, or is none.
            UnavailableError: The disk is full, or the folder cannot be written.
        """
        target = self._keeper.resolve_target(folder, default=self._default_folder, what="export")
        place = pick_free_path(target, self._now(), export_name)
        pace = ProgressTracker(self._progress)
        with self._keeper.contents.retain(), atomic_folder.create(place, "export", is_durable=False) as output:
            atomic_folder.require_space(output.folder, self._context.database.size_bytes() // 2 + SPARE_BYTES, "export")
            manifest, pages = _ExportWriter(self._context, self._keeper, output, pace).write()
        return ExportResult(
            path=str(place), size_bytes=manifest.size_bytes, rows=sum(manifest.rows.values()), pages=pages,
            files=len(manifest.contents), problems=manifest.missing[:MAX_LISTED], problem_count=len(manifest.missing),
            withheld=manifest.withheld, is_complete=not manifest.missing, seconds=round(pace.elapsed_seconds, 1),
        )  # fmt: skip

    def plan_create(self, folder: str = "") -> Plan:
        """Refuse a folder that cannot take an export; ask before one is put elsewhere."""
        return Plan(self._keeper.question(folder, default=self._default_folder, what="an export"))


class _ExportWriter:
    """Writes one export from one snapshot of the database."""

    def __init__(
        self, context: ServiceContext, keeper: ArchivePaths, output: AtomicFolder, pace: ProgressTracker
    ) -> None:
        self._context = context
        self._keeper = keeper
        self._output = output
        self._pace = pace
        self._missing: list[str] = []

    def write(self) -> tuple[Manifest, int]:
        """Fill the folder; return its manifest and the number of pages."""
        with self._context.database.reading() as session:
            counts, sequences = jsonl.count_rows(session), jsonl.list_sequences(session)
            named = files.list_digests(session)
            self._pace.set_total(sum(counts.values()) + sum(counts[noun.table.name] for noun in rows.NOUNS.values()))
            for name in jsonl.list_tables():
                self._write_table(session, name)
            holding = _ContentWriter(self._output, self._keeper.contents, self._pace, self._missing)
            pages = _PageWriter(session, self._context.zone, self._output, self._pace, holding).write()
            holding.add_older(named)
        withheld = add_configuration(self._output, self._keeper.home, self._missing)
        withheld += add_sources(self._output, self._keeper.home, self._missing)
        add_scripts(self._output, self._keeper.home, self._missing, self._pace)
        made_at = self._context.now().isoformat()
        guide = README_TEMPLATE.format(
            made_at=made_at[:16], version=__version__, rows=sum(counts.values()), contents=len(holding.places)
        )
        self._output.write("README.md", guide.encode())
        manifest = Manifest(
            kind="export", version=__version__, revision=migrate.HEAD, made_at=made_at, origin=self._keeper.origin,
            rows=counts, files=self._output.files, contents=holding.places, sequences=sequences,
            columns={name: jsonl.list_column_forms(name) for name in jsonl.list_tables()}, missing=tuple(self._missing),
            withheld=withheld,
        )  # fmt: skip
        self._output.write_manifest(manifest, self._keeper.seal_key)
        return manifest, pages

    def _write_table(self, session: Session, name: str) -> None:
        self._pace.start(name)
        with self._output.open_file(f"data/{name}.jsonl") as write:
            for row in jsonl.iter_rows(session, name):
                write(jsonl.encode_line(row))
                self._pace.advance(1)


class _ContentWriter:
    """Copies the contents of files into the folder; `places` has the path of each."""

    def __init__(self, output: AtomicFolder, contents: ContentStore, pace: ProgressTracker, missing: list[str]) -> None:
        self._output = output
        self._contents = contents
        self._pace = pace
        self._missing = missing
        self.places: dict[str, str] = {}
        self._lacking: set[str] = set()

    def add(self, name: str, path: str) -> bool:
        """Copy a content to a path; return whether it exists and is intact."""
        if name in self._lacking:
            return False
        if not manifests.is_digest(name):
            self._lacking.add(name)
            self._missing.append(f"files: the content {name!r} is missing: its name is not a digest")
            return False
        try:
            with closing(self._contents.iter_parts(name)) as parts:
                entry = self._output.write_parts(parts, path, lambda _: self._pace.check_cancel())
            why = "" if entry.sha256 == name else "is damaged"
        except UnreadableError as error:
            why = str(error)
        if why:
            self._output.remove(path)
            self._lacking.add(name)
            self._missing.append(f"{path}: the content files/{name[:2]}/{name[2:]} {why}")
            return False
        self.places.setdefault(name, path)
        return True

    def add_older(self, named: set[str]) -> None:
        """Copy the contents that no living file has any more."""
        self._pace.start("older contents")
        for name in sorted(named - set(self.places) - self._lacking):
            self.add(name, f"files/{OLDER_FOLDER}/{name[:2]}/{name[2:]}")


class _PageWriter:
    """Writes the Markdown pages."""

    def __init__(
        self, session: Session, zone: ZoneInfo, output: AtomicFolder, pace: ProgressTracker, contents: _ContentWriter
    ) -> None:
        self._session = session
        self._zone = zone
        self._output = output
        self._pace = pace
        self._contents = contents
        self._names = export_pages.UniqueNames()
        self._pages = 0

    def write(self) -> int:
        """Write all pages and return how many."""
        self._pace.start("pages")
        for name in (export_pages.JOURNAL, OLDER_FOLDER):
            self._reserve_folder(name)
        for name in (export_pages.UNASSIGNED, export_pages.REMINDERS):
            self._names.reserve("", name, ".md")
        for project in self._iter_items("project"):
            self._write_project(project)
        loose = export_pages.render_unassigned_page(self._render_parts("", None))
        self._write_page(f"{export_pages.UNASSIGNED}.md", loose)
        self._write_notes("", None, "")
        self._write_sessions("", None, "")
        self._write_reminders()
        for month, entries in self._iter_months():
            self._write_page(
                f"{export_pages.JOURNAL}/{month}.md", export_pages.render_journal_page(month, entries, self._zone)
            )
        return self._pages

    def _write_project(self, project: Project) -> None:
        folder = self._reserve_folder(project.name)
        page = self._names.reserve(folder, project.name, ".md")
        self._write_page(
            f"{folder}/{page}", export_pages.render_project_page(project, self._render_parts(folder, project.id))
        )
        self._write_notes(folder, project.id, project.name)
        self._write_sessions(folder, project.id, project.name)

    def _reserve_folder(self, name: str) -> str:
        """Return the name of a project's folder, among the pages and among the files."""
        name = self._names.reserve("", name)
        self._names.reserve("files", name)
        return name

    def _render_parts(self, folder: str, project: str | None) -> Iterator[str]:
        """Yield the sections of a page: tasks, the kinds without pages of their own, and files."""
        yield export_pages.render_tasks_section(list(self._iter_items("task", project=project)), self._zone)
        for kind in PLAIN_KINDS:
            if kind.has_project or project is None:
                ties = {"project": project} if kind.has_project else {}
                items = list(self._iter_items(kind.name, **ties))
                yield export_pages.render_list_section(name_kind(kind.name, 2).capitalize(), items)
        yield export_pages.render_files_section(
            [(file, self._add_file(folder, file)) for file in self._iter_items("file", project=project)]
        )

    def _add_file(self, folder: str, file: StoredFile) -> str:
        """Copy a file's content under its name; return the relative path from its page, "" if it is missing."""
        stem, dot, ending = file.name.rpartition(".")
        place = f"files/{folder}" if folder else "files"
        name = self._names.reserve(
            place, stem or ending, f".{export_pages.sanitize_file_name(ending)}" if stem and dot else ""
        )
        path = f"{place}/{name}"
        return f"{'../../' if folder else '../'}{path}" if self._contents.add(file.sha256, path) else ""

    def _write_notes(self, folder: str, project: str | None, name: str) -> None:
        for note in self._iter_items("note", project=project):
            page = self._names.reserve(folder, note.title, ".md")
            self._write_page(f"{folder}/{page}" if folder else page, export_pages.render_note_page(note, name))

    def _write_sessions(self, folder: str, project: str | None, name: str) -> None:
        for item in self._iter_items("session", project=project):
            page = self._names.reserve(folder, item.title, ".md")
            lines = list(session_lines.iter_lines(self._session, item.id))
            text = session_pages.render_markdown(item, name, lines, self._zone)
            self._write_page(f"{folder}/{page}" if folder else page, text)

    def _write_reminders(self) -> None:
        items = sorted(self._iter_items("reminder"), key=lambda reminder: reminder.at)
        about = [(kind_of(reminder.item) or "", reminder.item) for reminder in items if reminder.item]
        labels = {id_: label for _, id_, label in lookup.get_labels(self._session, about).values()}
        if items:
            self._write_page(
                f"{export_pages.REMINDERS}.md", export_pages.render_reminders_page(items, labels, self._zone)
            )

    def _iter_months(self) -> Iterator[tuple[str, list[JournalEntry]]]:
        months: dict[str, list[JournalEntry]] = {}
        for entry in sorted(self._iter_items("journal"), key=lambda item: item.at):
            months.setdefault(f"{entry.at.astimezone(self._zone):%Y-%m}", []).append(entry)
        yield from months.items()

    def _iter_items(self, kind: str, **ties: str | None) -> Iterator[Any]:
        for item in rows.iter_items(self._session, rows.list_living(self._session, kind, **ties)):
            self._pace.advance(1)
            yield item

    def _write_page(self, path: str, text: str) -> None:
        if text:
            self._output.write(f"{PAGES_FOLDER}/{path}", text.encode())
            self._pages += 1
