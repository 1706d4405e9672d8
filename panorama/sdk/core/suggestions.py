"""Suggests names for those that `sdk` or a noun does not have."""

import difflib
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

from panorama.sdk.core.aliases import KINDS, suggest_replacement
from panorama.sdk.core.namespace import SURFACE
from panorama.sdk.core.signatures import describe_usage

_MIN_SIMILARITY = 0.5
_SDK_PATH = re.compile(r"\bsdk(?:\.\w+)+")


def explain_unknown(owner: str, name: str, known: Iterable[str]) -> str:
    """Return a sentence with the replacement of an unknown name, or with the nearest names; and a usage line.

    Args:
        owner: `sdk`, or a noun such as `sdk.tasks`.
        known: Its names.
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, 3, _MIN_SIMILARITY)
    replacement = suggest_replacement(owner, name, names) or (_suggest_noun_call(name) if owner == "sdk" else "")
    suggestions = _SDK_PATH.findall(replacement) if replacement else [f"{owner}.{close}" for close in near[:1]]
    function = next(filter(None, map(_find_function, suggestions)), None)
    called = f"{describe_usage(function)}." if function else ""
    if replacement:
        return f"{replacement} {called}".rstrip()
    nearest = f"Did you mean {' or '.join(near)}?" if near else ""
    return " ".join(filter(None, [nearest, called, f"It has {', '.join(names)}."]))


def _suggest_noun_call(name: str) -> str:
    """Return the suggestion of a noun for a name such as `complete_task`, "" if it does not end with a noun."""
    verb, _, noun_name = name.rpartition("_")
    noun = next((noun for noun, kind in KINDS.items() if noun_name in (noun, kind)), "")
    functions: Any = SURFACE.get(noun, ())
    return f"Write sdk.{noun}.{verb}(…)." if verb in functions else suggest_replacement(f"sdk.{noun}", verb, functions)


def _find_function(path: str) -> Callable[..., Any] | None:
    """Return the function with a name such as `sdk.tasks.list`, None if there is none."""
    noun, _, name = path.removeprefix("sdk.").rpartition(".")
    namespace: Any = SURFACE.get(noun) if noun else SURFACE
    function: Any = namespace.get(name) if hasattr(namespace, "get") else None
    return function if inspect.isfunction(function) else None
