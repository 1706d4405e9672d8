"""Hints on search answers."""

from collections.abc import Mapping, Sequence

from panorama.domain.items.item import KINDS, kind_of, normalize_id, remove_ids
from panorama.domain.text.tokens import parse_terms
from panorama.services.search.query_parser import ParsedQuery
from panorama.services.search.semantic_results import SemanticResult
from panorama.store.backend import Session
from panorama.store.items import rows, search
from panorama.store.items.search import Filters, Hit

FULL_COVERAGE = 0.999
"""The coverage from which a hit contains the whole query."""

MAX_NAMED = 3
"""The maximum number of ids and words listed; a pasted text may have many."""


NEAREST_HINT = "No item contains any of these words; these are the closest in meaning and may not fit."
KEYWORD_MODE_HINT = "Mode keyword searches words only; use hybrid to search by meaning too."
SEMANTIC_MODE_HINT = "Mode semantic searches by meaning only; use hybrid to search words too."


def join_hints(*hints: str) -> str:
    """Join hints to one line."""
    return " ".join(filter(None, hints))


def unknown_ids_hint(session: Session, ids: Sequence[str], query: str, hits: Sequence[Hit]) -> str:
    """Return the hint for a query with unknown ids, considering the filters."""
    if hits:
        return f"{missing_ids_hint(session, ids)} These mention {_pronoun(ids)}."
    others = parse_terms(remove_ids(query))
    return join_hints(
        missing_ids_hint(session, ids), f"Leave {_pronoun(ids)} out to look for the other words." if others else ""
    )


def missing_ids_hint(session: Session, ids: Sequence[str]) -> str:
    """Return the hint for unknown ids, considering the filters."""
    hints = [_missing_id_hint(session, id_) for id_ in ids[:MAX_NAMED]]
    more = len(ids) - MAX_NAMED
    return join_hints(*hints, f"{more} more of these ids were not found either." if more > 0 else "")


def _missing_id_hint(session: Session, text: str) -> str:
    id_ = normalize_id(text)
    kind = kind_of(id_)
    if kind and rows.exists(session, kind, id_):
        return f"The {kind} {id_} does not match the filters (kind, project or last change)."
    if kind and rows.exists(session, kind, id_, trash=True):
        return f"The {kind} {id_} is in the trash."
    return f"No item has the id {text}."


def _pronoun(ids: Sequence[str]) -> str:
    return "it" if len(ids) == 1 else "them"


def partial_match_hint(
    session: Session, wording: ParsedQuery, hits: Sequence[Hit] | None, nearest: SemanticResult | None
) -> str:
    """Return the hint for hits that contain only part of the query."""
    is_held = bool(hits) if hits is not None else any(term.count for term in wording.asked)
    if not is_held and nearest and nearest.hits:
        return join_hints(NEAREST_HINT, "" if hits is None else _ignored_words_hint(session, wording))
    if not hits or (nearest and nearest.has_run) or max(hit.coverage for hit in hits) > FULL_COVERAGE:
        return ""
    return "No item contains every word; these contain some of them."


def no_results_hint(
    session: Session, wording: ParsedQuery, hits: Sequence[Hit] | None, filters: Filters, mode: str
) -> str:
    """Return the hint for widening a search without results."""
    names = _list_active_filters(filters)
    is_quoted = any(term.quoted for term in wording.terms)
    return join_hints(
        "" if hits is None else _ignored_words_hint(session, wording),
        f"Narrowed by {_join_names(names)}: leave {_pronoun(names)} out to look everywhere." if names else "",
        SEMANTIC_MODE_HINT if hits is None else KEYWORD_MODE_HINT if mode == "keyword" else "",
        "Quoted words match exactly and together: remove the quotes to find more." if is_quoted else "",
    )


def describe_limits(wording: ParsedQuery, filters: Filters, hint: str, *, is_empty: bool) -> Mapping[str, bool]:
    """Return remarks for the summary of a search: corrected words, filters that left nothing, words without items."""
    limits = {
        "corrected": bool(wording.repairs),
        "filtered": is_empty and bool(_list_active_filters(filters)),
        "nearest": hint.startswith(NEAREST_HINT),
    }
    return {name: True for name, is_limited in limits.items() if is_limited}


def _ignored_words_hint(session: Session, wording: ParsedQuery) -> str:
    """Return the hint for ignored words that occur in only a few items."""
    looked_for = {term.words for term in wording.terms}
    left = [
        term for term in dict.fromkeys(parse_terms(wording.query)) if term.is_stop_word and term.words not in looked_for
    ]
    rare = [f"“{word}”" for word in search.find_rare_words(session, left)][:MAX_NAMED]
    if not rare:
        return ""
    are, were = ("is", "was") if len(rare) == 1 else ("are", "were")
    ignored = f"{_join_names(rare)} {are} very common and {were} ignored"
    return f"{ignored}: search for {_pronoun(rare)} alone."


def _list_active_filters(filters: Filters) -> list[str]:
    on = {
        "kinds": len(filters.kinds) < len(KINDS),
        "project": filters.project is not None,
        "since": filters.since is not None,
        "until": filters.until is not None,
    }
    return [name for name, is_on in on.items() if is_on]


def _join_names(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
