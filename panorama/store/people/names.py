"""Looks up which people have a name."""

import json
from collections.abc import Collection

from sqlalchemy import text

from panorama.store.backend import Session

_BEARERS = text(
    "SELECT given.value, named.id, false FROM json_each(:keys) AS given "
    "JOIN people AS named ON named.key = given.value WHERE named.deleted_at IS NULL "
    "UNION ALL SELECT given.value, named.id, o.is_short FROM json_each(:keys) AS given "
    "JOIN other_names AS o ON o.key = given.value "
    "JOIN people AS named ON named.id = o.item WHERE named.deleted_at IS NULL"
)
_ANY = text("SELECT EXISTS (SELECT 1 FROM people WHERE deleted_at IS NULL)")


def has_people(session: Session) -> bool:
    """Return whether there is any living person."""
    return bool(session.connection.execute(_ANY).scalar())


def list_owners(session: Session, keys: Collection[str]) -> dict[str, str]:
    """Return the living person whom a normalised name means, by name; unknown and ambiguous names are left out.

    A short name, such as a first name, belongs to no person, but makes an equal alias of another person ambiguous.
    """
    owners: dict[str, set[str]] = {}
    whole: set[str] = set()
    for key, person, is_short in session.connection.execute(_BEARERS, {"keys": json.dumps(list(keys))}):
        owners.setdefault(key, set()).add(person)
        if not is_short:
            whole.add(key)
    return {key: next(iter(owners[key])) for key in whole if len(owners[key]) == 1}
