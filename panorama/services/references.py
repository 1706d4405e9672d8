"""Resolves references: finds the item with an id or a name."""

import difflib
import textwrap
from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from panorama.domain.items.item import KINDS, kind_of, normalize_name
from panorama.domain.items.people import SELF_ALIAS
from panorama.domain.items.references import TOOL_REFERENCE, Reference
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError
from panorama.kinds import name_kind
from panorama.store.backend import Session
from panorama.store.items import lookup, rows
from panorama.store.items.lookup import NamedItem

MAX_CANDIDATES = 5
MAX_COMPARED_CHARS = 300
"""The maximum number of characters compared with other names: the time grows with the square of the length."""

MAX_BEGINNING_CHARS = 60
"""The maximum number of characters of the fields that distinguish items with the same name."""

_POOL_SIZE = 60
_DISTINGUISHING_FIELDS = ("status", "project", "deadline", "role", "team", "email", "birthday", "created_at")
_MIN_SIMILARITY = 0.45


def resolve(
    session: Session, reference: Reference, text: str, name: str, zone: ZoneInfo, *, is_read_next: bool = False
) -> str:
    """Resolve a reference to an id; "" and, where tools are allowed, `tool:NAME` are returned unchanged.

    If the item `is_read_next`, the check of an id reads all of it, and the next read sends no statement.

    Raises:
        NotFoundError: There is no such item; `candidates` are the closest.
        ConflictError: The name is not unique; `candidates` are the items that have it.
        InvalidInputError: The id is one of another kind.
    """
    if text == "" or (reference.tools and text.startswith(TOOL_REFERENCE)):
        return text
    if kind := kind_of(text.strip()):
        return _resolve_id(session, reference, text.strip(), kind, name, is_read_next=is_read_next)
    return _resolve_name(session, reference, text, name, zone)


def _resolve_id(session: Session, reference: Reference, id_: str, kind: str, name: str, *, is_read_next: bool) -> str:
    if reference.kind is not None and kind != reference.kind:
        raise InvalidInputError(
            f"{name}: {id_} is the id of a {kind}, not of a {reference.kind}.",
            hint=f"Give the id or name of a {reference.kind}.",
        )
    if not is_read_next:
        lookup.ask_label(session, kind, id_)
    if not (rows.prefetch if is_read_next else rows.exists)(session, kind, id_):
        try:
            rows.load(session, kind, id_, trash=reference.trash)
        except NotFoundError as error:
            raise error.with_prefix(f"{name}: ") from error
    if is_read_next and (project := getattr(session.prefetched.get(id_), "project", None)):
        lookup.ask_label(session, "project", project)
    return id_


def _resolve_name(session: Session, reference: Reference, text: str, name: str, zone: ZoneInfo) -> str:
    kinds: Sequence[str] = [reference.kind] if reference.kind else KINDS
    matches = lookup.list_exact(session, kinds, normalize_name(text))
    if not matches and reference.trash:
        matches = lookup.list_exact(session, kinds, normalize_name(text), trash=True)
    if len(matches) == 1:
        lookup.keep_label(session, matches[0])
        return matches[0][1]
    if matches:
        raise ConflictError(
            f"{name}: {len(matches)} {_plural_kind(reference)} are called “{text[:80]}”.",
            hint="Give the id of the one you mean.",
            candidates=[
                _candidate(match) | _distinguishing_fields(session, match, zone) for match in matches[:MAX_CANDIDATES]
            ],
        )
    raise _not_found_error(session, reference, text, name)


def _not_found_error(session: Session, reference: Reference, text: str, name: str) -> PanoramaError:
    kinds: Sequence[str] = [reference.kind] if reference.kind else KINDS
    if deleted := lookup.list_exact(session, kinds, normalize_name(text), trash=True):
        kind, id_, label = deleted[0]
        return rows.in_trash_error(kind, id_, label).with_prefix(f"{name}: ")
    near = list_closest_names(text, lookup.list_similar(session, kinds, text[:MAX_COMPARED_CHARS], limit=_POOL_SIZE))
    kind = name_kind(reference.kind or "item")
    if reference.kind == "person" and normalize_name(text) == SELF_ALIAS:
        return NotFoundError(
            f"{name}: no person has the alias “{SELF_ALIAS}” yet.",
            hint=f'Create the user with create_person(name, aliases=["{SELF_ALIAS}"]).',
        )
    return NotFoundError(
        f"{name}: there is no {kind} “{text[:80]}”.",
        hint="Give one of the candidates, by id." if near else f"Find the {kind} with search, or create it first.",
        candidates=[_candidate(item) for item in near],
    )


def list_closest_names(text: str, pool: Sequence[NamedItem]) -> list[NamedItem]:
    """Return the few items with the most similar names, the most similar first."""
    key = normalize_name(text[:MAX_COMPARED_CHARS])

    def measure_similarity(item: NamedItem) -> float:
        label = normalize_name(item[2][:MAX_COMPARED_CHARS])
        whole = difflib.SequenceMatcher(None, key, label).ratio()
        return max(whole, 0.9 if key in label or label in key else 0.0)

    scored = sorted(((measure_similarity(item), item) for item in pool), key=lambda pair: (-pair[0], pair[1]))
    return [item for score, item in scored[:MAX_CANDIDATES] if score >= _MIN_SIMILARITY]


def _candidate(named: NamedItem) -> dict[str, object]:
    kind, id_, label = named
    return {"id": id_, "kind": kind, "name": label}


def _distinguishing_fields(session: Session, named: NamedItem, zone: ZoneInfo) -> dict[str, object]:
    """Return the fields that distinguish items with the same name."""
    kind, id_, _ = named
    item = rows.load(session, kind, id_, trash=True)
    values = {name: getattr(item, name, None) for name in _DISTINGUISHING_FIELDS}
    for owner in ("project", "team"):
        if target := values[owner]:
            values[owner] = lookup.get_labels(session, [(owner, target)]).get(target, (kind, id_, target))[2]
    text = " ".join(item.search_text()[1].split())
    values |= {"chars": len(text), "begins": textwrap.shorten(text, MAX_BEGINNING_CHARS, placeholder="…")}
    return {name: _to_json_value(value, zone) for name, value in values.items() if value}


def _to_json_value(value: object, zone: ZoneInfo) -> object:
    if isinstance(value, datetime):
        return value.astimezone(zone).date().isoformat()
    return value.isoformat() if isinstance(value, date) else value


def _plural_kind(reference: Reference) -> str:
    return name_kind(reference.kind or "item", 2)
