"""Offers: which kinds of jobs there are, and what may be asked of each."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from panorama.domain.jobs import Kind
from panorama.errors import InvalidInputError


def _allow(_: Mapping[str, Any]) -> None:
    """Refuse nothing."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A kind of job, the operation it runs, and what looks at the operation's arguments beforehand.

    `scheduled` looks whether a schedule may ask for it with some arguments, and `due` whether it still may when its
    moment has come. `asks` tells whether the operation may ask the person first; `needs_leave` whether they have to
    agree to its being run with some arguments when nobody can be asked. What `is_theirs` only a person at a terminal
    may schedule.
    """

    kind: Kind
    operation: str
    check: Callable[[Mapping[str, Any]], None] = _allow
    scheduled: Callable[[Mapping[str, Any]], None] = _allow
    due: Callable[[Mapping[str, Any]], None] = _allow
    asks: bool = False
    needs_leave: Callable[[Mapping[str, Any]], bool] = bool
    is_theirs: bool = False


class Offers:
    """The kinds of jobs by their names."""

    def __init__(self) -> None:
        self._by_name: dict[str, Offer] = {}

    def add(self, offer: Offer) -> None:
        """Say that there is a kind; called by the composition root."""
        self._by_name[offer.kind.name] = offer

    def kinds(self) -> Collection[str]:
        """Return the names of the kinds that can be asked for."""
        return tuple(name for name, offer in self._by_name.items() if not offer.kind.standing)

    def of(self, kind: str) -> Offer:
        """Return what is known of a kind.

        Raises:
            InvalidInputError: There is no such kind.
        """
        if offer := self._by_name.get(kind):
            return offer
        known = ", ".join(sorted(self._by_name))
        raise InvalidInputError(f"There is no kind of job {kind[:40]!r}.", hint=f"There are {known}.")

    def kind(self, name: str) -> Kind | None:
        """Return a kind, None if there is none of this name any more."""
        offer = self._by_name.get(name)
        return offer.kind if offer else None

    @property
    def alone(self) -> Collection[str]:
        """The kinds of which one runs at a time."""
        return {name for name, offer in self._by_name.items() if offer.kind.alone}
