"""The order of a purge: items that must wait for others, and items deleted first. Pure."""

from collections.abc import Collection, Iterable, Mapping


def find_blocked(due_: Mapping[str, Iterable[str]], ties: Iterable[tuple[str, str]]) -> set[str]:
    """Return the due items that must stay because items that are not due, or stay too, refer to them."""
    is_due = {id_ for ids in due_.values() for id_ in ids}
    blocked: set[str] = set()
    pairs = list(ties)
    while newly := {whom for who, whom in pairs if (who not in is_due or who in blocked) and whom not in blocked}:
        blocked |= newly
    return blocked


def order_in_rounds(ids: Collection[str], ties: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return items of one kind in rounds, so that a referring item is deleted before its target."""
    left = set(ids)
    pairs = [(who, whom) for who, whom in ties if who in left and whom in left]
    rounds: list[list[str]] = []
    while left:
        blocked = {whom for who, whom in pairs if who in left and whom in left}
        leaves = sorted(left - blocked) or sorted(left)
        rounds.append(leaves)
        left -= set(leaves)
    return rounds
