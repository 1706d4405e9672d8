"""Purging: forgets for good what has been in the trash for long, and the log that has had its time."""

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from panorama.domain.changes import Origin
from panorama.errors import InvalidInputError, UnavailableError
from panorama.index.points import in_batches
from panorama.services.backing_up import retained
from panorama.services.base import Desk, Service
from panorama.services.keeper import Keeper
from panorama.services.keeping_views import Purged, counted
from panorama.services.pace import Pace
from panorama.services.progress import Progress, told_to_the_door
from panorama.store import files, idempotency, passages, purging
from panorama.store.engine import Session
from panorama.store.purging import Log, Traces

ITEMS, ROWS, VECTORS, CONTENTS = 20, 1000, 250, 100
"""How much is forgotten or looked at in one step: others write in between, and it can be stopped."""

REST_SECONDS = 0.1

LOOSE_SECONDS = 24 * 60 * 60
"""A content that nobody names is young that long: the row that will name it may be still to come."""

LONGEST_DAYS = 36_500
PURGER = Origin(actor="purge", client="", conversation="", operation="purge", call="", unit="")
"""Who takes out; it leaves no line in `changes`, for there would be nothing that could be undone."""


@dataclass(frozen=True, slots=True)
class Ages:
    """How long the trash and the log are kept."""

    trash: timedelta = timedelta(days=30)
    log: timedelta = timedelta(days=30)


@dataclass(slots=True)
class _Plan:
    """What is to be forgotten: by kind in rounds, each before what it refers to; and how much has to wait."""

    rounds: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    waiting: int = 0

    @property
    def count(self) -> int:
        """How many items."""
        return sum(self.counts.values())


class Purging(Service):
    """Forgets for good."""

    def __init__(self, desk: Desk, keeper: Keeper, ages: Ages, progress: Progress = told_to_the_door) -> None:
        super().__init__(desk)
        self._keeper = keeper
        self._ages = ages
        self._progress = progress

    def purge(self, days: int | None = None, dry_run: bool = False) -> Purged:
        """Forget for good what has been in the trash for long, and what of the log is old; it cannot be undone.

        With an item goes its history, its words, its vectors, contents that no other file holds, and what the log says
        of it. Backups go by their own age. If it is stopped, what is forgotten stays so, and the next one goes on.

        Args:
            days: How long an item must have been in the trash; else the setting `trash_days`. 0 empties the trash.
            dry_run: Only tell what would be forgotten.

        Raises:
            InvalidInputError: `days` is negative or over 36,500.
        """
        before = self._before(days)
        old = self._now() - self._ages.log
        with self._reading() as session:
            plan = _planned(session, before)
            logged = purging.count_old(session, old)
        if dry_run:
            return _report(before, plan.counts, plan.waiting, dry_run=True, calls=logged["calls"], runs=logged["runs"])
        return _Forgetting(self._desk, self._keeper, Pace(self._progress)).done(plan, before, old)

    def purge_check(self, days: int | None = None, dry_run: bool = False) -> None:
        """Refuse days that make no sense, before anything begins."""
        del dry_run
        self._before(days)

    def purge_question(self, days: int | None = None, dry_run: bool = False) -> str:
        """Return what to ask before items are forgotten for good; "" if none would be."""
        before = self._before(days)
        with self._reading() as session:
            plan = _planned(session, before)
        if dry_run or not plan.count:
            return ""
        since = f"{before.astimezone(self._desk.zone):%Y-%m-%d %H:%M}"
        return f"Forget {_listed(plan.counts)} in the trash since before {since} for good? This cannot be undone."

    def purged(self, done: Purged) -> str:
        """Return what was forgotten, in one line."""
        verb = "Would forget" if done.dry_run else "Forgot"
        said = [f"{verb} {_listed(done.items) or 'nothing'} from the trash"]
        said += [f"{counted(done.changes, 'change')} of theirs"] if done.changes else []
        logged = done.calls + done.runs + done.jobs
        said += [f"{counted(logged, 'entry', 'entries')} of the log"] if logged else []
        said += [f"{counted(done.contents, 'content')} ({done.content_bytes / 1e6:,.1f} MB)"] if done.contents else []
        said += [counted(done.copies, "old backup")] if done.copies else []
        wait = counted(done.waiting, "waits for others that belong to it", "wait for others that belong to them")
        said += [wait] if done.waiting else []
        return "; ".join(said)

    def _before(self, days: int | None) -> datetime:
        if days is not None and not 0 <= days <= LONGEST_DAYS:
            raise InvalidInputError(f"days is {days}.", hint=f"0 to {LONGEST_DAYS:,}; 0 empties the trash.")
        return self._now() - (self._ages.trash if days is None else timedelta(days=days))


class _Forgetting:
    """One purge, in steps that may each be repeated: one that was stopped is gone on with by the next.

    What the log says of items is emptied before they go, because nobody would know later what told of them.
    """

    def __init__(self, desk: Desk, keeper: Keeper, pace: Pace) -> None:
        self._desk = desk
        self._keeper = keeper
        self._pace = pace
        self._problems: list[str] = []

    def done(self, plan: _Plan, before: datetime, old: datetime) -> Purged:
        """Do all of it and return what was forgotten."""
        self._pace.expect(plan.count)
        emptied = self._empty_log(plan)
        counts, changes = self._items(plan, before)
        log = self._log(old)
        texts = self._texts()
        vectors = self._vectors()
        if counts:
            self._words()
        contents, size = self._contents()
        copies = retained(self._keeper, self._keeper.backups, self._desk.now())
        self._desk.database.empty_log()
        left = plan.waiting + plan.count - sum(counts.values())
        return _report(
            before, counts, left, changes=changes, texts=texts, vectors=vectors, contents=contents,
            content_bytes=size, copies=copies, problems=tuple(self._problems), jobs=emptied["jobs"],
            calls=emptied["calls"] + log["calls"], runs=emptied["runs"] + log["runs"],
        )  # fmt: skip

    def _empty_log(self, plan: _Plan) -> dict[str, int]:
        self._pace.begin("reading the log")
        traces = Traces()
        for kind, ids in plan.rounds:
            with self._reading() as session:
                purging.trace(session, kind, ids, traces)
            self._pace.ask()
        if not traces.items:
            return dict.fromkeys((log.name for log in purging.LOGS), 0)
        for found in self._telling(purging.RUNS, traces):
            with self._reading() as session:
                purging.trace_scripts(session, found, traces)
        return {log.name: self._emptied(log, traces) for log in purging.LOGS}

    def _emptied(self, log: Log, traces: Traces) -> int:
        count = 0
        for found in self._telling(log, traces):
            with self._writing() as session:
                purging.empty(session, log, found)
            count += len(found)
        return count

    def _telling(self, log: Log, traces: Traces) -> Iterator[list[int]]:
        """Give the numbers of the rows of a log that tell of items, some at a time."""
        after, more = 0, True
        while more:
            with self._reading() as session:
                found, after = purging.telling(session, log, traces, after, ROWS)
            more = bool(after)
            if found:
                yield found
            self._pace.ask()

    def _items(self, plan: _Plan, before: datetime) -> tuple[dict[str, int], int]:
        """Take the items out; return how many of each kind, and how many lines of their history."""
        self._pace.begin("forgetting items")
        counts, changes = dict.fromkeys(plan.counts, 0), 0
        for kind, ids in plan.rounds:
            for some in in_batches(ids, ITEMS):
                with self._writing() as session:
                    taken = purging.take_out(session, kind, some, before)
                    purging.forget_listeners(session, taken.last)
                counts[kind] += taken.items
                changes += taken.changes
                self._pace.move(len(some))
        return {kind: count for kind, count in counts.items() if count}, changes

    def _log(self, old: datetime) -> dict[str, int]:
        self._pace.begin("forgetting the old log")
        counts = {"calls": 0, "runs": 0}
        while True:
            with self._writing() as session:
                gone = purging.forget_old(session, old, ROWS)
                purging.forget_answers(session, self._desk.now() - idempotency.KEPT)
            counts = {name: counts[name] + gone[name] for name in counts}
            if not any(gone.values()):
                return counts
            self._pace.ask()

    def _texts(self) -> int:
        """Forget long texts that no line of any history names."""
        self._pace.begin("forgetting long texts")
        with self._reading() as session:
            loose = purging.known_texts(session)
        after = last = 0
        while loose:
            with self._reading() as session:
                named, after = purging.named_texts(session, after, ROWS)
            loose -= named
            if not after:
                break
            last = after
            self._pace.ask()
        count = 0
        for some in in_batches(sorted(loose), ITEMS):
            with self._writing() as session:
                count += purging.forget_texts(session, some, last)
            self._pace.ask()
        return count

    def _vectors(self) -> int:
        self._pace.begin("forgetting vectors")
        with self._reading() as session:
            unused = passages.unused(session)
        for some in in_batches(unused, VECTORS):
            with self._writing() as session:
                passages.forget(session, some)
            self._pace.ask()
        return len(unused)

    def _words(self) -> None:
        """Write the index of words anew without those that were taken out."""
        self._pace.begin("forgetting words")
        is_first = more = True
        while more:
            with self._writing() as session:
                more = purging.merge_words(session, begin=is_first)
            is_first = False
            self._pace.ask()

    def _contents(self) -> tuple[int, int]:
        """Forget contents that neither a file nor its history names; return how many, and their bytes."""
        self._pace.begin("forgetting contents")
        with self._reading() as session:
            named = files.contents(session)
        loose = [name for name, _ in self._keeper.blobs.names() if name not in named]
        count = size = 0
        try:
            for some in in_batches(loose, CONTENTS):
                gone = self._keeper.blobs.forget(some, before=time.time() - LOOSE_SECONDS)
                count, size = count + gone[0], size + gone[1]
                self._pace.ask()
        except UnavailableError:
            self._problems.append("A backup or an export is being made; contents of files go with the next purge.")
        return count, size

    def _reading(self) -> AbstractContextManager[Session]:
        return self._desk.database.reading()

    @contextmanager
    def _writing(self) -> Generator[Session]:
        """Open one step's transaction, and rest as long as it took: the lock goes to whoever asks first."""
        begun = time.perf_counter()
        with self._desk.database.transaction(PURGER) as session:
            yield session
        time.sleep(min(REST_SECONDS, time.perf_counter() - begun))


def _planned(session: Session, before: datetime) -> _Plan:
    due = purging.due(session, before)
    ties = {kind: purging.referring(session, kind, ids) for kind, ids in due.items() if ids}
    held = purging.waiting(due, [pair for pairs in ties.values() for pair in pairs])
    plan = _Plan(waiting=sum(id_ in held for ids in due.values() for id_ in ids))
    for kind, ids in due.items():
        going = [id_ for id_ in ids if id_ not in held]
        if going:
            plan.counts[kind] = len(going)
            plan.rounds += [(kind, some) for some in purging.in_turn(going, ties[kind])]
    return plan


def _report(
    before: datetime,
    items: Mapping[str, int],
    waiting: int,
    *,
    dry_run: bool = False,
    problems: tuple[str, ...] = (),
    **counts: int,
) -> Purged:
    names = ("changes", "texts", "calls", "runs", "jobs", "vectors", "contents", "content_bytes", "copies")
    every = dict.fromkeys(names, 0) | counts
    return Purged(before=before, items=items, waiting=waiting, dry_run=dry_run, problems=problems, **every)


def _listed(counts: Mapping[str, int]) -> str:
    """Return counts of kinds as words: «3 tasks, 1 note»."""
    return ", ".join(f"{count:,} {_noun(kind, count)}" for kind, count in counts.items())


def _noun(kind: str, count: int) -> str:
    if kind == "journal":
        return "journal entry" if count == 1 else "journal entries"
    return kind if count == 1 else f"{kind}s"
