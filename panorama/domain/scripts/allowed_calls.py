"""The calls that a reviewed script may make: those shown in its review. Pure."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self

from panorama.domain.scripts.scripts import SOURCE_CALL
from panorama.domain.scripts.sdk_usage import ANYTHING, split_entry
from panorama.errors import ConflictError
from panorama.kinds import ITEM_KINDS
from panorama.sdk.core.namespace import SURFACE

_OPERATIONS = {
    "similar": ("search.similar",), "history": ("history.list",), "undo": ("history.undo",),
    "files.text": ("files.get",), "notes.text": ("notes.get",), "scripts": ("scripts.call",),
    **{f"{kind.collection}.delete": ("items.get", "items.delete") for kind in ITEM_KINDS},
    **{f"{kind.collection}.get": ("items.get",) for kind in ITEM_KINDS if "get" not in kind.functions},
}  # fmt: skip
"""The operations of SDK functions whose names differ."""

_NOUNS = frozenset(SURFACE)
_ID_PREFIXES = {kind.collection: f"{kind.letter}_" for kind in ITEM_KINDS}


def list_operations(function: str) -> tuple[str, ...]:
    """Return the operations that a function of the SDK may call."""
    if function.partition(".")[0] not in _NOUNS and "." in function:
        return (SOURCE_CALL,)
    return _OPERATIONS.get(function, (function,))


@dataclass(frozen=True, slots=True)
class AllowedCalls:
    """The calls allowed to one reviewed script.

    `targets` are the allowed targets by operation: a collection, a script, a tool, the prefix of an id; "" means any.
    """

    script: str
    targets: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, script: str, entries: Collection[str]) -> Self | None:
        """Return the allowed calls of a script from the entries of its review; None if it may call everything.

        Args:
            entries: As of `SdkUsage.calls`.
        """
        targets: defaultdict[str, set[str]] = defaultdict(set)
        for entry in entries:
            function, detail = split_entry(entry)
            for operation in list_operations(function):
                is_any_item = operation in ("items.get", "items.delete")
                target = _ID_PREFIXES.get(function.partition(".")[0], "") if is_any_item else detail
                targets[operation].add(function if operation == SOURCE_CALL else target)
        return None if ANYTHING in entries else cls(script, {name: frozenset(ids) for name, ids in targets.items()})

    def check(self, operation: str, target: str = "") -> None:
        """Reject a call that the review did not show.

        Args:
            target: The target of the call, "" if it is not known yet.

        Raises:
            ConflictError: The review did not show it.
        """
        shown = self.targets.get(operation)
        if shown and (not target or "" in shown or target in shown):
            return
        raise ConflictError(
            f"The review of the script {self.script} did not show that it calls {operation}"
            f"{f' ({target[:40]})' if target else ''}; the call was not made.",
            hint=f"Ask the user to review it again: `panorama scripts review {self.script}`. If the text hides the "
            "call, write it out first, as sdk.tasks.list().",
        )


def get_target(operation: str, values: Mapping[str, Any]) -> str:
    """Return the target of a call, with ids in place of names; "" if the operation has no targets."""
    if operation == SOURCE_CALL:
        return f"{values['source']}.{values['function']}"
    if operation == "query":
        return str(values["collection"])
    if operation == "scripts.call":
        return str(values["script"]).strip().removeprefix("script_") or "-"
    return str(values["item"])[:2] or "-" if operation in ("items.get", "items.delete") else ""
