"""The modules of scripts: the only place that lists which names of which module scripts get."""

import abc
import base64
import bisect
import calendar
import cmath
import collections
import collections.abc
import contextlib
import copy
import csv
import dataclasses
import datetime
import decimal
import difflib
import enum
import fractions
import functools
import hashlib
import heapq
import html
import importlib
import importlib.util
import io
import itertools
import json
import json.encoder
import math
import numbers
import operator
import pprint
import random
import re
import statistics
import string
import textwrap
import time
import types
import unicodedata
import urllib.parse
import uuid
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, Final

from panorama.sandbox import asynchrony, collecting, copying, data, enums, fronts, own, typing_names, zones
from panorama.sandbox.classes import Abstract, Generic, Protocol, named_tuple
from panorama.sandbox.contexts import ExitStack
from panorama.sandbox.facades import Facade
from panorama.sandbox.guards import derivable, writable
from panorama.sandbox.kinds import SimpleNamespace, nameable
from panorama.sandbox.ordered import OrderedDict
from panorama.sandbox.selves import checking

_PICKED: Final[Mapping[ModuleType, str]] = {
    json: "dumps loads dump load JSONDecodeError JSONEncoder JSONDecoder",
    math: "*",
    cmath: "*",
    datetime: "timedelta timezone tzinfo UTC MINYEAR MAXYEAR",
    re: """compile match fullmatch search sub subn split findall finditer escape purge Pattern Match error A ASCII I
        IGNORECASE L LOCALE M MULTILINE S DOTALL X VERBOSE U UNICODE NOFLAG RegexFlag""",
    statistics: """mean fmean geometric_mean harmonic_mean median median_low median_high median_grouped mode multimode
        quantiles pstdev pvariance stdev variance covariance correlation linear_regression NormalDist
        StatisticsError""",
    itertools: "*",
    collections: "Counter ChainMap",
    csv: """reader writer DictReader DictWriter Sniffer Error excel excel_tab unix_dialect QUOTE_ALL QUOTE_MINIMAL
        QUOTE_NONNUMERIC QUOTE_NONE""",
    io: "StringIO BytesIO",
    textwrap: "wrap fill dedent indent shorten TextWrapper",
    difflib: "SequenceMatcher Differ get_close_matches ndiff unified_diff context_diff restore",
    random: """Random random seed randint choice choices shuffle sample uniform randrange gauss triangular betavariate
        expovariate normalvariate lognormvariate paretovariate vonmisesvariate weibullvariate gammavariate getrandbits
        randbytes getstate setstate""",
    string: """ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable punctuation
        whitespace Template""",
    functools: "reduce partial cmp_to_key",
    operator: """itemgetter add sub mul truediv floordiv mod neg pos pow matmul lt le eq ne gt ge and_ or_ xor not_ is_
        is_not lshift rshift contains countOf indexOf concat truth abs index inv invert getitem iadd isub imul
        itruediv ifloordiv imod ior iand ixor""",
    heapq: "heappush heappop heapify heappushpop heapreplace nlargest nsmallest merge",
    bisect: "bisect bisect_left bisect_right insort insort_left insort_right",
    copy: "Error",
    decimal: """Decimal getcontext setcontext localcontext Context BasicContext ExtendedContext DefaultContext
        ROUND_HALF_UP ROUND_HALF_EVEN ROUND_HALF_DOWN ROUND_DOWN ROUND_UP ROUND_FLOOR ROUND_CEILING ROUND_05UP
        DecimalException InvalidOperation DivisionByZero Inexact Overflow Rounded Subnormal Underflow""",
    fractions: "Fraction",
    uuid: "UUID uuid3 uuid4 uuid5 NAMESPACE_DNS NAMESPACE_URL NAMESPACE_OID NAMESPACE_X500",
    hashlib: " ".join(own.HASHES),
    base64: """b64encode b64decode urlsafe_b64encode urlsafe_b64decode standard_b64encode standard_b64decode b32encode
        b32decode b16encode b16decode b85encode b85decode""",
    html: "escape unescape",
    urllib.parse: """quote quote_plus unquote unquote_plus urlencode urlparse urlsplit urlunparse urlunsplit urljoin
        urldefrag parse_qs parse_qsl""",
    time: """time time_ns sleep perf_counter perf_counter_ns monotonic monotonic_ns process_time strftime strptime
        gmtime localtime mktime""",
    dataclasses: "field is_dataclass KW_ONLY InitVar FrozenInstanceError MISSING",
    enum: "auto member nonmember",
    types: "NoneType",
    calendar: """monthrange isleap leapdays weekday month_name month_abbr day_name day_abbr timegm monthcalendar
        month calendar Calendar TextCalendar MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY""",
    unicodedata: "normalize category name lookup east_asian_width numeric digit decimal combining bidirectional",
    numbers: "Number Real Integral Complex Rational",
    contextlib: "suppress nullcontext closing",
}
"""Names that scripts get as they are; `*` is every public name. A Python that lacks one simply has it not."""

_REPLACE: Final[Mapping[str, object]] = {"replace": data.any_replaced} if hasattr(copy, "replace") else {}

_OWN: Final[Mapping[str, Mapping[str, object]]] = {
    "collections": {
        "namedtuple": named_tuple,
        "OrderedDict": OrderedDict,
        "deque": collecting.deque,
        "defaultdict": collecting.defaultdict,
    },
    "datetime": fronts.DATETIME,
    "time": fronts.TIME,
    "itertools": collecting.ITERATORS,
    "functools": {
        "wraps": own.wraps,
        "lru_cache": own.lru_cache,
        "update_wrapper": own.update_wrapper,
        "singledispatch": own.singledispatch,
        "cache": own.cache,
        "cached_property": own.cached_property,
        "total_ordering": own.on_own_class(functools.total_ordering),
    },
    "operator": {
        "attrgetter": own.attrgetter,
        "methodcaller": own.methodcaller,
        "setitem": own.set_item,
        "delitem": own.delete_item,
    },
    "copy": {"copy": copying.copied, "deepcopy": copying.deep_copied, **_REPLACE},
    "dataclasses": {
        "dataclass": data.dataclass,
        "asdict": data.as_dict,
        "astuple": data.as_tuple,
        "fields": data.fields,
        "replace": data.replaced,
    },
    "enum": {"unique": enums.unique},
    "types": {"SimpleNamespace": SimpleNamespace},
    "abc": {"ABC": abc.ABC, "ABCMeta": Abstract, "abstractmethod": own.abstractmethod},
    "pprint": {"pformat": own.pretty},
    "asyncio": asynchrony.NAMES,
    "contextlib": {
        "contextmanager": own.contextmanager,
        "asynccontextmanager": own.contextmanager,
        "ExitStack": ExitStack,
        "AsyncExitStack": ExitStack,
    },
    "hashlib": {"new": own.new_hash},
}
"""Names that scripts get in a version of ours, by module."""

MODULES: Final = frozenset(
    {kind.__name__ for kind in _PICKED}
    | set(_OWN)
    | {"collections.abc", "urllib", "typing", "typing_extensions", "zoneinfo"}
)
"""All modules that scripts can import, beside those of the SDK."""

SDK_MODULES: Final = frozenset(("sdk", "panorama", "panorama.sdk"))
"""The names under which scripts can import the SDK, which is there without."""

_BASES: Final = (
    object, dict, list, set, frozenset, tuple, str, int, float, complex, bytes,
    collections.Counter, OrderedDict, collecting.defaultdict, collecting.deque,
    SimpleNamespace, json.JSONEncoder, datetime.tzinfo, abc.ABC, Generic, Protocol,
)  # fmt: skip
"""Classes that scripts may derive from; exceptions, enumerations and abstract collections come on top."""


_CLASSES: Final[list[str]] = vars(collections.abc)["__all__"]  # in 3.13 the module holds more
"""What `import collections.abc` gives."""

_LATE: Final = (
    "_strptime", "_pylong", "copyreg", "warnings", "threading", "stringprep", "encodings.utf_8", "encodings.utf_8_sig",
    "encodings.latin_1", "encodings.ascii", "encodings.cp1252", "encodings.utf_16", "encodings.utf_32",
    "encodings.utf_16_le", "encodings.utf_16_be", "encodings.iso8859_15", "encodings.idna", "encodings.unicode_escape",
)  # fmt: skip
"""Modules that Python itself imports in the middle of a call: too late, once the doors are closed."""


def built(sdk: object | None = None) -> Mapping[str, Facade]:
    """Return all modules, and let the guards know the classes among their names."""
    for late in _LATE:
        if importlib.util.find_spec(late):
            importlib.import_module(late)
    names = {module.__name__: _picked(module, words) for module, words in _PICKED.items()}
    for title, more in _OWN.items():
        names.setdefault(title, {}).update(more)
    names["enum"].update(enums.Bases().names())
    names["collections.abc"] = _picked(collections.abc, " ".join(_CLASSES))
    names["typing"] = names["typing_extensions"] = typing_names.names()
    names["zoneinfo"] = zones.names()
    _call_by_name(names)
    _open(names)
    facades = {title: Facade(title, found) for title, found in names.items()}
    facades["collections"] = Facade("collections", {**names["collections"], "abc": facades["collections.abc"]})
    facades["urllib"] = Facade("urllib", {"parse": facades["urllib.parse"]})
    return {**facades, **sdk_modules(sdk)} if sdk is not None else facades


def sdk_modules(sdk: object) -> dict[str, Any]:
    """Return what `import sdk`, `from panorama import sdk` and `import panorama.sdk` give."""
    return {"sdk": sdk, "panorama": Facade("panorama", {"sdk": sdk}), "panorama.sdk": sdk}


def _picked(module: ModuleType, words: str) -> dict[str, Any]:
    names = [name for name in vars(module) if not name.startswith("_")] if words == "*" else words.split()
    return {name: getattr(module, name) for name in names if hasattr(module, name)}


_SPACES: Final = tuple(32 if chr(code).isspace() and code not in range(28, 32) else code for code in range(33))
"""What TextWrapper makes of each of the first characters, as a table that nobody can change: Python's is a dict."""


def _call_by_name(names: Mapping[str, Mapping[str, Any]]) -> None:
    """Have functions of ours say the name that scripts know them by, in errors too."""
    for module in names.values():
        for name, value in module.items():
            ours = isinstance(value, FunctionType) and value.__module__.startswith("panorama.")
            if ours and not {value.__name__, value.__qualname__} <= module.keys():
                value.__name__ = value.__qualname__ = name


def _open(names: Mapping[str, Mapping[str, Any]]) -> None:
    """Tell the guards which classes scripts may have, derive from and change."""
    found = [value for module in names.values() for value in module.values() if isinstance(value, type)]
    nameable(*_derived(BaseException))  # of an error a script has the class, whatever it is
    nameable(*found, *_BASES, bool, bytearray, range, type(None), type(Ellipsis), type(NotImplemented))
    abstract = [value for value in names["collections.abc"].values() if isinstance(value, type)]
    derivable(*_BASES, *abstract, *(kind for kind in names["enum"].values() if isinstance(kind, enum.EnumMeta)))
    derivable(*(value for value in found if issubclass(value, Exception)))
    writable(decimal.Context)
    _mend()


_encoder_in_c: Final[Callable[..., Any]] = vars(json.encoder)["c_make_encoder"]


def _encoder(markers: dict[int, Any] | None, *options: Any) -> Any:
    """Return the encoder of json, which always notes what it is in, as `check_circular` tells it to.

    In C it goes through containers that nothing else might own, while a script's `default` takes them away.
    """
    return _encoder_in_c({} if markers is None else markers, *options)


def _mend() -> None:
    """Put what no script can change or deceive where Python's own modules would use, or hand out, something else."""
    for owner, name, value in (
        (textwrap.TextWrapper, "unicode_whitespace_trans", _SPACES),
        (collections, "_count_elements", collecting.count_elements),
        (collections, "_chain", collecting.ITERATORS["chain"]),
        (dataclasses, "_EMPTY_METADATA", own.NO_METADATA),
        (json.encoder, "c_make_encoder", _encoder_in_c and _encoder),
        (difflib.SequenceMatcher, "get_grouped_opcodes", checking(own.grouped_opcodes, difflib.SequenceMatcher)),
        (pprint, "_recursion", own.recursion),
    ):
        setattr(owner, name, value)


def _derived(kind: type) -> Iterator[type]:
    """Return a class and all that derive from it."""
    yield kind
    for each in type.__subclasses__(kind):
        yield from _derived(each)
