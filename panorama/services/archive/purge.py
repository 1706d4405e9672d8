"""Permanently deletes old items in the trash, and old log entries."""

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from panorama.domain.changes import Origin
from panorama.errors import InvalidInputError, UnavailableError
from panorama.index.points import in_batches
from panorama.services.archive.backup_folder import apply_retention, list_own_backups
from panorama.services.archive.paths import ArchivePaths
from panorama.services.archive.results import PurgeResult, join_counts
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.jobs.pace import ProgressTracker
from panorama.services.jobs.progress import Progress, report_progress
from panorama.store.archive import purge_order, purged_words, purging
from panorama.store.archive.purging import LogTable, PurgePlan
from panorama.store.backend import Session
from panorama.store.items import files, passages
from panorama.store.log import idempotency

ITEM_BATCH, ROW_BATCH, VECTOR_BATCH, CONTENT_BATCH = 20, 1000, 250, 100
"""The amounts deleted or examined in one step; others can write between steps, and the purge can be stopped."""

MAX_PAUSE_SECONDS = 0.1

ORPHAN_GRACE_SECONDS = 24 * 60 * 60
"""An unreferenced content younger than this is kept, because the row that names it may still be written."""

MAX_DAYS = 36_500
PURGE_ORIGIN = Origin(actor="purge", client="", conversation="", operation="purge", call="", unit="")
"""The origin of deletions; they add no change lines, because they cannot be undone."""


@dataclass(frozen=True, slots=True)
class RetentionAges:
    """How long the trash and the log are kept."""

    trash: timedelta = timedelta(days=30)
    log: timedelta = timedelta(days=30)


@dataclass(slots=True)
class _Plan:
    """The items to delete: rounds of items by kind, referring items first; and how many have to wait."""

    rounds: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    waiting: int = 0

    @property
    def count(self) -> int:
        """The number of items."""
        return sum(self.counts.values())


class PurgeService(Service):
    """Deletes permanently."""

    def __init__(
        self, context: ServiceContext, keeper: ArchivePaths, ages: RetentionAges, progress: Progress = report_progress
    ) -> None:
        super().__init__(context)
        self._keeper = keeper
        self._ages = ages
        self._progress = progress

    def purge(self, days: int | None = None, dry_run: bool = False) -> PurgeResult:
        """Permanently delete old items in the trash and old log entries; it cannot be undone.

        An item's history, index entries, vectors, unshared file contents and log entries are deleted with it. Backups
        expire separately. A stopped purge is continued by the next one.

        Args:
            days: Days an item must have been in the trash; by default the setting `trash_days`. 0 empties the trash.
            dry_run: Only report what would be deleted.

        Raises:
            InvalidInputError: `days` is negative or over 36,500.
        """
        before = self._parse_cutoff(days)
        old = self._now() - self._ages.log
        with self._reading() as session:
            plan = _make_plan(session, before)
            logged = purging.count_old(session, old)
        if dry_run:
            return _build_result(
                before, plan.counts, plan.waiting, dry_run=True, calls=logged["calls"], runs=logged["runs"]
            )
        return _PurgeRun(self._context, self._keeper, ProgressTracker(self._progress)).run(plan, before, old)

    def plan_purge(self, days: int | None = None, dry_run: bool = False) -> Plan:
        """Refuse days that make no sense; ask before items are permanently deleted."""
        before = self._parse_cutoff(days)
        with self._reading() as session:
            plan = _make_plan(session, before)
        if dry_run or not plan.count:
            return Plan()
        since = f"{before.astimezone(self._context.zone):%Y-%m-%d %H:%M}"
        return Plan(
            f"Permanently delete {join_counts(plan.counts)} in the trash since before {since}? This cannot be undone."
        )

    def _parse_cutoff(self, days: int | None) -> datetime:
        if days is not None and not 0 <= days <= MAX_DAYS:
            raise InvalidInputError(f"days is {days}.", hint=f"Give 0 to {MAX_DAYS:,}; 0 empties the trash.")
        return self._now() - (self._ages.trash if days is None else timedelta(days=days))


class _PurgeRun:
    """One purge in repeatable steps, so that the next purge continues a stopped one.

    Log entries are cleared before the items are deleted, because they could not be found afterwards.
    """

    def __init__(self, context: ServiceContext, keeper: ArchivePaths, pace: ProgressTracker) -> None:
        self._context = context
        self._keeper = keeper
        self._pace = pace
        self._problems: list[str] = []

    def run(self, plan: _Plan, before: datetime, old: datetime) -> PurgeResult:
        """Run the purge and return what was deleted."""
        self._pace.set_total(plan.count)
        emptied = self._empty_log(plan)
        counts, changes = self._delete_items(plan, before)
        log = self._delete_old_log(old)
        texts = self._delete_texts()
        vectors = self._delete_vectors()
        if counts:
            self._merge_word_index()
        contents, size = self._delete_contents()
        keeper = self._keeper
        copies = apply_retention(keeper, keeper.backups, list_own_backups(keeper, keeper.backups), self._context.now())
        self._context.database.truncate_log()
        left = plan.waiting + plan.count - sum(counts.values())
        return _build_result(
            before, counts, left, changes=changes, texts=texts, vectors=vectors, contents=contents,
            content_bytes=size, copies=copies, problems=tuple(self._problems), jobs=emptied["jobs"],
            calls=emptied["calls"] + log["calls"], runs=emptied["runs"] + log["runs"],
        )  # fmt: skip

    def _empty_log(self, plan: _Plan) -> dict[str, int]:
        self._pace.start("reading the log")
        traces = PurgePlan()
        for kind, ids in plan.rounds:
            with self._reading() as session:
                purging.collect_traces(session, kind, ids, traces)
            self._pace.check_cancel()
        if not traces.items:
            return dict.fromkeys((log.name for log in purging.LOGS), 0)
        traces.words = self._find_purged_words(plan)
        for row in self._iter_log_rows(purging.RUNS, traces):
            with self._reading() as session:
                purging.collect_scripts(session, row, traces)
        self._delete_answers(traces)
        return {log.name: self._empty_log_rows(log, traces) for log in purging.LOGS}

    def _find_purged_words(self, plan: _Plan) -> set[str]:
        """Return the words that were searched and that only items of the purge hold."""
        searched, after, more = set[str](), 0, True
        while more:
            with self._reading() as session:
                words, after = purged_words.list_searched_words(session, after, ROW_BATCH)
            searched, more = searched | words, bool(after)
            self._pace.check_cancel()
        with self._reading() as session:
            by_beginning = purged_words.index_by_beginning(session, searched)
        held = set[str]()
        for kind, ids in plan.rounds if searched else ():
            for batch in in_batches(ids, ITEM_BATCH):
                with self._reading() as session:
                    held |= purged_words.find_held_words(session, kind, batch, by_beginning)
                self._pace.check_cancel()
        with self._reading() as session:
            return purged_words.drop_living_words(session, held)

    def _delete_answers(self, traces: PurgePlan) -> None:
        with self._reading() as session:
            keys = purging.list_traced_answers(session, traces)
        for batch in in_batches(keys, ROW_BATCH):
            with self._writing() as session:
                purging.delete_keys(session, batch)

    def _empty_log_rows(self, log: LogTable, traces: PurgePlan) -> int:
        count = 0
        for row in self._iter_log_rows(log, traces):
            with self._writing() as session:
                purging.clear_rows(session, log, row)
            count += len(row)
        return count

    def _iter_log_rows(self, log: LogTable, traces: PurgePlan) -> Iterator[list[int]]:
        """Yield the numbers of log rows that mention the items, in batches."""
        after, more = 0, True
        while more:
            with self._reading() as session:
                rows, after = purging.list_matching_rows(session, log, traces, after, ROW_BATCH)
            more = bool(after)
            if rows:
                yield rows
            self._pace.check_cancel()

    def _delete_items(self, plan: _Plan, before: datetime) -> tuple[dict[str, int], int]:
        """Delete the items; return their number by kind, and the number of their change lines."""
        self._pace.start("forgetting items")
        counts, changes = dict.fromkeys(plan.counts, 0), 0
        for kind, ids in plan.rounds:
            for batch in in_batches(ids, ITEM_BATCH):
                with self._writing() as session:
                    deleted = purging.delete_items(session, kind, batch, before)
                    purging.reset_stale_indexes(session, deleted.last)
                counts[kind] += deleted.items
                changes += deleted.changes
                self._pace.advance(len(batch))
        return {kind: count for kind, count in counts.items() if count}, changes

    def _delete_old_log(self, old: datetime) -> dict[str, int]:
        self._pace.start("deleting old log entries")
        counts = {"calls": 0, "runs": 0}
        while True:
            with self._writing() as session:
                deleted = purging.delete_old(session, old, ROW_BATCH)
                purging.delete_answers(session, self._context.now() - idempotency.RETENTION)
            counts = {name: counts[name] + deleted[name] for name in counts}
            if not any(deleted.values()):
                return counts
            self._pace.check_cancel()

    def _delete_texts(self) -> int:
        """Delete long texts that no change line names."""
        self._pace.start("deleting long texts")
        with self._reading() as session:
            loose = purging.list_texts(session)
        after = last = 0
        while loose:
            with self._reading() as session:
                named, after = purging.list_referenced_texts(session, after, ROW_BATCH)
            loose -= named
            if not after:
                break
            last = after
            self._pace.check_cancel()
        count = 0
        for batch in in_batches(sorted(loose), ITEM_BATCH):
            with self._writing() as session:
                count += purging.delete_texts(session, batch, last)
            self._pace.check_cancel()
        return count

    def _delete_vectors(self) -> int:
        self._pace.start("deleting vectors")
        with self._reading() as session:
            unused = passages.list_unused_vectors(session)
        for batch in in_batches(unused, VECTOR_BATCH):
            with self._writing() as session:
                passages.delete_vectors(session, batch)
            self._pace.check_cancel()
        return len(unused)

    def _merge_word_index(self) -> None:
        """Rewrite the word index without the deleted words."""
        self._pace.start("forgetting words")
        is_first = more = True
        while more:
            with self._writing() as session:
                more = session.full_text.merge(session, begin=is_first)
            is_first = False
            self._pace.check_cancel()

    def _delete_contents(self) -> tuple[int, int]:
        """Delete contents that neither a file nor its history names; return their number and bytes."""
        self._pace.start("deleting the contents of files")
        with self._reading() as session:
            named = files.list_digests(session)
        loose = [name for name, _ in self._keeper.contents.iter_sizes() if name not in named]
        count = size = 0
        try:
            for batch in in_batches(loose, CONTENT_BATCH):
                deleted = self._keeper.contents.delete(batch, before=time.time() - ORPHAN_GRACE_SECONDS)
                count, size = count + deleted[0], size + deleted[1]
                self._pace.check_cancel()
        except UnavailableError:
            self._problems.append("A backup or an export is running; file contents are deleted by the next purge.")
        return count, size

    def _reading(self) -> AbstractContextManager[Session]:
        return self._context.database.reading()

    @contextmanager
    def _writing(self) -> Generator[Session]:
        """Open one step's transaction, then pause as long as it took, so that others get the lock."""
        started = time.perf_counter()
        with self._context.database.transaction(PURGE_ORIGIN) as session:
            yield session
        time.sleep(min(MAX_PAUSE_SECONDS, time.perf_counter() - started))


def _make_plan(session: Session, before: datetime) -> _Plan:
    due = purging.list_expired(session, before)
    ties = {kind: purging.list_references(session, kind, ids) for kind, ids in due.items() if ids}
    blocked = purge_order.find_blocked(due, [pair for pairs in ties.values() for pair in pairs])
    plan = _Plan(waiting=sum(id_ in blocked for ids in due.values() for id_ in ids))
    for kind, ids in due.items():
        going = [id_ for id_ in ids if id_ not in blocked]
        if going:
            plan.counts[kind] = len(going)
            plan.rounds += [(kind, batch) for batch in purge_order.order_in_rounds(going, ties[kind])]
    return plan


def _build_result(
    before: datetime,
    items: Mapping[str, int],
    waiting: int,
    *,
    dry_run: bool = False,
    problems: tuple[str, ...] = (),
    **counts: int,
) -> PurgeResult:
    names = ("changes", "texts", "calls", "runs", "jobs", "vectors", "contents", "content_bytes", "copies")
    every = dict.fromkeys(names, 0) | counts
    return PurgeResult(before=before, items=items, waiting=waiting, dry_run=dry_run, problems=problems, **every)
