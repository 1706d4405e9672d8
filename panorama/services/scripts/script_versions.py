"""The texts that stood under a script's name. None is lost: each that is overwritten is stored as a version before."""

from collections.abc import Iterator
from datetime import datetime

from panorama.domain.changes import CLI_ACTOR
from panorama.domain.scripts.library import DRAFT, ScriptText
from panorama.errors import NotFoundError
from panorama.services.scripts.library_results import ScriptVersion
from panorama.store.backend import Session
from panorama.store.log import library as rows

EDITOR_DOOR = "file"
"""The door of a text that the person wrote into its file."""


def store_version(session: Session, text: ScriptText, verdict: str, now: datetime) -> None:
    """Store a text as a version of its script, unless it is one, or is shipped."""
    if text.is_shipped or any(each.digest == text.digest for each in list_versions(session, text.name)):
        return
    is_saved = session.origin is not None and verdict == rows.SAVED
    door, client = (session.origin.actor, session.origin.client) if session.origin and is_saved else (EDITOR_DOOR, "")
    entry = rows.Review(
        name=text.name, at=now, verdict=verdict, digest=text.digest, text=text.source, door=door, client=client
    )
    rows.add_review(session, entry)


def list_versions(session: Session, name: str) -> list[rows.Review]:
    """Return the versions of a script, the first one first; their numbers count from 1."""
    return [each for each in rows.list_texts(session, name) if each.verdict in rows.VERSIONS][::-1]


def get_version(session: Session, name: str, number: int | None) -> rows.Review:
    """Return a version by its number, or the last that was approved.

    Raises:
        NotFoundError: There is none.
    """
    versions = list_versions(session, name)
    approved = [each for each in versions if each.verdict == rows.APPROVED]
    if approved and number is None:
        return approved[-1]
    if number is not None and 1 <= number <= len(versions):
        return versions[number - 1]
    which = f"version {number}" if number is not None else "approved version"
    hint = f"There are 1 to {len(versions)}." if versions else "Nothing was approved yet."
    raise NotFoundError(f"The script {name} has no {which}.", hint=hint)


def find_previous_approved(session: Session, name: str) -> int:
    """Return the number of the version that was approved before the last one; 1 if there is none."""
    versions = enumerate(list_versions(session, name), 1)
    approved = [number for number, each in versions if each.verdict == rows.APPROVED]
    return approved[-2] if len(approved) > 1 else (approved or [1])[0]


def is_by_assistant(session: Session, text: ScriptText) -> bool:
    """Tell whether an assistant saved a text, so that the person did not write it."""
    known = [each for each in list_versions(session, text.name) if each.digest == text.digest]
    return any(each.verdict == rows.SAVED and each.door != CLI_ACTOR for each in known)


def iter_history(session: Session, name: str) -> Iterator[ScriptVersion]:
    """Yield the texts of a script and what was decided on them, the newest first."""
    texts, standing = rows.list_texts(session, name), rows.find_state(session, name) or DRAFT
    number = sum(each.verdict in rows.VERSIONS for each in texts)
    for each in texts:
        is_version, is_approved = each.verdict in rows.VERSIONS, each.verdict == rows.APPROVED
        yield ScriptVersion(
            version=number if is_version else None, at=each.at, verdict=each.verdict, digest=each.digest,
            by=each.door, lines=each.text.count("\n"), current=is_approved and each.digest == standing.digest,
        )  # fmt: skip
        number -= is_version
