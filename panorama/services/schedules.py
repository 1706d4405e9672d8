"""What one can do with schedules: jobs that run by themselves."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain import schedules as rules
from panorama.domain import times, walls
from panorama.domain.changes import PERSON
from panorama.domain.cron import cron as cron_line
from panorama.domain.items import folded, line
from panorama.domain.jobs import FOR_THE_CALL
from panorama.domain.results import Noted, Page, Slice
from panorama.domain.schedules import Due, Missed, Schedule, Trigger
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError, UnavailableError
from panorama.ports import JobQueue
from panorama.services.base import Desk, Service
from panorama.services.references import COMPARED_CHARS
from panorama.services.views import RemovedSchedule
from panorama.store import schedules
from panorama.store.alerts import TICKER
from panorama.store.engine import Session

SCHEDULE_LETTER = "e"
MOST = 500
"""Schedules that may be kept: each is looked at when it is due."""

CANDIDATES = 5
SHOWN = 200
"""Characters of an argument that a question shows."""

_ONE = "Give one of cron (“30 7 * * mon-fri”), every (“2h”) or at (“2026-05-31T15:00”); every may begin at a moment."


class Schedules(Service):
    """Schedules: when which job runs."""

    def __init__(self, desk: Desk, queue: JobQueue) -> None:
        super().__init__(desk)
        self._queue = queue

    def list(self, page: Slice, paused: bool | None = None) -> Page[Schedule]:
        """List schedules, the one that runs next first."""
        with self._reading() as session:
            return schedules.listed(session, page, paused=paused)

    def add(
        self,
        kind: str,
        name: str = "",
        cron: str = "",
        every: str = "",
        at: str = "",
        zone: str = "",
        arguments: dict[str, Any] | None = None,
        missed: Missed = "run",
    ) -> Schedule:
        """Let a job run by itself: at times of the day, every so often, or once.

        Undo does not take it back: use remove_schedule.

        Args:
            kind: What runs, such as backup.
            name: What to call it; its kind if left out.
            cron: Five fields of a crontab, as 30 7 * * mon-fri.
            every: Span, as 15m, 2h or 1d.
            at: Moment to run once, or at which `every` begins.
            zone: IANA name of the zone whose clock is meant; yours if left out.
            arguments: What the job gets.
            missed: What becomes of runs that were missed: `run` one for all of them, late, or `skip` them.

        Raises:
            InvalidInputError: No job is of this kind, or it does not take these arguments; no time is ever meant; or
                there is no such zone.
            ConflictError: There is a schedule of this name.
        """
        now = self._now()
        chosen = walls.known_zone(zone) if zone.strip() else self._desk.zone
        trigger, rule, begin = self._times(cron.strip(), every.strip(), at.strip(), now, chosen)
        self._check_kind(kind)
        self._check_arguments(kind, arguments or {})
        schedule = Schedule(
            id=self._desk.new_id(SCHEDULE_LETTER), name=line(name or kind, "name"), kind=kind,
            arguments=_plain(arguments or {}), trigger=trigger, rule=rule, zone=chosen.key, begin=begin, missed=missed,
            created_at=now, updated_at=now,
        ).resumed_at(now)  # fmt: skip
        with self._writing() as session:
            self._check_name(session, schedule.name)
            schedules.add(session, schedule)
        return schedule

    def add_question(
        self,
        kind: str,
        name: str = "",  # noqa: ARG002 (what is asked gets what the operation gets)
        cron: str = "",
        every: str = "",
        at: str = "",
        zone: str = "",  # noqa: ARG002 (as name)
        arguments: dict[str, Any] | None = None,
        missed: Missed = "run",  # noqa: ARG002 (as name)
    ) -> str:
        """Return what the person is asked before something runs by itself of which they would be asked each time."""
        sent = arguments or {}
        if kind not in self._queue.kinds():
            return ""  # `add` refuses it
        self._check_arguments(kind, sent)
        if not self._queue.needs_leave(kind, sent):
            return ""
        given = ", ".join(f"{key} {json.dumps(value)[:SHOWN]}" for key, value in sent.items())
        when = f"by {cron}" if cron else f"every {every}" if every else f"at {at}"
        return f"Let {kind}{f' ({given})' if given else ''} run by itself {when}? Nobody will be asked then."

    def _check_arguments(self, kind: str, sent: Mapping[str, Any]) -> None:
        if refused := sorted(FOR_THE_CALL & set(sent)):
            raise InvalidInputError(
                f"{refused[0]} is no argument for a schedule.", hint="The person is asked when it is added."
            )
        with self._writing() as session:
            if self._queue.is_theirs(kind) and session.origin and session.origin.actor != PERSON:
                raise InvalidInputError(
                    f"Only the person can schedule {kind}, at a terminal.", hint=f"panorama schedule add {kind} …"
                )
        self._queue.check(kind, sent)

    def pause(self, schedule: str) -> Noted[Schedule]:
        """Let a schedule rest until resume_schedule; what comes due meanwhile is not made up for.

        Args:
            schedule: Its id or name.
        """
        with self._writing() as session:
            old = self._load(session, schedule)
            if old.paused:
                return Noted(old, hint="It was paused already.", wrote=False)
            new = old.paused_at(self._now())
            schedules.save(session, new)
            return Noted(new)

    def resume(self, schedule: str) -> Noted[Schedule]:
        """Let a schedule go on that was paused.

        Args:
            schedule: Its id or name.
        """
        with self._writing() as session:
            old = self._load(session, schedule)
            if not old.paused:
                return Noted(old, hint="It was not paused.", wrote=False)
            new = old.resumed_at(self._now())
            schedules.save(session, new)
            return Noted(new, hint="" if new.next_at else "Its moment has passed: it will not run.")

    def remove(self, schedule: str) -> RemovedSchedule:
        """Forget a schedule for good; to stop it for some time use pause_schedule.

        Args:
            schedule: Its id or name.
        """
        with self._writing() as session:
            gone = self._load(session, schedule)
            schedules.remove(session, gone.id)
            return RemovedSchedule(id=gone.id, name=gone.name, kind=gone.kind)

    def remove_question(self, schedule: str) -> str:
        """Return what the person is asked before a schedule is forgotten."""
        with self._reading() as session:
            gone = self._load(session, schedule)
        return (
            f"Forget the schedule “{gone.name}” ({gone.kind}, {gone.trigger} {gone.rule})? Undo cannot bring it back."
        )

    # What the clock does.

    def run_due(self) -> None:
        """Submit the jobs of what is due, each in one transaction with the schedule's next moment.

        A job that is refused is kept as the schedule's problem; the schedule goes on.

        Raises:
            UnavailableError: Something could not be submitted now; the others were.
        """
        now = self._now()
        with self._reading() as session:
            waiting = schedules.due(session, now)
        failed: list[UnavailableError] = []
        for each in waiting:
            try:
                with self._desk.database.transaction(TICKER) as session:
                    self._run(session, each.id, now)
            except UnavailableError as error:  # such as a locked database: the next round tries again
                failed.append(error)
        if failed:
            raise failed[0]

    def _run(self, session: Session, id_: str, now: datetime) -> None:
        schedule = schedules.found(session, id_)
        if schedule is None:
            return
        try:
            due = schedule.due(now)
        except InvalidInputError as error:  # its zone is not known here any more
            schedules.save(session, replace(schedule.paused_at(now), problem=error.message))
            return
        if due is None:
            return
        job = problem = ""
        if due.runs:
            try:
                job = self._queue.submit(schedule.kind, schedule.arguments, asked_by=f"schedule {schedule.name}")
            except PanoramaError as error:
                if isinstance(error, UnavailableError):
                    raise
                problem = error.message
        else:
            problem = _skipped(due)
        schedules.save(session, schedule.done(due, now, job=job, problem=problem))

    def mend(self) -> None:
        """Let schedules go on that a clock which was wrong made wait for too long."""
        now = self._now()
        with self._desk.database.transaction(TICKER) as session:
            for each in schedules.ahead(session, now):
                schedules.save(session, each.mended(now))

    def next_moment(self) -> datetime | None:
        """Return when the next schedule is due."""
        with self._reading() as session:
            return schedules.next_moment(session)

    # What is checked.

    def _times(self, cron: str, every: str, at: str, now: datetime, zone: ZoneInfo) -> tuple[Trigger, str, datetime]:
        """Return how a schedule is triggered, its rule in plain form, and when it begins."""
        if bool(cron) + bool(every) + bool(at and not every) != 1:
            raise InvalidInputError("A schedule needs one of cron, every and at.", hint=_ONE)
        if cron:
            found = cron_line(cron)
            return "cron", found.text, now
        begin = times.moment(at, "at", now=now, zone=zone) if at else now
        if every:
            return "every", rules.plain_span(rules.span(every)), begin
        if begin <= now:
            raise InvalidInputError(
                f"at has passed: {times.shown(begin, zone)}.", hint="Choose a moment that is to come."
            )
        return "at", begin.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), begin

    def _check_kind(self, kind: str) -> None:
        known = sorted(self._queue.kinds())
        if kind in known:
            return
        near = difflib.get_close_matches(kind[:60], known, 1, 0.6)
        hint = f"There are {', '.join(known)}." if known else "No jobs can be run here: the daemon runs them."
        meant = f"Did you mean {near[0]}? " if near else ""
        raise InvalidInputError(f"There is no kind of job {kind[:60]!r}.", hint=f"{meant}{hint}")

    def _check_name(self, session: Session, name: str) -> None:
        known = schedules.names(session)
        taken = next((id_ for id_, each in known.items() if folded(each) == folded(name)), None)
        if taken:
            raise ConflictError(
                f"There is a schedule “{known[taken]}” already.", hint="Give it another name.",
                candidates=[{"id": taken, "name": known[taken]}],
            )  # fmt: skip
        if len(known) >= MOST:
            raise ConflictError(f"There are {MOST} schedules.", hint="Remove some that are not needed.")

    def _load(self, session: Session, said: str) -> Schedule:
        found = schedules.found(session, said)
        if found is None:
            known = schedules.names(session)
            raise NotFoundError(
                f"There is no schedule “{said[:80]}”.",
                hint="Give the id or name of one of the candidates." if known else "Add one with add_schedule.",
                candidates=[{"id": id_, "name": known[id_]} for id_ in _nearest(said, known)],
            )
        return found


def _nearest(said: str, known: Mapping[str, str]) -> Sequence[str]:
    wanted = folded(said[:COMPARED_CHARS])
    alike = {id_: difflib.SequenceMatcher(None, wanted, folded(name)).ratio() for id_, name in known.items()}
    return sorted(alike, key=lambda id_: (-alike[id_], id_))[:CANDIDATES]


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    if len(json.dumps(arguments, ensure_ascii=False)) > rules.ARGUMENTS_CHARS:
        raise InvalidInputError(
            f"arguments are longer than {rules.ARGUMENTS_CHARS:,} characters.",
            hint="Keep long texts in a note or file.",
        )
    return dict(arguments)


def _skipped(due: Due) -> str:
    return f"Skipped: {due.missed + 1} missed, the last by {rules.waited(due.late)}"
