"""Operations on schedules: jobs that run automatically."""

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain import schedules as rules
from panorama.domain.changes import PERSON_ACTORS
from panorama.domain.items.item import normalize_name, single_line
from panorama.domain.jobs import CALL_ARGUMENTS
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.schedules import DueRun, Missed, Schedule, Trigger
from panorama.domain.text.visible_text import escape_name, quote_name
from panorama.domain.time import times, wall_clock
from panorama.domain.time.cron import parse_cron as cron_line
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError, UnavailableError
from panorama.ports import JobSubmitter
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.references import MAX_COMPARED_CHARS
from panorama.services.schedules.results import RemovedSchedule
from panorama.store.backend import Session
from panorama.store.items.alerts import TICKER
from panorama.store.log import schedules

SCHEDULE_LETTER = "e"
MAX_SCHEDULES = 500
"""The maximum number of schedules."""

MAX_CANDIDATES = 5
MAX_SHOWN_CHARS, MAX_SHOWN_ARGUMENTS = 200, 10
"""The maximum number of characters of an argument shown in a question."""

_TRIGGER_HINT = (
    "Give one of cron (“30 7 * * mon-fri”), every (“2h”) or at (“2026-05-31T15:00”); every can start at a time."
)


class Schedules(Service):
    """Schedules: when which job runs."""

    def __init__(self, context: ServiceContext, queue: JobSubmitter, uptime_hint: Callable[[str], str]) -> None:
        super().__init__(context)
        self._queue = queue
        self._uptime_hint = uptime_hint

    def list(self, page: PageRequest, paused: bool | None = None) -> Page[Schedule]:
        """List schedules, the one that runs next first."""
        with self._reading() as session:
            listed = schedules.list_schedules(session, page, paused=paused)
        is_any_due = any(schedule.next_at for schedule in listed.items)
        return replace(listed, hint=self._uptime_hint("Schedules run") if is_any_due else "")

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
    ) -> Result[Schedule]:
        """Schedule a job: at times of the day, at an interval, or once.

        Undo does not remove it: use remove_schedule.

        Args:
            kind: The job to run, such as backup.
            name: By default its kind.
            cron: Five fields of a crontab, as 30 7 * * mon-fri.
            every: Interval, such as 15m, 2h or 1d.
            at: Time to run once, or the start of `every`.
            zone: IANA name of the time zone; by default yours.
            arguments: The job's arguments.
            missed: Missed runs: `run` one for all of them, late, or `skip` them.

        Raises:
            InvalidInputError: No job is of this kind, or it does not take these arguments; no time is ever meant; or
                there is no such zone.
            ConflictError: There is a schedule of this name.
        """
        now = self._now()
        chosen = wall_clock.get_zone(zone) if zone.strip() else self._context.zone
        trigger, rule, begin = self._parse_trigger(cron.strip(), every.strip(), at.strip(), now, chosen)
        self._check_kind(kind)
        self._check_arguments(kind, arguments or {})
        schedule = Schedule(
            id=self._context.new_id(SCHEDULE_LETTER),
            name=single_line(name or kind, "name"),
            kind=kind,
            arguments=_validate_arguments(arguments or {}),
            trigger=trigger,
            rule=rule,
            zone=chosen.key,
            begin=begin,
            missed=missed,
            created_at=now,
            updated_at=now,
        ).resume(now)
        with self._writing() as session:
            self._check_name(session, schedule.name)
            schedules.add(session, schedule, self._queue.machine)
        return Result(schedule, hint=self._uptime_hint("It runs"))

    def plan_add(
        self,
        kind: str,
        cron: str = "",
        every: str = "",
        at: str = "",
        arguments: dict[str, Any] | None = None,
        **_: object,
    ) -> Plan:
        """Ask the user before scheduling a job that would ask them each time."""
        arguments = arguments or {}
        if kind not in self._queue.kinds():
            return Plan()  # `add` rejects it
        self._check_arguments(kind, arguments)
        return self._plan_running(kind, f"by {cron}" if cron else f"every {every}" if every else f"at {at}", arguments)

    def _plan_running(self, kind: str, when: str, arguments: Mapping[str, Any]) -> Plan:
        """Ask the user before a schedule runs a job that would otherwise ask each time."""
        if not self._queue.needs_confirmation(kind, arguments):
            return Plan()
        given = [escape_name(f"{key} {json.dumps(value)}", limit=MAX_SHOWN_CHARS) for key, value in arguments.items()]
        more = f" and {len(given) - MAX_SHOWN_ARGUMENTS} more" if len(given) > MAX_SHOWN_ARGUMENTS else ""
        listed = f"\nIt gets: {', '.join(given[:MAX_SHOWN_ARGUMENTS])}{more}" if given else ""
        return Plan(f"Run {kind} automatically {escape_name(when)}? It will not ask again.{listed}")

    def _check_arguments(self, kind: str, arguments: Mapping[str, Any]) -> None:
        if refused := sorted(CALL_ARGUMENTS & set(arguments)):
            raise InvalidInputError(
                f"{refused[0]} is not an argument for a schedule.", hint="The user is asked when it is added."
            )
        with self._writing() as session:
            self._check_actor(session, kind, f"panorama schedule add {kind} …")
        self._queue.check(kind, arguments)

    def _check_actor(self, session: Session, kind: str, command: str) -> None:
        """Check that the requester may schedule a kind of job.

        Raises:
            InvalidInputError: Only the user may.
        """
        if self._queue.is_cli_only(kind) and session.origin and session.origin.actor not in PERSON_ACTORS:
            raise InvalidInputError(f"Only the user can schedule {kind}, at a terminal.", hint=command)

    def pause(self, schedule: str) -> Result[Schedule]:
        """Pause a schedule until resume_schedule; runs that come due meanwhile are not made up for.

        Args:
            schedule: Its id or name.
        """
        with self._writing() as session:
            old = self._get(session, schedule)
            if old.paused:
                return Result(old, hint="It was paused already.", wrote=False)
            new = old.pause(self._now())
            schedules.save(session, new)
            return Result(new)

    def resume(self, schedule: str) -> Result[Schedule]:
        """Resume a paused schedule.

        Args:
            schedule: Its id or name.
        """
        with self._writing() as session:
            old = self._get(session, schedule)
            if not old.paused:
                return Result(old, hint="It was not paused.", wrote=False)
            self._check_actor(session, old.kind, f"panorama schedule resume {old.id}")
            new = old.resume(self._now())
            schedules.save(session, new)
            return Result(new, hint="" if new.next_at else "Its time has passed: it will not run.")

    def plan_resume(self, schedule: str) -> Plan:
        """Ask the user before resuming a schedule whose job would otherwise ask each time."""
        with self._reading() as session:
            old = self._get(session, schedule)
        if not old.paused or old.kind not in self._queue.kinds():
            return Plan()  # nothing to do, or its job is rejected
        return self._plan_running(old.kind, f"{old.trigger} {old.rule}", old.arguments)

    def remove(self, schedule: str) -> RemovedSchedule:
        """Remove a schedule permanently; to stop it for some time use pause_schedule.

        Args:
            schedule: Its id or name.
        """
        with self._writing() as session:
            removed = self._get(session, schedule)
            schedules.remove(session, removed.id)
            return RemovedSchedule(id=removed.id, name=removed.name, kind=removed.kind)

    def plan_remove(self, schedule: str) -> Plan:
        """Ask the user before a schedule is forgotten."""
        with self._reading() as session:
            gone = self._get(session, schedule)
        return Plan(
            f"Remove the schedule {quote_name(gone.name)} ({gone.kind}, {gone.trigger} {gone.rule})? "
            "Undo cannot bring it back."
        )

    # Timed work.

    def run_due(self) -> None:
        """Submit the jobs of due schedules, each in one transaction with its schedule's next time.

        A rejected job is stored as the schedule's problem; the schedule continues.

        Raises:
            UnavailableError: Some jobs could not be submitted now; the others were.
        """
        now = self._now()
        with self._reading() as session:
            waiting = schedules.list_due(session, now)
        failed: list[UnavailableError] = []
        for schedule in waiting:
            try:
                with self._context.database.transaction(TICKER) as session:
                    self._run_one(session, schedule.id, now)
            except UnavailableError as error:  # such as a locked database: the next round tries again
                failed.append(error)
        if failed:
            raise failed[0]

    def _run_one(self, session: Session, id_: str, now: datetime) -> None:
        schedule = schedules.find(session, id_)
        if schedule is None:
            return
        try:
            due = schedule.find_due(now)
        except InvalidInputError as error:  # its zone is no longer known here
            schedules.save(session, replace(schedule.pause(now), problem=error.message))
            return
        if due is None:
            return
        job = problem = ""
        if due.runs:
            try:
                job = self._queue.submit(
                    schedule.kind, schedule.arguments, asked_by=f"schedule {schedule.name}",
                    machine=schedules.get_machine(session, schedule.id),
                )  # fmt: skip
            except PanoramaError as error:
                if isinstance(error, UnavailableError):
                    raise
                problem = error.message
        else:
            problem = _describe_skipped(due)
        schedules.save(session, schedule.with_run(due, now, job=job, problem=problem))

    def repair_after_clock_change(self) -> None:
        """Correct the schedules that a wrong clock made wait too long."""
        now = self._now()
        with self._context.database.transaction(TICKER) as session:
            for schedule in schedules.list_ahead_of_clock(session, now):
                schedules.save(session, schedule.repair_after_clock_change(now))

    def find_next_due(self) -> datetime | None:
        """Return when the next schedule is due."""
        with self._reading() as session:
            return schedules.next_due_time(session)

    # Checks.

    def _parse_trigger(
        self, cron: str, every: str, at: str, now: datetime, zone: ZoneInfo
    ) -> tuple[Trigger, str, datetime]:
        """Return a schedule's trigger, its rule in normal form, and its start."""
        if bool(cron) + bool(every) + bool(at and not every) != 1:
            raise InvalidInputError("A schedule needs exactly one of cron, every and at.", hint=_TRIGGER_HINT)
        if cron:
            trigger = cron_line(cron)
            return "cron", trigger.text, now
        begin = times.parse_datetime(at, "at", now=now, zone=zone) if at else now
        if every:
            return "every", rules.format_duration(rules.parse_duration(every)), begin
        if begin <= now:
            raise InvalidInputError(
                f"at has passed: {times.format_time(begin, zone)}.", hint="Choose a time in the future."
            )
        return "at", begin.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), begin

    def _check_kind(self, kind: str) -> None:
        known = sorted(self._queue.kinds())
        if kind in known:
            return
        near = difflib.get_close_matches(kind[:60], known, 1, 0.6)
        hint = f"There are {', '.join(known)}." if known else "Jobs cannot run here: the daemon runs them."
        suggestion = f"Did you mean {near[0]}? " if near else ""
        raise InvalidInputError(f"There is no kind of job {kind[:60]!r}.", hint=f"{suggestion}{hint}")

    def _check_name(self, session: Session, name: str) -> None:
        known = schedules.get_names(session)
        existing = next(
            (id_ for id_, known_name in known.items() if normalize_name(known_name) == normalize_name(name)), None
        )
        if existing:
            raise ConflictError(
                f"A schedule “{known[existing]}” already exists.", hint="Give it another name.",
                candidates=[{"id": existing, "name": known[existing]}],
            )  # fmt: skip
        if len(known) >= MAX_SCHEDULES:
            raise ConflictError(f"There are {MAX_SCHEDULES} schedules.", hint="Remove some that are not needed.")

    def _get(self, session: Session, reference: str) -> Schedule:
        schedule = schedules.find(session, reference)
        if schedule is None:
            known = schedules.get_names(session)
            raise NotFoundError(
                f"There is no schedule “{reference[:80]}”.",
                hint="Give the id or name of one of the candidates." if known else "Add one with add_schedule.",
                candidates=[{"id": id_, "name": known[id_]} for id_ in _closest_ids(reference, known)],
            )
        return schedule


def _closest_ids(text: str, known: Mapping[str, str]) -> Sequence[str]:
    key = normalize_name(text[:MAX_COMPARED_CHARS])
    alike = {id_: difflib.SequenceMatcher(None, key, normalize_name(name)).ratio() for id_, name in known.items()}
    return sorted(alike, key=lambda id_: (-alike[id_], id_))[:MAX_CANDIDATES]


def _validate_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    if len(json.dumps(arguments, ensure_ascii=False)) > rules.ARGUMENTS_CHARS:
        raise InvalidInputError(
            f"arguments are longer than {rules.ARGUMENTS_CHARS:,} characters.",
            hint="Keep long texts in a note or file.",
        )
    return dict(arguments)


def _describe_skipped(due: DueRun) -> str:
    return f"Skipped: {due.missed + 1} missed, the last by {rules.format_delay(due.late)}"
