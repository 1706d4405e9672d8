"""Advice on runtime errors where Python's message does not suffice."""

import difflib
import re
from types import TracebackType

from panorama.sandbox.rules import allowlist, hints
from panorama.sdk import SURFACE, errors
from panorama.sdk.core.aliases import suggest_top_level
from panorama.sdk.errors import SdkError

MAX_CANDIDATES = 5
SIMILARITY_CUTOFF = 0.6
_DAYS = (
    'Days and moments are text in rows: compare with "2026-06-01" or sdk.status().today, or use '
    "date.fromisoformat(task.deadline[:10])."
)
_MOMENTS = (
    "Moments in rows have a zone: use datetime.now(UTC) or datetime.fromisoformat(sdk.status().now), or compare days."
)
_NUMBERS = "Empty fields are None: give a default, such as task.scheduled_minutes or 0."
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
        'Empty fields are None: give a default, such as task.deadline or "9999".',
    ),
    (
        r"unsupported operand type\(s\) for .*: '(?:datetime\.\w+' and 'NoneType|NoneType' and 'datetime)",
        "Empty fields are None: check first, as in `if task.deadline:`.",
    ),
    (r"unsupported operand type\(s\) for .*'NoneType'", _NUMBERS),
    (r"unsupported format string passed to NoneType", _NUMBERS),
    (r"'NoneType' object has no attribute|'NoneType' object is not", "The value is None: empty fields are None."),
    (
        r"unhashable type: 'Row'",
        "Use ids: {task.id for task in tasks}, or {task.id: task for task in tasks}.",
    ),
    (
        r"'Row' has no attribute '(?:_asdict|_fields|_replace|__dict__)'",
        "A row is a dict: dict(row), {**row, …}, row.items().",
    ),
    (
        r"'str' object has no attribute '(?:name|title|id|status)'",
        "A reference is an id: sdk.projects.get(task.project).name reads the item.",
    ),
    (
        r"'list' object has no attribute '(?:items|rows|data|results|values)'|list indices must be integers",
        "Lists are plain lists of rows: for task in sdk.tasks.list(): …",
    ),
    (
        r"'dict' object has no attribute '(?!append|add|has_key|iter)",
        'It is a plain dict: write row["title"]. In sdk.state only items become rows again.',
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
_COMPILED_ADVICE = tuple((re.compile(pattern), advice) for pattern, advice in _ADVICE)


def advise(error: BaseException, text: str) -> str:
    """Return advice on an error whose message is `text`, "" if there is none."""
    if isinstance(error, SdkError):
        return " ".join(filter(None, [str(error.hint), _format_candidates(error)]))
    if isinstance(error, NameError):
        return _advise_on_name(error)
    if isinstance(error, SystemExit):
        return "Write return: at the top level it ends the script, with or without a result."
    if isinstance(error, TypeError | AttributeError | ValueError):
        return next((suggestion for pattern, suggestion in _COMPILED_ADVICE if pattern.search(text)), "")
    return ""


def _format_candidates(error: SdkError) -> str:
    """Return the items that may be meant, as ids with their names."""
    descriptions = [
        ", ".join(str(value) for value in candidate.values()) for candidate in error.candidates[:MAX_CANDIDATES]
    ]
    return f"Candidates: {'; '.join(descriptions)}." if descriptions else ""


def _advise_on_name(error: NameError) -> str:
    """Return advice on a missing name: its source, close names, or the inputs."""
    frame = _find_innermost(error.__traceback__)
    if frame is None or not isinstance(error.name, str):
        return ""
    source = _find_name_source(error.name)
    names = {*frame.tb_frame.f_locals, *frame.tb_frame.f_globals}
    close_names = difflib.get_close_matches(
        error.name, [name for name in names if name[0] not in "_<"], 1, SIMILARITY_CUTOFF
    )
    if source or close_names:
        return " ".join([*filter(None, [source]), *(f"Did you mean {candidate}?" for candidate in close_names)])
    input_names = [name for name in frame.tb_frame.f_globals.get(allowlist.INPUT_NAMES, ()) if name != "inputs"]
    inputs = f"these are {', '.join(input_names[:MAX_CANDIDATES])}" if input_names else "there were none"
    return f"If it is an input: inputs of the run become names, and {inputs}."


def _find_name_source(name: str) -> str:
    """Return how to import or reach a name, "" if scripts do not have it."""
    if name in errors.__all__:
        return f"Write sdk.{name}, or from sdk import {name} above."
    if name in SURFACE:
        return f"Write sdk.{name}."
    if name in hints.NAME_HINTS:
        return hints.NAME_HINTS[name]
    if name in hints.COMMON_IMPORTS:
        return f"Write {hints.COMMON_IMPORTS[name]} above."
    return suggest_top_level(name)


def _find_innermost(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback
