"""The built-in names of scripts, and their `import`."""

import builtins as python
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from panorama.sandbox.rules import allowlist, guards, hints
from panorama.sandbox.rules.facades import Facade, format_names, format_suggestions
from panorama.sandbox.rules.printing import Print, redirect_stdout
from panorama.sandbox.rules.type_views import Type
from panorama.sandbox.stdlib import wrappers
from panorama.sandbox.stdlib.modules import SDK_MODULES, build_sdk_modules
from panorama.sdk.core.suggestions import explain_unknown

EXCEPTIONS: Mapping[str, type[BaseException]] = {
    name: value
    for name, value in vars(python).items()
    if isinstance(value, type) and issubclass(value, BaseException) and name not in allowlist.REFUSED_EXCEPTIONS
}
"""The exceptions that scripts can name."""


def _make_unavailable(name: str, hint: str) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise NameError(f"{name}() is not available in scripts: {hint}")

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


_SHARED_BUILTINS: Mapping[str, Any] = {
    **{name: getattr(python, name) for name in allowlist.BUILTINS},
    **EXCEPTIONS,
    "StopAsyncIteration": StopIteration,  # what an erased `__anext__` ends with
    "aiter": iter,
    "anext": next,
    "getattr": guards.get_attribute,
    "hasattr": guards.has_attribute,
    "setattr": guards.set_attribute,
    "delattr": guards.delete_attribute,
    "dir": guards.list_names,
    "vars": guards.get_vars,
    "type": Type,
    **{name: _make_unavailable(name, hint) for name, hint in hints.BUILTIN_HINTS.items()},
}

guards.allow_subclassing(*EXCEPTIONS.values())

for _name in ("getattr", "hasattr", "setattr", "delattr", "dir", "vars"):  # what errors of calls name
    _SHARED_BUILTINS[_name].__name__ = _SHARED_BUILTINS[_name].__qualname__ = _name


def build_builtins(output: Print) -> dict[str, Any]:
    """Return the built-in names for one run, without `import`."""
    return {**_SHARED_BUILTINS, "print": output}


def make_importer(modules: Mapping[str, Facade], sdk: object, output: Print) -> Callable[..., Any]:
    """Return the import function of one run; `output` receives what modules print."""
    available: dict[str, Any] = {**modules, **build_sdk_modules(sdk)}
    per_run: dict[str, Callable[[], dict[str, Any]]] = {
        "pprint": lambda: dict(wrappers.make_printers(output)),
        "contextlib": lambda: {"redirect_stdout": redirect_stdout(output)},
    }

    def import_module(name: str, _: object = None, __: object = None, requested: Any = (), level: int = 0) -> Any:
        if type(requested) is list:
            return None  # Python's own C code asks with a list (strptime, strftime); it reads sys.modules afterwards
        if level or name not in available:
            raise ImportError(
                f"the module '{name}' is not available in scripts; {hints.get_import_hint(name, modules)}"
            )
        if name in per_run:
            available[name] = Facade(name, {**vars(modules[name]), **per_run.pop(name)()})
        for word in requested or ():
            _check_name(available[name], name, word)
        return available[name] if requested else available[name.partition(".")[0]]

    return import_module


def _check_name(module: Any, title: str, word: str) -> None:
    names = dir(module)
    if word not in names:
        if title in SDK_MODULES:
            raise ImportError(f"'{title}' has no '{word}' in scripts. {explain_unknown('sdk', word, names)}")
        replacement, close_names = hints.MISSING_NAME_HINTS.get(f"{title}.{word}"), format_suggestions(word, names)
        suggestion = f"{replacement}; " if replacement else f"did you mean {close_names}? " if close_names else ""
        raise ImportError(f"'{title}' has no '{word}' in scripts; {suggestion}it has: {format_names(names)}")
