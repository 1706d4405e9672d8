"""The allowed and refused names of scripts."""

import types
from typing import Final

from RestrictedPython.transformer import INSPECT_ATTRIBUTES


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


ENTRY: Final = "<module>"
"""The function around a script; no script can spell this name, and tracebacks look as in plain Python."""

MODULE: Final = "script"
"""`__module__` of script classes. It must not be in `sys.modules`: dataclasses would use its globals."""

# --- Hooks: names of functions that the compiled script calls. No identifier is spelt like them, so that no script
# --- can read, shadow, delete, import or declare one.
READ: Final = "<read>"
WRITABLE: Final = "<changed>"
AUGMENT: Final = "<augmented>"
TYPE: Final = "<type>"
SCRIPT_META: Final = "<own>"
MAKE_CLASS: Final = "<class>"
AWAIT: Final = "<awaited>"
ANYTHING: Final = "<anything>"
GENERIC: Final = "<generic>"
ABSTRACT: Final = "<abstract>"
FIELD: Final = "<field>"
INPUT_NAMES: Final = "<given>"
"""Not a hook: the names of the run's inputs, for error messages."""

FIELD_KINDS: Final = {"ClassVar": "<ClassVar>", "InitVar": "<InitVar>", "KW_ONLY": "<KW_ONLY>"}
"""Annotations that `dataclass` looks at; in a class body all others become `FIELD`, so that no text is evaluated."""

# --- Names with two underscores.
METHODS: Final = split_words(
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
"""Methods that script classes may define and call by name."""

ASYNC_METHODS: Final = {
    "__aenter__": "__enter__", "__aexit__": "__exit__", "__aiter__": "__iter__", "__anext__": "__next__",
}  # fmt: skip
"""`async` is erased: these become their synchronous counterparts."""

READABLE: Final = split_words("__name__ __qualname__ __class__ __dict__ __doc__ __members__ __setattr__")
"""Attributes that `guards.read` answers itself, by what the object is."""

LITERAL_NAMES: Final = split_words("__slots__ __match_args__")
"""Names that a class body may set to plain names, written out."""

HEADER_NAMES: Final = split_words("__all__ __version__ __author__")
"""Names that a script may set at the top level; nothing reads them."""

NAMEDTUPLE_NAMES: Final = split_words("_asdict _replace _fields _make _field_defaults")
"""Names with one underscore that belong to the public face of named tuples."""

# --- Attributes without underscore.
_INTERNAL_TYPES = (
    types.FrameType, types.TracebackType, types.CodeType,
    types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType,
)  # fmt: skip

REFUSED_ATTRIBUTES: Final = (
    INSPECT_ATTRIBUTES
    | {
        name
        for kind in _INTERNAL_TYPES
        for name in dir(kind)
        if name.startswith(("f_", "tb_", "co_", "gi_", "cr_", "ag_"))
    }
    | {"with_traceback", "mro"}
)
"""Attributes of frames, code and running generators, and ways to the library's own classes; never read or set."""

HARMLESS_ON_EXCEPTIONS: Final = split_words(
    """
    args add_note code msg message value name reason start end encoding lineno offset end_lineno end_offset text
    errno strerror characters_written derive split subgroup
    """
)
"""Plain values. The rest of what exceptions show is `GUARDED`: objects, paths, printers."""

GUARDED: Final = split_words(
    """
    format format_map register groupindex obj object path filename filename2 name_from exceptions
    print_file_and_line
    """
)
"""The only names without underscore that `guards.read` treats differently from plain `getattr`.

The first four are raw formatting, registration with an abstract class and the map of a shared pattern; the others
matter on exceptions. All other literal names are compiled to ordinary loads, at full speed."""

# --- Built-in names.
BUILTINS: Final = split_words(
    """
    False None True Ellipsis NotImplemented __build_class__ abs all any ascii bin bool bytearray bytes callable
    chr classmethod complex dict divmod enumerate filter float format frozenset hash hex id int isinstance
    issubclass iter len list map max min next object oct ord pow property range repr reversed round set slice sorted
    staticmethod str sum super tuple zip
    """
)
"""Python's own functions and classes that scripts get as they are."""

REPLACED_BUILTINS: Final = split_words(
    """
    getattr hasattr setattr delattr type dir vars print __import__ aiter anext
    """
)
"""Built-in names that are replaced by our own versions; `builtin_names` adds the exceptions."""

REFUSED_EXCEPTIONS: Final = split_words("ExceptionGroup BaseExceptionGroup EncodingWarning")
"""Exceptions that scripts cannot name: `except*` and what belongs to it has held escapes (CVE-2025-22153)."""


_RESTRICTED: Final = GUARDED | REFUSED_ATTRIBUTES


def is_dunder(name: str) -> bool:
    """Return whether a name begins and ends with two underscores, past overrides."""
    return str.startswith(name, "__") and str.endswith(name, "__")


def is_plain(name: str) -> bool:
    """Return whether a literal attribute of this name can be read without a guard."""
    return name not in _RESTRICTED and not name.startswith("_")
