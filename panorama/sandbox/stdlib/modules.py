"""The modules of scripts: which names of which module they get."""

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
import math
import numbers
import operator
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
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, Final

from panorama.sandbox.rules.classes import Abstract, Generic, Protocol, named_tuple
from panorama.sandbox.rules.facades import Facade
from panorama.sandbox.rules.guards import allow_attribute_writes, allow_subclassing
from panorama.sandbox.rules.type_views import SimpleNamespace, expose_types
from panorama.sandbox.stdlib import (
    asyncio_module,
    copy_module,
    dataclass_module,
    enums,
    typing_names,
    wrappers,
    zoneinfo_module,
)
from panorama.sandbox.stdlib.contextlib_module import ExitStack

_UNCHANGED_NAMES: Final[Mapping[ModuleType, str]] = {
    json: "dumps loads dump load JSONDecodeError JSONEncoder JSONDecoder",
    math: "*",
    cmath: "*",
    datetime: "date time datetime timedelta timezone tzinfo UTC MINYEAR MAXYEAR",
    re: """compile match fullmatch search sub subn split findall finditer escape purge Pattern Match error A ASCII I
        IGNORECASE L LOCALE M MULTILINE S DOTALL X VERBOSE U UNICODE NOFLAG RegexFlag""",
    statistics: """mean fmean geometric_mean harmonic_mean median median_low median_high median_grouped mode multimode
        quantiles pstdev pvariance stdev variance covariance correlation linear_regression NormalDist
        StatisticsError""",
    itertools: "*",
    collections: "Counter ChainMap OrderedDict defaultdict deque",
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
    hashlib: " ".join(wrappers.HASHES),
    base64: """b64encode b64decode urlsafe_b64encode urlsafe_b64decode standard_b64encode standard_b64decode b32encode
        b32decode b16encode b16decode b85encode b85decode""",
    html: "escape unescape",
    urllib.parse: """quote quote_plus unquote unquote_plus urlencode urlparse urlsplit urlunparse urlunsplit urljoin
        urldefrag parse_qs parse_qsl""",
    time: """time time_ns sleep perf_counter perf_counter_ns monotonic monotonic_ns process_time strftime strptime
        gmtime localtime mktime struct_time""",
    dataclasses: "field is_dataclass KW_ONLY InitVar FrozenInstanceError MISSING",
    enum: "auto member nonmember",
    types: "NoneType",
    calendar: """monthrange isleap leapdays weekday month_name month_abbr day_name day_abbr timegm monthcalendar
        month calendar Calendar TextCalendar MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY""",
    unicodedata: "normalize category name lookup east_asian_width numeric digit decimal combining bidirectional",
    numbers: "Number Real Integral Complex Rational",
    contextlib: "suppress nullcontext closing",
}
"""Names that scripts get unchanged; `*` is every public name. Names that this Python lacks are skipped."""

_REPLACE: Final[Mapping[str, object]] = {"replace": dataclass_module.copy_replace} if hasattr(copy, "replace") else {}

_REPLACED_NAMES: Final[Mapping[str, Mapping[str, object]]] = {
    "collections": {"namedtuple": named_tuple},
    "functools": {
        "wraps": wrappers.wraps,
        "lru_cache": wrappers.lru_cache,
        "update_wrapper": wrappers.update_wrapper,
        "singledispatch": wrappers.singledispatch,
        "cache": wrappers.cache,
        "cached_property": wrappers.cached_property,
        "total_ordering": wrappers.restrict_to_script_classes(functools.total_ordering),
    },
    "operator": {
        "attrgetter": wrappers.attrgetter,
        "methodcaller": wrappers.methodcaller,
        "setitem": wrappers.set_item,
        "delitem": wrappers.delete_item,
    },
    "copy": {"copy": copy_module.shallow_copy, "deepcopy": copy_module.deep_copy, **_REPLACE},
    "dataclasses": {
        "dataclass": dataclass_module.dataclass,
        "asdict": dataclass_module.as_dict,
        "astuple": dataclass_module.as_tuple,
        "fields": dataclass_module.fields,
        "replace": dataclass_module.replace,
    },
    "enum": {"unique": enums.unique},
    "types": {"SimpleNamespace": SimpleNamespace},
    "abc": {"ABC": abc.ABC, "ABCMeta": Abstract, "abstractmethod": wrappers.abstractmethod},
    "pprint": {"pformat": wrappers.format_pretty},
    "asyncio": asyncio_module.NAMES,
    "contextlib": {
        "contextmanager": wrappers.contextmanager,
        "asynccontextmanager": wrappers.contextmanager,
        "ExitStack": ExitStack,
        "AsyncExitStack": ExitStack,
    },
    "hashlib": {"new": wrappers.new_hash},
}
"""Names that are replaced by our own versions, by module."""

MODULES: Final = frozenset(
    {kind.__name__ for kind in _UNCHANGED_NAMES}
    | set(_REPLACED_NAMES)
    | {"collections.abc", "urllib", "typing", "typing_extensions", "zoneinfo"}
)
"""All modules that scripts can import, beside those of the SDK."""

SDK_MODULES: Final = frozenset(("sdk", "panorama", "panorama.sdk"))
"""The names under which scripts can import the SDK, which is there without."""

_SUBCLASSABLE_TYPES: Final = (
    object, dict, list, set, frozenset, tuple, str, int, float, complex, bytes,
    collections.Counter, collections.OrderedDict, collections.defaultdict, collections.deque,
    SimpleNamespace, json.JSONEncoder, datetime.tzinfo, abc.ABC, Generic, Protocol,
)  # fmt: skip
"""Classes that scripts may derive from; exceptions, enumerations and abstract collections come on top."""


_ABC_NAMES: Final[list[str]] = vars(collections.abc)["__all__"]  # in 3.13 the module holds more
"""What `import collections.abc` gives."""

_PRELOADED_MODULES: Final = (
    "_strptime", "_pylong", "copyreg", "warnings", "threading", "stringprep", "encodings.utf_8", "encodings.utf_8_sig",
    "encodings.latin_1", "encodings.ascii", "encodings.cp1252", "encodings.utf_16", "encodings.utf_32",
    "encodings.utf_16_le", "encodings.utf_16_be", "encodings.iso8859_15", "encodings.idna", "encodings.unicode_escape",
)  # fmt: skip
"""Modules that Python imports during calls, which fails once files are denied."""


def build_facades(sdk: object | None = None) -> Mapping[str, Facade]:
    """Return all modules, and register their classes with the guards."""
    for late in _PRELOADED_MODULES:
        if importlib.util.find_spec(late):
            importlib.import_module(late)
    names = {module.__name__: _pick_names(module, words) for module, words in _UNCHANGED_NAMES.items()}
    for title, more in _REPLACED_NAMES.items():
        names.setdefault(title, {}).update(more)
    names["enum"].update(enums.EnumBases().to_namespace())
    names["collections.abc"] = _pick_names(collections.abc, " ".join(_ABC_NAMES))
    names["typing"] = names["typing_extensions"] = typing_names.build_namespace()
    names["zoneinfo"] = zoneinfo_module.build_namespace()
    _set_display_names(names)
    _allow_types(names)
    facades = {title: Facade(title, values) for title, values in names.items()}
    facades["collections"] = Facade("collections", {**names["collections"], "abc": facades["collections.abc"]})
    facades["urllib"] = Facade("urllib", {"parse": facades["urllib.parse"]})
    return {**facades, **build_sdk_modules(sdk)} if sdk is not None else facades


def build_sdk_modules(sdk: object) -> dict[str, Any]:
    """Return the modules under which scripts can import the SDK."""
    return {"sdk": sdk, "panorama": Facade("panorama", {"sdk": sdk}), "panorama.sdk": sdk}


def _pick_names(module: ModuleType, words: str) -> dict[str, Any]:
    names = [name for name in vars(module) if not name.startswith("_")] if words == "*" else words.split()
    return {name: getattr(module, name) for name in names if hasattr(module, name)}


_WHITESPACE_TABLE: Final = tuple(
    32 if chr(code).isspace() and code not in range(28, 32) else code for code in range(33)
)
"""The whitespace table of TextWrapper, immutable; Python's is a dict that all share."""


def _set_display_names(names: Mapping[str, Mapping[str, Any]]) -> None:
    """Name our functions as scripts know them, also in errors."""
    for module in names.values():
        for name, value in module.items():
            is_ours = isinstance(value, FunctionType) and value.__module__.startswith("panorama.")
            if is_ours and not {value.__name__, value.__qualname__} <= module.keys():
                value.__name__ = value.__qualname__ = name


def _allow_types(names: Mapping[str, Mapping[str, Any]]) -> None:
    """Register the classes that scripts may use, derive from and change."""
    classes = [value for module in names.values() for value in module.values() if isinstance(value, type)]
    expose_types(*_iter_subclasses(BaseException))  # scripts can get the class of every error
    expose_types(
        *classes, *_SUBCLASSABLE_TYPES, bool, bytearray, range, slice, type(None), type(Ellipsis), type(NotImplemented)
    )
    abstract = [value for value in names["collections.abc"].values() if isinstance(value, type)]
    allow_subclassing(
        *_SUBCLASSABLE_TYPES, *abstract, *(kind for kind in names["enum"].values() if isinstance(kind, enum.EnumMeta))
    )
    allow_subclassing(*(value for value in classes if issubclass(value, Exception)))
    allow_attribute_writes(decimal.Context)
    _patch_stdlib()


def _patch_stdlib() -> None:
    """Replace mutable data that all users of a library class share."""
    for owner, name, value in (
        (textwrap.TextWrapper, "unicode_whitespace_trans", _WHITESPACE_TABLE),
        (dataclasses, "_EMPTY_METADATA", wrappers.NO_METADATA),
    ):
        setattr(owner, name, value)


def _iter_subclasses(kind: type) -> Iterator[type]:
    """Return a class and all that derive from it."""
    yield kind
    for subclass in type.__subclasses__(kind):
        yield from _iter_subclasses(subclass)
