"""Imports a folder of Markdown: every file a note, every checkbox a task; what is read again follows its file."""

from collections.abc import Iterator

from panorama.errors import PanoramaError
from panorama.services import folders, progress
from panorama.services.base import Desk, Service
from panorama.services.import_run import File, Run
from panorama.services.import_taking import Taking
from panorama.services.progress import Progress, told_to_the_door
from panorama.services.views import ImportReport
from panorama.store import imports

CHUNK_FILES = 200
CHUNK_ITEMS = 1000
CHUNK_CHARS = 16 << 20
"""A transaction ends with the file that reaches one of these; other writers wait for half a second at most."""


class Imports(Service):
    """Brings in what a person has elsewhere."""

    def __init__(self, desk: Desk, progress: Progress = told_to_the_door) -> None:
        super().__init__(desk)
        self.progress = progress

    def markdown(self, folder: str, dry_run: bool = False) -> ImportReport:
        """Import a folder of Markdown files, which are only read.

        Files become notes, their checkboxes tasks, the folders they lie in projects. Front matter, #tags and the dates
        of tasks are understood, [[links]] stay. Run it again to take what changed in the files; what was changed in
        both places stays as it is here and is listed. One undo takes an import back.

        Args:
            folder: Path; ~ is your home.
            dry_run: Only tell what would be imported.

        Raises:
            InvalidInputError: The folder cannot be read, or is Panorama's own.
        """
        listing = folders.found(folder, avoid=self._desk.database.path.parent)
        with self._reading() as session:
            known = imports.known(session, listing.root)
            living = imports.living(session, listing.root)
        run = Run(listing, known, living, progress=self.progress, dry=dry_run)
        run.go_on(progress.kept())
        try:
            for chunk in _chunks(run.changed()):
                with self._reading() if dry_run else self._writing() as session:
                    before = run.tally.counts["unchanged"]
                    Taking(session, self._desk, run).take(chunk)
                    if not dry_run:
                        progress.keep(run.taken(chunk, run.tally.counts["unchanged"] - before))
                run.kept = run.done
            if (gone := run.gone()) and not dry_run:
                with self._writing() as session:
                    imports.keep(session, run.folder, gone)
        except PanoramaError as error:
            raise run.stopped(error) from error
        return run.tally.report(folder=run.folder, files=len(listing.files), dry_run=dry_run)

    def check(self, folder: str, dry_run: bool = False) -> None:
        """Refuse a folder that cannot be imported, before anything begins."""
        del dry_run
        folders.found(folder, avoid=self._desk.database.path.parent)

    def told(self, report: ImportReport) -> str:
        """Return what an import took, in one line."""
        if not report.files:
            return f"There is no Markdown file in {report.folder}"
        new = _counted(
            (report.notes_created, "note"), (report.tasks_created, "task"), (report.projects_created, "project")
        )
        updated = _counted((report.notes_updated, "note"), (report.tasks_updated, "task"))
        verb = "Would import" if report.dry_run else "Imported"
        said = [f"{verb} {new} from {report.folder}" if new else f"{verb} nothing new from {report.folder}"]
        said += [f"{'would update' if report.dry_run else 'updated'} {updated}"] if updated else []
        said += [f"{report.unchanged:,} of {_counted((report.files, 'file'))} unchanged"] if report.unchanged else []
        said += [f"{report.gone:,} no longer in the folder, kept here"] if report.gone else []
        said += [f"{report.skipped:,} skipped"] if report.skipped else []
        return "; ".join([*said, *([_counted((report.problem_count, "problem"))] if report.problem_count else [])])


def _counted(*counts: tuple[int, str]) -> str:
    return ", ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count)


def _chunks(files: Iterator[File]) -> Iterator[list[File]]:
    """Yield files in portions of which each fits a short transaction."""
    chunk: list[File] = []
    items = chars = 0
    for file in files:
        chunk.append(file)
        items += 1 + len(file.document.tasks)
        chars += len(file.document.body)
        if len(chunk) >= CHUNK_FILES or items >= CHUNK_ITEMS or chars >= CHUNK_CHARS:
            yield chunk
            chunk, items, chars = [], 0, 0
    if chunk:
        yield chunk
