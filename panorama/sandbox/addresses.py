"""How objects show where they lie: in the template as `id` tells it, which is no address.

Whoever knows where objects lie can make up one in memory that a fault of Python's lets him write.
"""

import hashlib
import types
from builtins import id as _address
from collections.abc import Callable
from typing import Any, Final
from weakref import ReferenceType

from panorama.sandbox import slots
from panorama.sandbox.identity import identity

_REFERENT: Callable[[Any], object] = vars(ReferenceType)["__call__"]
_Shown = Callable[[Any], tuple[object, ...]]


def _itself(value: Any) -> tuple[object, ...]:
    return (value,)


def _owner(value: Any) -> tuple[object, ...]:
    return (value.__self__,)


def _referent(value: "ReferenceType[Any]") -> tuple[object, ...]:
    return value, _REFERENT(value)


_SHOWN: Final[dict[type, _Shown]] = {
    object: _itself,
    types.FunctionType: _itself,
    types.BuiltinFunctionType: _owner,
    types.MethodWrapperType: _owner,
    types.GeneratorType: _itself,
    types.CoroutineType: _itself,
    types.AsyncGeneratorType: _itself,
    memoryview: _itself,
    ReferenceType: _referent,
    type(hashlib.new("sha256")): _itself,
}
"""The classes whose objects tell an address in C, and of which objects it is (`%p` in CPython's own code)."""


def mend() -> None:
    """Have objects show the number that `id` gives.

    Raises:
        RuntimeError: Classes do not look in memory as they do in the Pythons that are known.
    """
    for kind, shown in _SHOWN.items():
        if "__repr__" in vars(kind):
            slots.take_over(kind, _telling(vars(kind)["__repr__"], shown), "__repr__", slots.REPR)


def _telling(original: Callable[[Any], str], shown: _Shown) -> type:
    class Telling:
        def __repr__(self) -> str:
            text = original(self)
            for each in shown(self):
                text = text.replace(f" 0x{_address(each):x}", f" 0x{identity(each):x}")
            return text

    return Telling
