"""Builds the `sdk` of scripts from the SDK's public names."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, cast

from panorama.sandbox.rules.facades import Facade, get_title
from panorama.sandbox.rules.guards import allow_attribute_writes
from panorama.sandbox.rules.type_views import expose_types
from panorama.sdk import SURFACE
from panorama.sdk.core.rows import Row
from panorama.sdk.core.sources import source_function
from panorama.sdk.core.suggestions import explain_unknown
from panorama.sdk.scripts import script_function


def build_sdk(state: dict[str, Any]) -> Facade:
    """Return `sdk`: nouns as facades, functions, errors, and the run's state."""
    expose_types(*(value for value in SURFACE.values() if isinstance(value, type)))
    allow_attribute_writes(Row)
    return _build_facade("sdk", {**SURFACE, "state": state})


def _build_facade(name: str, names: Mapping[str, object]) -> Facade:
    kind = _ScriptsFacade if name == "sdk.scripts" else _SdkFacade
    return kind(name, {key: _wrap_value(f"{name}.{key}", value) for key, value in names.items()})


def add_sources(sdk: Facade, sources: Iterable[str]) -> None:
    """Add sources to `sdk`; names of the SDK itself stay."""
    for name in sources:
        vars(sdk).setdefault(name, _SourceFacade(f"sdk.{name}", {}))


class _SdkFacade(Facade):
    """`sdk`, or a noun of it; a missing name raises an error with a suggestion."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # questions of Python's own, such as copy's
            raise AttributeError(name)
        title = get_title(self)
        raise AttributeError(f"'{title}' has no '{name}' in scripts. {explain_unknown(title, name, vars(self))}")

    def __call__(self, *_: object, **__: object) -> NoReturn:
        title = get_title(self)
        names = ", ".join(f"{title}.{name}(…)" for name, value in vars(self).items() if inspect.isfunction(value))
        raise TypeError(f"'{title}' is no function itself; it has {names}")


class _ScriptsFacade(Facade):
    """The scripts of the library; only the host knows which exist."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'sdk.scripts' has no '{name}'")
        return script_function(name)

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("'sdk.scripts' is no function itself; a script is called by its name: sdk.scripts.name(…)")


class _SourceFacade(Facade):
    """A source; only the host knows which functions it has."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'{get_title(self)}' has no '{name}'")
        return source_function(get_title(self).removeprefix("sdk."), name)

    def __call__(self, *_: object, **__: object) -> NoReturn:
        title = get_title(self)
        raise TypeError(f"'{title}' is no function itself; a function is called by its name: {title}.name(…)")


_SourceFacade.__name__ = _SourceFacade.__qualname__ = "module"
_SdkFacade.__name__ = _SdkFacade.__qualname__ = _ScriptsFacade.__name__ = _ScriptsFacade.__qualname__ = "module"


def _wrap_value(name: str, value: object) -> object:
    """Return a facade of a noun's names; a dict is the state, which scripts write to."""
    if isinstance(value, Mapping) and not isinstance(value, dict):
        return _build_facade(name, cast("Mapping[str, object]", value))
    return cast("object", value)
