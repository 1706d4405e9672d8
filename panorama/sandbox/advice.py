"""Advice: what to write instead where Python's own words for a mistake do not say it."""

import difflib
import re
from types import TracebackType

from panorama.sandbox import hints, tables
from panorama.sdk import SURFACE, errors
from panorama.sdk._meant import at_top
from panorama.sdk.errors import SdkError

CANDIDATES = 5
NEAR = 0.6
_DAYS = (
    'Days and moments are text in rows: compare with "2026-06-01" or sdk.status().today, or use '
    "date.fromisoformat(task.deadline[:10])."
)
_MOMENTS = (
    "Moments in rows have a zone: use datetime.now(UTC) or datetime.fromisoformat(sdk.status().now), or compare days."
)
_NUMBERS = "A field that is empty is None: say what it counts as, such as task.scheduled_minutes or 0."
_ADVICE = (
    (
        r"can't compare datetime\.date(?:time)? to datetime\.date|instances of 'datetime\.\w+' and 'datetime\.",  # 3.13
        "Compare days: moment.date(), or text with text.",
    ),
    (r"not supported between instances of '(?:str' and 'datetime|datetime)\.", _DAYS),
    (r"not supported between instances of '(?:date(?:time)?)' and 'str'|'str' and 'date", _DAYS),
    (r"unsupported operand type\(s\) for -: '(?:str' and 'date|datetime\.date(?:time)?' and 'str)", _DAYS),
    (r"'str' object has no attribute '(?:strftime|date|weekday|isoformat|year|month|day|days|timestamp)'", _DAYS),
    (
        r"Invalid format specifier '[^']*%[^']*' for object of type 'str'",
        'Days and moments are text in rows: write f"{date.fromisoformat(task.deadline[:10]):%d %b}".',
    ),
    (
        r"Invalid isoformat string: '\d{4}-\d\d-\d\dT|unconverted data remains: T\d\d:",
        "It has a time of day: task.deadline[:10] is its day, datetime.fromisoformat(task.deadline) reads all of it.",
    ),
    (r"offset-naive and offset-aware", _MOMENTS),
    (
        r"not supported between instances of '(?:NoneType' and|\w+' and 'NoneType)",
        'A field that is empty is None: say what it counts as, such as task.deadline or "9999".',
    ),
    (
        r"unsupported operand type\(s\) for .*: '(?:datetime\.\w+' and 'NoneType|NoneType' and 'datetime)",
        "A field that is empty is None: ask first, as in if task.deadline.",
    ),
    (r"unsupported operand type\(s\) for .*'NoneType'", _NUMBERS),
    (r"unsupported format string passed to NoneType", _NUMBERS),
    (r"'NoneType' object has no attribute|'NoneType' object is not", "It is None: a field that is empty is None."),
    (
        r"unhashable type: 'Row'",
        "Go by ids: {task.id for task in tasks}, or {task.id: task for task in tasks}.",
    ),
    (
        r"'Row' has no attribute '(?:_asdict|_fields|_replace|__dict__)'",
        "A row is a dict: dict(row), {**row, …}, row.items().",
    ),
    (
        r"'str' object has no attribute '(?:name|title|id|status)'",
        "A reference is an id: sdk.projects.get(task.project).name reads what it stands for.",
    ),
    (
        r"'list' object has no attribute '(?:items|rows|data|results|values)'|list indices must be integers",
        "Lists are plain lists of rows: for task in sdk.tasks.list(): …",
    ),
    (
        r"'dict' object has no attribute '(?!append|add|has_key|iter)",
        'It is a plain dict: write row["title"]. Of what sdk.state keeps, items alone are rows again.',
    ),
    (
        r"'module' (?:object is not|has no len)",
        "It is a group of functions: sdk.tasks.list() gives the tasks.",
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
    if isinstance(error, SystemExit):
        return "Write return: at the top level it ends the script, with or without a result."
    if isinstance(error, TypeError | AttributeError | ValueError):
        return next((told for pattern, told in _KNOWN if pattern.search(text)), "")
    return ""


def _candidates(error: SdkError) -> str:
    """Return what may have been meant, as ids with their names."""
    shown = [", ".join(str(value) for value in each.values()) for each in error.candidates[:CANDIDATES]]
    return f"Candidates: {'; '.join(shown)}." if shown else ""


def _meant(error: NameError) -> str:
    """Return what a name that is missing stands for, the nearest there are, or which inputs there were."""
    frame = _last(error.__traceback__)
    if frame is None or not isinstance(error.name, str):
        return ""
    said = _elsewhere(error.name)
    names = {*frame.tb_frame.f_locals, *frame.tb_frame.f_globals}
    near = difflib.get_close_matches(error.name, [name for name in names if name[0] not in "_<"], 1, NEAR)
    if said or near:
        return " ".join([*filter(None, [said]), *(f"Did you mean {each}?" for each in near)])
    given = [name for name in frame.tb_frame.f_globals.get(tables.GIVEN, ()) if name != "inputs"]
    had = f"these are {', '.join(given[:CANDIDATES])}" if given else "there were none"
    return f"If it is an input: inputs of the run become names, and {had}."


def _elsewhere(name: str) -> str:
    """Return where a name comes from that scripts have, but not by itself; "" if there is none."""
    if name in errors.__all__:
        return f"Write sdk.{name}, or from sdk import {name} above."
    if name in SURFACE:
        return f"Write sdk.{name}."
    if name in hints.NAMES:
        return hints.NAMES[name]
    if name in hints.IMPORTS:
        return f"Write {hints.IMPORTS[name]} above."
    return at_top(name)


def _last(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback
