"""What stands of what a run wrote, and how that is said."""

from collections.abc import Mapping
from typing import Any

from panorama.services.run_telling import counted
from panorama.services.run_views import Standing, fitting, would
from panorama.store import changes, names
from panorama.store.engine import Session
from panorama.store.runs import Run

LISTED = 50
NAMED = 10
_DONE = {"create": "created", "update": "updated", "delete": "deleted", "restore": "restored"}
_FIELDS = {"deleted_at": "the deletion"}


def counts(session: Session, run: str) -> Mapping[str, int]:
    """Return how much was created, updated and deleted by a run and stands."""
    return {_DONE[each]: count for each, count in changes.actions_of_unit(session, run).items()}


def diff(session: Session, run: str) -> tuple[Mapping[str, Any], ...]:
    """Return the first changes of a run as a person reads them."""
    lines = changes.first_of_unit(session, run, LISTED)
    labels = names.labels(session, [(line.kind, line.item) for line in lines])
    return tuple(fitting(would(line, labels[line.item][2]) for line in lines))


def standing(session: Session, run: Run) -> Standing:
    """Return what stands now of a run that the log tells of."""
    if run.options.get("dry_run"):
        return Standing(run.changes, "It was a dry run: nothing of this was changed." if run.changes else "")
    written, stood = changes.written_by_unit(session, run.id), counts(session, run.id)
    if not written:
        return Standing(run.changes)  # if the log tells of some, they are forgotten for good
    if not stood or (run.options.get("atomic") and run.status not in ("running", "succeeded")):
        told = after_taking_back(session, run.id)
    elif (count := sum(stood.values())) < written:
        told = f"{count:,} of its {counted(written, 'change')} {_stand(count)}, the others were taken back."
    else:
        told = ""
    undo = _undo(run) if stood else ""
    return Standing(stood, " ".join(filter(None, (told, undo))), diff(session, run.id))


def _undo(run: Run) -> str:
    if run.status == "running":
        return "It still runs."
    return f"Undo {run.id} takes back what of this nobody else changed since."


def left(run: str, count: int) -> str:
    """Say what stands of a run that failed and was not taken back."""
    if not count:
        return "Nothing was changed."
    return f"{counted(count, 'change')} made before it {_stand(count)}; undo {run} takes {_them(count)} back."


def _stand(count: int) -> str:
    return "stands" if count == 1 else "stand"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"


def after_taking_back(session: Session, run: str) -> str:
    """Say what stands of a run after it was taken back, but for what others changed since."""
    lines = changes.of_unit(session, run)
    known = {line.id for line in lines}
    total, left = sum(line.undoes not in known for line in lines), changes.standing_of_unit(session, run)
    if not left:
        return f"All it wrote was taken back ({counted(total, 'change')})."
    fields: dict[str, set[str]] = {}
    for line, changed in left:
        fields.setdefault(line.item, set()).update(("",) if line.action == "create" else changed)
    labels = names.labels(session, [(line.kind, line.item) for line, _ in left])
    told = [_named(labels[item][2], item, fields[item]) for item in list(fields)[:NAMED]]
    more = f" and {len(fields) - NAMED:,} more" if len(fields) > NAMED else ""
    head = f"All but {len(left):,} of its {total:,} changes were" if len(left) < total else "Not all it wrote was"
    return f"{head} taken back; what others changed since stays: {', '.join(told)}{more}."


def _named(label: str, item: str, fields: set[str]) -> str:
    """Return an item that stays because its run made it, or what stays of one that was there before."""
    which = f"“{label}” ({item})"
    return which if "" in fields else f"{' and '.join(_FIELDS.get(each, each) for each in sorted(fields))} of {which}"
