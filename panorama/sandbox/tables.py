"""What scripts may say: the only place that lists the names that are allowed and those that are not."""

import types
from typing import Final

from RestrictedPython.transformer import INSPECT_ATTRIBUTES


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


ENTRY: Final = "<module>"
"""The function that holds a script; no script can say this name, and tracebacks show what plain Python shows."""

MODULE: Final = "script"
"""Where classes of scripts say they come from. It must not be in `sys.modules`: dataclasses would take its globals."""

# --- Hooks: names of functions that the compiled script calls. No identifier is spelt like them, so that no script
# --- can read, shadow, delete, import or declare one.
READ: Final = "<read>"
CHANGED: Final = "<changed>"
AUGMENTED: Final = "<augmented>"
TYPE: Final = "<type>"
OWN: Final = "<own>"
PART: Final = "<part>"
WHOLE: Final = "<whole>"
MAKE_CLASS: Final = "<class>"
AWAITED: Final = "<awaited>"
ANYTHING: Final = "<anything>"
GENERIC: Final = "<generic>"
ABSTRACT: Final = "<abstract>"
FIELD: Final = "<field>"
HELD: Final = "<held>"
"""No hook, but a variable: an object between the look at its class and its use."""

GIVEN: Final = "<given>"
"""No hook, but what errors are told by: the names of the run's inputs."""

FIELD_KINDS: Final = {"ClassVar": "<ClassVar>", "InitVar": "<InitVar>", "KW_ONLY": "<KW_ONLY>"}
"""Annotations that `dataclass` looks at; in a class body all others become `FIELD`, so that no text is evaluated."""

# --- Names with two underscores.
METHODS: Final = words(
    """
    __init__ __post_init__ __repr__ __str__ __format__ __bytes__ __hash__ __bool__ __len__ __call__ __eq__
    __ne__ __lt__ __le__ __gt__ __ge__ __iter__ __next__ __reversed__ __contains__ __getitem__ __setitem__
    __delitem__ __missing__ __getattr__ __enter__ __exit__ __copy__ __deepcopy__ __int__ __float__ __complex__
    __round__ __trunc__ __floor__ __ceil__ __neg__ __pos__ __abs__ __invert__ __add__ __sub__ __mul__ __matmul__
    __truediv__ __floordiv__ __mod__ __divmod__ __pow__ __lshift__ __rshift__ __and__ __or__ __xor__ __radd__
    __rsub__ __rmul__ __rmatmul__ __rtruediv__ __rfloordiv__ __rmod__ __rdivmod__ __rpow__ __rlshift__
    __rrshift__ __rand__ __ror__ __rxor__ __iadd__ __isub__ __imul__ __imatmul__ __itruediv__ __ifloordiv__
    __imod__ __ipow__ __ilshift__ __irshift__ __iand__ __ior__ __ixor__
    """
)
"""Methods that classes of scripts may define and call by name. What they get are the script's own values."""

ASYNC_METHODS: Final = {
    "__aenter__": "__enter__", "__aexit__": "__exit__", "__aiter__": "__iter__", "__anext__": "__next__",
}  # fmt: skip
"""`async` is erased: these are taken as their synchronous twins."""

READABLE: Final = words("__name__ __qualname__ __class__ __dict__ __doc__ __members__ __setattr__")
"""Attributes that `guards.read` answers itself, by what the object is."""

LITERAL_NAMES: Final = words("__slots__ __match_args__")
"""Names that a class body may set to plain names, written out."""

HEADER_NAMES: Final = words("__all__ __version__ __author__")
"""Names that a text may set at its top; nothing reads them."""

NAMEDTUPLE_NAMES: Final = words("_asdict _replace _fields _make _field_defaults")
"""Names with one underscore that belong to the public face of named tuples."""

# --- Attributes without underscore.
_INSIDE = (
    types.FrameType, types.TracebackType, types.CodeType,
    types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType,
)  # fmt: skip

REFUSED_ATTRIBUTES: Final = (
    INSPECT_ATTRIBUTES
    | {name for kind in _INSIDE for name in dir(kind) if name.startswith(("f_", "tb_", "co_", "gi_", "cr_", "ag_"))}
    | {"with_traceback", "mro", "getbuffer"}
)
"""What frames, code and running generators hold, the way from a class to the library's own, and that to a memoryview,
which goes on with what it was released from (gh-143195, gh-143378, gh-126341); never read or set."""

HARMLESS_ON_EXCEPTIONS: Final = words(
    """
    args add_note code msg message value name reason start end encoding lineno offset end_lineno end_offset text
    errno strerror characters_written derive split subgroup
    """
)
"""Plain values. The rest of what exceptions show is `GUARDED`: objects, paths, printers."""

GUARDED: Final = words(
    """
    format format_map register groupindex flags traps obj object path filename filename2 name_from exceptions
    print_file_and_line
    """
)
"""The only names without underscore on which `guards.read` says anything but plain `getattr` (the first six: raw
formatting, changing what an abstract class answers, the map of a shared pattern, maps of a decimal context, which
outlive it and then point into freed memory; the others: on exceptions). All other names that stand in the
text are compiled to ordinary loads, at their ordinary speed."""

# --- Built-in names.
BUILTINS: Final = words(
    """
    False None True Ellipsis NotImplemented __build_class__ abs all any ascii bin bool bytearray bytes callable
    chr classmethod complex dict divmod enumerate filter float format frozenset hex int isinstance
    issubclass len list map max min next object oct ord pow property range repr reversed round set sorted
    staticmethod str sum super tuple zip
    """
)
"""Python's own functions and classes that scripts get as they are."""

MEDIATED: Final = words(
    """
    getattr hasattr setattr delattr type dir vars iter print __import__ aiter anext id hash slice
    """
)
"""Built-in names that scripts get in a version of ours; the exceptions come on top (`builtin_names`)."""

REFUSED_EXCEPTIONS: Final = words("ExceptionGroup BaseExceptionGroup EncodingWarning")
"""Exceptions that scripts cannot name: `except*` and what belongs to it has held escapes (CVE-2025-22153)."""


_CLOSED: Final = GUARDED | REFUSED_ATTRIBUTES


def dunder(name: str) -> bool:
    """Return whether a name begins and ends with two underscores; the text itself is asked, not its class."""
    return str.startswith(name, "__") and str.endswith(name, "__")


def plain(name: str) -> bool:
    """Return whether an attribute of this name may be read without a guard, if it stands in the text."""
    return name not in _CLOSED and not name.startswith("_")
