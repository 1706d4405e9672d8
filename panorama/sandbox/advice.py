"""Advice: what to write instead where Python's own words for a mistake do not say it."""

import difflib
import re
from types import TracebackType

from panorama.sdk.errors import SdkError

CANDIDATES = 5
NEAR = 0.6
_DAYS = (
    'Days and moments are text in rows: compare with "2026-06-01" or sdk.status().today, or use '
    "date.fromisoformat(task.deadline)."
)
_ADVICE = (
    (r"not supported between instances of '(?:str' and 'datetime|datetime)\.", _DAYS),
    (r"not supported between instances of '(?:date(?:time)?)' and 'str'|'str' and 'date", _DAYS),
    (r"unsupported operand type\(s\) for -: '(?:str' and 'date|datetime\.date(?:time)?' and 'str)", _DAYS),
    (r"'str' object has no attribute '(?:strftime|date|weekday|isoformat|year|month|day|days|timestamp)'", _DAYS),
    (
        r"not supported between instances of '(?:NoneType' and|\w+' and 'NoneType)",
        'A field that is empty is None: say what it counts as, such as task.deadline or "9999".',
    ),
    (r"'NoneType' object has no attribute|'NoneType' object is not", "It is None: a field that is empty is None."),
    (
        r"'str' object has no attribute '(?:name|title|id|status)'",
        "A reference is an id: sdk.projects.get(task.project).name reads what it stands for.",
    ),
    (
        r"'list' object has no attribute '(?:items|rows|data|results|values)'|list indices must be integers",
        "Lists are plain lists of rows: for task in sdk.tasks.list(): …",
    ),
    (
        r"'(?:builtin_function_or_method|method)' (?:object is not|has no len)",
        'It is a method, such as those every dict has: call it with (), or read a field of that name as row["items"].',
    ),
)
_KNOWN = tuple((re.compile(pattern), advice) for pattern, advice in _ADVICE)


def advice(error: BaseException, text: str) -> str:
    """Return what to do about an error, "" if nothing can be said; `text` is what it says."""
    if isinstance(error, SdkError):
        return " ".join(filter(None, [str(error.hint), _candidates(error)]))
    if isinstance(error, NameError):
        return _meant(error)
    if isinstance(error, TypeError | AttributeError):
        return next((told for pattern, told in _KNOWN if pattern.search(text)), "")
    return ""


def _candidates(error: SdkError) -> str:
    """Return what may have been meant, as ids with their names."""
    shown = [", ".join(str(value) for value in each.values()) for each in error.candidates[:CANDIDATES]]
    return f"Candidates: {'; '.join(shown)}." if shown else ""


def _meant(error: NameError) -> str:
    """Return the nearest names of the frame that missed one, and of the script."""
    frame = _last(error.__traceback__)
    if frame is None or not isinstance(error.name, str):
        return ""
    names = {*frame.tb_frame.f_locals, *frame.tb_frame.f_globals}
    near = difflib.get_close_matches(error.name, [name for name in names if not name.startswith("_")], 1, NEAR)
    return f"Did you mean {near[0]}?" if near else ""


def _last(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback
