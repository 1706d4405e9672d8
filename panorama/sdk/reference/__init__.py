"""The reference of the SDK, built from its signatures and docstrings."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from panorama.sdk.core import types as _types
from panorama.sdk.core.rows import Row
from panorama.sdk.core.signatures import format_signature, sdk_name
from panorama.sdk.reference import recipes
from panorama.sdk.reference.recipes import Recipe

GUIDE = """\
`sdk` is there; `return x`, or the last expression, is the result. Rows: task.title or task["title"]; what is empty is \
None, a text "", a list []; a reference is an id, days and moments are ISO text: task.deadline < "2026-06-01". A row \
is a copy: sdk.tasks.update(task, status="done"); None clears. Lists read all pages; tasks.list() gives open tasks, \
status="any" all. For an item give its id, unique name or row; for a day 2026-05-31, today, +3d \
or a date. sdk.state is a dict kept between runs. Errors: from sdk import NotFoundError, InvalidInputError, \
ConflictError, SdkError."""
"""The rules that apply to all functions."""

RECIPES = "recipes"
"""The group of recipes."""

KEPT = "kept scripts"
"""The group of saved scripts; they are added by the library."""

FEW = 5
_SECTION = re.compile(r"^(Args|Returns|Raises|Example):\n", re.MULTILINE)
_TYPE = re.compile(r"\b[A-Z]\w+")
_ROWS: Mapping[str, type] = {
    name: value
    for name, value in vars(_types).items()
    if isinstance(value, type) and issubclass(value, Row) and value not in (Row, _types.Item)
}

_PLAIN = {"None", "Item", "Removed", *(kind.__name__ for kind in _types.Item.__subclasses__())}
"""Result descriptions that add nothing to the signature: the current item, whose fields are listed anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A function or a recipe: `group` is its noun, `line` one sentence, `text` the whole description."""

    name: str
    group: str
    line: str
    brief: str
    stub: str
    full: str
    words: str = ""
    rows: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The searched text besides its name and line."""
        return f"{self.full} {self.words}"


def entries(surface: Mapping[str, object]) -> Sequence[Entry]:
    """Return every function of a surface in its order, then the recipes."""
    return [*_functions(surface), *map(_recipe, recipes.RECIPES)]


def fields(names: Iterable[str]) -> list[str]:
    """Return the fields of kinds of rows and of rows in them, one kind a line: `Tally: count, items: list[Task]`."""
    lines: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name not in lines:
            types = {
                key: str(type_)
                for base in reversed(_ROWS[name].__mro__)
                for key, type_ in _own_annotations(base).items()
            }
            texts = (f"{key}: {type_}" if _kinds(type_) else key for key, type_ in types.items())
            lines[name] = f"{name}: {', '.join(texts)}"
            waiting += [kind for type_ in types.values() for kind in _kinds(type_)]
    return list(lines.values())


def _own_annotations(kind: type) -> Mapping[str, object]:
    return inspect.get_annotations(kind)


def _kinds(type_: str) -> list[str]:
    return [name for name in _TYPE.findall(type_) if name in _ROWS]


def _functions(surface: Mapping[str, object]) -> Iterator[Entry]:
    for name, value in surface.items():
        if inspect.isfunction(value):
            yield _function(value, "")
        elif isinstance(value, Mapping) and name != "errors":
            functions = cast("Mapping[str, Callable[..., Any]]", value).values()
            yield from (_function(function, name) for function in sorted(functions, key=_line_number))


def _line_number(function: Callable[..., Any]) -> int:
    """Return the line on which a function begins, since functions are listed in the order of their module."""
    return inspect.unwrap(function).__code__.co_firstlineno


def _function(function: Callable[..., Any], group: str) -> Entry:
    doc = inspect.getdoc(function) or ""
    line = doc.partition("\n")[0]
    parts = _SECTION.split(doc)
    returns = dict(zip(parts[1::2], parts[2::2], strict=True)).get("Returns", "").rstrip()
    whole, indented = format_signature(function), "\n".join(f"    {line}".rstrip() for line in doc.splitlines())
    back = str(inspect.signature(function).return_annotation)
    returns_text = "" if back in _PLAIN else f"\n    Returns: {' '.join(returns.split())}"
    names = [name for name in inspect.signature(function).parameters if name != "idempotency_key"]
    shown = ", ".join([*names[:FEW], "…"] if len(names) > FEW + 1 else names)
    return Entry(
        name=sdk_name(function),
        group=group,
        line=line,
        brief=f"{sdk_name(function)}({shown}): {line}",
        stub=f"{whole}\n    {line}{returns_text}",
        full=f"{whole}\n{indented}",
        rows=tuple(_kinds(whole.rpartition("->")[2])),
    )


def _recipe(recipe: Recipe) -> Entry:
    code = f"# Recipe: {recipe.title}\n{recipe.code.rstrip()}"
    return Entry(
        name=recipe.title,
        group=RECIPES,
        line=recipe.title,
        brief=f"Recipe: {recipe.title}",
        stub=code,
        full=code,
        words=recipe.words,
    )
