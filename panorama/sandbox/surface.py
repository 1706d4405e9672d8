"""The SDK in a script: the only place that makes of its surface what a script may hold."""

import inspect
from collections.abc import Mapping
from typing import Any, NoReturn, cast

from panorama.sandbox.facades import Facade, title_of
from panorama.sandbox.guards import writable
from panorama.sandbox.kinds import nameable
from panorama.sdk import SURFACE
from panorama.sdk._rows import Row
from panorama.sdk._unknown import unknown
from panorama.sdk.scripts import named


def sdk(state: dict[str, Any]) -> Facade:
    """Return `sdk`: facades of its nouns, its functions and errors, and the state of the run."""
    nameable(*(value for value in SURFACE.values() if isinstance(value, type)))
    writable(Row)
    return _facade("sdk", {**SURFACE, "state": state})


def _facade(name: str, names: Mapping[str, object]) -> Facade:
    kind = _Scripts if name == "sdk.scripts" else _Named
    return kind(name, {key: _held(f"{name}.{key}", each) for key, each in names.items()})


class _Named(Facade):
    """`sdk`, or a noun of it: a name that it does not have is answered with what to write."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # questions of Python's own, such as copy's
            raise AttributeError(name)
        title = title_of(self)
        raise AttributeError(f"'{title}' has no '{name}' in scripts. {unknown(title, name, vars(self))}")

    def __call__(self, *_: object, **__: object) -> NoReturn:
        title = title_of(self)
        names = ", ".join(f"{title}.{name}(…)" for name, value in vars(self).items() if inspect.isfunction(value))
        raise TypeError(f"'{title}' is no function itself; it has {names}")


class _Scripts(Facade):
    """The scripts of the library; which there are is known to the host alone."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'sdk.scripts' has no '{name}'")
        return named(name)

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("'sdk.scripts' is no function itself; a script is called by its name: sdk.scripts.name(…)")


_Named.__name__ = _Named.__qualname__ = _Scripts.__name__ = _Scripts.__qualname__ = "module"


def _held(name: str, value: object) -> object:
    """Return a facade of a noun's names; a dict is the state, which scripts write to."""
    if isinstance(value, Mapping) and not isinstance(value, dict):
        return _facade(name, cast("Mapping[str, object]", value))
    return cast("object", value)
