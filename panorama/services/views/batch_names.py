"""The names that the steps of a batch give to items, as far as their arguments show them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from panorama.domain.items.item import KINDS, Kind, normalize_name
from panorama.domain.text.json_types import is_list

REFERENCE = re.compile(r"\$(\d{1,3})\b")
"""A reference to the result of an earlier step, at the start of an argument."""

_TOOL = re.compile(rf"(?:create|update)_({'|'.join(KINDS)})")
_NAMING_NOTHING = frozenset(
    {
        "acknowledge_reminder", "add_journal_entry", "append_to_note", "create_relation", "delete_item",
        "link_item_to_source", "snooze_reminder", "update_journal_entry",
    }
)  # fmt: skip
"""Tools that write, but give no item a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNames:
    """The names that one step gives to an item, in the form in which names are compared.

    `kind` is the kind of the item that the step creates or changes, None if it is unknown; `item` is its id if it
    exists already. `unclear` are the kinds of items that may get other names; `deletes` means that an item goes to the
    trash.
    """

    step: int
    kind: Kind | None = None
    item: str = ""
    names: frozenset[str] = frozenset()
    unclear: tuple[Kind, ...] = ()
    deletes: bool = False

    def may_name(self, kind: Kind | None) -> bool:
        """Return whether an item of a kind, None for any, may get a name that is not in `names`."""
        return bool(self.unclear) if kind is None else kind in self.unclear

    def may_take_name(self, kind: Kind | None) -> bool:
        """Return whether an item of a kind, None for any, may lose its name."""
        return self.deletes or bool(self.item and self.names) or self.may_name(kind)

    def may_change_notes(self) -> bool:
        """Return whether the step may change other notes: those that link to an item that it renames."""
        return bool(self.item and self.names) or self.unclear == KINDS


def find_names(step: int, tool: str, arguments: Mapping[str, Any], item: str) -> StepNames:
    """Return the names that a writing step gives.

    Args:
        item: The id of the existing item that the step changes, "" if there is none.
    """
    if tool in _NAMING_NOTHING:
        return StepNames(step=step, deletes=tool == "delete_item")
    match = _TOOL.fullmatch(tool)
    if tool == "write_file":
        kind: Kind | None = "file"
    elif tool == "edit_note":
        kind = "note"
    else:
        kind = next((kind for kind in KINDS if match and match[1] == kind), None)
    if kind is None:
        return StepNames(step=step, unclear=KINDS)
    names = _list_names(arguments)
    known = [normalize_name(name) for name in names if not REFERENCE.match(name)]
    unclear = _list_unclear_kinds(kind, tool, arguments, is_referring=len(known) < len(names))
    return StepNames(step=step, kind=kind, item=item, names=frozenset(known), unclear=unclear)


def _list_names(arguments: Mapping[str, Any]) -> list[str]:
    names = [arguments.get("title"), arguments.get("name")]
    if arguments.get("last_name"):
        names.append(f"{arguments.get('name')} {arguments['last_name']}")
    aliases = arguments.get("aliases")
    names += aliases if is_list(aliases) else []
    return [name for name in names if isinstance(name, str)]


def _list_unclear_kinds(kind: Kind, tool: str, arguments: Mapping[str, Any], *, is_referring: bool) -> tuple[Kind, ...]:
    """Return the kinds of items that may get names which the arguments do not show."""
    if kind == "session" or arguments.get("create_people") or arguments.get("parse"):
        return KINDS
    # A link is named after its address by default, a person also by parts of the name.
    own = (kind,) if is_referring or kind in ("link", "person") else ()
    # A checkbox line of a note and its task are renamed together.
    edits_lines = tool == "edit_note" or (tool == "update_note" and "content" in arguments)
    return (*own, "task") if edits_lines else own


def find_naming_step(text: str, kind: Kind | None, earlier: Sequence[StepNames]) -> StepNames | None:
    """Return the last step that names an item of a kind, None for any, like a text; None if there is none."""
    key = normalize_name(text)
    return next((step for step in reversed(earlier) if key in step.names and kind in (None, step.kind)), None)
