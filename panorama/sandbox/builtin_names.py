"""The built-in names of scripts, and their `import`."""

import builtins as python
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from panorama.sandbox import collecting, guards, hints, identity, own, tables
from panorama.sandbox.facades import Facade, listed, nearest
from panorama.sandbox.kinds import UNICODE_ERRORS, Type
from panorama.sandbox.modules import SDK_MODULES, sdk_modules
from panorama.sandbox.printing import Print, redirect_stdout
from panorama.sandbox.slices import Slice
from panorama.sdk._unknown import unknown

EXCEPTIONS: Mapping[str, type[BaseException]] = {
    name: UnicodeError if value in UNICODE_ERRORS else value
    for name, value in vars(python).items()
    if isinstance(value, type) and issubclass(value, BaseException) and name not in tables.REFUSED_EXCEPTIONS
}
"""The exceptions that scripts can name."""


def _refusing(name: str, hint: str) -> Callable[..., NoReturn]:
    def refused(*_: object, **__: object) -> NoReturn:
        raise NameError(f"{name}() is not available in scripts: {hint}")

    refused.__name__ = refused.__qualname__ = name
    return refused


_SAME: Mapping[str, Any] = {
    **{name: getattr(python, name) for name in tables.BUILTINS},
    **EXCEPTIONS,
    "StopAsyncIteration": StopIteration,  # what an erased `__anext__` ends with
    "iter": collecting.iterated,
    "aiter": collecting.iterated,
    "anext": next,
    "getattr": guards.get,
    "hasattr": guards.has,
    "setattr": guards.put,
    "delattr": guards.drop,
    "dir": guards.names_of,
    "vars": guards.variables_of,
    "type": Type,
    "id": identity.identity,
    "hash": identity.hashed,
    "slice": Slice,
    **{name: _refusing(name, hint) for name, hint in hints.WAY_OUT.items()},
}

guards.derivable(*EXCEPTIONS.values())

for _name in ("getattr", "hasattr", "setattr", "delattr", "dir", "vars", "id", "hash"):  # what errors of calls name
    _SAME[_name].__name__ = _SAME[_name].__qualname__ = _name


def builtins(printed: Print) -> dict[str, Any]:
    """Return the built-in names for one run, without `import`."""
    return {**_SAME, "print": printed}


def importer(modules: Mapping[str, Facade], sdk: object, printed: Print) -> Callable[..., Any]:
    """Return what `import` calls in one run; what it prints goes where that of `print` goes."""
    known: dict[str, Any] = {**modules, **sdk_modules(sdk)}
    of_the_run: dict[str, Callable[[], dict[str, Any]]] = {
        "pprint": lambda: dict(own.printers(printed)),
        "contextlib": lambda: {"redirect_stdout": redirect_stdout(printed)},
    }

    def imported(name: str, _: object = None, __: object = None, wanted: Any = (), level: int = 0) -> Any:
        if type(wanted) is list:
            return None  # Python's own C code asks with a list (strptime, strftime); it reads sys.modules afterwards
        if level or name not in known:
            raise ImportError(f"the module '{name}' is not available in scripts; {hints.import_hint(name, modules)}")
        if name in of_the_run:
            known[name] = Facade(name, {**vars(modules[name]), **of_the_run.pop(name)()})
        for word in wanted or ():
            _check_name(known[name], name, word)
        return known[name] if wanted else known[name.partition(".")[0]]

    return imported


def _check_name(module: Any, title: str, word: str) -> None:
    names = dir(module)
    if word not in names:
        if title in SDK_MODULES:
            raise ImportError(f"'{title}' has no '{word}' in scripts. {unknown('sdk', word, names)}")
        instead, near = hints.MISSING.get(f"{title}.{word}"), nearest(word, names)
        meant = f"{instead}; " if instead else f"did you mean {near}? " if near else ""
        raise ImportError(f"'{title}' has no '{word}' in scripts; {meant}it has: {listed(names)}")
