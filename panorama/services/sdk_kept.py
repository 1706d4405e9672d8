"""Kept scripts as the reference of the SDK tells them: those that a person approved, and another script may run."""

from collections.abc import Iterator, Mapping, Sequence

from panorama.domain.library import Parameter, Signature, visible
from panorama.domain.script_types import Kind, Type
from panorama.errors import PanoramaError
from panorama.sdk.reference import KEPT, Entry
from panorama.services.library import Library, told_of

_APPROVED = ("reviewed", "promoted")
_PYTHON: Mapping[Kind, str] = {
    "text": "str", "integer": "int", "number": "float", "boolean": "bool", "day": "date", "moment": "datetime",
    "list": "list", "object": "dict", "any": "Any",
}  # fmt: skip


class KeptEntries:
    """Knows what the library holds that `sdk.scripts.NAME(…)` runs."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def found(self) -> Sequence[Entry]:
        """Return the scripts whose text a person approved; drafts are not told of.

        Nor are those that came with the program and were only left as they are: list_scripts tells of them, and here
        they would stand in the way of what the SDK has for the same words.
        """
        return list(self._found())

    def _found(self) -> Iterator[Entry]:
        for name in self._library.shelf.names():
            try:
                kept = self._library.kept(name, glance=True)
                if kept.standing.of(kept.text.digest) in _APPROVED:
                    yield _entry(name, told_of(kept.text).signature)
            except PanoramaError:  # what stands there is no script: list_scripts tells why
                continue


def _entry(name: str, signature: Signature) -> Entry:
    line, called = visible(signature.summary), f"sdk.scripts.{name}"
    names = ", ".join(each.name for each in signature.parameters)
    typed = ", ".join(map(_parameter, signature.parameters))
    stub = f"{called}({f'*, {typed}' if typed else ''})\n    {line}"
    told = [f"    {each.name}: {visible(each.description)}" for each in signature.parameters if each.description]
    full = "\n".join([stub, "    A kept script: what it writes belongs to the run that calls it.", *told])
    return Entry(name=called, group=KEPT, line=line, brief=f"{called}({names}): {line}", stub=stub, full=full)


def _parameter(each: Parameter) -> str:
    default = "" if each.required else " = …" if each.default is None else f" = {each.default!r}"
    return visible(f"{each.name}: {_annotation(each.type)}{default}")


def _annotation(type_: Type) -> str:
    if type_.kind == "choice":
        told = f"Literal[{', '.join(map(repr, type_.choices))}]"
    elif type_.items is not None:
        told = f"list[{_annotation(type_.items)}]"
    else:
        told = _PYTHON[type_.kind]
    return f"{told} | None" if type_.optional else told
