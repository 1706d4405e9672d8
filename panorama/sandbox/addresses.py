"""How objects show where they lie: in the template as `id` tells it, which is no address.

Whoever knows where objects lie can make up one in memory that a fault of Python's lets him write.
"""

import hashlib
import re
import types
from collections.abc import Callable
from typing import Any, Final
from weakref import ReferenceType

from panorama.sandbox import slots
from panorama.sandbox.identity import of_address

_SHOWING: Final = (
    object, types.FunctionType, types.BuiltinFunctionType, types.MethodWrapperType, types.GeneratorType,
    types.CoroutineType, types.AsyncGeneratorType, memoryview, ReferenceType, type(hashlib.new("sha256")),
)  # fmt: skip
"""The classes whose objects tell addresses in C (`%p` in CPython's own code): the last behind all that has a name."""

_LAST: Final = re.compile(r"(?<= at 0x)[0-9a-f]+(?=>\Z)|(?<= @ 0x)[0-9a-f]+(?=>\Z)|(?<=\A<weakref at 0x)[0-9a-f]+")


def mend() -> None:
    """Have objects show the number that `id` gives.

    Raises:
        RuntimeError: Classes do not look in memory as they do in the Pythons that are known.
    """
    for kind in _SHOWING:
        if "__repr__" in vars(kind):
            slots.take_over(kind, _telling(vars(kind)["__repr__"]), "__repr__", slots.REPR)


def _telling(original: Callable[[Any], str]) -> type:
    class Telling:
        def __repr__(self) -> str:
            return _LAST.sub(_told, original(self))

    return Telling


def _told(address: re.Match[str]) -> str:
    return f"{of_address(int(address[0], 16)):x}"
