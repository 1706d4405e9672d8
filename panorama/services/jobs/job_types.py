"""Job types: the kinds of jobs, and the checks of their arguments."""

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass
from typing import Any

from panorama.domain.jobs import JobKind, PoolName
from panorama.errors import InvalidInputError


def _allow(_: Mapping[str, Any]) -> None:
    """Accept any arguments."""


@dataclass(frozen=True, slots=True)
class JobType:
    """A kind of job, its operation, and the checks of the operation's arguments.

    `scheduled` checks the arguments of a schedule, `due` checks them again when it is due. `asks` means that the
    operation may ask the user first; `needs_confirmation` returns whether the user must agree before it runs
    unattended. A kind that `is_cli_only` can only be scheduled at a terminal.
    """

    kind: JobKind
    operation: str
    check: Callable[[Mapping[str, Any]], None] = _allow
    scheduled: Callable[[Mapping[str, Any]], None] = _allow
    due: Callable[[Mapping[str, Any]], None] = _allow
    asks: bool = False
    needs_confirmation: Callable[[Mapping[str, Any]], bool] = bool
    is_cli_only: bool = False


class JobTypes:
    """The kinds of jobs by name."""

    def __init__(self) -> None:
        self._by_name: dict[str, JobType] = {}

    def add(self, offer: JobType) -> None:
        """Register a kind; called by the composition root."""
        self._by_name[offer.kind.name] = offer

    def kinds(self) -> Collection[str]:
        """Return the names of the kinds that can be requested."""
        return tuple(name for name, offer in self._by_name.items() if not offer.kind.standing)

    def kinds_in(self, pool: PoolName) -> Set[str]:
        """Return the names of the kinds in a pool."""
        return {name for name in self.kinds() if self._by_name[name].kind.pool == pool}

    def get(self, kind: str) -> JobType:
        """Return a kind.

        Raises:
            InvalidInputError: There is no such kind.
        """
        if offer := self._by_name.get(kind):
            return offer
        known = ", ".join(sorted(self._by_name))
        raise InvalidInputError(f"There is no kind of job {kind[:40]!r}.", hint=f"Use one of {known}.")

    def find_kind(self, name: str) -> JobKind | None:
        """Return a kind, None if it does not exist any more."""
        offer = self._by_name.get(name)
        return offer.kind if offer else None

    @property
    def exclusive_kinds(self) -> Collection[str]:
        """The kinds with at most one running job."""
        return {name for name, offer in self._by_name.items() if offer.kind.alone}
