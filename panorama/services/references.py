"""References: which item a caller means by an id or a name."""

import difflib
from collections.abc import Sequence
from datetime import date, datetime

from panorama.domain.items import KINDS, folded, kind_of
from panorama.domain.references import Reference
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError
from panorama.store import names, rows
from panorama.store.engine import Session
from panorama.store.names import Named

CANDIDATES = 5
COMPARED_CHARS = 300
"""How much of a name is compared with others: that takes a time that grows with the square of its length."""

_POOL = 60
_TELLING = ("status", "project", "deadline", "created_at")
_ALIKE = 0.45


def resolve(session: Session, reference: Reference, said: str, name: str) -> str:
    """Return the id of the item that is meant; "" stays "".

    Raises:
        NotFoundError: There is no such item; `candidates` are the nearest.
        ConflictError: The name is not unique; `candidates` are the items that have it.
        InvalidInputError: The id is one of another kind.
    """
    if said == "":
        return ""
    if kind := kind_of(said.strip()):
        return _by_id(session, reference, said.strip(), kind, name)
    return _by_name(session, reference, said, name)


def _by_id(session: Session, reference: Reference, id_: str, kind: str, name: str) -> str:
    if reference.kind is not None and kind != reference.kind:
        raise InvalidInputError(
            f"{name}: {id_} is the id of a {kind}, not of a {reference.kind}.",
            hint=f"Give the id or name of a {reference.kind}.",
        )
    if not rows.exists(session, kind, id_):
        try:
            rows.load(session, kind, id_, trash=reference.trash)
        except NotFoundError as error:
            raise error.prefixed(f"{name}: ") from error
    return id_


def _by_name(session: Session, reference: Reference, said: str, name: str) -> str:
    kinds: Sequence[str] = [reference.kind] if reference.kind else KINDS
    found = names.exact(session, kinds, folded(said))
    if not found and reference.trash:
        found = names.exact(session, kinds, folded(said), trash=True)
    if len(found) == 1:
        return found[0][1]
    if found:
        raise ConflictError(
            f"{name}: {len(found)} {_plural(reference)} are called “{said[:80]}”.",
            hint="Give the id of the one you mean.",
            candidates=[_candidate(each) | _told_apart(session, each) for each in found[:CANDIDATES]],
        )
    raise _unknown(session, reference, said, name)


def _unknown(session: Session, reference: Reference, said: str, name: str) -> PanoramaError:
    kinds: Sequence[str] = [reference.kind] if reference.kind else KINDS
    if deleted := names.exact(session, kinds, folded(said), trash=True):
        kind, id_, label = deleted[0]
        return rows.in_trash(kind, id_, label).prefixed(f"{name}: ")
    near = nearest(said, names.similar(session, kinds, said[:COMPARED_CHARS], limit=_POOL))
    kind = reference.kind or "item"
    return NotFoundError(
        f"{name}: there is no {kind} “{said[:80]}”.",
        hint="Give one of the candidates, by id." if near else f"Find the {kind} with search, or create it first.",
        candidates=[_candidate(each) for each in near],
    )


def nearest(said: str, pool: Sequence[Named]) -> list[Named]:
    """Return the few items whose names are most like what was said, the most alike first."""
    wanted = folded(said[:COMPARED_CHARS])

    def likeness(each: Named) -> float:
        label = folded(each[2][:COMPARED_CHARS])
        whole = difflib.SequenceMatcher(None, wanted, label).ratio()
        return max(whole, 0.9 if wanted in label or label in wanted else 0.0)

    scored = sorted(((likeness(each), each) for each in pool), key=lambda pair: (-pair[0], pair[1]))
    return [each for score, each in scored[:CANDIDATES] if score >= _ALIKE]


def _candidate(named: Named) -> dict[str, object]:
    kind, id_, label = named
    return {"id": id_, "kind": kind, "name": label}


def _told_apart(session: Session, named: Named) -> dict[str, object]:
    """Return by what items of one name are told apart."""
    kind, id_, _ = named
    item = rows.load(session, kind, id_, trash=True)
    values = {name: getattr(item, name, None) for name in _TELLING}
    return {name: _plain(value) for name, value in values.items() if value}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return value.isoformat() if isinstance(value, date) else value


def _plural(reference: Reference) -> str:
    return f"{reference.kind}s" if reference.kind else "items"
