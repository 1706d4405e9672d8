"""Exporting: everything as lines of JSON, from which it can be restored, and as Markdown, which a person can read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from panorama import __version__
from panorama.domain import tree
from panorama.domain.files import StoredFile
from panorama.domain.items import kind_of
from panorama.domain.journal import JournalEntry
from panorama.domain.keeping import export_name
from panorama.domain.projects import Project
from panorama.services.backing_up import (
    LISTED,
    SPARE_BYTES,
    add_configuration,
    add_scripts,
    free_place,
)
from panorama.services.base import Desk, Service
from panorama.services.keeper import Keeper
from panorama.services.keeping_views import Exported
from panorama.services.pace import Pace
from panorama.services.progress import Progress, told_to_the_door
from panorama.store import files, lines, migrate, names, parcels, rows
from panorama.store.blobs import Blobs
from panorama.store.engine import Session
from panorama.store.manifests import Manifest
from panorama.store.parcels import Parcel
from panorama.store.plain_files import UnreadableError

PAGES, OLDER = "markdown", "older"
GUIDE = """\
# An export of Panorama

Made at {made_at} by Panorama {version}: {rows:,} rows, {contents:,} contents of files.

- `markdown/` is for reading: a page for each note and project. `panorama import markdown markdown` takes it in.
- `files/` holds the files under their names, and in `files/older` what they held before.
- `data/` holds everything, exactly: a table each, a row a line, as JSON. The trash, the history and the log are there
  too. `manifest.json` says how values are written, and the digest of every file.
- `scripts/` and `config.toml` are yours; keys and passwords were left out of the latter.

`panorama restore --from THIS_FOLDER --to NEW_FOLDER` makes a data directory of it, equal to the one it was made of.
"""


class Exports(Service):
    """Exports of everything."""

    def __init__(self, desk: Desk, keeper: Keeper, progress: Progress = told_to_the_door) -> None:
        super().__init__(desk)
        self._keeper = keeper
        self._progress = progress

    @property
    def _default(self) -> Path:
        return self._keeper.home / "exports"

    def create(self, folder: str = "") -> Exported:
        """Export everything to a folder: as JSON Lines, from which it can be restored, and as Markdown to read.

        It holds one moment; others go on writing. For a copy in case of loss use create_backup, which is faster.

        Args:
            folder: Where a new folder is made for it; the folder `exports` of the data directory if left out.

        Raises:
            InvalidInputError: The folder lies in the data directory, or is none.
            UnavailableError: The disk is full, or the folder cannot be written.
        """
        target = self._keeper.outside(folder, default=self._default, what="export")
        place = free_place(target, self._now(), export_name)
        pace = Pace(self._progress)
        with self._keeper.blobs.kept(), parcels.written(place, "export", is_durable=False) as parcel:
            parcels.check_room(parcel.folder, self._desk.database.path.stat().st_size // 2 + SPARE_BYTES, "export")
            manifest, pages = _Writing(self._desk, self._keeper, parcel, pace).written()
        return Exported(
            path=str(place), size_bytes=manifest.size_bytes, rows=sum(manifest.rows.values()), pages=pages,
            files=len(manifest.contents), problems=manifest.missing[:LISTED], problem_count=len(manifest.missing),
            withheld=manifest.withheld, is_complete=not manifest.missing, seconds=round(pace.seconds, 1),
        )  # fmt: skip

    def create_check(self, folder: str = "") -> None:
        """Refuse a folder that cannot take an export, before anything begins."""
        self._keeper.outside(folder, default=self._default, what="export")

    def create_question(self, folder: str = "") -> str:
        """Return what to ask before an export is put elsewhere."""
        return self._keeper.question(folder, default=self._default, what="an export")


class _Writing:
    """Writes one export, all of it from one view of the database."""

    def __init__(self, desk: Desk, keeper: Keeper, parcel: Parcel, pace: Pace) -> None:
        self._desk = desk
        self._keeper = keeper
        self._parcel = parcel
        self._pace = pace
        self._missing: list[str] = []

    def written(self) -> tuple[Manifest, int]:
        """Fill the parcel; return what is in it, and how many pages."""
        with self._desk.database.reading() as session:
            counts, sequences = lines.counts(session), lines.sequences(session)
            named = files.contents(session)
            self._pace.expect(sum(counts.values()) + sum(counts[noun.table.name] for noun in rows.NOUNS.values()))
            for name in lines.tables():
                self._table(session, name)
            holding = _Contents(self._parcel, self._keeper.blobs, self._pace, self._missing)
            pages = _Tree(session, self._desk.zone, self._parcel, self._pace, holding).written()
            holding.add_older(named)
        withheld = add_configuration(self._parcel, self._keeper.home, self._missing)
        add_scripts(self._parcel, self._keeper.home, self._missing, self._pace)
        made_at = self._desk.now().isoformat()
        guide = GUIDE.format(
            made_at=made_at[:16], version=__version__, rows=sum(counts.values()), contents=len(holding.places)
        )
        self._parcel.write("README.md", guide.encode())
        manifest = Manifest(
            kind="export", version=__version__, revision=migrate.HEAD, made_at=made_at, origin=self._keeper.origin,
            rows=counts, files=self._parcel.files, contents=holding.places, sequences=sequences,
            columns={name: lines.columns(name) for name in lines.tables()}, missing=tuple(self._missing),
            withheld=withheld,
        )  # fmt: skip
        self._parcel.seal(manifest)
        return manifest, pages

    def _table(self, session: Session, name: str) -> None:
        self._pace.begin(name)
        with self._parcel.opened(f"data/{name}.jsonl") as write:
            for row in lines.each(session, name):
                write(lines.line(row))
                self._pace.move(1)


class _Contents:
    """Puts contents of files into the parcel; `places` says where each lies."""

    def __init__(self, parcel: Parcel, blobs: Blobs, pace: Pace, missing: list[str]) -> None:
        self._parcel = parcel
        self._blobs = blobs
        self._pace = pace
        self._missing = missing
        self.places: dict[str, str] = {}
        self._lacking: set[str] = set()

    def add(self, name: str, path: str) -> bool:
        """Put a content at a path; tell whether it is there and sound."""
        if name in self._lacking:
            return False
        try:
            entry = self._parcel.copy(self._blobs.path(name), path, lambda _: self._pace.ask())
            why = "" if entry.sha256 == name else "is damaged"
        except UnreadableError as error:
            why = str(error)
        if why:
            self._parcel.drop(path)
            self._lacking.add(name)
            self._missing.append(f"{path}: the content files/{name[:2]}/{name[2:]} {why}")
            return False
        self.places.setdefault(name, path)
        return True

    def add_older(self, named: set[str]) -> None:
        """Put those contents into the parcel that no living file holds any more."""
        self._pace.begin("older contents")
        for name in sorted(named - set(self.places) - self._lacking):
            self.add(name, f"files/{OLDER}/{name[:2]}/{name[2:]}")


class _Tree:
    """Writes the pages that a person reads."""

    def __init__(self, session: Session, zone: ZoneInfo, parcel: Parcel, pace: Pace, contents: _Contents) -> None:
        self._session = session
        self._zone = zone
        self._parcel = parcel
        self._pace = pace
        self._contents = contents
        self._names = tree.Names()
        self._pages = 0

    def written(self) -> int:
        """Write all pages and return how many."""
        self._pace.begin("pages")
        for name in (tree.JOURNAL, OLDER):
            self._folder(name)
        for name in (tree.LOOSE, tree.REMINDERS):
            self._names.take("", name, ".md")
        for project in self._items("project"):
            self._project(project)
        loose = tree.loose_page(self._parts("", None))
        self._page(f"{tree.LOOSE}.md", loose)
        self._notes("", None, "")
        self._reminders()
        for month, entries in self._months():
            self._page(f"{tree.JOURNAL}/{month}.md", tree.journal_page(month, entries, self._zone))
        return self._pages

    def _project(self, project: Project) -> None:
        folder = self._folder(project.name)
        page = self._names.take(folder, project.name, ".md")
        self._page(f"{folder}/{page}", tree.project_page(project, self._parts(folder, project.id)))
        self._notes(folder, project.id, project.name)

    def _folder(self, wanted: str) -> str:
        """Return the name of a project's folder, among the pages and among the files."""
        name = self._names.take("", wanted)
        self._names.take("files", name)
        return name

    def _parts(self, folder: str, project: str | None) -> Iterator[str]:
        """Give what a page lists: tasks, links and files."""
        yield tree.tasks_part(list(self._items("task", project=project)), self._zone)
        yield tree.links_part(list(self._items("link", project=project)))
        yield tree.files_part([(each, self._file(folder, each)) for each in self._items("file", project=project)])

    def _file(self, folder: str, file: StoredFile) -> str:
        """Put what a file holds under its name; return the way there from its page, "" if it is missing."""
        stem, dot, ending = file.name.rpartition(".")
        place = f"files/{folder}" if folder else "files"
        name = self._names.take(place, stem or ending, f".{tree.usable(ending)}" if stem and dot else "")
        path = f"{place}/{name}"
        return f"{'../../' if folder else '../'}{path}" if self._contents.add(file.sha256, path) else ""

    def _notes(self, folder: str, project: str | None, name: str) -> None:
        for note in self._items("note", project=project):
            page = self._names.take(folder, note.title, ".md")
            self._page(f"{folder}/{page}" if folder else page, tree.note_page(note, name))

    def _reminders(self) -> None:
        found = sorted(self._items("reminder"), key=lambda each: each.at)
        about = [(kind_of(each.item) or "", each.item) for each in found if each.item]
        labels = {id_: label for _, id_, label in names.labels(self._session, about).values()}
        if found:
            self._page(f"{tree.REMINDERS}.md", tree.reminders_page(found, labels, self._zone))

    def _months(self) -> Iterator[tuple[str, list[JournalEntry]]]:
        months: dict[str, list[JournalEntry]] = {}
        for entry in sorted(self._items("journal"), key=lambda each: each.at):
            months.setdefault(f"{entry.at.astimezone(self._zone):%Y-%m}", []).append(entry)
        yield from months.items()

    def _items(self, kind: str, **ties: str | None) -> Iterator[Any]:
        for item in rows.several(self._session, kind, rows.living(self._session, kind, **ties)):
            self._pace.move(1)
            yield item

    def _page(self, path: str, text: str) -> None:
        if text:
            self._parcel.write(f"{PAGES}/{path}", text.encode())
            self._pages += 1
