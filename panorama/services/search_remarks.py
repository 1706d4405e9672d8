"""Remarks: what is said of the answer to a search, beside its rows."""

from collections.abc import Sequence

from panorama.domain.items import KINDS, as_kept, kind_of, without_ids
from panorama.domain.words import terms
from panorama.services.nearest import Nearest
from panorama.services.wording import Wording
from panorama.store import rows, search
from panorama.store.engine import Session
from panorama.store.search import Filters, Hit

WHOLE = 0.999
"""The coverage from which a hit holds the whole query."""

TOLD = 3
"""Ids and words that are told of one by one: a text that was pasted has many."""


WORDS_ALONE = "Mode keyword looks for the words alone; hybrid looks for their meaning, too."
MEANING_ALONE = "Mode semantic looks for the meaning alone; hybrid looks for the words, too."


def joined(*said: str) -> str:
    """Return what there is to say, in one line."""
    return " ".join(filter(None, said))


def lost(session: Session, ids: Sequence[str], query: str, hits: Sequence[Hit]) -> str:
    """Return what is said of a query whose ids no item has, as far as the filters let items through."""
    if hits:
        return f"{gone(session, ids)} These mention {_it(ids)}."
    others = terms(without_ids(query))
    return joined(gone(session, ids), f"Leave {_it(ids)} out to look for the other words." if others else "")


def gone(session: Session, ids: Sequence[str]) -> str:
    """Return what is said of ids that no item has, as far as the filters let items through."""
    said = [_gone(session, id_) for id_ in ids[:TOLD]]
    more = len(ids) - TOLD
    return joined(*said, f"Nor are {more} more of these ids found." if more > 0 else "")


def _gone(session: Session, said: str) -> str:
    id_ = as_kept(said)
    kind = kind_of(id_)
    if kind and rows.exists(session, kind, id_):
        return f"The {kind} {id_} is not among what was asked for: its kind, project or last change is another."
    if kind and rows.exists(session, kind, id_, trash=True):
        return f"The {kind} {id_} is in the trash."
    return f"No item has the id {said}."


def _it(ids: Sequence[str]) -> str:
    return "it" if len(ids) == 1 else "them"


def partly(session: Session, wording: Wording, hits: Sequence[Hit] | None, nearest: Nearest | None) -> str:
    """Return what is said of hits that do not hold what was asked for."""
    is_held = bool(hits) if hits is not None else any(each.count for each in wording.asked)
    if not is_held and nearest and nearest.hits:
        near = "No item holds any of these words; these are the nearest in meaning, whether they fit or not."
        return joined(near, "" if hits is None else _small(session, wording))
    if not hits or (nearest and nearest.ran) or max(hit.coverage for hit in hits) > WHOLE:
        return ""
    return "No item holds every word; these hold some of them."


def nothing(session: Session, wording: Wording, hits: Sequence[Hit] | None, filters: Filters, mode: str) -> str:
    """Return how to look further where nothing was found."""
    names = _narrowed(filters)
    is_quoted = any(term.quoted for term in wording.terms)
    return joined(
        "" if hits is None else _small(session, wording),
        f"Narrowed by {_listed(names)}: leave {_it(names)} out to look everywhere." if names else "",
        MEANING_ALONE if hits is None else WORDS_ALONE if mode == "keyword" else "",
        "Quoted words stand together, as they are: leave out the quotes to look further." if is_quoted else "",
    )


def _small(session: Session, wording: Wording) -> str:
    """Return which words were left out beside others, of those by which a few items could be found."""
    looked_for = {term.words for term in wording.terms}
    left = [term for term in dict.fromkeys(terms(wording.query)) if term.is_small and term.words not in looked_for]
    rare = [f"“{word}”" for word in search.rare(session, left)][:TOLD]
    if not rare:
        return ""
    says, were = ("says", "was") if len(rare) == 1 else ("say", "were")
    return f"{_listed(rare)} {says} little beside other words and {were} not looked for: ask for {_it(rare)} alone."


def _narrowed(filters: Filters) -> list[str]:
    on = {
        "kinds": len(filters.kinds) < len(KINDS),
        "project": filters.project is not None,
        "since": filters.since is not None,
        "until": filters.until is not None,
    }
    return [name for name, is_on in on.items() if is_on]


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def instead(nearest: Nearest | None, mode: str) -> str:
    """Return what is said where words answer in place of meaning."""
    if mode != "semantic" or nearest is None or nearest.ran:
        return ""
    return f"These are keyword hits: {nearest.missing} {nearest.hint}".strip()
