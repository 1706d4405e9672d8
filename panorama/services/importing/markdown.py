"""Imports a folder of Markdown: files become notes, checkboxes become tasks, and re-imports follow changes."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from panorama.domain.items.files import MEDIA_TYPES, StoredFile, extract_text
from panorama.domain.markdown.export_pages import sanitize_file_name
from panorama.errors import PanoramaError
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.importing import folder as folders
from panorama.services.importing.attachments import free_name, load_known
from panorama.services.importing.import_run import MAX_LISTED_PROBLEMS, ChangedFile, ImportRun
from panorama.services.importing.results import ImportReport
from panorama.services.importing.writer import ImportWriter
from panorama.services.jobs import progress
from panorama.services.jobs.progress import Progress, report_progress
from panorama.store.contents.contents import Contents
from panorama.store.items import rows
from panorama.store.log import imports
from panorama.store.log.imports import ATTACHMENT, ImportedPart

CHUNK_FILES = 200
CHUNK_ITEMS = 1000
CHUNK_CHARS = 16 << 20
"""Limits of one transaction, so that other writers wait half a second at most."""


class Imports(Service):
    """Imports of data from elsewhere."""

    def __init__(self, context: ServiceContext, contents: Contents, progress: Progress = report_progress) -> None:
        super().__init__(context)
        self._contents = contents
        self.progress = progress

    def import_markdown(self, folder: str, dry_run: bool = False) -> ImportReport:
        """Import a folder of Markdown files, which are not changed.

        Files become notes, their checkboxes tasks, and their folders projects. Front matter, #tags and the dates of
        tasks are read, [[links]] stay. Run it again to import changes; what was changed in both places stays as it is
        here and is listed. One undo reverts an import.

        Args:
            folder: Path; ~ is your home.
            dry_run: Only report what would be imported.

        Raises:
            InvalidInputError: The folder cannot be read, or is Panorama's own.
        """
        listing = folders.scan(folder, avoid=self._context.home)
        with self._reading() as session:
            known = imports.list_imported(session, listing.root)
            living = imports.list_living(session, listing.root)
        run = ImportRun(listing, known, living, progress=self.progress, contents=None if dry_run else self._contents)
        run.resume(progress.load_checkpoint())
        try:
            for chunk in _iter_chunks(run.iter_changed_files()):
                with self._reading() if dry_run else self._writing() as session:
                    before = run.tally.counts["unchanged"]
                    ImportWriter(session, self._context, run).write(chunk)
                    if not dry_run:
                        progress.save_checkpoint(run.mark_imported(chunk, run.tally.counts["unchanged"] - before))
                run.kept = run.done
            if (missing := run.list_missing()) and not dry_run:
                with self._writing() as session:
                    imports.save(session, run.folder, missing)
        except PanoramaError as error:
            raise run.interruption_error(error) from error
        run.add_summaries()
        if len(run.tally.omitted) > MAX_LISTED_PROBLEMS and not dry_run:
            self._write_list(run)
        return run.tally.to_report(folder=run.folder, files=len(listing.files), dry_run=dry_run)

    def _write_list(self, run: ImportRun) -> None:
        """Write the names of all skipped files to a file item."""
        table = io.StringIO()
        csv.writer(table).writerows([("path", "why"), *run.tally.omitted])
        content = table.getvalue().encode()
        name = f"Import of {sanitize_file_name(Path(run.folder).name)}.csv"
        fields: dict[str, Any] = {"size": len(content), "sha256": self._contents.put(content)}
        fields["body"] = extract_text(name, MEDIA_TYPES["csv"], content)
        with self._writing() as session:
            entry = imports.list_imported(session, run.folder, [""]).get("", {}).get(ATTACHMENT)
            item = old = load_known(session, entry)
            if old:
                item = old.with_changes(self._now(), **fields)
                rows.save(session, old, item)
            else:
                called = {"name": free_name(session, name, None), "media_type": MEDIA_TYPES["csv"]}
                item = StoredFile(**self._new_item_fields("file", self._now()), **called, **fields)
                rows.add(session, item)
            part = ImportedPart(path="", part=ATTACHMENT, digest=item.sha256[:32], item=item.id, fields={})
            imports.save(session, run.folder, [part])
        run.tally.add_list(item.name, item.id)

    def plan_import(self, folder: str, **_: object) -> Plan:
        """Refuse a folder that cannot be imported."""
        folders.scan(folder, avoid=self._context.home)
        return Plan()


def _iter_chunks(files: Iterator[ChangedFile]) -> Iterator[list[ChangedFile]]:
    """Yield files in batches that each fit a short transaction."""
    chunk: list[ChangedFile] = []
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
