"""Offers: what the queue knows of an operation that may be a job."""

from collections.abc import Callable, Mapping
from typing import Any

from panorama.calls.arguments import Arguments, unusable
from panorama.domain.jobs import FOR_THE_CALL, Kind
from panorama.errors import InvalidInputError
from panorama.services.base import Desk
from panorama.services.offers import Offer
from panorama.services.references import resolve


def offered(kind: Kind, arguments: Arguments, desk: Desk) -> Offer:
    """Return what the queue is told of an operation."""
    operation = arguments.operation
    return Offer(
        kind, operation.name, _checking(arguments), scheduled=_scheduling(arguments, desk), due=_due(arguments),
        asks=operation.question is not None, needs_leave=_needing_leave(arguments), is_theirs=not operation.tool,
    )  # fmt: skip


def _checking(arguments: Arguments) -> Callable[[Mapping[str, Any]], None]:
    """Return what refuses arguments that an operation does not take."""

    def check(sent: Mapping[str, Any]) -> None:
        if problem := unusable(sent):
            raise InvalidInputError(
                f"{arguments.operation.name} was not asked for: {problem}.", hint="Send it otherwise."
            )
        arguments.parse(sent)

    return check


def _scheduling(arguments: Arguments, desk: Desk) -> Callable[[Mapping[str, Any]], None]:
    """Return what refuses, when a schedule is added, all that would be refused before the job begins."""
    operation, check, due = arguments.operation, _checking(arguments), _due(arguments)

    def scheduled(sent: Mapping[str, Any]) -> None:
        check(sent)
        due(sent)
        values = _own(arguments.parse(sent))
        with desk.database.reading() as session:
            for each in arguments.parameters:
                if each.reference and isinstance(said := values[each.name], str) and said.strip():
                    values[each.name] = resolve(session, each.reference, said.strip(), each.name)
        if operation.check:
            operation.check(**values)

    return scheduled


def _due(arguments: Arguments) -> Callable[[Mapping[str, Any]], None]:
    """Return what refuses what no schedule may run, such as a text that nobody has reviewed."""

    def due(sent: Mapping[str, Any]) -> None:
        if arguments.operation.scheduled:
            arguments.operation.scheduled(**_own(arguments.parse(sent)))

    return due


def _needing_leave(arguments: Arguments) -> Callable[[Mapping[str, Any]], bool]:
    """Return what tells whether the person has to agree to an operation's being run when nobody can be asked.

    That is so where they are asked whenever it is called, where it deletes, and where it is theirs alone.
    """
    operation = arguments.operation

    def needs_leave(sent: Mapping[str, Any]) -> bool:
        if not operation.tool or operation.policy == "delete":
            return True
        return operation.question is not None and bool(operation.question(**_own(arguments.parse(sent))))

    return needs_leave


def _own(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in FOR_THE_CALL}
