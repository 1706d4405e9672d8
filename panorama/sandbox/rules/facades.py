"""Facades: read-only collections of vetted names that replace modules."""

import types
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn, Self

from panorama.sandbox.rules.hints import MISSING_NAME_HINTS

NAMES_CHARS = 400
"""Characters of the list of names in an error."""


def format_suggestions(name: str, names: Iterable[str]) -> str:
    """Return up to three similar names as text, such as "'dump' or 'dumps'"."""
    return " or ".join(repr(match) for match in get_close_matches(name, list(names), n=3, cutoff=0.6))


def format_names(names: Iterable[str]) -> str:
    """Return names in order, cut at `NAMES_CHARS` characters."""
    text = ", ".join(sorted(names))
    return text if len(text) <= NAMES_CHARS else text[:NAMES_CHARS].rpartition(",")[0] + ", …"


class Facade:
    """A read-only collection of names. Real modules also expose what they imported."""

    __slots__ = ("__dict__", "_title")

    def __init__(self, title: str, names: Mapping[str, object]) -> None:
        for name, value in names.items():
            if isinstance(value, types.ModuleType):
                raise TypeError(f"{title}.{name} is a module")
        object.__setattr__(self, "_title", title)
        vars(self).update(names)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # questions of Python's own, such as copy's
            raise AttributeError(name)
        title, close_names = get_title(self), format_suggestions(name, vars(self))
        replacement = MISSING_NAME_HINTS.get(f"{title}.{name}")
        suggestion = f"; {replacement}." if replacement else f"; did you mean {close_names}?" if close_names else "."
        raise AttributeError(f"'{title}' has no '{name}' in scripts{suggestion} It has: {format_names(vars(self))}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"'{get_title(self)}' cannot be changed; keep '{name}' under a name of your own")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"'{get_title(self)}' cannot be changed")

    def __dir__(self) -> list[str]:
        return sorted(vars(self))

    def __repr__(self) -> str:
        return f"<{get_title(self)}>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"'{get_title(self)}' cannot be copied or stored")


Facade.__name__ = Facade.__qualname__ = "module"  # what errors of Python's own call it


def get_title(facade: Facade) -> str:
    """Return the name under which scripts know a facade."""
    return object.__getattribute__(facade, "_title")
