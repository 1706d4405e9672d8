"""Offers: which kinds of jobs there are, and what may be asked of each."""

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass
from typing import Any

from panorama.domain.jobs import JobKind, PoolName
from panorama.errors import InvalidInputError


def _allow(_: Mapping[str, Any]) -> None:
    """Refuse nothing."""


@dataclass(frozen=True, slots=True)
class JobType:
    """A kind of job, the operation it runs, and what looks at the operation's arguments beforehand.

    `scheduled` looks whether a schedule may ask for it with some arguments, and `due` whether it still may when its
    moment has come. `asks` tells whether the operation may ask the person first; `needs_confirmation` whether they
    have to agree before it runs with some arguments where nobody can be asked. A kind that `is_cli_only` can only be
    scheduled at a terminal.
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
    """The kinds of jobs by their names."""

    def __init__(self) -> None:
        self._by_name: dict[str, JobType] = {}

    def add(self, offer: JobType) -> None:
        """Say that there is a kind; called by the composition root."""
        self._by_name[offer.kind.name] = offer

    def kinds(self) -> Collection[str]:
        """Return the names of the kinds that can be asked for."""
        return tuple(name for name, offer in self._by_name.items() if not offer.kind.standing)

    def kinds_in(self, pool: PoolName) -> Set[str]:
        """Return the names of the kinds whose jobs run in the places of a pool."""
        return {name for name in self.kinds() if self._by_name[name].kind.pool == pool}

    def get(self, kind: str) -> JobType:
        """Return what is known of a kind.

        Raises:
            InvalidInputError: There is no such kind.
        """
        if offer := self._by_name.get(kind):
            return offer
        known = ", ".join(sorted(self._by_name))
        raise InvalidInputError(f"There is no kind of job {kind[:40]!r}.", hint=f"There are {known}.")

    def find_kind(self, name: str) -> JobKind | None:
        """Return a kind, None if there is none of this name any more."""
        offer = self._by_name.get(name)
        return offer.kind if offer else None

    @property
    def exclusive_kinds(self) -> Collection[str]:
        """The kinds of which one runs at a time."""
        return {name for name, offer in self._by_name.items() if offer.kind.alone}
