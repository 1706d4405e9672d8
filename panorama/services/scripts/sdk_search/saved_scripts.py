"""Saved scripts in the SDK reference: those that the user approved, so that other scripts may run them."""

from collections.abc import Iterator, Mapping, Sequence

from panorama.domain.scripts.library import Parameter, Signature
from panorama.domain.scripts.script_types import Kind, ParameterType
from panorama.domain.text.visible_text import escape_controls
from panorama.errors import PanoramaError
from panorama.sdk.reference import KEPT, Entry
from panorama.services.scripts.library.library import Library
from panorama.services.scripts.library.saved_script import analyze_script

_APPROVED_STATES = ("reviewed", "promoted")
_PYTHON_TYPES: Mapping[Kind, str] = {
    "text": "str", "integer": "int", "number": "float", "boolean": "bool", "day": "date", "moment": "datetime",
    "list": "list", "object": "dict", "any": "Any",
}  # fmt: skip


class LibraryEntries:
    """Knows what the library holds that `sdk.scripts.NAME(…)` runs."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def list_entries(self) -> Sequence[Entry]:
        """Return the scripts whose text a person approved; drafts are left out.

        Nor are those that came with the program and were only left as they are: list_scripts tells of them, and here
        they would stand in the way of what the SDK has for the same words.
        """
        return list(self._iter_entries())

    def _iter_entries(self) -> Iterator[Entry]:
        for name in self._library.shelf.list_names():
            try:
                saved = self._library.get_saved(name, glance=True)
                if saved.standing.state_of(saved.text.digest) in _APPROVED_STATES:
                    yield _entry(name, analyze_script(saved.text).signature)
            except PanoramaError:  # what stands there is no script: list_scripts tells why
                continue


def _entry(name: str, signature: Signature) -> Entry:
    line, called = escape_controls(signature.summary), f"sdk.scripts.{name}"
    names = ", ".join(parameter.name for parameter in signature.parameters)
    typed = ", ".join(map(_format_parameter, signature.parameters))
    stub = f"{called}({f'*, {typed}' if typed else ''})\n    {line}"
    lines = [
        f"    {parameter.name}: {escape_controls(parameter.description)}"
        for parameter in signature.parameters
        if parameter.description
    ]
    full = "\n".join([stub, "    A saved script: what it writes belongs to the run that calls it.", *lines])
    return Entry(name=called, group=KEPT, line=line, brief=f"{called}({names}): {line}", stub=stub, full=full)


def _format_parameter(parameter: Parameter) -> str:
    default = "" if parameter.required else " = …" if parameter.default is None else f" = {parameter.default!r}"
    return escape_controls(f"{parameter.name}: {_format_type(parameter.type)}{default}")


def _format_type(type_: ParameterType) -> str:
    if type_.kind == "choice":
        text = f"Literal[{', '.join(map(repr, type_.choices))}]"
    elif type_.items is not None:
        text = f"list[{_format_type(type_.items)}]"
    else:
        text = _PYTHON_TYPES[type_.kind]
    return f"{text} | None" if type_.optional else text
