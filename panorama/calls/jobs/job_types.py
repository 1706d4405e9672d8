"""Job types of operations: what the queue needs to know of an operation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from panorama.calls.arguments import Arguments, drop_nulls, find_unusable
from panorama.domain.jobs import CALL_ARGUMENTS, JobKind
from panorama.errors import InvalidInputError, PanoramaError
from panorama.services.base import ServiceContext
from panorama.services.jobs.job_types import JobType
from panorama.services.jobs.jobs import MAX_WAIT_SECONDS
from panorama.services.references import resolve


@dataclass(frozen=True, slots=True)
class JobWait:
    """The job whose end a call waits for, for how many seconds, and the arguments of the same call without the wait."""

    job: str
    seconds: float
    arguments: dict[str, Any]


def find_job_wait(arguments: Arguments, raw_arguments: Mapping[str, Any]) -> JobWait | None:
    """Return the condition that a call waits for; None if it does not wait, or will be refused."""
    if arguments.operation.waits is None:
        return None
    job_name, seconds_name = arguments.operation.waits
    try:
        values = arguments.parse(drop_nulls(raw_arguments))
    except PanoramaError:
        return None
    job, seconds = str(values[job_name]).strip(), values[seconds_name]
    if not job or not 0 < seconds <= MAX_WAIT_SECONDS:
        return None
    return JobWait(job, seconds, {**raw_arguments, seconds_name: 0})


def job_type(kind: JobKind, arguments: Arguments, context: ServiceContext) -> JobType:
    """Return the job type of an operation."""
    operation = arguments.operation
    return JobType(
        kind,
        operation.name,
        _make_check(arguments),
        scheduled=_make_schedule_check(arguments, context),
        due=_make_due_check(arguments),
        asks=operation.asks,
        needs_confirmation=_make_confirmation_check(arguments),
        is_cli_only=not operation.tool,
    )


def _make_check(arguments: Arguments) -> Callable[[Mapping[str, Any]], None]:
    """Return a check for an operation's arguments."""

    def check(raw_arguments: Mapping[str, Any]) -> None:
        if problem := find_unusable(raw_arguments):
            raise InvalidInputError(
                f"{arguments.operation.name} was not submitted: {problem}.", hint="Correct the arguments."
            )
        arguments.parse(raw_arguments)

    return check


def _make_schedule_check(arguments: Arguments, context: ServiceContext) -> Callable[[Mapping[str, Any]], None]:
    """Return a check for new schedules: it raises the errors that a job would raise before it begins."""
    operation, check, check_due = arguments.operation, _make_check(arguments), _make_due_check(arguments)

    def check_schedule(raw_arguments: Mapping[str, Any]) -> None:
        check(raw_arguments)
        check_due(raw_arguments)
        values = _operation_arguments(arguments.parse(raw_arguments))
        with context.database.reading() as session:
            for parameter in arguments.parameters:
                if parameter.reference and isinstance(text := values[parameter.name], str) and text.strip():
                    values[parameter.name] = resolve(
                        session, parameter.reference, text.strip(), parameter.name, context.zone
                    )
        if operation.plan:
            operation.plan(**values)

    return check_schedule


def _make_due_check(arguments: Arguments) -> Callable[[Mapping[str, Any]], None]:
    """Return the check that refuses what schedules may not run, such as an unreviewed script."""
    operation = arguments.operation

    def check_due(raw_arguments: Mapping[str, Any]) -> None:
        if operation.scheduled == "never":
            raise InvalidInputError(
                f"A schedule cannot call {operation.name}.",
                hint="Call it directly. A schedule runs reviewed scripts: save_script, then run_script.",
            )
        if operation.scheduled == "reviewed" and operation.plan:
            plan = operation.plan(**_operation_arguments(arguments.parse(raw_arguments)))
            if plan.schedule_refusal:
                raise plan.schedule_refusal

    return check_due


def _make_confirmation_check(arguments: Arguments) -> Callable[[Mapping[str, Any]], bool]:
    """Return the check whether the user has to agree before an operation runs unattended.

    That is so where they are asked whenever it is called, where it deletes, and where it is theirs alone.
    """
    operation = arguments.operation

    def needs_confirmation(raw_arguments: Mapping[str, Any]) -> bool:
        if not operation.tool or operation.policy == "delete":
            return True
        plan = operation.plan if operation.asks else None
        return plan is not None and bool(plan(**_operation_arguments(arguments.parse(raw_arguments))).question)

    return needs_confirmation


def _operation_arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in CALL_ARGUMENTS}
