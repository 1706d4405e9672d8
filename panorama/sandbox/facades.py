"""Facades: what scripts get instead of modules; a bag of vetted names that nobody can change."""

import types
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn, Self

from panorama.sandbox.hints import MISSING

LISTED = 400
"""Characters of the list of names in an error."""


def nearest(name: str, names: Iterable[str]) -> str:
    """Return up to three names that are spelt alike, as words: "", "'dumps'" or "'dump' or 'dumps'"."""
    return " or ".join(repr(match) for match in get_close_matches(name, list(names), n=3, cutoff=0.6))


def listed(names: Iterable[str]) -> str:
    """Return names in order, cut at `LISTED` characters."""
    text = ", ".join(sorted(names))
    return text if len(text) <= LISTED else text[:LISTED].rpartition(",")[0] + ", …"


class Facade:
    """A named, unchangeable bag of names. Never a module: a module hands out all that it imported itself."""

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
        title, near = title_of(self), nearest(name, vars(self))
        instead = MISSING.get(f"{title}.{name}")
        meant = f"; {instead}." if instead else f"; did you mean {near}?" if near else "."
        raise AttributeError(f"'{title}' has no '{name}' in scripts{meant} It has: {listed(vars(self))}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"'{title_of(self)}' cannot be changed; keep '{name}' under a name of your own")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"'{title_of(self)}' cannot be changed")

    def __dir__(self) -> list[str]:
        return sorted(vars(self))

    def __repr__(self) -> str:
        return f"<{title_of(self)}>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"'{title_of(self)}' cannot be copied or stored")


Facade.__name__ = Facade.__qualname__ = "module"  # what errors of Python's own call it


def title_of(facade: Facade) -> str:
    """Return the name under which scripts know a facade."""
    return object.__getattribute__(facade, "_title")
