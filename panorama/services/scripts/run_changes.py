"""The remaining changes of a run, and their description."""

from collections.abc import Mapping
from typing import Any

from panorama.domain.text.wording import pluralize
from panorama.services.scripts.run_results import RemainingChanges, change_to_dict, take_fitting
from panorama.store.backend import Session
from panorama.store.items import lookup
from panorama.store.log import changes
from panorama.store.log.runs import Run

MAX_LISTED_CHANGES = 50
MAX_NAMED_ITEMS = 10
_COUNT_NAMES = {"create": "created", "update": "updated", "delete": "deleted", "restore": "restored"}
_FIELD_LABELS = {"deleted_at": "the deletion"}


def count_changes(session: Session, run: str) -> Mapping[str, int]:
    """Count a run's effective creations, updates and deletions."""
    return {_COUNT_NAMES[action]: count for action, count in changes.count_actions(session, run).items()}


def list_changes(session: Session, run: str) -> tuple[Mapping[str, Any], ...]:
    """Return the first changes of a run in readable form."""
    lines = changes.list_first_changes(session, run, MAX_LISTED_CHANGES)
    labels = lookup.get_labels(session, [(line.kind, line.item) for line in lines])
    return tuple(take_fitting(change_to_dict(line, labels[line.item][2]) for line in lines))


def load_remaining_changes(session: Session, run: Run) -> RemainingChanges:
    """Return the remaining changes of a logged run."""
    if run.options.get("dry_run"):
        return RemainingChanges(run.changes, "It was a dry run: nothing of this was changed." if run.changes else "")
    written, remaining = changes.count_written(session, run.id), count_changes(session, run.id)
    if not written:
        return RemainingChanges(run.changes)  # if the log counts some, they were purged
    if not remaining or (run.options.get("atomic") and run.status not in ("running", "succeeded")):
        description = describe_rollback(session, run.id)
    elif (count := sum(remaining.values())) < written:
        description = f"{count:,} of its {pluralize(written, 'change')} {_remain_verb(count)}, the others were undone."
    else:
        description = ""
    undo = _undo_hint(run) if remaining else ""
    return RemainingChanges(remaining, " ".join(filter(None, (description, undo))), list_changes(session, run.id))


def _undo_hint(run: Run) -> str:
    if run.status == "running":
        return "It is still running."
    return f"Undo {run.id} reverts those that were not changed since."


def describe_remaining(run: str, count: int) -> str:
    """Describe the changes of a failed run that was not undone."""
    if not count:
        return "Nothing was changed."
    return (
        f"{pluralize(count, 'change')} made before it {_remain_verb(count)}; undo {run} takes {_pronoun(count)} back."
    )


def _remain_verb(count: int) -> str:
    return "stands" if count == 1 else "stand"


def _pronoun(count: int) -> str:
    return "it" if count == 1 else "them"


def describe_rollback(session: Session, run: str) -> str:
    """Describe what remains of a run after its undo because of later changes."""
    lines = changes.list_by_unit(session, run)
    known = {line.id for line in lines}
    total, left = sum(line.undoes not in known for line in lines), changes.list_effective(session, run)
    if not left:
        return f"All its changes were undone ({pluralize(total, 'change')})."
    fields: dict[str, set[str]] = {}
    for line, changed in left:
        fields.setdefault(line.item, set()).update(("",) if line.action == "create" else changed)
    labels = lookup.get_labels(session, [(line.kind, line.item) for line, _ in left])
    items = [_describe_item(labels[item][2], item, fields[item]) for item in list(fields)[:MAX_NAMED_ITEMS]]
    more = f" and {len(fields) - MAX_NAMED_ITEMS:,} more" if len(fields) > MAX_NAMED_ITEMS else ""
    head = f"All but {len(left):,} of its {total:,} changes were" if len(left) < total else "Not all it wrote was"
    return f"{head} taken back; what others changed since stays: {', '.join(items)}{more}."


def _describe_item(label: str, item: str, fields: set[str]) -> str:
    """Describe a remaining item, or the remaining changes of an older one."""
    which = f"“{label}” ({item})"
    return (
        which
        if "" in fields
        else f"{' and '.join(_FIELD_LABELS.get(field, field) for field in sorted(fields))} of {which}"
    )
