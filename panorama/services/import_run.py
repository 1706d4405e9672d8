"""One run of an import: which files changed since the last one, and what came of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from panorama.domain.items import folded, optional_line
from panorama.domain.markdown import Document, parsed
from panorama.errors import InvalidInputError, PanoramaError
from panorama.services import folders
from panorama.services.folders import Folder, UnreadableError
from panorama.services.progress import Progress
from panorama.services.views import ImportReport
from panorama.store.imports import GONE, NAMED, WHOLE, Imported

PROGRESS_CALLS = 200
LISTED = 50

_COUNTED = (
    *("unchanged", "notes_created", "notes_updated", "tasks_created", "tasks_updated", "projects_created"),
    *("gone", "skipped", "unread"),
)

_LASTING = ("notes_created", "notes_updated", "tasks_created", "tasks_updated", "projects_created")
"""What was done once and is not counted again when an import goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file that has to be taken; `moved_from` is where the same bytes lay at the last import."""

    path: str
    digest: str
    document: Document
    project: str
    moved_from: str = ""


@dataclass(slots=True)
class Tally:
    """What came of an import so far."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))
    problems: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    problem_count: int = 0

    def add(self, name: str, count: int = 1) -> None:
        """Count something."""
        self.counts[name] += count

    def problem(self, path: str, why: str) -> None:
        """Note what a person should look at."""
        self.problem_count += 1
        if len(self.problems) < LISTED:
            self.problems.append({"path": path, "why": why})

    def skip(self, path: str, why: str) -> None:
        """Note what was left out; what cannot be read is a promise that was not kept."""
        self.add("skipped")
        self.add("unread", int(why != folders.NOT_FOLLOWED))
        self.problem(path, why)

    def report(self, *, folder: str, files: int, dry_run: bool) -> ImportReport:
        """Return all of it."""
        return ImportReport(
            folder=folder, files=files, dry_run=dry_run, problems=tuple(self.problems),
            problem_count=self.problem_count, **self.counts,
        )  # fmt: skip


class Run:
    """One import: what was known of the folder when it began, what changed since, and what came of it so far.

    An import whose every item is in the trash was undone: it begins anew (`anew`), and nothing of it is known.
    """

    def __init__(
        self,
        listing: Folder,
        known: Mapping[str, Mapping[str, Imported]],
        living: frozenset[str],
        *,
        progress: Progress,
        dry: bool,
    ) -> None:
        self.folder = listing.root
        self.dry = dry
        self.tally = Tally()
        self.anew = bool(known) and not living
        self.done = 0
        self.kept = 0
        self._taken = 0
        self.names: dict[str, str] = {}
        self._listing = listing
        self._known = known
        self._living = living
        self._progress = progress
        self._step = max(1, len(listing.files) // PROGRESS_CALLS)
        self._lost = [path for path in known if path not in listing.files and not listing.may_hold(path)]
        self._by_digest: dict[str, list[str]] = {}
        for path in sorted(self._lost, reverse=True):
            self._by_digest.setdefault(known[path][WHOLE].digest, []).append(path)
        for path, why in listing.problems:
            self.tally.skip(path, why)

    def changed(self) -> Iterator[File]:
        """Read the files, and yield those that are not as they were at the last import."""
        for path in self._listing.files:
            try:
                file = self._read(path)
            except (UnreadableError, InvalidInputError) as error:
                self.tally.skip(path, str(error))
                file = None
            if file:
                yield file
            else:
                self.tick(path)

    def _read(self, path: str) -> File | None:
        raw = folders.read(self._listing.files[path])
        digest = folders.digest(raw)
        whole = self._known.get(path, {}).get(WHOLE)
        moved_from = "" if whole or self.anew else self._moved_from(digest)
        whole = self._known[moved_from][WHOLE] if moved_from else whole
        if whole and whole.digest == digest and not self.anew:
            if whole.item not in self._living and (moved_from or GONE not in whole.fields):
                self.tally.add("skipped")
                return None
            if not moved_from and GONE not in whole.fields:
                self.tally.add("unchanged")
                return None
        document = parsed(folders.decoded(raw), name=folders.title(path))
        project = optional_line(document.project, "project") or folders.project(path)
        return File(path=path, digest=digest, document=document, project=project, moved_from=moved_from)

    def _moved_from(self, digest: str) -> str:
        """Return where a new file lay before: at the first path, not there any more, that had the same bytes; or ""."""
        paths = self._by_digest.get(digest)
        if not paths:
            return ""
        path = paths.pop()
        self._lost.remove(path)
        return path

    def tick(self, path: str) -> None:
        """Tell now and then how far it is."""
        self.done += 1
        total = len(self._listing.files)
        if self.done % self._step == 0 or self.done == total:
            self._progress(self.done, total, path)

    def taken(self, files: Sequence[File], unchanged: int) -> Mapping[str, Any]:
        """Count files that were taken, all but some that were unchanged; return what is needed to go on behind them."""
        self._taken += len(files) - unchanged
        counts = {name: self.tally.counts[name] for name in _LASTING}
        return {"taken": self._taken, "anew": self.anew, "counts": counts}

    def go_on(self, kept: Mapping[str, Any]) -> None:
        """Go on where an earlier beginning of this import was: what it took is found unchanged now."""
        if kept:
            self._taken, self.anew = int(kept["taken"]), bool(kept["anew"])
            self.tally.counts["unchanged"] = -self._taken
            for name in _LASTING:
                self.tally.add(name, kept["counts"][name])

    def gone(self) -> list[Imported]:
        """Return the parts of files that are there no more, to be remembered as such; the living are counted."""
        every = (entry for path in self._lost for entry in self._known[path].values())
        found = [entry for entry in every if GONE not in entry.fields]
        self.tally.add("gone", sum(entry.item in self._living for entry in found))
        return [as_gone(entry) for entry in found]

    def named_before(self, key: str) -> Iterator[str]:
        """Yield the projects that files of this folder had under a name, which may be called otherwise by now."""
        seen = (entries[WHOLE].fields for entries in self._known.values() if WHOLE in entries)
        found = (fields.get("project") for fields in seen if folded(fields.get(NAMED, "")) == key)
        yield from dict.fromkeys(id_ for id_ in found if id_)

    def stopped(self, error: PanoramaError) -> PanoramaError:
        """Return an error that tells what was kept before it came."""
        if self.dry or not self.kept:
            return error
        total = len(self._listing.files)
        cause = error.message.replace("; nothing was changed", "")
        hint = f"{error.hint} Then import again: it goes on where it stopped.".strip()
        return type(error)(f"The import stopped after {self.kept:,} of {total:,} files, which stay: {cause}", hint=hint)


def as_gone(entry: Imported) -> Imported:
    """Return a part as it is remembered when its line or file is there no more."""
    return replace(entry, fields={**entry.fields, GONE: True})
